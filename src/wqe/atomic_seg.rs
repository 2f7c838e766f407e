//! The segments of atomics: their operands. Each has its field map (byte offsets, big endian) and its layout, which assertions hold
//! to the map. Knows no request.
use core::mem::{offset_of, size_of};

use static_assertions::const_assert_eq;

use super::be::{Be32, Be64, Be128};
use crate::types::DS_BYTES;

/// Atomic segment (`struct mlx5_wqe_atomic_seg`).
///
/// ```text
///   0  value to swap in, or to add (64)
///   8  value to compare with (64)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct AtomicSeg {
    /// The value to store (compare and swap) or to add (fetch and add).
    pub swap_add: Be64,
    /// The value to compare with; not read by the device for fetch and add.
    pub compare: Be64,
}

const_assert_eq!(size_of::<AtomicSeg>(), DS_BYTES);
const_assert_eq!(offset_of!(AtomicSeg, swap_add), 0);
const_assert_eq!(offset_of!(AtomicSeg, compare), 8);

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct MaskedSwap32Seg {
    /// The value to store.
    pub swap: Be32,
    /// The value to compare with.
    pub compare: Be32,
    /// Mask of the bits that are stored; the other bits do not change.
    pub swap_mask: Be32,
    /// Mask of the bits that are compared.
    pub compare_mask: Be32,
}

const_assert_eq!(size_of::<MaskedSwap32Seg>(), DS_BYTES);
const_assert_eq!(offset_of!(MaskedSwap32Seg, swap), 0);
const_assert_eq!(offset_of!(MaskedSwap32Seg, compare), 4);
const_assert_eq!(offset_of!(MaskedSwap32Seg, swap_mask), 8);
const_assert_eq!(offset_of!(MaskedSwap32Seg, compare_mask), 12);

/// Segment of a masked fetch and add of 4 bytes (UCX `src/uct/ib/mlx5/ib_mlx5.h`,
/// `struct uct_ib_mlx5_atomic_masked_fadd32_seg`). For 8 bytes it is an [`AtomicSeg`], with the boundaries in place of
/// the value to compare with.
///
/// ```text
///   0  value to add (32)
///   4  highest bits of the fields (32)
///   8  0 (64)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct MaskedAdd32Seg {
    /// The value to add.
    pub add: Be32,
    /// Bits whose carry is dropped.
    pub boundary: Be32,
    /// Zero.
    pub reserved: [Be32; 2],
}

const_assert_eq!(size_of::<MaskedAdd32Seg>(), DS_BYTES);
const_assert_eq!(offset_of!(MaskedAdd32Seg, add), 0);
const_assert_eq!(offset_of!(MaskedAdd32Seg, boundary), 4);
const_assert_eq!(offset_of!(MaskedAdd32Seg, reserved), 8);

/// One operand of a masked atomic of 16 bytes (MLNX_OFED 4, libmlx5 `src/qp.c`, `ext_cmp_swp` and `ext_fetch_add`). A
/// compare and swap has four: the value to swap in, the value to compare with, and the mask of each. A fetch and add
/// has two: the value, and the highest bits of the fields.
///
/// ```text
///   0  operand (128)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Masked128Seg {
    /// The operand.
    pub operand: Be128,
}

const_assert_eq!(size_of::<Masked128Seg>(), DS_BYTES);
const_assert_eq!(offset_of!(Masked128Seg, operand), 0);
