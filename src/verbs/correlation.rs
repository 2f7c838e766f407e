//! The device's clock beside the system's: timestamps as times of `CLOCK_REALTIME`, with a bound of the error.

use core::time::Duration;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::cq::cqe::{ClockInfo, real_time_nanoseconds};
use crate::verbs::device::clock::{Clock, NOT_MAPPED, Timestamps};
use crate::verbs::{Cq, Error};

/// A time, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Nanoseconds since 1970 by `CLOCK_REALTIME`.
    pub nanoseconds: u64,
    /// The bound of the error, nanoseconds to either side.
    pub error: u64,
}

/// The device's clock and the system's at one moment. It converts timestamps near that moment to the system's time.
///
/// The kernel's page ([`Clock::info`]) relates cycles to the device's PTP clock. That clock is the system's only if a
/// program (`phc2sys`) keeps both together. This value needs no such program.
///
/// ```no_run
/// # use blueflame::verbs::{Device, OwnedCq};
/// # fn times(device: &Device, cq: &mut OwnedCq) -> Result<(), Box<dyn std::error::Error>> {
/// // A `cq` that was made with `free_running(true)` or `real_time(true)`.
/// let now = device.clock()?.correlate(cq.handle())?;
/// cq.poll_with(16, |cqe| {
///     let time = now.time_of(cqe.timestamp());
///     println!("{} ns since 1970, give or take {} ns", time.nanoseconds, time.error);
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correlation {
    /// `nsec` and `last_cycles` are this moment's; of real time, both are nanoseconds.
    moment: ClockInfo,
    timestamps: Timestamps,
    /// Nanoseconds.
    error: u64,
}

/// How many pairs of reads to choose the best from.
const PAIRS: u32 = 8;
/// When to be content with fewer pairs.
const CONTENT: Duration = Duration::from_micros(100);
/// How long to wait for the register to move. It moves with each read on a NIC. The software device shows a copy, which
/// it writes every few milliseconds while it is idle.
const PATIENCE: Duration = Duration::from_secs(1);
/// Nanoseconds for which two clocks drift one nanosecond apart, at the most. The system's clock runs up to 500 ppm fast
/// or slow (Linux `include/linux/timex.h`, `MAXFREQ`), Ethernet's oscillators 100 ppm (IEEE 802.3, 22.2.2.1), and the
/// rest is for what PTP adds to the rate.
const DRIFT: u64 = 1000;

impl Clock {
    /// Reads the clock of the queue's timestamps and `CLOCK_REALTIME` together, a few times, and takes the pair that
    /// took the shortest time: microseconds, because each read of the device goes over PCIe.
    ///
    /// Bounds hold unless the system's clock is set meanwhile. On the software device the register is a copy, so the
    /// bound is too small by the time that the device's thread waits for a CPU.
    ///
    /// # Errors
    /// [`Error::EitherClock`], [`Error::ForeignDevice`], [`Error::ClockStopped`], and those of [`info`](Self::info) and
    /// [`real_time`](Self::real_time).
    pub fn correlate(&self, cq: &Cq) -> Result<Correlation, Error> {
        self.context.check("clock", [cq.into()])?;
        let timestamps = match cq.timestamps() {
            Some(timestamps) => timestamps,
            None if self.has_real_time => return Err(Error::EitherClock),
            None => Timestamps::FreeRunning,
        };
        let info = self.info()?;
        let counter = || match timestamps {
            Timestamps::FreeRunning => self.cycles().ok_or(NOT_MAPPED),
            Timestamps::RealTime => self.real_time(),
        };
        let (begin, mut before) = (Instant::now(), counter()?);
        let mut best: Option<Correlation> = None;
        let mut pairs = 0;
        while best.is_none() || pairs < PAIRS && begin.elapsed() < CONTENT {
            let (earlier, stamp, later) = (since_1970(), counter()?, since_1970());
            if stamp == before {
                if begin.elapsed() > PATIENCE {
                    return Err(Error::ClockStopped { value: stamp });
                }
                std::thread::yield_now();
                continue;
            }
            before = stamp;
            pairs += 1;
            // A clock that was set back between both reads gives no bound.
            let Some(between) = later.checked_sub(earlier) else { continue };
            let error = between.div_ceil(2) + 1;
            if best.is_none_or(|best| error < best.error) {
                let nsec = earlier + between / 2;
                let moment = match timestamps {
                    Timestamps::FreeRunning => ClockInfo { nsec, last_cycles: stamp, frac: 0, ..info },
                    Timestamps::RealTime => {
                        let last_cycles = real_time_nanoseconds(stamp);
                        ClockInfo { nsec, last_cycles, frac: 0, mult: 1, shift: 0, mask: u64::MAX }
                    }
                };
                best = Some(Correlation { moment, timestamps, error });
            }
        }
        best.ok_or(Error::ClockStopped { value: before })
    }
}

impl Correlation {
    /// The system's time of `stamp`, [`timestamp`](crate::cq::CqeView::timestamp) of a completion. The bound grows by
    /// a nanosecond for each microsecond between the stamp and this value's moment, so correlate again now and then.
    ///
    /// A free-running stamp is to be within the clock's [`update_period`](Clock::update_period) of the moment.
    #[inline]
    #[must_use]
    pub const fn time_of(&self, stamp: u64) -> Time {
        let stamp = match self.timestamps {
            Timestamps::FreeRunning => stamp,
            Timestamps::RealTime => real_time_nanoseconds(stamp),
        };
        let nanoseconds = self.moment.nanoseconds(stamp);
        let distance = nanoseconds.abs_diff(self.moment.nsec);
        Time { nanoseconds, error: self.error.saturating_add(distance.div_ceil(DRIFT)) }
    }

    /// The moment of this value.
    #[must_use]
    pub const fn moment(&self) -> Time {
        Time { nanoseconds: self.moment.nsec, error: self.error }
    }
}

fn since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_far_from_the_moment_as_their_stamps() {
        // A clock of 500 MHz: 2 ns a cycle.
        let moment =
            ClockInfo { nsec: 10_000_000, last_cycles: 1_000_000, frac: 0, mult: 2 << 20, shift: 20, mask: u64::MAX };
        let free = Correlation { moment, timestamps: Timestamps::FreeRunning, error: 70 };
        assert_eq!(free.time_of(1_000_000), Time { nanoseconds: 10_000_000, error: 70 });
        // 2000 ns later and earlier: 2 ns more of error.
        assert_eq!(free.time_of(1_001_000), Time { nanoseconds: 10_002_000, error: 72 });
        assert_eq!(free.time_of(999_000), Time { nanoseconds: 9_998_000, error: 72 });
        assert_eq!(free.time_of(1_000_001), Time { nanoseconds: 10_000_002, error: 71 });
        let moment = ClockInfo { last_cycles: 2_999_999_999, mult: 1, shift: 0, ..moment };
        let real = Correlation { moment, timestamps: Timestamps::RealTime, error: 70 };
        // The seconds carry.
        assert_eq!(real.time_of(3 << 32 | 500), Time { nanoseconds: 10_000_501, error: 71 });
        assert_eq!(real.moment(), Time { nanoseconds: 10_000_000, error: 70 });
    }
}
