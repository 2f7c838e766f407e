//! Memory copies by the device.

use blueflame::wqe::limits::MAX_MEMCPY_BYTES;

use crate::cmd::CmdHcaCap;
use crate::context::Context;
use crate::error::Error;
use crate::support::ask::has;

impl Context {
    /// The longest [copy](blueflame::wqe::memcpy) that the device makes, in bytes:
    /// [`Opaque::max_bytes`](blueflame::wqe::operations::Opaque::max_bytes) of queue pairs that
    /// [copy](crate::object::QpBuilder::memcpy).
    ///
    /// # Errors
    /// [`Error::Capability`] if the device makes no copies, or [`Error::Command`].
    pub fn max_memcpy(&self) -> Result<u32, Error> {
        let max = max_bytes(&*self.general()?);
        has("cmd_hca_cap.dma_mmo_sq or dma_mmo_qp", max.is_some())?;
        Ok(max.unwrap_or(0))
    }
}

/// The longest copy by the general capabilities, in bytes; `None` if the device makes no copies.
pub(crate) fn max_bytes(general: &CmdHcaCap) -> Option<u32> {
    (general.dma_mmo_sq() || general.dma_mmo_qp()).then(|| most(general.log_dma_mmo_max_size()))
}

/// Decodes the capability's five bits: 0 means no limit except the format's (rdma-core `providers/mlx5/verbs.c`).
fn most(log_bytes: u8) -> u32 {
    if log_bytes == 0 { MAX_MEMCPY_BYTES } else { 1 << (log_bytes & 31) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_power_of_two() {
        assert_eq!([0, 1, 21, 31].map(most), [1 << 31, 2, 1 << 21, 1 << 31]);
    }
}
