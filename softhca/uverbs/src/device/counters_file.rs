//! A device's share of the counters that the launcher shows in sysfs. All processes add to one file. Performance
//! management reads and sets the numbers themselves.

use softhca::device::{Device, HW_COUNTERS, hw_counter_names};
use softhca_settings::{Settings, all_counters, counters_file, first_counter};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A busy device publishes its counters so often. An idle one has published them.
const INTERVAL: Duration = Duration::from_millis(10);

/// The mapped file; `None` if there is no tree.
fn open(settings: &Settings) -> io::Result<Option<memmap2::MmapRaw>> {
    let Some(sysfs) = &settings.sysfs else { return Ok(None) };
    let file = match File::options().read(true).write(true).open(counters_file(sysfs)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let (len, have) = (all_counters(settings) * size_of::<u64>(), file.metadata()?.len());
    // SIGBUS kills a process that touches a page behind the end.
    if have < len as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a file of {have} bytes in place of {len}")));
    }
    memmap2::MmapOptions::new().len(len).map_raw(&file).map(Some)
}

/// The number at `place` of the file.
fn number(file: &memmap2::MmapRaw, place: usize) -> Option<&AtomicU64> {
    if place >= file.len() / size_of::<u64>() {
        return None;
    }
    // SAFETY: it is in the mapped file, which lives as long as the result. Pages are aligned, and processes access the
    // numbers only by atomics of this size.
    Some(unsafe { AtomicU64::from_ptr(file.as_mut_ptr().cast::<u64>().add(place)) })
}

/// The counters of a port in sysfs' directory `counters`: the counts of all programs.
pub(crate) struct PortCounts {
    file: Option<memmap2::MmapRaw>,
    first: usize,
}

impl PortCounts {
    /// Those of port `port` of device `device`; zeros if the launcher shows none.
    pub(crate) fn open(settings: &Settings, device: u32, port: u32) -> Self {
        let file = open(settings).unwrap_or_else(|error| {
            log::warn!("the counters of mlx5_{device} cannot be read: {error}");
            None
        });
        Self { file, first: first_counter(settings, device, port) }
    }

    fn number(&self, name: &str) -> Option<&AtomicU64> {
        let index = hw_counter_names().iter().position(|row| *row == ("counters", name))?;
        number(self.file.as_ref()?, self.first + index)
    }

    /// The counter of this name; 0 if there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.number(name).map_or(0, |number| number.load(Ordering::Relaxed))
    }

    /// From now on, the counter counts from `value`.
    pub(crate) fn set(&self, name: &str, value: u64) {
        if let Some(number) = self.number(name) {
            number.store(value, Ordering::Relaxed);
        }
    }
}

/// The mapped file, and the counts that are in it already.
pub(super) struct CountersFile {
    file: memmap2::MmapRaw,
    /// For each port: the place of its first counter, and the counts that the device has added there.
    ports: Vec<(usize, [u64; HW_COUNTERS])>,
    /// The device has worked since its counters were published.
    is_behind: bool,
    published: Duration,
}

impl CountersFile {
    /// The file of the launcher's tree, for device `index`; `None` if there is no tree.
    pub(super) fn open(settings: &Settings, index: u32) -> io::Result<Option<Self>> {
        let Some(file) = open(settings)? else { return Ok(None) };
        let port = |port| (first_counter(settings, index, port), [0; HW_COUNTERS]);
        let ports = (1..=settings.ports).map(port).collect();
        Ok(Some(Self { file, ports, is_behind: true, published: Duration::ZERO }))
    }

    /// The device has made a step at `now`, with or without work.
    pub(super) fn after_step(&mut self, device: &Device, worked: bool, now: Duration) {
        self.is_behind |= worked;
        if !self.is_behind || worked && now < self.published + INTERVAL {
            return;
        }
        (self.is_behind, self.published) = (worked, now);
        for ((first, added), port) in self.ports.iter_mut().zip(1..) {
            for ((count, added), place) in device.hw_counters(port).into_iter().zip(added).zip(*first..) {
                let more = count.wrapping_sub(*added);
                // A reset device counts from 0 again; a driver's tools see the sum go on.
                if more != 0 && count >= *added {
                    if let Some(number) = number(&self.file, place) {
                        number.fetch_add(more, Ordering::Relaxed);
                    }
                }
                *added = count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that a file has not got raises SIGBUS when it is touched.
    #[test]
    fn a_file_that_is_too_short_is_not_mapped() {
        let tree = tempfile::tempdir().unwrap();
        let settings = Settings { sysfs: Some(tree.path().into()), ..crate::umad::test_settings("ethernet") };
        let file = File::create(counters_file(tree.path())).unwrap();
        let len = (all_counters(&settings) * size_of::<u64>()) as u64;
        for (len, found) in [(len, 7), (len - 1, 0), (0, 0)] {
            file.set_len(len).unwrap();
            let counts = PortCounts::open(&settings, 2, 2);
            counts.set("port_xmit_data", 7);
            assert_eq!(counts.get("port_xmit_data"), found, "{len} bytes");
        }
    }
}
