//! Extended receive queues (XRQ): shared receive queues with a completion queue of their own, and with tag matching or
//! without.

use std::sync::Arc;

use blueflame::cq::setup::Reservations;
use blueflame::queue::{Owned, SharedRecvQueue};
use blueflame::types::Srqn;

use super::linked::LinkedRing;
use crate::cmd::{ArmXrqIn, CreateXrqIn, QueryXrqIn, Xrqc, Xrqn};
use crate::context::Object;
use crate::error::Error;
use crate::memory::ThreadRings;
use crate::object::check_cq::receiver;
use crate::object::cq::Cq;
use crate::object::pd::Pd;
use crate::support::ask::at_least;

/// Handle of an extended receive queue. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Xrq {
    handle: Arc<Handle>,
}

/// An extended receive queue of this crate. Posted to like any shared receive queue.
pub type OwnedXrq = Owned<SharedRecvQueue, Xrq>;

#[derive(Debug)]
struct Handle {
    object: Object,
    xrqn: Xrqn,
    /// `None`: it has reserved places itself.
    places: Option<Arc<Reservations>>,
}

impl Xrq {
    /// The number that queue pairs use for it.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        Srqn::truncate(self.handle.xrqn.get())
    }

    /// The places that its receives need where its users complete, if they complete there.
    pub(super) fn places(&self) -> Option<&Arc<Reservations>> {
        self.handle.places.as_ref()
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// Requests an event ([`SRQ_RQ_LIMIT`](crate::EventType::SRQ_RQ_LIMIT)) when fewer than `limit` receives are
    /// posted. The event comes once: request it again afterwards.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn arm(&self, limit: u16) -> Result<(), Error> {
        let mut inbox = ArmXrqIn::new();
        inbox.set_xrqn(self.handle.xrqn).set_lwm(limit);
        self.object().change(&inbox).map(drop)
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Xrqc, Error> {
        let mut inbox = QueryXrqIn::new();
        inbox.set_xrqn(self.handle.xrqn);
        Ok(self.object().query(&inbox)?.xrq_context().clone())
    }
}

impl Pd {
    /// Makes an extended receive queue with room for `receives` (1 to 32767) of `sge` scatter entries (1 to 127) each.
    ///
    /// The context of the queue names `cq`. It must be there, although only [tag matching](Self::tag_matching) uses it,
    /// which this queue lacks. Receives complete on the completion queue of their queue pair, as with every shared
    /// receive queue.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::ForeignDevice`], [`Error::Receivers`],
    /// [`Error::Command`], or no memory for the ring.
    pub fn extended_recv_queue(
        &self,
        rings: &ThreadRings,
        cq: &Cq,
        receives: u32,
        sge: u32,
    ) -> Result<OwnedXrq, Error> {
        self.xrq((rings, cq), (receives, sge), None, |_| ())
    }

    /// Makes an extended receive queue with the settings of `change`. With `tags`, its receives and that many tags
    /// complete on `cq`.
    pub(in crate::object) fn xrq(
        &self,
        (rings, cq): (&ThreadRings, &Cq),
        (receives, sge): (u32, u32),
        tags: Option<u32>,
        change: impl FnOnce(&mut Xrqc),
    ) -> Result<OwnedXrq, Error> {
        let context = self.context();
        at_least("cmd_hca_cap.log_max_xrq", context.general()?.log_max_xrq(), 1_u8)?;
        let ring = Arc::new(LinkedRing::new(self, rings, receives, sge)?);
        let mut inbox = CreateXrqIn::new();
        let xrqc = inbox.xrq_context_mut().set_cqn(cq.cqn());
        change(xrqc);
        ring.describe(self, xrqc.wq_mut());
        // A tagged message has two completions at most.
        let completions = tags.map(|tags| cq.reserve(ring.capacity() + 2 * tags)).transpose()?;
        let places = completions.is_none().then(|| Arc::new(Reservations::new(ring.capacity())));
        let under = (receiver(cq)?, completions, Arc::clone(&ring), cq.clone(), self.clone());
        let (object, out) = context.make(&inbox, under)?;
        let xrqn = out.xrqn();
        // SAFETY: the device was told of this ring, in this mailbox. The object keeps it, and goes after the queue.
        let queue = unsafe { ring.queue(Srqn::truncate(xrqn.get())) }?;
        let handle = Handle { object, xrqn, places };
        // SAFETY: the handle keeps the object; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, Xrq { handle: Arc::new(handle) }, SharedRecvQueue::ring_addr) })
    }
}
