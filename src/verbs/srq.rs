//! Shared receive queues.

use core::ptr::NonNull;
use std::sync::Arc;

use rdma_sys as sys;

use super::error::{in_range, non_null, zero};
use super::parts::{self, Shadow, fits, part};
use super::pd::PdHandle;
use super::{Error, Owned, ProtectionDomain};
use crate::queue::{SharedRecvQueue, SrqParts, SrqRecord};
use crate::types::Srqn;

/// Handle of a shared receive queue (`ibv_srq`): what queue pairs are made with. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Srq {
    pub(crate) handle: Arc<SrqHandle>,
}

/// A shared receive queue of this crate over an `ibv_srq`.
pub type OwnedSrq = Owned<SharedRecvQueue, Srq>;

#[derive(Debug)]
pub(crate) struct SrqHandle {
    raw: NonNull<sys::ibv_srq>,
    srqn: Srqn,
    shadow: Option<Shadow<SrqRecord>>,
    _pd: Arc<PdHandle>,
}

// SAFETY: used only to make queue pairs and to be destroyed once; libibverbs locks both.
unsafe impl Send for SrqHandle {}
// SAFETY: as above.
unsafe impl Sync for SrqHandle {}

impl Drop for SrqHandle {
    fn drop(&mut self) {
        // SAFETY: made by `ibv_create_srq`; the queue pairs of it held this object and are gone, and so is the queue over
        // its ring (`Owned`).
        unsafe { sys::ibv_destroy_srq(self.raw.as_ptr()) };
    }
}

impl Srq {
    /// The shared receive queue's number.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        self.handle.srqn
    }

    /// Asks for [`SrqEvent::LimitReached`](super::SrqEvent::LimitReached), once, when fewer than `receives` are posted: at once if
    /// it is so already. 0 takes the question back.
    ///
    /// # Errors
    /// More than the queue holds, or a failed call.
    pub fn arm_limit(&self, receives: u32) -> Result<(), Error> {
        let mut attr = sys::ibv_srq_attr { max_wr: 0, max_sge: 0, srq_limit: 0 };
        // SAFETY: alive; the structure is ours.
        zero("ibv_query_srq", unsafe { sys::ibv_query_srq(self.as_raw(), &raw mut attr) })?;
        in_range("limit of a shared receive queue", receives.into(), 0..=attr.max_wr.into())?;
        attr.srq_limit = receives;
        let mask = sys::ibv_srq_attr_mask::IBV_SRQ_LIMIT.0.cast_signed();
        // SAFETY: as above.
        zero("ibv_modify_srq", unsafe { sys::ibv_modify_srq(self.as_raw(), &raw mut attr, mask) })?;
        Ok(())
    }

    /// The raw shared receive queue; alive as long as `self`. Posting to it with libibverbs mixes up both.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_srq {
        self.handle.raw.as_ptr()
    }
}

impl ProtectionDomain {
    /// Makes a shared receive queue of at least `receives` requests of at most `max_sge` scatter entries each.
    ///
    /// # Errors
    /// A size the device does not have, or a failed call.
    pub fn shared_recv_queue(&self, receives: u32, max_sge: u32) -> Result<OwnedSrq, Error> {
        const OBJECT: &str = "shared receive queue";
        parts::unsigned(OBJECT, c"MLX5_SRQ_SIGNATURE")?;
        let limits = self.handle.context.attr();
        in_range("receives of a shared receive queue", receives.into(), 1..=limits.max_srq_wr.into())?;
        in_range("scatter entries of a shared receive queue", max_sge.into(), 1..=limits.max_srq_sge.into())?;
        let mut attr = sys::ibv_srq_init_attr {
            srq_context: core::ptr::null_mut(),
            attr: sys::ibv_srq_attr { max_wr: receives, max_sge, srq_limit: 0 },
        };
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = non_null("ibv_create_srq", unsafe { sys::ibv_create_srq(self.handle.raw(), &raw mut attr) })?;
        let mut handle = SrqHandle { raw, srqn: Srqn::truncate(0), shadow: None, _pd: Arc::clone(&self.handle) };
        // SAFETY: just made, by libmlx5.
        let raw = unsafe { parts::of_srq(handle.raw) }?;
        handle.srqn = fits(OBJECT, "number", raw.srqn, Srqn::new(raw.srqn))?;
        // For its asynchronous events, which have the structure's address only: this field is the user's.
        // SAFETY: just made; nothing of libibverbs reads or writes the field again.
        unsafe { (*handle.raw.as_ptr()).srq_context = core::ptr::without_provenance_mut(raw.srqn as usize) };
        // Nothing was posted yet, so the last free WQE is the last there is; what libmlx5 allocates behind it is its own
        // ("wait queue" in `mlx5_alloc_srq_buf`).
        let wqe_cnt = raw.tail.saturating_add(1);
        let shadow = Shadow::new(wqe_cnt);
        let parts = SrqParts {
            buf: part(OBJECT, "ring", raw.buf)?,
            wqe_cnt,
            stride: raw.stride,
            head: raw.head,
            tail: raw.tail,
            dbrec: part(OBJECT, "doorbell record", raw.dbrec)?,
            srqn: handle.srqn,
            counter: 0,
            shadow: shadow.start(),
        };
        handle.shadow = Some(shadow);
        // SAFETY: libmlx5 describes its own ring; nothing was posted to it, nobody else will post (`Srq::as_raw` warns), and
        // ring and shadow live in the handle, which goes after the queue (`Owned`).
        let queue = unsafe { SharedRecvQueue::from_parts(parts) }
            .map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
        // SAFETY: the handle keeps the shared receive queue; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, Srq { handle: Arc::new(handle) }, SharedRecvQueue::ring_addr) })
    }
}
