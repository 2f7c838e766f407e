//! Striding receive queues.

use blueflame::queue::striding::{StridedMemory, StridingParts, StridingRecvQueue};
use blueflame::queue::{AnyCq, Owned};
use blueflame::types::Qpn;

use super::queues::Rq;
use crate::check::in_range;
use crate::error::Error;
use crate::memory::ThreadRings;
use crate::object::cq::Cq;
use crate::object::pd::Pd;
use crate::support::ask::has;
use crate::support::strides;
use blueflame::queue::Shadow;

/// A striding receive queue of frames. Its handle is that of any receive queue of frames.
pub type OwnedStridingRq = Owned<StridingRecvQueue, Rq>;

/// Bytes of a WQE: a segment of a linked list, and a data segment.
const WQE_BYTES: u32 = 32;

impl Pd {
    /// Makes a receive queue each of whose receives takes many frames, in strides of `memory`
    /// ([`Buffer::strided`](blueflame::verbs::Buffer::strided) of this domain). It is ready to receive, and its buffers
    /// are posted: `receives` of them at a time, 2 at least.
    ///
    /// It must be the only receiver of `cq`, as for [`recv_queue`](Self::recv_queue). `cq` must have room for a
    /// completion of each stride that is posted.
    ///
    /// # Errors
    /// As [`recv_queue`](Self::recv_queue); [`Error::Setup`], [`Error::NoStrides`].
    pub fn striding_recv_queue(
        &self,
        rings: &ThreadRings,
        cq: &dyn AnyCq<Cq>,
        receives: u32,
        memory: StridedMemory,
    ) -> Result<OwnedStridingRq, Error> {
        in_range("requests of a striding receive queue", receives, 2..=1 << 15)?;
        let general = self.context().general()?;
        has("cmd_hca_cap.striding_rq", general.striding_rq())?;
        let own = memory.strides();
        if let Some(limits) = strides::limits(&general) {
            limits.check(own)?;
        }
        if !cq.any_tells_strides() {
            return Err(Error::NoStrides { cqn: cq.any_handle().cqn() });
        }
        let wqes = receives.next_power_of_two();
        let made = self.make_rq(rings, cq, (receives, WQE_BYTES), Some(&memory))?;
        let shadow = Shadow::new(wqes);
        let parts = StridingParts {
            buf: made.start,
            wqe_cnt: wqes,
            stride: WQE_BYTES,
            dbrec: made.dbrec,
            qpn: Qpn::truncate(made.rqn.get()),
            cq: cq.any_id(),
            shadow: shadow.start(),
        };
        let handle = made.into_handle(shadow);
        // SAFETY: the device was told of this ring, of this record, and of the strides. The object keeps them, and a
        // guard of the memory; the handle keeps the shadow. Both go after the queue. Nothing else receives there, and
        // no receive of an earlier queue is left.
        let mut queue = unsafe { StridingRecvQueue::from_parts(parts, memory) }
            .map_err(|error| Error::Parts { object: "striding receive queue", why: error.to_string() })?;
        queue.limit_depth(receives);
        queue.refill();
        // SAFETY: the handle keeps the object; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, handle, StridingRecvQueue::ring_addr) })
    }
}
