//! Shared receive queues of this crate, over receive memory pools.
//!
//! With ISSI 1, the only version that Linux uses, firmware implements a basic shared receive queue as a receive memory
//! pool (RMP). `ibv_create_srq` therefore makes one (`drivers/infiniband/hw/mlx5/srq_cmd.c`, `create_rmp_cmd`).

use std::sync::Arc;

use blueflame::cq::setup::Reservations;
use blueflame::queue::{Owned, SharedRecvQueue};
use blueflame::types::Srqn;

use super::linked::LinkedRing;
use crate::cmd::{CreateRmpIn, ModifyRmpIn, QueryRmpIn, RmpState, Rmpc, Rmpn};
use crate::context::Object;
use crate::error::Error;
use crate::memory::ThreadRings;
use crate::object::pd::Pd;

/// Handle of a shared receive queue. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Srq {
    handle: Arc<Handle>,
}

/// A shared receive queue of this crate.
pub type OwnedSrq = Owned<SharedRecvQueue, Srq>;

#[derive(Debug)]
struct Handle {
    object: Object,
    rmpn: Rmpn,
    places: Arc<Reservations>,
}

impl Srq {
    /// The number that queue pairs use for it.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        Srqn::truncate(self.handle.rmpn.get())
    }

    /// The places that its receives need where its users complete.
    pub(super) fn places(&self) -> &Arc<Reservations> {
        &self.handle.places
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
        // As Linux does (`drivers/infiniband/hw/mlx5/srq_cmd.c`, `arm_rmp_cmd`).
        let mut inbox = ModifyRmpIn::new();
        inbox.set_rmp_state(RmpState::RDY).set_rmpn(self.handle.rmpn);
        inbox.bitmask_mut().set_lwm(true);
        inbox.ctx_mut().set_state(RmpState::RDY).wq_mut().set_lwm(limit);
        self.object().change(&inbox).map(drop)
    }

    /// Queries the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Rmpc, Error> {
        let mut inbox = QueryRmpIn::new();
        inbox.set_rmpn(self.handle.rmpn);
        Ok(self.object().query(&inbox)?.rmp_context().clone())
    }
}

impl Pd {
    /// Makes a shared receive queue with room for `receives` (1 to 32767) of `sge` scatter entries (1 to 127) each.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::ForeignDevice`], [`Error::Command`], or no memory for the
    /// ring.
    pub fn shared_recv_queue(&self, rings: &ThreadRings, receives: u32, sge: u32) -> Result<OwnedSrq, Error> {
        let ring = Arc::new(LinkedRing::new(self, rings, receives, sge)?);
        let mut inbox = CreateRmpIn::new();
        ring.describe(self, inbox.ctx_mut().set_state(RmpState::RDY).wq_mut());
        let (object, out) = self.context().make(&inbox, (Arc::clone(&ring), self.clone()))?;
        let rmpn = out.rmpn();
        // SAFETY: the device was told of this ring, in this mailbox. The object keeps it, and goes after the queue.
        let queue = unsafe { ring.queue(Srqn::truncate(rmpn.get())) }?;
        let handle = Handle { object, rmpn, places: Arc::new(Reservations::new(ring.capacity())) };
        // SAFETY: the handle keeps the object; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, Srq { handle: Arc::new(handle) }, SharedRecvQueue::ring_addr) })
    }
}
