//! The segment of tag matching: an operation on a list of tagged buffers. Knows no request.
use crate::arch::ds::DsWords;
use crate::layout::{Be16, Be64};
use crate::types::DS_BYTES;

layout! {
    /// Tag matching segment, its first half (rdma-core `providers/mlx5/mlx5dv.h`, `struct mlx5_wqe_tm_seg`).
    ///
    /// ```text
    ///   0  what is done (4), 0 (4)
    ///   1  a completion is asked for (1), the count is valid (1), 0 (6)
    ///   2  index of an entry of the list (16)
    ///   4  0 (16)
    ///   6  unexpected messages that software has seen (16)
    ///   8  0 (64)
    /// ```
    #[doc(alias = "mlx5_wqe_tm_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct TmSeg[DS_BYTES] {
        /// The operation in bits 7:4: 0 nothing, 1 append, 2 remove (`MLX5_TM_OPCODE_*`).
        0 => pub opcode: u8,
        /// [`tm::CQE_REQ`], [`tm::SW_CNT`].
        1 => pub flags: u8,
        /// For an append, the entry that the next append takes. For a removal, the entry to remove.
        2 => pub index: Be16,
        /// Zero.
        4 => pub rsvd0: [u8; 2],
        /// Unexpected messages that software has seen, modulo 2^16, or zero.
        6 => pub sw_cnt: Be16,
        /// Zero.
        8 => pub rsvd1: Be64,
    }
}

layout! {
    /// The second half of a tag matching segment.
    ///
    /// ```text
    ///   0  tag (64)
    ///   8  mask (64)
    /// ```
    #[doc(alias = "mlx5_wqe_tm_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct TmTagSeg[DS_BYTES] {
        /// The value to compare with a message's tag. Zero if nothing is appended.
        0 => pub append_tag: Be64,
        /// Mask of the compared bits.
        8 => pub append_mask: Be64,
    }
}

/// Values of [`TmSeg`]'s fields (rdma-core `providers/mlx5/mlx5.h`, `MLX5_TM_OPCODE_*`, `MLX5_SRQ_FLAG_TM_*`).
pub mod tm {
    /// `MLX5_TM_OPCODE_NOP`, as it is in the segment.
    pub const NOP: u8 = 0;
    /// `MLX5_TM_OPCODE_APPEND`, as it is in the segment.
    pub const APPEND: u8 = 1 << 4;
    /// `MLX5_TM_OPCODE_REMOVE`, as it is in the segment.
    pub const REMOVE: u8 = 2 << 4;
    /// `MLX5_SRQ_FLAG_TM_CQE_REQ`: a completion is asked for.
    pub const CQE_REQ: u8 = 1 << 7;
    /// `MLX5_SRQ_FLAG_TM_SW_CNT`: the count is valid.
    pub const SW_CNT: u8 = 1 << 6;
}

impl TmSeg {
    #[inline]
    pub(in crate::wqe) const fn new(opcode: u8, index: u16) -> Self {
        Self { opcode, flags: 0, index: Be16::new(index), rsvd0: [0; 2], sw_cnt: Be16::new(0), rsvd1: Be64::new(0) }
    }
}

impl TmTagSeg {
    #[inline]
    pub(in crate::wqe) const fn new(tag: u64, mask: u64) -> Self {
        Self { append_tag: Be64::new(tag), append_mask: Be64::new(mask) }
    }
}

impl From<TmSeg> for DsWords {
    #[inline]
    fn from(seg: TmSeg) -> Self {
        let [high, low] = seg.index.get().to_be_bytes();
        let [count_high, count_low] = seg.sw_cnt.get().to_be_bytes();
        let [zero, zero2] = seg.rsvd0;
        let first = u64::from_ne_bytes([seg.opcode, seg.flags, high, low, zero, zero2, count_high, count_low]);
        Self([first, seg.rsvd1.to_bits()])
    }
}

impl From<TmTagSeg> for DsWords {
    #[inline]
    fn from(seg: TmTagSeg) -> Self {
        Self([seg.append_tag.to_bits(), seg.append_mask.to_bits()])
    }
}
