//! The rate of a queue pair for raw packets.

use crate::device::Hca;
use crate::process::{Errno, lock};
use softhca::device::Rate;
use std::sync::Mutex;

/// The rate of a queue pair: its entry of the device's table.
#[derive(Debug, Default)]
pub(super) struct PairRate(pub(super) Mutex<Option<(Rate, u16)>>);

impl PairRate {
    /// The queue pair is gone, or sends no more.
    pub(super) fn release(&self, hca: &Hca) -> Result<(), Errno> {
        lock(&self.0).take().map_or(Ok(()), |(_, index)| hca.remove_rate(index))
    }
}
