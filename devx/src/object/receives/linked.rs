//! The ring of a shared receive queue: a linked list of WQEs.

use blueflame::queue::SharedRecvQueue;
use blueflame::queue::recv::{SrqParts, SrqRecord};
use blueflame::types::Srqn;

use crate::check::in_range;
use crate::cmd::{Wq, WqType};
use crate::context::{Context, Under};
use crate::error::Error;
use crate::memory::{Record, Space, ThreadRings};
use crate::object::pd::Pd;
use crate::support::ask::at_least;
use blueflame::queue::Shadow;

/// Bytes of the link at the beginning of each WQE, and of a scatter entry.
const SEGMENT: u32 = 16;

/// A ring with its doorbell record and its queue's shadow: the common part of pools and extended queues.
#[derive(Debug)]
pub(super) struct LinkedRing {
    wqes: u32,
    /// Bytes from one WQE to the next.
    stride: u32,
    ring: Space,
    record: Record,
    shadow: Shadow<SrqRecord>,
}

impl Under for LinkedRing {
    fn check(&self, context: &Context) -> Result<(), Error> {
        self.ring.check(context)?;
        self.record.check(context)
    }
}

impl LinkedRing {
    /// Room for `receives` of `sge` scatter entries each, all WQEs on the free list.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Capability`], or no memory for the ring.
    pub(in crate::object) fn new(pd: &Pd, rings: &ThreadRings, receives: u32, sge: u32) -> Result<Self, Error> {
        in_range("requests of a shared receive queue", receives, 1..=(1 << 15) - 1)?;
        in_range("scatter entries", sge, 1..=127)?;
        let general = pd.context().general()?;
        // The free list always has a WQE to end with.
        let wqes = (receives + 1).next_power_of_two();
        let stride = (SEGMENT * (1 + sge)).next_power_of_two();
        at_least("cmd_hca_cap.log_max_srq_sz", general.log_max_srq_sz(), wqes.trailing_zeros())?;
        at_least("cmd_hca_cap.max_wqe_sz_rq", general.max_wqe_sz_rq(), stride)?;

        let ring = rings.paged_ring(wqes as usize * stride as usize)?;
        for n in 0..wqes as u16 {
            let next = if u32::from(n) + 1 == wqes { 0 } else { n + 1 };
            // SAFETY: the link of a WQE of the ring (`mlx5_wqe_srq_next_seg`), which is ours. The device does not have
            // it yet.
            unsafe {
                ring.start().add(usize::from(n) * stride as usize + 2).cast::<[u8; 2]>().write(next.to_be_bytes())
            };
        }
        Ok(Self { wqes, stride, ring, record: rings.record()?, shadow: Shadow::new(wqes) })
    }

    /// The most receives that it holds.
    pub(super) fn capacity(&self) -> u32 {
        self.wqes - 1
    }

    /// Tells the device of it, in a mailbox.
    pub(in crate::object) fn describe(&self, pd: &Pd, wq: &mut Wq) {
        wq.set_wq_type(WqType::LINKED_LIST)
            .set_pd(pd.pdn())
            .set_log_wq_stride(self.stride.trailing_zeros() as u8)
            .set_log_wq_sz(self.wqes.trailing_zeros() as u8)
            .set_wq_umem_valid(true)
            .set_wq_umem_id(self.ring.umem())
            .set_wq_umem_offset(self.ring.offset())
            .set_dbr_umem_valid(true)
            .set_dbr_umem_id(self.record.umem())
            .set_dbr_addr(self.record.offset());
    }

    /// The queue over it.
    ///
    /// # Errors
    /// [`Error::Parts`].
    ///
    /// # Safety
    /// The device knows the ring as that of `number`. Called once, and `self` outlives the queue.
    pub(in crate::object) unsafe fn queue(&self, number: Srqn) -> Result<SharedRecvQueue, Error> {
        let parts = SrqParts {
            buf: self.ring.start(),
            wqe_cnt: self.wqes,
            stride: self.stride,
            head: 0,
            tail: self.wqes - 1,
            dbrec: self.record.start(),
            srqn: number,
            counter: 0,
            shadow: self.shadow.start(),
        };
        // SAFETY: the caller promises that the device knows the ring as that of `number`, that this is called once, and
        // that `self` outlives the queue. Nothing was posted, and nobody else posts.
        unsafe { SharedRecvQueue::from_parts(parts) }
            .map_err(|error| Error::Parts { object: "shared receive queue", why: error.to_string() })
    }
}
