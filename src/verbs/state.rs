//! The states of a queue pair, as values. The module depends on no queue pair, and on no call that changes one.

use core::fmt;

use blueflame_sys as sys;

/// States of a queue pair.
#[doc(alias = "ibv_qp_state")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QpState {
    /// As created.
    Reset,
    /// Receives may be posted.
    Init,
    /// Ready to receive.
    ReadyToReceive,
    /// Ready to send.
    ReadyToSend,
    /// The send queue is draining, or has drained.
    SendQueueDrained,
    /// The send queue has failed (unreliable transports).
    SendQueueError,
    /// Everything posted completes with an error.
    Error,
    /// Any other value of `ibv_qp_state`.
    Other(u32),
}

impl QpState {
    pub(in crate::verbs) fn from_raw(raw: sys::ibv_qp_state) -> Self {
        match raw {
            sys::IBV_QPS_RESET => Self::Reset,
            sys::IBV_QPS_INIT => Self::Init,
            sys::IBV_QPS_RTR => Self::ReadyToReceive,
            sys::IBV_QPS_RTS => Self::ReadyToSend,
            sys::IBV_QPS_SQD => Self::SendQueueDrained,
            sys::IBV_QPS_SQE => Self::SendQueueError,
            sys::IBV_QPS_ERR => Self::Error,
            other => Self::Other(other),
        }
    }
}

impl QpState {
    /// Whether requests may be posted (IBTA vol. 1, 10.8.2 and 10.3.1). In RESET, INIT and RTR they may not.
    pub(in crate::verbs) fn takes_sends(self) -> bool {
        matches!(self, Self::ReadyToSend | Self::SendQueueDrained | Self::SendQueueError | Self::Error)
    }

    /// The states from which a queue pair can go to this one (IBTA vol. 1, 10.3.1; Linux
    /// `drivers/infiniband/core/verbs.c`, `qp_state_table`), and the call that takes it there.
    pub(in crate::verbs) fn reached_from(self) -> (&'static [Self], &'static str) {
        match self {
            Self::Init => (&[Self::Reset, Self::Init], "make a queue pair, or reset it (QueuePair::reset)"),
            Self::ReadyToReceive => (&[Self::Init], "call Qp::to_init first"),
            Self::ReadyToSend => (
                &[Self::ReadyToReceive, Self::ReadyToSend, Self::SendQueueDrained, Self::SendQueueError],
                "call Qp::to_rtr first",
            ),
            Self::Error => (
                &[
                    Self::Init,
                    Self::ReadyToReceive,
                    Self::ReadyToSend,
                    Self::SendQueueDrained,
                    Self::SendQueueError,
                    Self::Error,
                ],
                "nothing is posted in this state, so that there is nothing to flush",
            ),
            _ => (&[], ""),
        }
    }
}

impl fmt::Display for QpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reset => "RESET",
            Self::Init => "INIT",
            Self::ReadyToReceive => "RTR",
            Self::ReadyToSend => "RTS",
            Self::SendQueueDrained => "SQD",
            Self::SendQueueError => "SQE",
            Self::Error => "ERR",
            Self::Other(raw) => return write!(f, "state {raw}"),
        })
    }
}

/// Writes the text of [`Error::WrongState`](crate::verbs::Error::WrongState).
pub(in crate::verbs) fn describe_wrong_state(f: &mut fmt::Formatter<'_>, is: QpState, to: QpState) -> fmt::Result {
    let (from, way) = to.reached_from();
    write!(f, "the queue pair is in {is} and cannot go to {to}")?;
    for (n, state) in from.iter().enumerate() {
        write!(f, "{}{state}", if n == 0 { ", which it reaches from " } else { " or " })?;
    }
    if way.is_empty() { Ok(()) } else { write!(f, ": {way}") }
}
