//! The segments of atomics: their operands. Each has its field map (byte offsets, big endian) and its layout, which
//! assertions hold to the map. Knows no request.
use crate::layout::{Be32, Be64, Be128};
use crate::types::DS_BYTES;

layout! {
    /// Atomic segment (`struct mlx5_wqe_atomic_seg`).
    ///
    /// ```text
    ///   0  value to swap in, or to add (64)
    ///   8  value to compare with (64)
    /// ```
    #[doc(alias("mlx5_wqe_atomic_seg", "mlx5_wqe_masked_atomic_seg"))]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct AtomicSeg[DS_BYTES] {
        /// The value to store (compare and swap) or to add (fetch and add).
        0 => pub swap_add: Be64,
        /// The value to compare with; not read by the device for fetch and add.
        8 => pub compare: Be64,
    }
}

layout! {
    /// Segment of a masked compare and swap of 4 bytes (UCX `src/uct/ib/mlx5/ib_mlx5.h`,
    /// `struct uct_ib_mlx5_atomic_masked_cswap32_seg`). For 8 bytes it is two [`AtomicSeg`]s: values, then masks
    /// (rdma-core `providers/mlx5/wqe.h`, `struct mlx5_wqe_masked_atomic_seg`).
    ///
    /// ```text
    ///   0  value to swap in (32)
    ///   4  value to compare with (32)
    ///   8  mask of the bits to swap (32)
    ///  12  mask of the bits to compare (32)
    /// ```
    #[doc(alias = "uct_ib_mlx5_atomic_masked_cswap32_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct MaskedSwap32Seg[DS_BYTES] {
        /// The value to store.
        0 => pub swap: Be32,
        /// The value to compare with.
        4 => pub compare: Be32,
        /// Mask of the bits that are stored; the other bits do not change.
        8 => pub swap_mask: Be32,
        /// Mask of the bits that are compared.
        12 => pub compare_mask: Be32,
    }
}

layout! {
    /// Segment of a masked fetch and add of 4 bytes (UCX `src/uct/ib/mlx5/ib_mlx5.h`,
    /// `struct uct_ib_mlx5_atomic_masked_fadd32_seg`). For 8 bytes it is an [`AtomicSeg`], with the boundaries in place
    /// of the value to compare with.
    ///
    /// ```text
    ///   0  value to add (32)
    ///   4  highest bits of the fields (32)
    ///   8  0 (64)
    /// ```
    #[doc(alias = "uct_ib_mlx5_atomic_masked_fadd32_seg")]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct MaskedAdd32Seg[DS_BYTES] {
        /// The value to add.
        0 => pub add: Be32,
        /// Bits whose carry is dropped.
        4 => pub boundary: Be32,
        /// Zero.
        8 => pub reserved: [Be32; 2],
    }
}

layout! {
    /// One operand of a masked atomic of 16 bytes (MLNX_OFED 4, libmlx5 `src/qp.c`, `ext_cmp_swp` and `ext_fetch_add`).
    /// A compare and swap has four: the value to swap in, the value to compare with, and the mask of each. A fetch and
    /// add has two: the value, and the highest bits of the fields.
    ///
    /// ```text
    ///   0  operand (128)
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(C)]
    pub struct Masked128Seg[DS_BYTES] {
        /// The operand.
        0 => pub operand: Be128,
    }
}
