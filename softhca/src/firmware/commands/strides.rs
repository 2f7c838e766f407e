//! Strides of a receive queue of Ethernet frames, in the context of its work queue.

use super::work_queue::{CYCLIC_STRIDING, wq};
use crate::config::Generation;
use crate::firmware::layout::View;
use crate::firmware::status::Refusal;
use crate::nic::{LOG_MIN_WQE_BYTES, LOG_STRIDE_BYTES, Strides, log_counts};

/// `log_wqe_num_of_strides` counts from here, modulo 16: 0 to 9 are 2^9 to 2^18 strides, 10 to 15 are 2^3 to 2^8 (Linux
/// `drivers/infiniband/hw/mlx5/qp.c`, `create_rq`, `fw_map`; DPDK `drivers/net/mlx5/mlx5_devx.c`,
/// `mlx5_rxq_create_devx_rq_resources`).
const COUNT_BASE: u8 = 9;
const COUNTS_FROM_BASE: u8 = 10;
/// log2 of the bytes of a WQE: a segment of a list, and a data segment.
const LOG_LEAST_WQE: u64 = 5;

/// The strides of a queue, if it is a striding one.
pub(super) fn of(generation: Generation, queue: View<'_>) -> Result<Option<Strides>, Refusal> {
    if queue.get(wq::WQ_TYPE) != CYCLIC_STRIDING {
        return Ok(None);
    }
    let count = queue.get(wq::LOG_WQE_NUM_OF_STRIDES) as u8;
    let strides = Strides {
        log_count: if count < COUNTS_FROM_BASE { COUNT_BASE + count } else { COUNT_BASE + count - 16 },
        log_bytes: LOG_STRIDE_BYTES.start() + queue.get(wq::LOG_WQE_STRIDE_SIZE) as u8,
        shifted: queue.flag(wq::TWO_BYTE_SHIFT_EN),
    };
    let (counts, log_bytes) = (log_counts(generation), strides.log_count + strides.log_bytes);
    if !counts.contains(&strides.log_count) {
        let reason = format!("log_wqe_num_of_strides {count}: 2^{} strides, of which {counts:?}", strides.log_count);
        return Err(Refusal::parameter(reason));
    }
    if log_bytes < LOG_MIN_WQE_BYTES {
        return Err(Refusal::parameter(format!("strides of 2^{log_bytes} bytes; 2^{LOG_MIN_WQE_BYTES} at least")));
    }
    let log_wqe = queue.get(wq::LOG_WQ_STRIDE);
    if log_wqe < LOG_LEAST_WQE {
        return Err(Refusal::parameter(format!("log_wq_stride {log_wqe}: {LOG_LEAST_WQE} or more with strides")));
    }
    Ok(Some(strides))
}
