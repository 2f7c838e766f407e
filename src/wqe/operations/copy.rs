//! Copies of memory by the device alone (MMO DMA): the operation and its operands. Knows no queue.
use crate::types::Lkey;
use crate::wqe::error::EncodeError;
use crate::wqe::limits::{Limits, MAX_MEMCPY_BYTES};
use crate::wqe::operations::table::Memcpy;
use crate::wqe::payload::{Payload, Sge};
use crate::wqe::request::Request;
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::{DataSeg, MmoSeg};
use crate::wqe::sink::Sink;

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

/// Source and destination.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    from: Sge,
    to: u64,
    lkey: Lkey,
    max_bytes: u32,
}

impl Sealed for Copied {}
impl Payload for Copied {
    const MAX_DS: Option<usize> = Some(2);
    const INLINE: bool = false;
    // The request uses no entry of the queue. `max_sge: 1` marks it as not inline, so that BlueFlame is decided as for
    // an entry.
    const NEEDS: Limits = Limits { max_sge: 1, ..Limits::NONE };

    #[inline(always)]
    fn ds(&self, _: &Limits) -> Result<usize, EncodeError> {
        if self.has_static_size() { Ok(2) } else { Err(EncodeError::memcpy_size(self.from.length, self.max_bytes)) }
    }

    #[inline(always)]
    fn has_static_size(&self) -> bool {
        // One comparison for both ends: zero wraps to the largest value.
        self.from.length.wrapping_sub(1) < self.max_bytes && self.from.length <= MAX_MEMCPY_BYTES
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        // 0 means 2^31.
        let bytes = self.from.length & (MAX_MEMCPY_BYTES - 1);
        sink.ds(DataSeg::new(bytes, self.from.lkey, self.from.addr).into());
        sink.ds(DataSeg::new(bytes, self.lkey, self.to).into());
    }
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
#[inline]
pub const fn memcpy(opaque: Opaque, from: Sge, to: u64, lkey: Lkey) -> Request<Memcpy, Copied> {
    let segment = MmoSeg::new(opaque.lkey, opaque.addr);
    Request::new(Memcpy { segment }, Copied { from, to, lkey, max_bytes: opaque.max_bytes })
}
