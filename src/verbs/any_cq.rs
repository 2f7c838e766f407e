//! Completion queues whatever the mode: what queue pairs are made with.

use core::fmt;

use super::Error;
use super::cq::{Cq, OBJECT, OwnedCq};
#[cfg(doc)]
use crate::cq::CompletionQueue;
use crate::cq::{Cqe, PollMode, Whose};
#[cfg(doc)]
use crate::queue::Owned;
use crate::types::Qpn;

/// A completion queue of this crate, polled in any mode: what queue pairs are made with, and what
/// [`QueuePair::reset`](super::QueuePair::reset) takes.
///
/// A completion that is lent borrows its queue, so no queue pair is made, or reset, while one is. The device could give the new queue
/// pair the number that this completion has, and the completion would pass for one of the new queue pair's:
///
/// ```compile_fail,E0502
/// use blueflame::transport::Rc;
/// use blueflame::verbs::{Error, OwnedCq, ProtectionDomain};
///
/// fn hold(pd: &ProtectionDomain, cq: &mut OwnedCq) -> Result<(), Error> {
///     let held = cq.poll();
///     let pair = pd.queue_pair::<Rc>(cq, cq).build()?;
///     drop((held, pair));
///     Ok(())
/// }
/// ```
pub trait AnyCq: Sealed {
    /// The handle.
    fn any_handle(&self) -> &Cq;

    /// Whether the queue is still that of the handle ([`Owned::is_whole`]).
    fn any_is_whole(&self) -> bool;

    /// [`CompletionQueue::holds`].
    fn any_holds(&self, whose: Whose) -> bool;

    /// [`CompletionQueue::forget_with`].
    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize;
}

impl fmt::Debug for dyn AnyCq + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any_handle().fmt(f)
    }
}

/// Refuses the queue of another handle: safe code can exchange the queues in two [`Owned`].
pub(super) fn whole(cq: &dyn AnyCq) -> Result<&Cq, Error> {
    if cq.any_is_whole() { Ok(cq.any_handle()) } else { Err(Error::MixedUp { object: OBJECT }) }
}

/// Keeps [`AnyCq`] to this crate's queues.
pub trait Sealed {}

impl<M: PollMode> Sealed for OwnedCq<M> {}

impl<M: PollMode> AnyCq for OwnedCq<M> {
    fn any_handle(&self) -> &Cq {
        self.handle()
    }

    fn any_is_whole(&self) -> bool {
        self.is_whole()
    }

    fn any_holds(&self, whose: Whose) -> bool {
        self.holds(whose)
    }

    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize {
        self.forget_with(whose, f)
    }
}

/// The number, and the completion queue, if completions of an earlier queue pair with that number lie in it: they would pass for
/// completions of the new one.
pub(super) fn left_behind(numbers: [Qpn; 2], cqs: [&dyn AnyCq; 2]) -> Option<(Qpn, &Cq)> {
    let [send_cq, recv_cq] = cqs;
    // As a rule both are one, and need looking at once.
    let numbers = &numbers[..if numbers[0] == numbers[1] { 1 } else { 2 }];
    let cqs = &cqs[..if send_cq.any_handle().is(recv_cq.any_handle()) { 1 } else { 2 }];
    numbers.iter().find_map(|&qpn| Some((qpn, cqs.iter().find(|cq| cq.any_holds(qpn.into()))?.any_handle())))
}
