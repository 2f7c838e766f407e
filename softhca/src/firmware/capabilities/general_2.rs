//! More general capabilities (`MLX5_CAP_GENERAL_2`).

use super::row::{capability_set, log2};
use crate::config::{DeviceConfig, Generation};
use crate::device::reserved_qpns::{LOG_MAX, LOG_ROW};
use crate::nic::LOG_MIN_WQE_BYTES;
use crate::resources::UMR_LOG_ENTITY_SIZE_5;

capability_set! {
    /// More general capabilities.
    cmd_hca_cap_2: 0x100 bytes, set 0x20, if |_| true;
    // A QP gets the order of receives that it asks for, with any service level.
    DP_ORDERING_FORCE: 0x88, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    LOG_MAX_NUM_RESERVED_QPN: 0x8b, 5 = |c| log2(c.qpn_count).min(LOG_MAX.into());
    LOG_RESERVED_QPN_GRANULARITY: 0x93, 5 = |_| LOG_ROW.into();
    // UMR WQEs change all six bits of the length of pages. Lengths past 2^31 bytes have capabilities of their own
    // (`max_mkey_log_entity_size_*`), which are 0 here.
    UMR_LOG_ENTITY_SIZE_5: 0x98, 1 = |c| (c.generation >= UMR_LOG_ENTITY_SIZE_5).into();
    LOG_RESERVED_QPN_MAX_ALLOC: 0x9b, 5 = |_| LOG_ROW.into();
    LOG_MIN_STRIDE_WQE_SZ: 0xc3, 5 = |_| LOG_MIN_WQE_BYTES.into();
    SEND_DBR_MODE_NO_DBR_EXT: 0x2e1, 1 = |c| has_recordless_queues(c).into();
}

/// Whether send queues can do without a doorbell record: those of a ConnectX-8 (GPUNetIO `CHANGELOG.md`).
pub(crate) fn has_recordless_queues(config: &DeviceConfig) -> bool {
    config.generation >= Generation::ConnectX8
}
