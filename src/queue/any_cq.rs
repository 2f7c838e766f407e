//! Completion queues of any mode, kept together with the object under them.

use core::fmt;

use super::owned::Owned;
use crate::cq::compressed::Expand;
use crate::cq::mode::PollMode;
use crate::cq::setup::Whose;
use crate::cq::{CompletionQueue, CqId, Cqe};

/// A completion queue, polled in any mode, with its object's handle `H`. Creating and resetting queue pairs takes one.
/// A lent completion borrows its queue. So while one is lent, no queue that completes there can be created or reset.
/// Otherwise the device could give the new queue the number in this completion, and the completion would pass for one
/// of the new queue's.
pub trait AnyCq<H>: Sealed {
    /// The handle.
    fn any_handle(&self) -> &H;

    /// Whether the queue is still that of the handle ([`Owned::is_whole`]).
    fn any_is_whole(&self) -> bool;

    /// [`CompletionQueue::id`].
    fn any_id(&self) -> CqId;

    /// How many completions fit ([`CompletionQueue`](CompletionQueue#room)).
    fn any_room(&self) -> u32;

    /// Whether each completion of a striding receive queue says which strides it is of. Expanding loses that in the
    /// formats without it, unless the mode's format is [`Strided`](crate::cq::compressed::Strided).
    fn any_tells_strides(&self) -> bool;

    /// [`CompletionQueue::holds`].
    fn any_holds(&self, whose: Whose) -> bool;

    /// [`CompletionQueue::forget_with`].
    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize;
}

/// Keeps [`AnyCq`] to this crate's queues.
pub trait Sealed {}

impl<M: PollMode, H> Sealed for Owned<CompletionQueue<M>, H> {}

impl<M: PollMode, H> AnyCq<H> for Owned<CompletionQueue<M>, H> {
    fn any_handle(&self) -> &H {
        self.handle()
    }

    fn any_is_whole(&self) -> bool {
        self.is_whole()
    }

    fn any_id(&self) -> CqId {
        self.id()
    }

    fn any_room(&self) -> u32 {
        self.room()
    }

    fn any_tells_strides(&self) -> bool {
        M::Compression::TELLS_STRIDES
    }

    fn any_holds(&self, whose: Whose) -> bool {
        self.holds(whose)
    }

    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize {
        self.forget_with(whose, f)
    }
}

impl<H: fmt::Debug> fmt::Debug for dyn AnyCq<H> + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any_handle().fmt(f)
    }
}
