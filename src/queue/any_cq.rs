//! Completion queues of any kind, kept together with the object under them.

use core::{fmt, mem};

use super::owned::Owned;
use crate::cq::compressed::Expand;
use crate::cq::mode::PollMode;
use crate::cq::setup::Whose;
use crate::cq::{CollapsedQueue, CompletionQueue, CqId, Cqe};
use crate::sealed::Sealed;

/// A completion queue, polled in any mode or collapsed, with its object's handle `H`. Creating and resetting queue pairs
/// takes one. A lent completion borrows its queue. So while one is lent, no queue that completes there can be created
/// or reset. Otherwise the device could give the new queue the number in this completion, and the completion would pass
/// for one of the new queue's.
pub trait AnyCq<H>: Sealed {
    /// The handle.
    fn any_handle(&self) -> &H;

    /// Whether the queue is still that of the handle ([`Owned::is_whole`]).
    fn any_is_whole(&self) -> bool;

    /// [`CompletionQueue::id`].
    fn any_id(&self) -> CqId;

    /// Whether each completion of a striding receive queue says which strides it is of. Expanding loses that in the
    /// formats without it, unless the mode's format is [`Strided`](crate::cq::compressed::Strided).
    fn any_tells_strides(&self) -> bool;

    /// [`CompletionQueue::holds`].
    fn any_holds(&self, whose: Whose) -> bool;

    /// [`CompletionQueue::forget_with`].
    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize;
}

/// Removes the unpolled completions of an object from its completion queues, as
/// [`forget_with`](CompletionQueue::forget_with) does. `whose` says which a completion queue with that handle has.
///
/// If `forgotten` panics, the rest is removed without being lent, from all of the queues.
pub fn forget_in_all<H>(
    cqs: &mut [&mut dyn AnyCq<H>],
    whose: impl Fn(&H) -> [Option<Whose>; 2],
    forgotten: &mut dyn FnMut(Cqe<'_>),
) {
    let mut removal = Removal { cqs, whose };
    removal.run(forgotten);
    // Nothing is left for its drop. Later completions belong to the next connection.
    mem::forget(removal);
}

/// A [`forget_in_all`] under way. It is dropped only after a panic, and begins anew then. It does not find removed
/// completions again.
struct Removal<'a, 'b, H, W: Fn(&H) -> [Option<Whose>; 2]> {
    cqs: &'a mut [&'b mut dyn AnyCq<H>],
    whose: W,
}

impl<H, W: Fn(&H) -> [Option<Whose>; 2]> Removal<'_, '_, H, W> {
    fn run(&mut self, forgotten: &mut dyn FnMut(Cqe<'_>)) {
        for cq in self.cqs.iter_mut() {
            for whose in (self.whose)(cq.any_handle()).into_iter().flatten() {
                cq.forget_any(whose, forgotten);
            }
        }
    }
}

impl<H, W: Fn(&H) -> [Option<Whose>; 2]> Drop for Removal<'_, '_, H, W> {
    fn drop(&mut self) {
        self.run(&mut |_| ());
    }
}

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

impl<H> Sealed for Owned<CollapsedQueue, H> {}

impl<H> AnyCq<H> for Owned<CollapsedQueue, H> {
    fn any_handle(&self) -> &H {
        self.handle()
    }

    fn any_is_whole(&self) -> bool {
        self.is_whole()
    }

    fn any_id(&self) -> CqId {
        self.id()
    }

    fn any_tells_strides(&self) -> bool {
        false
    }

    /// Whether any completion is there: whose does not matter ([`CollapsedQueue::is_used`]).
    fn any_holds(&self, _: Whose) -> bool {
        self.is_used()
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
