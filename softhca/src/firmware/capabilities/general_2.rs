//! More general capabilities (`MLX5_CAP_GENERAL_2`).

use super::row::capability_set;
use crate::config::{DeviceConfig, Generation};
use crate::nic::LOG_MIN_WQE_BYTES;

capability_set! {
    /// More general capabilities.
    cmd_hca_cap_2: 0x100 bytes, set 0x20, if |_| true;
    // A QP gets the order of receives that it asks for, with any service level.
    DP_ORDERING_FORCE: 0x88, 1 = |c| (c.generation >= Generation::ConnectX7).into();
    LOG_MIN_STRIDE_WQE_SZ: 0xc3, 5 = |_| LOG_MIN_WQE_BYTES.into();
    SEND_DBR_MODE_NO_DBR_EXT: 0x2e1, 1 = |c| has_recordless_queues(c).into();
}

/// Whether send queues can do without a doorbell record: those of a ConnectX-8 (GPUNetIO `CHANGELOG.md`).
pub(crate) fn has_recordless_queues(config: &DeviceConfig) -> bool {
    config.generation >= Generation::ConnectX8
}
