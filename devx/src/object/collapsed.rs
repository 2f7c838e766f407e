//! Completion queues that keep the latest completion alone.

use blueflame::cq::CollapsedQueue;
use blueflame::queue::Owned;

use super::cq::{Cq, parts_error};
use super::uar::DoorbellPage;
use crate::error::Error;
use crate::memory::ThreadRings;

/// A collapsed completion queue of this crate.
pub type OwnedCollapsed = Owned<CollapsedQueue, Cq>;

impl ThreadRings {
    /// Makes a completion queue for one send queue: each completion replaces the one before ([`CollapsedQueue`]).
    ///
    /// Give it to the builder of the queue pair, or to [`Pd::send_queue`](super::Pd::send_queue), as the completion
    /// queue of sends. Nothing can receive there ([`Error::CollapsedReceives`]). One send queue at a time completes
    /// there. Before another one may, the first is [reset](super::QueuePair::reset) and dropped
    /// ([`Error::CollapsedInUse`]).
    ///
    /// # Errors
    /// [`Error::Capability`] if the device does not let queues ignore overruns, [`Error::ForeignDevice`],
    /// [`Error::Command`], or no memory for it.
    pub fn collapsed_queue(&self, page: &DoorbellPage) -> Result<OwnedCollapsed, Error> {
        // SAFETY: the queue has one place, whose completions may be replaced.
        let made = unsafe { self.completion_queue(page, 1).ignore_overrun() }.make(1, true)?;
        // SAFETY: the device was told of this place, which the object keeps; nobody else polls it. `Cq::reserve` lets
        // one send queue complete there, `check_cq` lets nothing receive there.
        let queue =
            unsafe { CollapsedQueue::from_parts(made.parts) }.map_err(|error| parts_error(error.to_string()))?;
        let cq = Cq::new(made, queue.id(), 1, true);
        // SAFETY: the handle keeps the completion queue; this is the only queue over its place.
        Ok(unsafe { Owned::new(queue, cq, CollapsedQueue::ring_addr) })
    }
}
