//! A device's clock, and the pages in which programs read it: the counter itself (`ibv_query_rt_values_ex`), and the
//! data that turns it into wall-clock time (`mlx5dv_get_clock_info`).
//!
//! It counts nanoseconds since the machine started, so that the devices of all processes agree, as if they were one.
//! CQEs have the time of the step that writes them, and the pages show that time before. So a program that has seen a
//! CQE reads no earlier time. Between steps a page stands still: while the device is idle, for a few milliseconds
//! (`softhca::runner::LONGEST_SLEEP`).
//!
//! A device with real time also shows that, in the same page as the counter and in the form of its timestamps.
//!
//! Wall-clock time is the time when the device was opened, plus the time since then. A NIC that is never adjusted
//! behaves alike.

use crate::abi::mlx5::ClockInfo;
use crate::process::{Errno, Mapping};
use softhca::uar::{UAR_PAGE_BYTES, UarMemory};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};
use zerocopy::IntoBytes;

/// Bits of the clock that Linux reckons with.
const MASK: u64 = (1 << 41) - 1;
/// A cycle is a nanosecond: `1 << SHIFT` of them are as many. As Linux chooses it for this frequency
/// (`mlx5_ptp_shift_constant`).
const SHIFT: u32 = 31;
/// How often the page that makes wall-clock time of cycles is written anew. As many cycles as fit into a product of 64
/// bits can be converted with it: eight times as many.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Words of a page.
const WORDS: usize = UAR_PAGE_BYTES / 8;
/// Where the real time is in the counter's page, in words: `internal_timer_h` is at 0x1000 of the initialization
/// segment, `real_time_h` at 0x1040 (Linux `include/linux/mlx5/device.h`, `struct mlx5_init_seg`).
const REAL_TIME: usize = 0x40 / 8;
const GIGA: u64 = 1_000_000_000;
/// Of [`ClockInfo::sign`]: it is being written.
const UPDATING: u32 = 1;

/// A device's clock.
pub(crate) struct Clock {
    /// When it was 0.
    pub(crate) zero: Instant,
    /// The time at that moment: nanoseconds since 1970.
    wall_at_zero: u64,
    /// The latest time that was shown.
    shown: Duration,
    told: Duration,
    /// Whether the pages have the real time.
    real_time: bool,
    pages: Vec<Arc<ClockPages>>,
}

/// The time of one of the system's clocks.
fn read(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid; clocks that are always there are read.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// How far `clock` was at the moment that is returned with it, as exactly as a few attempts tell.
fn together(clock: libc::clockid_t) -> (Instant, Duration) {
    let attempt = || {
        let before = Instant::now();
        let read = read(clock);
        let took = before.elapsed();
        (took, before + took / 2, read)
    };
    let (_, at, read) = (0..8).map(|_| attempt()).min().unwrap_or_else(attempt);
    (at, read)
}

fn nanoseconds(time: Duration) -> u64 {
    // There are enough for 584 years.
    time.as_nanos() as u64
}

impl Clock {
    /// As it is now.
    pub(crate) fn new(real_time: bool) -> Self {
        let (at, uptime) = together(libc::CLOCK_MONOTONIC);
        let zero = at.checked_sub(uptime).unwrap_or(at);
        let (at, wall) = together(libc::CLOCK_REALTIME);
        let wall_at_zero = nanoseconds(wall).wrapping_sub(nanoseconds(at - zero));
        Self { zero, wall_at_zero, shown: Duration::ZERO, told: Duration::ZERO, real_time, pages: Vec::new() }
    }

    /// The time at that moment, since 1970.
    pub(crate) fn wall_at_zero(&self) -> Duration {
        Duration::from_nanos(self.wall_at_zero)
    }

    /// Its present time.
    pub(super) fn now(&self) -> Duration {
        self.zero.elapsed()
    }

    /// From now on, `pages` show it, as long as anybody else has them.
    pub(super) fn add(&mut self, pages: &Arc<ClockPages>) {
        self.pages.push(pages.clone());
        self.tell(self.now());
    }

    /// Shows that it is `now`. It never goes back.
    pub(super) fn show(&mut self, now: Duration) {
        if self.pages.is_empty() {
            return;
        }
        self.shown = self.shown.max(now);
        if self.shown - self.told >= TELL_EVERY {
            self.tell(now);
        }
        self.pages.iter().for_each(|pages| self.show_in(pages));
    }

    fn show_in(&self, pages: &ClockPages) {
        let cycles = nanoseconds(self.shown);
        pages.show(0, cycles);
        if self.real_time {
            let wall = self.wall_at_zero.wrapping_add(cycles);
            pages.show(REAL_TIME, ((wall / GIGA) << 32) | (wall % GIGA));
        }
    }

    /// Sets the time, and writes the data for wall-clock time to the pages that a program still has.
    fn tell(&mut self, now: Duration) {
        self.shown = self.shown.max(now);
        self.told = self.shown;
        self.pages.retain(|pages| Arc::strong_count(pages) > 1);
        let cycles = nanoseconds(self.shown);
        for pages in &self.pages {
            self.show_in(pages);
            pages.tell(cycles, self.wall_at_zero.wrapping_add(cycles));
        }
    }
}

/// The two pages of a device file, as we have them mapped.
pub(crate) struct ClockPages {
    /// The counter, as the NIC's register: 64 bits, big endian, first in its page; then the real time.
    counter: Mapping,
    info: Mapping,
}

impl ClockPages {
    /// The pages at these offsets of `file`, which is long enough.
    pub(crate) fn of(file: &UarMemory, [counter, info]: [u64; 2]) -> Result<Self, Errno> {
        let map = |at| Mapping::of(file.fd().as_raw_fd(), at, UAR_PAGE_BYTES);
        Ok(Self { counter: map(counter)?, info: map(info)? })
    }

    fn show(&self, word: usize, time: u64) {
        assert!(word < WORDS);
        // SAFETY: a word of a mapping that lives as long as this; others only read it, word by word.
        let register = unsafe { &*self.counter.at().cast::<AtomicU64>().add(word) };
        // A reader of a CQE that is written later finds this time.
        register.store(time.to_be(), Ordering::Release);
    }

    /// Shows that at `cycles` it was `nsec`.
    fn tell(&self, cycles: u64, nsec: u64) {
        // SAFETY: all words of a mapping that lives as long as this; others only read it, word by word.
        let words = unsafe { std::slice::from_raw_parts(self.info.at().cast::<AtomicU64>(), WORDS) };
        // SAFETY: the first half of the first word, which is accessed as this alone.
        let sign = unsafe { &*self.info.at().cast::<AtomicU32>() };
        let before = sign.load(Ordering::Relaxed);
        let info = ClockInfo {
            sign: 0,
            reserved: 0,
            nsec,
            cycles: cycles & MASK,
            frac: 0,
            mult: 1 << SHIFT,
            shift: SHIFT,
            mask: MASK,
            overflow_period: nanoseconds(TELL_EVERY),
        };
        sign.store(before | UPDATING, Ordering::Relaxed);
        fence(Ordering::Release);
        // All but the first.
        for (word, bytes) in words.iter().zip(info.as_bytes().chunks_exact(8)).skip(1) {
            word.store(bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default(), Ordering::Relaxed);
        }
        sign.store((before & !UPDATING).wrapping_add(2 * UPDATING), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{FromRawFd, OwnedFd};
    use zerocopy::FromBytes;

    fn file() -> UarMemory {
        // SAFETY: the name is a string that ends with a zero byte; the descriptor is new.
        let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"clock".as_ptr(), 0)) };
        // SAFETY: plain call on a descriptor of ours.
        assert_eq!(unsafe { libc::ftruncate(file.as_raw_fd(), 2 * UAR_PAGE_BYTES as libc::off_t) }, 0);
        UarMemory::in_file(file)
    }

    fn shown(file: &UarMemory) -> (u64, ClockInfo) {
        let mut bytes = vec![0; 2 * UAR_PAGE_BYTES];
        // SAFETY: the buffer has as many bytes.
        let read = unsafe { libc::pread(file.fd().as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        assert_eq!(read, bytes.len() as isize);
        let (counter, info) = bytes.split_at(UAR_PAGE_BYTES);
        let counter = u64::from_be_bytes(counter[..8].try_into().unwrap());
        (counter, ClockInfo::read_from_prefix(info).unwrap().0)
    }

    #[test]
    fn pages_show_one_clock_that_never_goes_back() {
        let (file, mut clock) = (file(), Clock::new(false));
        let pages = Arc::new(ClockPages::of(&file, [0, UAR_PAGE_BYTES as u64]).unwrap());
        let before = nanoseconds(clock.now());
        clock.add(&pages);
        let (first, info) = shown(&file);
        assert!(first >= before && first <= nanoseconds(clock.now()));
        assert_eq!((info.cycles, info.sign, info.mult, info.shift), (first & MASK, 2, 1 << 31, 31));
        let wall = nanoseconds(read(libc::CLOCK_REALTIME)) as i128 - i128::from(info.nsec);
        assert!((-1_000_000..1_000_000_000).contains(&wall), "{wall} ns ago");

        let time = |ns| Duration::from_nanos(first + ns);
        clock.show(time(500));
        clock.show(time(400));
        let (counter, again) = shown(&file);
        assert_eq!((counter, again.sign), (first + 500, 2));
        clock.show(time(2_000_000_000));
        let (counter, later) = shown(&file);
        assert_eq!((counter, later.sign), (first + 2_000_000_000, 4));
        assert_eq!(later.nsec - info.nsec, (later.cycles.wrapping_sub(info.cycles)) & MASK);
        assert_eq!(later.nsec - info.nsec, 2_000_000_000);
    }

    /// Seconds in the upper half, nanoseconds in the lower.
    #[test]
    fn a_device_with_real_time_shows_it() {
        let register = |file: &UarMemory| {
            let mut bytes = [0; 8];
            // SAFETY: the buffer has as many bytes.
            let read = unsafe { libc::pread(file.fd().as_raw_fd(), bytes.as_mut_ptr().cast(), 8, 0x40) };
            assert_eq!(read, 8);
            u64::from_be_bytes(bytes)
        };
        for real_time in [false, true] {
            let (file, mut clock) = (file(), Clock::new(real_time));
            let pages = Arc::new(ClockPages::of(&file, [0, UAR_PAGE_BYTES as u64]).unwrap());
            clock.add(&pages);
            let (_, info) = shown(&file);
            let time = register(&file);
            assert_eq!((time >> 32) * 1_000_000_000 + (time & 0xffff_ffff), if real_time { info.nsec } else { 0 });
        }
    }

    #[test]
    fn pages_that_nobody_has_are_let_go() {
        let mut clock = Clock::new(false);
        let [gone, kept] = [(); 2].map(|()| Arc::new(ClockPages::of(&file(), [0, UAR_PAGE_BYTES as u64]).unwrap()));
        clock.add(&gone);
        drop(gone);
        clock.add(&kept);
        assert_eq!(clock.pages.len(), 1);
        clock.show(clock.now() + TELL_EVERY * 2);
        drop(kept);
        clock.show(clock.now() + TELL_EVERY * 4);
        assert_eq!(clock.pages.len(), 0);
    }

    #[test]
    fn two_clocks_agree() {
        let [one, other] = [(); 2].map(|()| Clock::new(false));
        let apart = if one.zero > other.zero { one.zero - other.zero } else { other.zero - one.zero };
        assert!(apart < Duration::from_millis(5), "{apart:?}");
    }
}
