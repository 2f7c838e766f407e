//! The raw parts of a receive queue.
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::cq::CqId;
use crate::types::Qpn;

/// A receive queue's raw parts, as `mlx5dv_init_obj` (`mlx5dv_qp::rq`, `mlx5dv_rwq`), DevX or the software device give
/// them.
///
/// [`RecvQueue::from_parts`](crate::RecvQueue::from_parts) checks them as far as possible; its "Safety" section lists
/// the conditions that you vouch for.
#[doc(alias = "mlx5dv_rwq")]
#[derive(Clone, Copy, Debug)]
pub struct RqParts {
    /// The first WQE (`mlx5dv_qp::rq.buf`), 16-byte aligned. Without a ring, any address that is the queue pair's
    /// alone, such as that of its doorbell record.
    pub buf: NonNull<u8>,
    /// How many WQEs the ring holds (`mlx5dv_qp::rq.wqe_cnt`): a power of two, 1 to 32768. Zero if there is no ring,
    /// because receives come from a shared queue, or there are none: the queue is always full then.
    pub wqe_cnt: u32,
    /// Bytes from one WQE to the next (`mlx5dv_qp::rq.stride`): a power of two, 16 to 4096. A WQE holds `stride / 16`
    /// scatter entries. Without a ring, it does not matter.
    pub stride: u32,
    /// The doorbell record's first word (`mlx5dv_qp::dbrec`), 4-byte aligned; the receive queue's is word 0.
    pub dbrec: NonNull<u32>,
    /// The queue's number, 24 bits: the queue pair's, or, for a raw packet queue pair, its receive queue's
    /// (`mlx5dv_qp::rqn`).
    pub qpn: Qpn,
    /// The completion queue that receives complete to: [`CompletionQueue::id`](crate::CompletionQueue::id). Completions
    /// of others retire nothing. [`CqId::NONE`] if it is no queue of this crate.
    pub cq: CqId,
    /// Whether completions carry a flow tag in place of the number, as those of frames do (`ibv_wc_read_flow_tag`). The
    /// flow tag is 0, or that of the rule that delivered the frame. Then every receive that completes to `cq` is this
    /// queue's.
    pub flow_tags: bool,
    /// The receive counter the device has been told so far: 0 for a queue nothing was posted to since RESET.
    pub head: u16,
    /// Private memory of at least [`shadow_words`](Self::shadow_words) words; its contents do not matter.
    pub shadow: NonNull<MaybeUninit<u64>>,
}

impl RqParts {
    /// Words of private memory for a ring of `wqe_cnt` WQEs: an identifier for each WQE, and a bit for each that says
    /// whether it completed before an older one.
    #[must_use]
    pub const fn shadow_words(wqe_cnt: u32) -> u32 {
        wqe_cnt + wqe_cnt.div_ceil(u64::BITS)
    }
}
