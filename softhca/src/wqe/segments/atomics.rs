//! Masked atomics ("extended" ones): the opcode modifier, and the operands (UCX `src/uct/ib/mlx5/ib_mlx5.h`,
//! `struct uct_ib_mlx5_atomic_masked_*_seg`; rdma-core `providers/mlx5/wqe.h`, `struct mlx5_wqe_masked_atomic_seg`;
//! of 16 bytes MLNX_OFED 4, libmlx5 `src/qp.c`, `set_ext_atomic_seg`, whose first word is taken for the high half).

use super::{DATA_SEG_BYTES, Segments, be32, be64};
use crate::packet::{Masked, Width};
use crate::wqe::fault::WqeFault;
use crate::wqe::send::Extended;

/// Of the opcode modifier: an extended atomic (`UCT_IB_MLX5_OPMOD_EXT_ATOMIC`). The rest is log2 of the bytes, less 2.
const EXTENDED: u8 = 8;

/// How many bytes the atomic works on; `None` if it is not a size that the device has.
pub(in crate::wqe) fn width(opmod: u8) -> Option<Width> {
    match opmod.checked_sub(EXTENDED)? {
        0 => Some(Width::Four),
        1 => Some(Width::Eight),
        2 => Some(Width::Sixteen),
        _ => None,
    }
}

/// The operands: values, then masks, each of the atomic's size; of an addition no masks but the boundaries. Padded to
/// whole DSs with bytes that mean nothing: UCX leaves old bytes of the ring there.
pub(in crate::wqe) fn take(segs: &mut Segments<'_>, width: Width, is_swap: bool) -> Result<Extended, WqeFault> {
    let count = if is_swap { 4 } else { 2 };
    let bytes = (count * usize::from(width.bytes())).next_multiple_of(DATA_SEG_BYTES);
    let (_, seg) = segs.take("extended atomic", bytes)?;
    let word = |n: usize| match width {
        Width::Four => be32(seg, 4 * n).into(),
        Width::Eight => be64(seg, 8 * n).into(),
        Width::Sixteen => u128::from(be64(seg, 16 * n)) << 64 | u128::from(be64(seg, 16 * n + 8)),
    };
    let masked = if is_swap {
        Masked::Swap { swap: word(0), compare: word(1), swap_mask: word(2), compare_mask: word(3) }
    } else {
        Masked::Add { add: word(0), boundary: word(1) }
    };
    Ok(Extended { width, masked })
}
