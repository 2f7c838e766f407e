//! The clock of a queue's timestamps.

use crate::caps::CapMode;
use crate::cmd::{RoceCap, TimestampFormat};
use crate::context::Context;
use crate::error::Error;

/// Capability of a device whose queues have only the free-running clock (`MLX5_TIMESTAMP_FORMAT_CAP_FREE_RUNNING`).
const FREE_RUNNING_ONLY: u8 = 0;

/// The format for a device with this capability (`sq_ts_format`, `rq_ts_format`, `qp_ts_format`), after DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `mlx5_ts_format_conv`. A device with real time alone refuses a queue with the
/// free-running clock (DPDK, commit d61381ad46d0). A device without real time refuses a queue with real time
/// (NVIDIA/daqiri, issue 283).
pub(crate) fn format(capability: u8) -> TimestampFormat {
    if capability == FREE_RUNNING_ONLY { TimestampFormat::FREE_RUNNING } else { TimestampFormat::DEFAULT }
}

impl Context {
    /// The format for queue pairs. Their capability is in the set of RoCE.
    pub(crate) fn qp_timestamps(&self) -> Result<TimestampFormat, Error> {
        if !self.general()?.roce() {
            return Ok(TimestampFormat::FREE_RUNNING);
        }
        Ok(format(self.capabilities::<RoceCap>(CapMode::Current)?.qp_ts_format()))
    }
}
