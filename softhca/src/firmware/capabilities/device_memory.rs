//! Device memory (`MLX5_CAP_DEV_MEM`).

use super::row::capability_set;

/// log2 of the smallest allocation (Linux `drivers/infiniband/hw/mlx5/dm.h`, `MLX5_MEMIC_BASE_SIZE`).
const LOG_LEAST: u64 = 6;
/// The largest alignment is 64 bytes times two to the power of this (`mlx5_cmd_alloc_memic`): a page.
const LOG_MAX_ALIGNMENT: u64 = 6;

capability_set! {
    /// Device memory. It has no place in the BAR: the front end maps it into programs.
    device_mem_cap: 0x100 bytes, set 0xf, if |c| c.device_memory > 0;
    MEMIC: 0x0, 1 = |_| 1;
    LOG_MIN_MEMIC_ALLOC_SIZE: 0x2b, 5 = |_| LOG_LEAST;
    LOG_MAX_MEMIC_ADDR_ALIGNMENT: 0x38, 8 = |_| LOG_MAX_ALIGNMENT;
    MEMIC_BAR_SIZE: 0x80, 32 = |c| c.device_memory.into();
    MAX_MEMIC_SIZE: 0xa0, 32 = |c| c.device_memory.into();
}
