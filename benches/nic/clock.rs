//! A clock for spans of nanoseconds: the time stamp counter where there is one, else the system's.

use std::time::{Duration, Instant};

/// How long the counter is compared with the system's clock.
const CALIBRATION: Duration = Duration::from_millis(50);
/// Empty spans; their median is the cost of reading the clock twice.
const EMPTY_SPANS: usize = 1001;

/// Reads the counter at the beginning of a span: everything before it is done, nothing behind it has begun.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn begin(_: Instant) -> u64 {
    // SAFETY: SSE2 and the time stamp counter are part of x86-64, and Linux leaves the counter to programs.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        let ticks = core::arch::x86_64::_rdtsc();
        core::arch::x86_64::_mm_lfence();
        ticks
    }
}

/// Reads the counter at the end of a span. Stores of the span have been executed then, and may still be on their way.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn end(start: Instant) -> u64 {
    begin(start)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn begin(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn end(start: Instant) -> u64 {
    begin(start)
}

/// Measures spans.
pub(crate) struct Clock {
    start: Instant,
    ns_per_tick: f64,
    /// Ticks of an empty span.
    overhead: u64,
}

impl Clock {
    /// Compares the counter with the system's clock, for [`CALIBRATION`].
    pub(crate) fn new() -> Self {
        let start = Instant::now();
        let first = begin(start);
        let began = Instant::now();
        while began.elapsed() < CALIBRATION {
            std::hint::spin_loop();
        }
        let (ticks, ns) = (end(start).wrapping_sub(first), began.elapsed().as_nanos());
        let mut clock = Self { start, ns_per_tick: ns as f64 / ticks.max(1) as f64, overhead: 0 };
        let mut empty: Vec<u64> = (0..EMPTY_SPANS).map(|_| clock.ticks(|| ())).collect();
        empty.sort_unstable();
        clock.overhead = empty[EMPTY_SPANS / 2];
        clock
    }

    #[inline(always)]
    fn ticks(&self, work: impl FnOnce()) -> u64 {
        let first = begin(self.start);
        work();
        end(self.start).wrapping_sub(first)
    }

    /// How long `work` takes, in nanoseconds, less what reading the clock costs.
    #[inline(always)]
    pub(crate) fn span(&self, work: impl FnOnce()) -> f64 {
        self.ticks(work).saturating_sub(self.overhead) as f64 * self.ns_per_tick
    }

    /// Nanoseconds that reading the clock costs, and that spans are shorter by.
    pub(crate) fn overhead_ns(&self) -> f64 {
        self.overhead as f64 * self.ns_per_tick
    }
}
