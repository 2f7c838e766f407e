//! `atomic_mode` of queue pairs and targets: which atomics they answer (UCX `src/uct/ib/mlx5/dv/ib_mlx5_ifc.h`,
//! `UCT_IB_MLX5_QPC_ATOMIC_MODE_*`; Linux `include/linux/mlx5/driver.h`, `MLX5_ATOMIC_MODE_*`).

use crate::firmware::status::Refusal;

/// None, or those of 8 bytes that InfiniBand has.
const IB_SPEC: u64 = 1;
/// Masked ones of 8 bytes besides.
const ONLY_8_BYTES: u64 = 2;
/// Those of 4 bytes, too.
const UP_TO_8_BYTES: u64 = 3;
/// Those of 16 bytes, too (Linux `MLX5_ATOMIC_MODE_16B`).
const UP_TO_16_BYTES: u64 = 4;

/// Sizes of the masked atomics in this mode, summed.
pub(super) fn extended(mode: u64) -> Result<u8, Refusal> {
    match mode {
        0 | IB_SPEC => Ok(0),
        ONLY_8_BYTES => Ok(8),
        UP_TO_8_BYTES => Ok(4 | 8),
        UP_TO_16_BYTES => Ok(4 | 8 | 16),
        _ => Err(Refusal::parameter(format!("atomic_mode {mode}: atomics are on 16 bytes at most (1 to 4)"))),
    }
}

/// The mode with masked atomics of these sizes, of what answers atomics.
pub(super) fn of(extended: u8) -> u64 {
    match extended {
        0 => IB_SPEC,
        8 => ONLY_8_BYTES,
        12 => UP_TO_8_BYTES,
        _ => UP_TO_16_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::EXTENDED_ATOMICS;

    /// Linux sets the largest mode that the sizes of the capabilities allow (`atomic_size_to_mode`): 4, as 16 bytes are
    /// the largest.
    #[test]
    fn modes_are_told_as_they_were_set() {
        for mode in [IB_SPEC, ONLY_8_BYTES, UP_TO_8_BYTES, UP_TO_16_BYTES] {
            assert_eq!(extended(mode).map(of), Ok(mode));
        }
        assert_eq!(extended(u64::from(EXTENDED_ATOMICS.ilog2())), Ok(EXTENDED_ATOMICS));
        assert!(extended(5).is_err());
    }
}
