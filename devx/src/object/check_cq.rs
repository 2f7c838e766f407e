//! Checks of the completion queues that objects use. New objects are made until one has a number without old
//! completions.

use std::sync::Arc;

use blueflame::cq::setup::{Receiver, Whose};
use blueflame::queue::AnyCq;
#[cfg(doc)]
use blueflame::queue::Owned;
use blueflame::types::Qpn;

use super::cq::{Cq, OBJECT};
use crate::context::{Context, Object, Under};
use crate::error::Error;
use crate::mailbox::Command;

/// Returns an error for the queue of another handle: safe code can exchange the queues in two [`Owned`].
pub(super) fn whole(cq: &dyn AnyCq<Cq>) -> Result<&Cq, Error> {
    if cq.any_is_whole() { Ok(cq.any_handle()) } else { Err(Error::Foreign { object: OBJECT, of: "handle" }) }
}

/// Counts an object that receives on `cq`, before it is made. It must outlive the object.
///
/// # Errors
/// [`Error::Receivers`], [`Error::CollapsedReceives`].
pub(super) fn receiver(cq: &Cq) -> Result<Receiver, Error> {
    counted(cq, false)
}

/// Counts a receive queue of frames that receives on `cq`, before it is made. No completion of an earlier receiver may
/// be left there: any completion of a receive would pass for this queue's own.
///
/// # Errors
/// [`Error::Receivers`], [`Error::CollapsedReceives`], [`Error::StaleReceives`].
pub(super) fn receiver_of_frames(cq: &dyn AnyCq<Cq>) -> Result<Receiver, Error> {
    let receiver = counted(cq.any_handle(), true)?;
    // From here on nothing else receives there.
    if cq.any_holds(Whose::Receives) {
        return Err(Error::StaleReceives { cqn: cq.any_handle().cqn() });
    }
    Ok(receiver)
}

fn counted(cq: &Cq, flow_tags: bool) -> Result<Receiver, Error> {
    if cq.is_collapsed() {
        return Err(Error::CollapsedReceives { cqn: cq.cqn() });
    }
    Receiver::new(cq.id(), flow_tags).map_err(|error| Error::Receivers { cqn: cq.cqn(), error })
}

/// Attempts to make an object whose number has no completions left in the queues.
const TRIES: usize = 16;

/// Makes objects until one has a number without completions in the queues. Old completions would pass for its own.
///
/// # Errors
/// [`Error::StaleCompletions`] after [`TRIES`] attempts, [`Error::CollapsedInUse`], or a failed call.
pub(super) fn make_fresh<C: Command>(
    context: &Context,
    inbox: &C,
    under: &Arc<impl Under>,
    cqs: [&dyn AnyCq<Cq>; 2],
    number: impl Fn(&C::Out) -> Qpn,
) -> Result<(Object, C::Out), Error> {
    // Usually both are the same queue, which needs one search only.
    let cqs = &cqs[..if cqs[0].any_id() == cqs[1].any_id() { 1 } else { 2 }];
    // There, a completion of any number counts.
    let used = |cq: &&&dyn AnyCq<Cq>| cq.any_handle().is_collapsed() && cq.any_holds(Whose::Number(Qpn::truncate(0)));
    if let Some(cq) = cqs.iter().find(used) {
        return Err(Error::CollapsedInUse { cqn: cq.any_handle().cqn() });
    }
    let mut unfit = Vec::new();
    loop {
        let (made, out) = context.make(inbox, Arc::clone(under))?;
        let number = number(&out);
        let Some(cq) = cqs.iter().find(|cq| cq.any_holds(number.into())) else { return Ok((made, out)) };
        unfit.push(made);
        if unfit.len() == TRIES {
            return Err(Error::StaleCompletions { number, cqn: cq.any_handle().cqn() });
        }
    }
}
