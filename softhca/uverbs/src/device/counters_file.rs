//! A device's share of the counters that the launcher shows in sysfs. All processes add to one file.

use softhca::device::{Device, HW_COUNTERS};
use softhca_settings::{Settings, all_counters, counters_file, first_counter};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A busy device publishes its counters so often. An idle one has published them.
const INTERVAL: Duration = Duration::from_millis(10);

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
        let Some(sysfs) = &settings.sysfs else { return Ok(None) };
        let file = match File::options().read(true).write(true).open(counters_file(sysfs)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => memmap2::MmapOptions::new().len(all_counters(settings) * size_of::<u64>()).map_raw(&file?)?,
        };
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
                    // SAFETY: the file has a number for each counter of each port of each device, and is a page or more
                    // of memory; it is only accessed by atomics of this size.
                    let number = unsafe { AtomicU64::from_ptr(self.file.as_mut_ptr().cast::<u64>().add(place)) };
                    number.fetch_add(more, Ordering::Relaxed);
                }
                *added = count;
            }
        }
    }
}
