//! Refusals: why a request is not executed.

use crate::explanation::Reason;
use crate::memory::keys::mkey::KeyFault;
use crate::packet::NakCode;
use crate::qp::failure::Failure;

/// Why a request is not executed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// No receive WQE.
    NotReady(Reason),
    /// The request is wrong.
    Wrong(NakCode, Reason),
    /// The request is wrong for the receive WQE at hand, which fails with it.
    WrongReceive(NakCode, Failure),
    /// The request is wrong for the receive WQE at hand, which fails with it, and the peer is told nothing.
    Silent(Failure),
}

impl Refusal {
    /// Its reason; `None` if a receive WQE's failure has told it.
    pub(super) fn reason(&self) -> Option<Reason> {
        match *self {
            Self::NotReady(reason) | Self::Wrong(_, reason) => Some(reason),
            Self::WrongReceive(_, failure) => Some(failure.reason),
            Self::Silent(_) => None,
        }
    }
}

/// The request makes no sense.
pub(super) fn invalid(reason: Reason) -> Refusal {
    Refusal::Wrong(NakCode::INVALID_REQUEST, reason)
}

/// A key does not give access.
pub(super) fn no_access(fault: KeyFault) -> Refusal {
    Refusal::Wrong(NakCode::REMOTE_ACCESS, fault.into())
}

/// A receive WQE is broken.
pub(super) fn broken(failure: Failure) -> Refusal {
    Refusal::WrongReceive(NakCode::REMOTE_OPERATIONAL, failure)
}
