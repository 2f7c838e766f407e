//! The strides of a device's receive queues. Knows no queue.

use blueflame::queue::striding::{Strides, StridesLimits};

use crate::cmd::{CmdHcaCap, Wq, WqType};

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

/// Fills in the fields of a striding queue. The field of the strides counts from 2^9, modulo 16 (DPDK
/// `drivers/net/mlx5/mlx5_devx.c`, `mlx5_rxq_create_devx_rq_resources`; Linux `drivers/infiniband/hw/mlx5/qp.c`,
/// `create_rq`).
pub(crate) fn place(wq: &mut Wq, strides: Strides) {
    wq.set_wq_type(WqType::CYCLIC_STRIDING_RQ)
        .set_log_wqe_num_of_strides(strides.log_count().wrapping_sub(MIN_LOG_COUNT) & 0xf)
        .set_log_wqe_stride_size(strides.log_bytes() - Strides::LIMITS.min_log_bytes)
        .set_two_byte_shift_en(strides.is_shifted());
}
