//! The outcome of a completion: whether it belongs to a request of the queue, and how that request ended.
//!
//! Every queue checks the first before it takes the request back. Its `complete` takes it back before it looks at the
//! second. So no error skips the retirement, which would lose the request's identifier, its buffer and its room in the
//! ring.
use core::fmt;

use crate::cq::{CqId, CqeError, CqeFormat, CqeOpcode, CqeView, Origin, Side, Source};
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
/// `D` is the part of the request that the caller gets back: a send's [`Done`](crate::queue::Done), a receive's
/// `wr_id`, or the buffer of a queue that owns buffers. It is `()` for frames, which complete no request each.
// `repr`: a tag of its own. Without it the tag is that of `error`, which a cold function makes. Callers would test it
// for a success again.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CompleteError<D> {
    /// The request failed, the device gave it up, or its data is in the CQE. It is retired, as after a success.
    Failed {
        /// The request.
        done: D,
        /// The error that it ended with.
        error: CqeError,
    },
    /// The completion belongs to no outstanding request of this queue, which is unchanged. If it completes no request
    /// at all, [`CqeView::check`] returns its kind.
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

/// The message that a receive got, or the error of the receive together with its buffer.
#[inline(always)]
pub(super) fn received<S: Source, B>(cqe: &CqeView<S>, buffer: B) -> Result<Received<B>, CompleteError<B>> {
    let buffer = checked(cqe, buffer)?;
    Ok(Received { buffer, bytes: cqe.byte_len(), imm: cqe.imm(), source: cqe.src_qp() })
}

/// Why a completion does not belong to an outstanding request of the queue that you gave it to. The queue is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetireError {
    /// It completes no request of this kind of queue.
    WrongSide {
        /// The completion's opcode.
        opcode: CqeOpcode,
        /// The queue's side.
        queue: Side,
    },
    /// It holds several completions, and cannot be expanded: [`CqeError::Compressed`].
    Compressed,
    /// It is another queue pair's.
    WrongQueuePair {
        /// The number in the completion.
        completion: Qpn,
        /// The queue's.
        queue: Qpn,
    },
    /// It comes from another completion queue than the one that the queue completes to.
    WrongCompletionQueue {
        /// The queue that lent it.
        completion: CqId,
        /// The queue's own.
        queue: CqId,
    },
    /// The index is not of an outstanding request (posted and not yet retired).
    NotOutstanding {
        /// The completion's index.
        wqe_counter: u16,
        /// The oldest index outstanding, equal to `next` if none is.
        oldest: u16,
        /// The index to be posted next.
        next: u16,
    },
    /// The receive has completed already; its place is not free yet, because an older one is outstanding.
    CompletedTwice {
        /// The completion's index.
        wqe_counter: u16,
    },
    /// The index is inside a WQE of a send queue, not at its start.
    InsideWqe {
        /// The completion's index.
        wqe_counter: u16,
    },
    /// The device did not abort it ([`CqeError::Aborted`](crate::cq::CqeError::Aborted)), so it is not posted again.
    NotAborted {
        /// The completion's index.
        wqe_counter: u16,
    },
    /// The strides are not of those that a frame can fill next in the oldest WQE of a striding receive queue.
    Strides {
        /// The completion's first stride.
        first: u32,
        /// The one behind its last stride.
        end: u32,
        /// The first stride that is not filled.
        next: u32,
        /// How many strides the WQE has.
        count: u32,
    },
    /// A frame of no bytes, at this stride of a striding receive queue. No network has one: Ethernet's header alone has
    /// 14 bytes (IEEE 802.3, 3.1.1).
    NoBytes {
        /// The stride.
        first: u32,
    },
    /// The WQE of a shared receive queue at that index is not posted.
    NotPosted {
        /// The completion's index.
        wqe_counter: u16,
    },
}

// Constructors out of line: the hot path has the checks that lead here, and does not build the value.
impl RetireError {
    #[cold]
    fn wrong_side(opcode: CqeOpcode, format: CqeFormat, queue: Side) -> Self {
        // Errors are never compressed, so this is no completion of the other side.
        if format == CqeFormat::Compressed {
            return Self::Compressed;
        }
        Self::WrongSide { opcode, queue }
    }

    #[cold]
    fn wrong_origin(completion: (CqId, Qpn), queue: Origin) -> Self {
        let (cq, qpn) = completion;
        if cq == queue.cq() {
            return Self::WrongQueuePair { completion: qpn, queue: queue.qpn() };
        }
        Self::WrongCompletionQueue { completion: cq, queue: queue.cq() }
    }

    #[cold]
    pub(super) fn not_outstanding(wqe_counter: u16, oldest: u16, next: u16) -> Self {
        Self::NotOutstanding { wqe_counter, oldest, next }
    }

    #[cold]
    pub(super) fn inside_wqe(wqe_counter: u16) -> Self {
        Self::InsideWqe { wqe_counter }
    }

    #[cold]
    pub(super) fn not_posted(wqe_counter: u16) -> Self {
        Self::NotPosted { wqe_counter }
    }
}

impl fmt::Display for RetireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::WrongSide { opcode, queue } => {
                let queue = match queue {
                    Side::Requester => "send",
                    Side::Responder => "receive",
                };
                write!(f, "completion with opcode {opcode:?} given to a {queue} queue")
            }
            Self::Compressed => CqeError::Compressed.fmt(f),
            Self::WrongQueuePair { completion, queue } => write!(
                f,
                "completion of queue pair {:#08x} given to a queue of queue pair {:#08x}",
                completion.get(),
                queue.get()
            ),
            Self::WrongCompletionQueue { queue: CqId::NONE, .. } => {
                f.write_str("completion given to a queue that completes to no completion queue of this crate")
            }
            Self::WrongCompletionQueue { completion, queue } => write!(
                f,
                "completion of completion queue {} given to a queue that completes to {}, as this process counts them",
                completion.get(),
                queue.get()
            ),
            Self::NotOutstanding { wqe_counter, oldest, next } if oldest == next => {
                write!(f, "completion of WQE {wqe_counter}, but nothing is outstanding")
            }
            Self::NotOutstanding { wqe_counter, oldest, next } => {
                let newest = next.wrapping_sub(1);
                write!(f, "completion of WQE {wqe_counter}, but {oldest} to {newest} are outstanding")
            }
            Self::CompletedTwice { wqe_counter } => write!(f, "second completion of receive {wqe_counter}"),
            Self::InsideWqe { wqe_counter } => write!(f, "completion of WQEBB {wqe_counter}, where no WQE starts"),
            Self::NotAborted { wqe_counter } => {
                write!(f, "receive {wqe_counter} was not aborted, and cannot be posted again")
            }
            Self::Strides { first, end, next, count } => {
                write!(f, "completion of strides {first} to {end}, but a frame can fill strides {next} to {count}")
            }
            Self::NoBytes { first } => write!(f, "completion of a frame of no bytes, at stride {first}"),
            Self::NotPosted { wqe_counter } => {
                write!(f, "completion of WQE {wqe_counter} of a shared receive queue, but that WQE is not posted")
            }
        }
    }
}

impl core::error::Error for RetireError {}

/// Whether a completion belongs to a request of the side `queue`, successful or not. Costs nothing where the caller has
/// looked at [`CqeView::check`] before.
#[inline(always)]
pub(super) fn check_side<S: Source>(cqe: &CqeView<S>, queue: Side) -> Result<(), RetireError> {
    if cqe.is_of_side(queue) { Ok(()) } else { Err(RetireError::wrong_side(cqe.opcode(), cqe.format(), queue)) }
}

/// Whether a completion belongs to the queue with this origin, in these bits: two loads and a comparison.
///
/// # Why nothing else passes for it
/// A view borrows the [completion queue](crate::CompletionQueue) that lent it, and has that queue's identity. Two
/// queues of one number differ in the identity if their completion queues differ, on one device or on several. If these
/// are one, the second queue was made after the first was gone. Its maker promised that nothing of the first was left
/// then, neither in the ring ([`holds`](crate::CompletionQueue::holds)) nor lent. The maker borrows the completion
/// queue, so nothing is lent. RESET borrows it as well.
#[inline(always)]
pub(super) fn check_origin<S: Source>(cqe: &CqeView<S>, queue: Origin, bits: u64) -> Result<(), RetireError> {
    if cqe.is_of(queue, bits) { Ok(()) } else { Err(RetireError::wrong_origin((cqe.cq(), cqe.qpn()), queue)) }
}
