//! The file in which the devices of a launcher's programs count, together: 64-bit numbers in the host's order, for each
//! port of each device those of [`softhca::device::hw_counter_names`]. The launcher shows them in its sysfs tree.

use crate::Settings;
use softhca::device::HW_COUNTERS;
use std::path::{Path, PathBuf};

/// The file's name, in the root of the sysfs tree.
const NAME: &str = "counters.bin";

/// The file of counters in the tree at `sysfs`.
#[must_use]
pub fn counters_file(sysfs: &Path) -> PathBuf {
    sysfs.join(NAME)
}

/// How many numbers the file has.
#[must_use]
pub fn all_counters(settings: &Settings) -> usize {
    (settings.devices * settings.ports) as usize * HW_COUNTERS
}

/// The place of the first number of port `port`, from 1, of device `device`.
#[must_use]
pub fn first_counter(settings: &Settings, device: u32, port: u32) -> usize {
    (device * settings.ports + port - 1) as usize * HW_COUNTERS
}
