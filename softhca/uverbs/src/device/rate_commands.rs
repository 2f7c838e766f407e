//! The commands by which a kernel driver sets the rates of a device's send queues.

use super::hca::Hca;
use crate::process::{Errno, lock};
use softhca::device::Rate;

impl Hca {
    /// Adds a user of a rate; its index.
    pub(crate) fn add_rate(&self, rate: Rate, dedicated: bool) -> Result<u16, Errno> {
        let pacing = &self.capabilities.pacing;
        if pacing.table_size == 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        if !(pacing.min..=pacing.max).contains(&rate.limit) || rate.limit == 0 {
            return Err(Errno::EINVAL);
        }
        let mut rates = lock(&self.rates);
        let (index, is_new) = rates.add(rate, dedicated, pacing.table_size as usize)?;
        if is_new {
            self.command(|device| device.set_rate(index, Some(rate))).inspect_err(|_| {
                rates.remove(index);
            })?;
        }
        Ok(index)
    }

    /// Removes a user of a rate.
    pub(crate) fn remove_rate(&self, index: u16) -> Result<(), Errno> {
        let mut rates = lock(&self.rates);
        if rates.remove(index) { self.command(|device| device.set_rate(index, None)) } else { Ok(()) }
    }
}
