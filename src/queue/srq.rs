//! The shared receive queue: buffers for many queue pairs, kept in a linked list because they complete in any order.
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::types::{Srqn, WrId};

/// A shared receive queue's raw parts, as `mlx5dv_init_obj` (`mlx5dv_srq`), DevX or the software device give them.
///
/// A plain description; [`SharedRecvQueue::from_parts`] checks what can be checked and says in its "Safety" section
/// what cannot.
#[derive(Clone, Copy, Debug)]
pub struct SrqParts {
    /// WQE 0 (`mlx5dv_srq::buf`), 16-byte aligned.
    pub buf: NonNull<u8>,
    /// How many WQEs, counted from WQE 0, the free list may link: 2 to 32768. `mlx5dv_srq` does not say; on a queue
    /// that nothing was posted to it is `tail + 1` (libmlx5 keeps the WQEs behind the first tail for itself).
    pub wqe_cnt: u32,
    /// Bytes from one WQE to the next (`mlx5dv_srq::stride`): a power of two, 32 to 4096. The first 16 are the link, the
    /// rest holds `stride / 16 - 1` scatter entries.
    pub stride: u32,
    /// The index of the first free WQE (`mlx5dv_srq::head`).
    pub head: u32,
    /// The index of the last free WQE (`mlx5dv_srq::tail`); it stays free, so that the list never runs empty.
    pub tail: u32,
    /// The doorbell record, one word (`mlx5dv_srq::dbrec`), 4-byte aligned.
    pub dbrec: NonNull<u32>,
    /// The shared receive queue's number, 24 bits.
    pub srqn: Srqn,
    /// The receive counter the device has been told so far: 0 for a queue that nothing was posted to.
    pub counter: u16,
    /// Private memory of at least `wqe_cnt` records; its contents do not matter. See [`SrqRecord`].
    pub shadow: NonNull<MaybeUninit<SrqRecord>>,
}

/// What the driver must remember of one WQE of a shared receive queue, in private memory that the device cannot reach.
#[derive(Clone, Copy, Debug)]
pub struct SrqRecord {
    /// The application's tag, handed back with the completion.
    wr_id: WrId,
    /// The next WQE of the free list; see [`POSTED`].
    next: u16,
}
