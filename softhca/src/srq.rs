//! Shared receive queues: WQEs linked by index, consumed in the order of the links.
//!
//! Each WQE begins with `struct mlx5_wqe_srq_next_seg` (rdma-core `mlx5dv.h`); the driver links freed WQEs at the tail
//! in any order (`mlx5_free_srq_wqe`), so the link is followed at the time the WQE is consumed.

use crate::context::SrqContext;
use crate::event::Event;
use crate::host::Host;
use crate::memory::HostMemory;
use crate::rq::{RecvWqe, posted, scatter_list, wqe_addr};
use crate::wqe::{DATA_SEG_BYTES, WqeFault};

/// Offset in bytes of the link in the next segment.
const NEXT_WQE_INDEX: usize = 2;

/// An SRQ.
#[derive(Clone, Debug)]
pub struct Srq {
    context: SrqContext,
    /// Index of the next WQE to consume.
    head: u16,
    /// WQEs consumed, 16 bits; the doorbell record counts those posted.
    taken: u16,
    /// Raise the limit event below this; 0 = disarmed.
    limit: u16,
    /// The ring was found inconsistent; the event is raised once.
    failed: bool,
    /// QPs that use it.
    pub(crate) users: u32,
}

impl Srq {
    pub(crate) fn new(context: SrqContext) -> Self {
        Self { limit: context.limit, context, head: 0, taken: 0, failed: false, users: 0 }
    }

    /// What it was created from.
    #[must_use]
    pub fn context(&self) -> &SrqContext {
        &self.context
    }

    /// The armed limit; 0 = disarmed.
    #[must_use]
    pub fn limit(&self) -> u16 {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, limit: u16) {
        self.limit = limit;
    }

    /// Consumes the next WQE. The flag says that the limit was reached.
    fn take(&mut self, memory: &dyn HostMemory) -> Result<Option<(RecvWqe, bool)>, WqeFault> {
        let ring = &self.context.rq;
        let Some(ahead) = posted(ring, self.context.dbr, self.taken, memory)? else {
            return Ok(None);
        };
        let index = self.head;
        let mut bytes = vec![0; 1 << ring.log_stride];
        memory.read(wqe_addr(ring, index), &mut bytes)?;
        let next = u16::from_be_bytes([bytes[NEXT_WQE_INDEX], bytes[NEXT_WQE_INDEX + 1]]);
        let entries = 1u32 << ring.log_size;
        if u32::from(next) >= entries {
            return Err(WqeFault::BadLink { index, next, entries });
        }
        self.head = next;
        self.taken = self.taken.wrapping_add(1);
        let limit_reached = ahead - 1 < self.limit;
        if limit_reached {
            self.limit = 0;
        }
        Ok(Some((RecvWqe { counter: index, segs: scatter_list(&bytes, DATA_SEG_BYTES) }, limit_reached)))
    }
}

impl Host {
    /// Consumes the next WQE of an SRQ, raising the limit event or the error event where due.
    pub(crate) fn take_shared(&mut self, srqn: u32) -> Result<Option<RecvWqe>, WqeFault> {
        let srq = self.srqs.get_mut(srqn).ok_or(WqeFault::NoSrq(srqn))?;
        match srq.take(&*self.memory) {
            Ok(None) => Ok(None),
            Ok(Some((wqe, limit_reached))) => {
                if limit_reached {
                    self.events.push_back(Event::SrqLimit { srqn });
                }
                Ok(Some(wqe))
            }
            Err(fault) => {
                if !std::mem::replace(&mut srq.failed, true) {
                    self.events.push_back(Event::SrqError { srqn });
                }
                Err(fault)
            }
        }
    }
}
