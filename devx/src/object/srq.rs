//! Shared receive queues of this crate, over receive memory pools.
//!
//! A basic shared receive queue is a receive memory pool (RMP) to firmware with ISSI 1, which is all that Linux uses: so
//! `ibv_create_srq` makes one (`drivers/infiniband/hw/mlx5/srq_cmd.c`, `create_rmp_cmd`).

use std::sync::Arc;

use blueflame::queue::{Owned, SharedRecvQueue, SrqParts, SrqRecord};
use blueflame::types::Srqn;

use super::pd::Pd;
use super::shadow::Shadow;
use crate::ask::at_least;
use crate::check::in_range;
use crate::cmd::{CreateRmpIn, ModifyRmpIn, QueryRmpIn, RmpState, Rmpc, Rmpn, WqType};
use crate::context::Object;
use crate::error::Error;
use crate::memory::{Record, Space, ThreadRings};

/// Handle of a shared receive queue. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Srq {
    handle: Arc<Handle>,
}

/// A shared receive queue of this crate.
pub type OwnedSrq = Owned<SharedRecvQueue, Srq>;

/// Fields are dropped from first to last: the object goes before what it stands on.
#[derive(Debug)]
struct Handle {
    object: Object,
    rmpn: Rmpn,
    _shadow: Shadow<SrqRecord>,
    _ring: Space,
    _record: Record,
    _pd: Pd,
}

impl Srq {
    /// The number that queue pairs have for it.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        Srqn::truncate(self.handle.rmpn.get())
    }

    /// The object: for commands, and events.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.handle.object
    }

    /// Asks for an event ([`SRQ_RQ_LIMIT`](crate::EventType::SRQ_RQ_LIMIT)) when fewer than `limit` receives are posted. Once: ask again
    /// after it.
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

    /// Asks the device for the context.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn query(&self) -> Result<Rmpc, Error> {
        let mut inbox = QueryRmpIn::new();
        inbox.set_rmpn(self.handle.rmpn);
        Ok(self.object().query(&inbox)?.rmp_context().clone())
    }
}

/// Bytes of the link that each WQE begins with, and of a scatter entry.
const SEGMENT: u32 = 16;

impl Pd {
    /// Makes a shared receive queue with room for `receives` (1 to 32767) of `sge` scatter entries (1 to 127) each.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], [`Error::Command`], or no memory for the ring.
    pub fn shared_recv_queue(&self, rings: &ThreadRings, receives: u32, sge: u32) -> Result<OwnedSrq, Error> {
        let context = self.context();
        if !context.is(rings.rings().context()) {
            return Err(Error::Foreign { object: "memory of rings", of: "device" });
        }
        in_range("requests of a shared receive queue", receives, 1..=(1 << 15) - 1)?;
        in_range("scatter entries", sge, 1..=127)?;
        let general = context.general()?;
        // The free list always has a WQE to end with.
        let wqes = (receives + 1).next_power_of_two();
        let stride = (SEGMENT * (1 + sge)).next_power_of_two();
        at_least("cmd_hca_cap.log_max_srq_sz", general.log_max_srq_sz(), wqes.trailing_zeros())?;
        at_least("cmd_hca_cap.max_wqe_sz_rq", general.max_wqe_sz_rq(), stride)?;

        let ring = rings.paged_ring(wqes as usize * stride as usize)?;
        let record = rings.record()?;
        for n in 0..wqes as u16 {
            let next = if u32::from(n) + 1 == wqes { 0 } else { n + 1 };
            // SAFETY: the link of a WQE of the ring (`mlx5_wqe_srq_next_seg`), which is ours. The device does not have it yet.
            unsafe {
                ring.start().add(usize::from(n) * stride as usize + 2).cast::<[u8; 2]>().write(next.to_be_bytes())
            };
        }

        let mut inbox = CreateRmpIn::new();
        let (offset, _) = ring.page();
        let context_of = inbox.ctx_mut().set_state(RmpState::RDY).wq_mut();
        context_of
            .set_wq_type(WqType::LINKED_LIST)
            .set_pd(self.pdn())
            .set_log_wq_stride(stride.trailing_zeros() as u8)
            .set_log_wq_sz(wqes.trailing_zeros() as u8)
            .set_wq_umem_valid(true)
            .set_wq_umem_id(ring.umem())
            .set_wq_umem_offset(offset)
            .set_dbr_umem_valid(true)
            .set_dbr_umem_id(record.umem())
            .set_dbr_addr(record.offset());
        let (object, out) = context.make(&inbox)?;

        let shadow = Shadow::new(wqes);
        let parts = SrqParts {
            buf: ring.start(),
            wqe_cnt: wqes,
            stride,
            head: 0,
            tail: wqes - 1,
            dbrec: record.start(),
            srqn: Srqn::truncate(out.rmpn().get()),
            counter: 0,
            shadow: shadow.start(),
        };
        let handle =
            Handle { object, rmpn: out.rmpn(), _shadow: shadow, _ring: ring, _record: record, _pd: self.clone() };
        // SAFETY: the device was told of this ring and record; they, and the shadow, live in the handle, which goes after the queue;
        // nothing was posted, and nobody else posts.
        let queue = unsafe { SharedRecvQueue::from_parts(parts) }
            .map_err(|error| Error::Parts { object: "shared receive queue", why: error.to_string() })?;
        // SAFETY: the handle keeps the object; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, Srq { handle: Arc::new(handle) }, SharedRecvQueue::ring_addr) })
    }
}
