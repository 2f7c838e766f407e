//! The end of a request in one value: what its success returns, or the error together with it.
//!
//! Every queue's `complete` retires first and looks at the outcome then. So no error skips the retirement, which would
//! lose the request's identifier, its buffer and its room in the ring.
use core::fmt;

use crate::cq::{CqeError, CqeView, Source};
use crate::queue::retire::RetireError;
use crate::types::Qpn;

/// A message that was received: the result of [`RecvQueue::complete`](crate::RecvQueue::complete) and its like.
///
/// More about it is in the completion, such as the header checksums of a frame
/// ([`verdicts`](CqeView::verdicts)) and the address of a datagram's sender ([`slid`](CqeView::slid),
/// [`has_grh`](CqeView::has_grh)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<B> {
    /// The buffer, on queues that own their buffers; the `wr_id` of the receive, on others.
    pub buffer: B,
    /// Bytes received. A datagram's include the 40 bytes of the GRH.
    pub bytes: u32,
    /// The immediate data as a number, if the message carried any: [`CqeView::imm`].
    pub imm: Option<u32>,
    /// The sender's queue pair, if the message is a datagram. Otherwise it has no meaning.
    pub source: Qpn,
}

/// Why a completion is not the success of an outstanding request.
///
/// `D` is what the caller gets back of the request: a send's [`Done`](crate::queue::Done), a receive's `wr_id`, or the
/// buffer of a queue that owns buffers. It is `()` for frames, which complete no request each.
// `repr`: a tag of its own. Without it the tag is that of `error`, which a cold function makes. Callers would test it
// for a success again.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CompleteError<D> {
    /// The request failed, the device gave it up, or its data is in the CQE. It is retired, as after a success.
    Failed {
        /// The request.
        done: D,
        /// What happened to it.
        error: CqeError,
    },
    /// The completion belongs to no outstanding request of this queue, which is unchanged. If it completes no request
    /// at all, [`CqeView::check`] says what it is.
    Foreign(RetireError),
}

impl<D> fmt::Debug for CompleteError<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { error, .. } => f.debug_struct("Failed").field("error", error).finish_non_exhaustive(),
            Self::Foreign(error) => f.debug_tuple("Foreign").field(error).finish(),
        }
    }
}

impl<D> fmt::Display for CompleteError<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { error, .. } => error.fmt(f),
            Self::Foreign(error) => error.fmt(f),
        }
    }
}

impl<D> core::error::Error for CompleteError<D> {}

impl<D> From<RetireError> for CompleteError<D> {
    #[inline(always)]
    fn from(error: RetireError) -> Self {
        Self::Foreign(error)
    }
}

/// `done`, which `cqe` has retired, or the error of its request together with it.
#[inline(always)]
pub(super) fn checked<S: Source, D>(cqe: &CqeView<S>, done: D) -> Result<D, CompleteError<D>> {
    match cqe.check() {
        Ok(_) => Ok(done),
        Err(error) => Err(CompleteError::Failed { done, error }),
    }
}

/// The same for a receive, with what `cqe` says about the message.
#[inline(always)]
pub(super) fn received<S: Source, B>(cqe: &CqeView<S>, buffer: B) -> Result<Received<B>, CompleteError<B>> {
    let buffer = checked(cqe, buffer)?;
    Ok(Received { buffer, bytes: cqe.byte_len(), imm: cqe.imm(), source: cqe.src_qp() })
}
