//! Numbers of queue pairs that no queue pair gets. Connections that share a DCT have one each, because the connection
//! manager of a peer tells connections apart by these numbers (man page `mlx5dv_reserved_qpn_alloc`).

use super::Device;
use super::check::value;
use crate::error::{Error, Object};

/// Numbers of one reservation, as log2, and most numbers of all of them. No public source has a device's values.
pub(crate) const LOG_ROW: u8 = 6;
pub(crate) const LOG_MAX: u8 = 12;

impl Device {
    /// Reserves `1 << log` numbers in a row; returns the first. Packets to these numbers are dropped.
    ///
    /// # Errors
    /// [`Error::BadValue`] for another `log` than [`LOG_ROW`]; [`Error::Exhausted`].
    pub(crate) fn reserve_qpns(&mut self, log: u8) -> Result<u32, Error> {
        value("reserved QPNs, as log2", log.into(), log == LOG_ROW, "6")?;
        let limit = 1 << (LOG_MAX - LOG_ROW);
        if self.reserved_qpns.len() >= limit as usize {
            return Err(Error::Exhausted { object: Object::ReservedQpns, limit });
        }
        let first = self.qps.hold_row(1 << LOG_ROW)?;
        self.reserved_qpns.insert(first);
        Ok(first)
    }

    /// Gives numbers back, which begin with this one.
    ///
    /// # Errors
    /// [`Error::NoSuch`].
    pub(crate) fn release_qpns(&mut self, first: u32) -> Result<(), Error> {
        if !self.reserved_qpns.remove(&first) {
            return Err(Error::NoSuch { object: Object::ReservedQpns, number: first });
        }
        (first..first + (1 << LOG_ROW)).for_each(|number| self.qps.release(number));
        Ok(())
    }
}
