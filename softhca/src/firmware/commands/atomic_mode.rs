//! `atomic_mode` of queue pairs and targets: which atomics they answer (UCX `src/uct/ib/mlx5/dv/ib_mlx5_ifc.h`,
//! `UCT_IB_MLX5_QPC_ATOMIC_MODE_*`; Linux `include/linux/mlx5/driver.h`, `MLX5_ATOMIC_MODE_*`).

use crate::firmware::status::Refusal;

/// None, or those of 8 bytes that InfiniBand has.
const IB_SPEC: u64 = 1;
/// Masked ones of 8 bytes besides.
const ONLY_8_BYTES: u64 = 2;
/// Those of 4 bytes, too.
const UP_TO_8_BYTES: u64 = 3;

/// Sizes of the masked atomics in this mode, summed.
pub(super) fn extended(mode: u64) -> Result<u8, Refusal> {
    match mode {
        0 | IB_SPEC => Ok(0),
        ONLY_8_BYTES => Ok(8),
        UP_TO_8_BYTES => Ok(4 | 8),
        _ => Err(Refusal::parameter(format!("atomic_mode {mode}: atomics are on 8 bytes at most (1 to 3)"))),
    }
}

/// The mode with masked atomics of these sizes, of what answers atomics.
pub(super) fn of(extended: u8) -> u64 {
    match extended {
        0 => IB_SPEC,
        8 => ONLY_8_BYTES,
        _ => UP_TO_8_BYTES,
    }
}
