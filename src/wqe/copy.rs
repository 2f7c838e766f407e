//! Copies of memory by the device alone (MMO DMA). Knows no queue.
use crate::types::Lkey;
use crate::wqe::data::{Named, Sge};
use crate::wqe::error::EncodeError;
use crate::wqe::limits::MAX_MEMCPY_BYTES;
use crate::wqe::request::Request;
use crate::wqe::seg::{DataSeg, MmoSeg};
use crate::wqe::table::Memcpy;

/// The memory that a device needs for copies, and the most bytes that it copies at once. `verbs::memory::Copier` has
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opaque {
    /// Address of [`Opaque::BYTES`] bytes that belong to the device while it copies; it may write to them. Any number
    /// of requests may name the same bytes.
    pub addr: u64,
    /// The key of those bytes.
    pub lkey: Lkey,
    /// Most bytes of a copy: `log_dma_mmo_max_size` of the device's capabilities, as a number of bytes.
    pub max_bytes: u32,
}

impl Opaque {
    /// Bytes of that memory. It begins at a multiple of this number (rdma-core `providers/mlx5/verbs.c`,
    /// `MLX5_OPAQUE_BUF_LEN`).
    pub const BYTES: u32 = 64;
}

/// Has the device copy the memory that `from` names to the address `to` by the key `lkey`. Both are memory of this
/// side, and the key behind `to` must permit local writes. The copy does not involve the peer, which need not exist.
/// Source and destination must not overlap.
///
/// Requests that need the copied bytes must wait: give the next of them a [`Fence`](crate::wqe::Fence) that waits for
/// READs, as `mlx5dv_wr_post(3)` says of memcpy. `opaque` belongs to the queue's protection domain. The request names
/// memory, including that of `opaque`: post it by the `unsafe` methods.
///
/// Devices with this operation report it (`dma_mmo_sq`, `dma_mmo_qp`). Some have it only on queue pairs that were made
/// for it; with verbs, by `QpBuilder::memcpy`.
///
/// ```
/// use blueflame::wqe::{self, Fence};
/// use blueflame::wqe::operations::Opaque;
/// use blueflame::{Lkey, PostError, SendQueue, Sge, WrId, transport};
///
/// /// Copies a page, and sends the copy.
/// fn snapshot(sq: &mut SendQueue<transport::Rc>, opaque: Opaque, page: Sge, copy: Sge) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     // SAFETY: all three stay registered until the second request is done, and nobody else uses the copy.
///     unsafe {
///         batch.push_unchecked(&wqe::memcpy(opaque, page, copy.addr, copy.lkey))?;
///         batch.push_unchecked(&wqe::send().gather([copy]).fence(Fence::SmallAndReads).signaled(WrId(1)))?;
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0277
/// # use blueflame::wqe;
/// # use blueflame::wqe::operations::Opaque;
/// # use blueflame::{SendQueue, Sge, transport};
/// # fn copy(sq: &mut SendQueue<transport::Rc>, opaque: Opaque, from: Sge, to: Sge) {
/// let _ = sq.post(&wqe::memcpy(opaque, from, to.addr, to.lkey)); // it names memory
/// # }
/// ```
#[doc(alias("mlx5dv_wr_memcpy", "MMO"))]
#[inline(always)]
pub fn memcpy(opaque: Opaque, from: Sge, to: u64, lkey: Lkey) -> Request<'static, Memcpy, Named> {
    // One comparison for both ends: zero wraps to the largest value.
    let fits = from.length.wrapping_sub(1) < opaque.max_bytes && from.length <= MAX_MEMCPY_BYTES;
    let fault = if fits { None } else { Some(EncodeError::memcpy_size(from.length, opaque.max_bytes)) };
    // 0 means 2^31.
    let bytes = from.length & (MAX_MEMCPY_BYTES - 1);
    Request::new([
        MmoSeg::new(opaque.lkey, opaque.addr).into(),
        DataSeg::new(bytes, from.lkey, from.addr).into(),
        DataSeg::new(bytes, lkey, to).into(),
    ])
    .refused_if(fault)
}
