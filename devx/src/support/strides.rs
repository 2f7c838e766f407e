//! The strides of a device's receive queues. Knows no queue.

use blueflame::queue::striding::{Strides, StridesLimits};

use crate::cmd::CmdHcaCap;

/// log2 of the strides of a WQE, at least, on a device without the extended range (Linux `include/linux/mlx5/device.h`,
/// `MLX5_MIN_SINGLE_WQE_LOG_NUM_STRIDES`).
const MIN_LOG_COUNT: u8 = 9;
/// log2 of the strides of a WQE, at most (the same file, `MLX5_MAX_SINGLE_WQE_LOG_NUM_STRIDES`).
const MAX_LOG_COUNT: u8 = 16;

/// The limits; `None`: the device has no striding queues. Capabilities have no limits beside the extended range, so
/// Linux has constants (`drivers/infiniband/hw/mlx5/main.c`, `mlx5_ib_query_device`).
pub(crate) fn limits(general: &CmdHcaCap) -> Option<StridesLimits> {
    let extended = general.ext_stride_num_range();
    let min_log_count = if extended { Strides::LIMITS.min_log_count } else { MIN_LOG_COUNT };
    general.striding_rq().then_some(StridesLimits { min_log_count, max_log_count: MAX_LOG_COUNT, ..Strides::LIMITS })
}
