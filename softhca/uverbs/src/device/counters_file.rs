//! A device's share of the counters that the launcher shows in sysfs. All processes add to one file. Performance
//! management reads and sets the numbers themselves.

use super::numbers_file::NumbersFile;
use softhca::device::{Device, HW_COUNTERS, hw_counter_names};
use softhca_settings::{Settings, all_counters, counters_file, first_counter};
use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

/// A device with work publishes its counters so often.
const INTERVAL: Duration = Duration::from_millis(10);
/// A device without work publishes them so often. To publish takes as long as the work on dozens of packets, and a busy
/// device has steps without work, too.
const PAUSE: Duration = Duration::from_millis(1);
/// How often a device tries to publish at once while other processes change the file, which takes them microseconds.
const ATTEMPTS: u32 = 16;

/// The file; `None` if there is no tree.
fn open(settings: &Settings) -> io::Result<Option<NumbersFile>> {
    let Some(sysfs) = &settings.sysfs else { return Ok(None) };
    let file = match File::options().read(true).write(true).open(counters_file(sysfs)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => NumbersFile::new(file?),
    };
    let (len, have) = (all_counters(settings) * size_of::<u64>(), file.len()?);
    // That of another launcher.
    if have < len as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a file of {have} bytes in place of {len}")));
    }
    Ok(Some(file))
}

/// The counters of a port in sysfs' directory `counters`: the counts of all programs.
pub(crate) struct PortCounts {
    file: Option<NumbersFile>,
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

    /// The file, and the place of a counter there.
    fn place(&self, name: &str) -> Option<(&NumbersFile, usize)> {
        let index = hw_counter_names().iter().position(|row| *row == ("counters", name))?;
        Some((self.file.as_ref()?, self.first + index))
    }

    /// The counter of this name; 0 if there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        let mut number = [0];
        if let Some((file, place)) = self.place(name) {
            if let Err(error) = file.read(place, &mut number) {
                log::warn!("the counter {name} cannot be read: {error}");
            }
        }
        number[0]
    }

    /// From now on, the counter counts from `value`.
    pub(crate) fn set(&self, name: &str, value: u64) {
        let Some((file, place)) = self.place(name) else { return };
        if let Err(error) = patiently(|| file.add(place, &[value.wrapping_sub(self.get(name))])) {
            log::warn!("the counter {name} is not set: {error}");
        }
    }
}

/// Changes the file. Others may be changing it.
fn patiently(change: impl Fn() -> io::Result<()>) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match change() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::yield_now(),
            done => return done,
        }
    }
    change()
}

/// The file, and the counts that are in it already.
pub(super) struct CountersFile {
    file: NumbersFile,
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
        let pause = if worked { INTERVAL } else { PAUSE };
        if self.is_behind && now >= self.published + pause {
            (self.is_behind, self.published) = (worked, now);
            self.publish(device);
        }
    }

    /// Adds the counts that the file lacks.
    pub(super) fn publish(&mut self, device: &Device) {
        for ((first, added), port) in self.ports.iter_mut().zip(1..) {
            let counts = device.hw_counters(port);
            let mut more = [0; HW_COUNTERS];
            for ((more, count), added) in more.iter_mut().zip(counts).zip(*added) {
                // A reset device counts from 0 again; a driver's tools see the sum go on.
                *more = count.saturating_sub(added);
            }
            if more == [0; HW_COUNTERS] {
                *added = counts;
                continue;
            }
            match patiently(|| self.file.add(*first, &more)) {
                Ok(()) => *added = counts,
                // The next step tries again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_behind = true,
                Err(error) => {
                    log::debug!("sysfs lacks counts of port {port}: {error}");
                    *added = counts;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dma::UserMemory;
    use super::*;
    use softhca::config::DeviceConfig;
    use softhca::wire::Address;
    use softhca::wire::in_process::Fabric;
    use softhca_settings::{Link, plain_port};
    use std::fs;
    use std::path::Path;

    /// A launcher's tree with a file of counters, all 0.
    fn tree() -> (tempfile::TempDir, Settings, usize) {
        let tree = tempfile::tempdir().unwrap();
        let settings = Settings { sysfs: Some(tree.path().into()), ..crate::umad::test_settings("ethernet") };
        let len = all_counters(&settings) * size_of::<u64>();
        File::create(counters_file(tree.path())).unwrap().set_len(len as u64).unwrap();
        (tree, settings, len)
    }

    fn make_shorter(tree: &Path, len: u64) {
        File::options().write(true).open(counters_file(tree)).unwrap().set_len(len).unwrap();
    }

    /// Steps with work and steps without take turns while packets come. To publish takes longer than such steps.
    #[test]
    fn a_device_without_work_publishes_at_intervals() {
        let (_tree, settings, _) = tree();
        let device = Device::new(
            DeviceConfig::with_port(plain_port(Link::Infiniband, 0, 1)),
            Box::new(UserMemory::new(Default::default(), None)),
            Box::new(Fabric::new().attach(Address { lids: Vec::new(), gids: Vec::new(), qpns: 2..3 }).unwrap()),
        );
        let (device, mut file) = (device.unwrap(), CountersFile::open(&settings, 0).unwrap().unwrap());
        let mut step = |worked, microseconds| {
            file.after_step(&device, worked, Duration::from_micros(microseconds));
            (file.published.as_micros(), file.is_behind)
        };
        for (worked, at, published) in [
            (true, 5_000, (0, true)),
            (false, 5_001, (5_001, false)),
            (true, 5_002, (5_001, true)),
            (false, 6_000, (5_001, true)),
            (false, 6_001, (6_001, false)),
            (false, 60_000, (6_001, false)),
            (true, 60_001, (60_001, true)),
            (true, 70_000, (60_001, true)),
            (true, 70_001, (70_001, true)),
        ] {
            assert_eq!(step(worked, at), published, "{worked} at {at}");
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_not_used() {
        let (tree, settings, len) = tree();
        for (len, found) in [(len, 7), (len - 1, 0), (0, 0)] {
            make_shorter(tree.path(), len as u64);
            let counts = PortCounts::open(&settings, 2, 2);
            counts.set("port_xmit_data", 7);
            assert_eq!(counts.get("port_xmit_data"), found, "{len} bytes");
        }
    }

    /// A page that a mapped file has no longer raises SIGBUS when it is touched.
    #[test]
    fn a_file_that_another_process_makes_shorter_counts_on() {
        let (tree, settings, len) = tree();
        let (counts, last) = (PortCounts::open(&settings, 0, 1), PortCounts::open(&settings, 2, 2));
        [&counts, &last].into_iter().for_each(|counts| counts.set("port_xmit_data", 7));
        make_shorter(tree.path(), 0);
        assert_eq!([&counts, &last].map(|counts| counts.get("port_xmit_data")), [0, 0]);
        last.set("port_xmit_data", 9);
        assert_eq!([&counts, &last].map(|counts| counts.get("port_xmit_data")), [0, 9]);
        assert!(fs::metadata(counters_file(tree.path())).unwrap().len() <= len as u64);
    }

    #[test]
    fn processes_lose_no_counts_of_each_other() {
        const TIMES: u64 = 200;
        let (_tree, settings, _) = tree();
        let add = || {
            let file = open(&settings).unwrap().unwrap();
            for _ in 0..TIMES {
                while patiently(|| file.add(3, &[1, 2])).is_err() {}
            }
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(add))));
        let mut numbers = [0; 4];
        open(&settings).unwrap().unwrap().read(2, &mut numbers).unwrap();
        assert_eq!(numbers, [0, 4 * TIMES, 8 * TIMES, 0]);
    }

    /// Programs close all descriptors that they may have inherited, and open files of their own under the numbers.
    #[test]
    fn a_descriptor_that_the_program_took_is_left_alone() {
        use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
        let (tree, settings, _) = tree();
        let counts = PortCounts::open(&settings, 0, 1);
        let number = counts.file.as_ref().unwrap().descriptor();
        let path = tree.path().join("program");
        fs::write(&path, "its own").unwrap();
        let program = File::options().write(true).open(&path).unwrap();
        // SAFETY: replaces the file of a descriptor of this test's, and later owns it.
        let program = unsafe {
            assert_eq!(libc::dup2(program.as_raw_fd(), number), number);
            OwnedFd::from_raw_fd(number)
        };
        counts.set("port_xmit_data", 7);
        drop(counts);
        assert_eq!(fs::read_to_string(&path).unwrap(), "its own");
        File::from(program).metadata().expect("the program's descriptor is open");
    }
}
