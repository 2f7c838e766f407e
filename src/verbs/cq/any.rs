//! Checks of the completion queues that an object is made with.

use std::sync::Arc;

use crate::cq::CqId;
use crate::cq::setup::{Receiver, Reservation, Whose};
use crate::queue::AnyCq;
#[cfg(doc)]
use crate::queue::Owned;
use crate::types::Qpn;
use crate::verbs::Error;
use crate::verbs::cq::queue::{Cq, OBJECT};

/// An object's share in the completion queues that it completes to. It must outlive the object.
#[derive(Debug, Default)]
pub(in crate::verbs) struct Completes {
    /// Counts it as a receiver; `None` without receives.
    pub(in crate::verbs) receiver: Option<Receiver>,
    /// Places for its sends.
    pub(in crate::verbs) sends: Option<Reservation>,
    /// Places for its receives, shared with the other objects that receive from the same queue.
    pub(in crate::verbs) _receives: Option<Arc<Reservation>>,
}

impl Completes {
    /// The most requests that its send queue may have outstanding.
    pub(in crate::verbs) fn most_sends(&self) -> Option<u32> {
        self.sends.as_ref()?.limit()
    }
}

/// Refuses the queue of another handle: safe code can exchange the queues in two [`Owned`].
pub(in crate::verbs) fn whole(cq: &dyn AnyCq<Cq>) -> Result<&Cq, Error> {
    if cq.any_is_whole() { Ok(cq.any_handle()) } else { Err(Error::MixedUp { object: OBJECT }) }
}

/// Counts an object that receives on `cq`, before it is made. If the object receives frames, `cq` may hold no
/// completion of an earlier receiver: the object would take each completion of a receive for its own.
///
/// # Errors
/// [`Error::Receivers`], [`Error::StaleReceives`].
pub(in crate::verbs) fn receiver(cq: &dyn AnyCq<Cq>, flow_tags: bool) -> Result<Receiver, Error> {
    let receiver = counted(cq.any_handle(), cq.any_id(), flow_tags)?;
    // From here on nothing else receives there.
    if flow_tags && cq.any_holds(Whose::Receives) {
        return Err(Error::StaleReceives { cqn: cq.any_handle().cqn() });
    }
    Ok(receiver)
}

/// Counts an object that receives on `cq`, by a handle alone, for objects that do not receive frames.
pub(in crate::verbs) fn numbered_receiver(cq: &Cq) -> Result<Receiver, Error> {
    counted(cq, cq.id(), false)
}

fn counted(cq: &Cq, id: CqId, flow_tags: bool) -> Result<Receiver, Error> {
    Receiver::new(id, flow_tags).map_err(|error| Error::Receivers { cqn: cq.cqn(), error })
}

/// The number, and the completion queue, if completions of an earlier queue pair with that number lie in it: they would
/// pass for completions of the new one.
pub(in crate::verbs) fn left_behind(numbers: [Qpn; 2], cqs: [&dyn AnyCq<Cq>; 2]) -> Option<(Qpn, &Cq)> {
    let [send_cq, recv_cq] = cqs;
    // As a rule both are one, and need looking at once.
    let numbers = &numbers[..if numbers[0] == numbers[1] { 1 } else { 2 }];
    let cqs = &cqs[..if send_cq.any_id() == recv_cq.any_id() { 1 } else { 2 }];
    numbers.iter().find_map(|&qpn| Some((qpn, cqs.iter().find(|cq| cq.any_holds(qpn.into()))?.any_handle())))
}
