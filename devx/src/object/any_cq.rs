//! Completion queues whatever the mode, and what is made to complete there.

use core::fmt;
use std::sync::Arc;

#[cfg(doc)]
use blueflame::cq::CompletionQueue;
use blueflame::cq::{CqId, Cqe, PollMode, Whose};
#[cfg(doc)]
use blueflame::queue::Owned;
use blueflame::types::Qpn;

use super::cq::{Cq, OBJECT, OwnedCq};
use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::{Command, Creates, Inbox};

/// A completion queue of this crate, polled in any mode: what queues are made with, and what
/// [`QueuePair::reset`](super::QueuePair::reset) takes.
///
/// A completion that is lent borrows its queue, so nothing is made to complete there, or reset, while one is: the device could give the
/// new queue the number that this completion has.
///
/// ```compile_fail,E0502
/// use blueflame::transport::Rc;
/// use blueflame_devx::Error;
/// use blueflame_devx::memory::ThreadRings;
/// use blueflame_devx::object::{OwnedCq, Pd};
///
/// fn hold(pd: &Pd, rings: &ThreadRings, cq: &mut OwnedCq) -> Result<(), Error> {
///     let held = cq.poll();
///     let pair = pd.queue_pair::<Rc>(rings, cq, cq).build()?;
///     drop((held, pair));
///     Ok(())
/// }
/// ```
pub trait AnyCq: Sealed {
    /// The handle.
    fn any_handle(&self) -> &Cq;

    /// Whether the queue is still that of the handle ([`Owned::is_whole`]).
    fn any_is_whole(&self) -> bool;

    /// [`CompletionQueue::id`].
    fn any_id(&self) -> CqId;

    /// [`CompletionQueue::holds`].
    fn any_holds(&self, whose: Whose) -> bool;

    /// [`CompletionQueue::forget_with`].
    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize;
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

    fn any_id(&self) -> CqId {
        self.id()
    }

    fn any_holds(&self, whose: Whose) -> bool {
        self.holds(whose)
    }

    fn forget_any(&mut self, whose: Whose, f: &mut dyn FnMut(Cqe<'_>)) -> usize {
        self.forget_with(whose, f)
    }
}

impl fmt::Debug for dyn AnyCq + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any_handle().fmt(f)
    }
}

/// Refuses the queue of another handle: safe code can exchange the queues in two [`Owned`].
pub(super) fn whole(cq: &dyn AnyCq) -> Result<&Cq, Error> {
    if cq.any_is_whole() { Ok(cq.any_handle()) } else { Err(Error::Foreign { object: OBJECT, of: "handle" }) }
}

/// Objects that are made for one with a number of which no completions are left.
const TRIES: usize = 16;

/// What the command of a mailbox answers.
type Out<I> = <<I as Inbox>::Command as Command>::Out;

/// Makes objects until one has a number of which no completions are left in the completion queues: they would pass for its own.
pub(super) fn make_fresh<I: Inbox>(
    context: &Context,
    inbox: &I,
    under: &Arc<impl Under>,
    cqs: [&dyn AnyCq; 2],
    (object, number): (&'static str, impl Fn(&Out<I>) -> Qpn),
) -> Result<(Object, Out<I>), Error>
where
    I::Command: Creates,
{
    // As a rule both are one, and need looking at once.
    let cqs = &cqs[..if cqs[0].any_id() == cqs[1].any_id() { 1 } else { 2 }];
    let mut unfit = Vec::new();
    loop {
        let (made, out) = context.make(inbox, Arc::clone(under))?;
        let number = number(&out);
        let Some(cq) = cqs.iter().find(|cq| cq.any_holds(number.into())) else { return Ok((made, out)) };
        unfit.push(made);
        if unfit.len() == TRIES {
            return Err(left_behind(object, number, cq.any_handle()));
        }
    }
}

fn left_behind(object: &'static str, number: Qpn, cq: &Cq) -> Error {
    let (number, cqn) = (number.get(), cq.cqn().get());
    let why =
        format!("completions of an earlier one with its number {number:#x} lie unpolled in completion queue {cqn:#x}");
    Error::Parts { object, why }
}
