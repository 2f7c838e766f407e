//! The receive queue of a queue pair: buffers posted in order, consumed in order.
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::types::WrId;

/// A receive queue's raw parts, as `mlx5dv_init_obj` (`mlx5dv_qp::rq`, `mlx5dv_rwq`), DevX or the software device give
/// them.
///
/// A plain description; [`RecvQueue::from_parts`] checks what can be checked and says in its "Safety" section what
/// cannot.
#[derive(Clone, Copy, Debug)]
pub struct RqParts {
    /// The first WQE (`mlx5dv_qp::rq.buf`), 16-byte aligned.
    pub buf: NonNull<u8>,
    /// How many WQEs the ring holds (`mlx5dv_qp::rq.wqe_cnt`): a power of two, 1 to 32768.
    pub wqe_cnt: u32,
    /// Bytes from one WQE to the next (`mlx5dv_qp::rq.stride`): a power of two, 16 to 4096. A WQE holds `stride / 16`
    /// scatter entries.
    pub stride: u32,
    /// The doorbell record's first word (`mlx5dv_qp::dbrec`), 4-byte aligned; the receive queue's is word 0.
    pub dbrec: NonNull<u32>,
    /// The receive counter the device has been told so far: 0 for a queue nothing was posted to since RESET.
    pub head: u16,
    /// Private memory of at least `wqe_cnt` tags; its contents do not matter.
    pub shadow: NonNull<MaybeUninit<WrId>>,
}
