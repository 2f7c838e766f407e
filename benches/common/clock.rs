//! A clock for slices of a microsecond.
//!
//! On x86-64 it is the time-stamp counter. `lfence`, and `rdtscp` by itself, wait until everything before has been
//! executed, but for stores on their way to the cache, which nothing waits for in a program either. Elsewhere it is the
//! system's monotonic clock.
use std::time::{Duration, Instant};

/// Waits until everything before has been executed, on x86-64.
#[inline(always)]
pub(crate) fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
}

/// Ticks now, before the timed code.
#[inline(always)]
fn begin() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instructions are part of x86-64.
    unsafe {
        use std::arch::x86_64::{_mm_lfence, _rdtsc};
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
    #[cfg(not(target_arch = "x86_64"))]
    system_ticks()
}

/// Ticks now, after the timed code.
#[inline(always)]
fn end() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU with an invariant time-stamp counter has the instruction; it stores to the local
    // variable.
    unsafe {
        std::arch::x86_64::__rdtscp(&mut 0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    system_ticks()
}

#[cfg(not(target_arch = "x86_64"))]
fn system_ticks() -> u64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// How long a tick is, and what reading costs.
pub(crate) struct Clock {
    ns_per_tick: f64,
    /// Ticks that a slice of no work takes: to be subtracted.
    empty: f64,
}

impl Clock {
    /// Compares ticks with the system's clock, and measures a slice of no work. Takes 50 ms.
    pub(crate) fn new() -> Self {
        const CALIBRATION: Duration = Duration::from_millis(50);
        const SLICES: usize = 8000;
        let (start, first) = (Instant::now(), begin());
        while start.elapsed() < CALIBRATION {}
        let (elapsed, last) = (start.elapsed(), end());
        let ns_per_tick = elapsed.as_nanos() as f64 / (last - first) as f64;
        // Like the cases, the timed function is called through a pointer that the compiler cannot see through.
        let mut nothing = |_, _| ();
        let nothing: &mut dyn FnMut(u64, usize) = std::hint::black_box(&mut nothing);
        let mut slices: Vec<u64> = (0..SLICES).map(|_| Self::time(|| nothing(0, 0))).collect();
        // A mean, since the counter may advance in steps as long as this; without the slices that were interrupted.
        slices.sort_unstable();
        let undisturbed = &slices[..SLICES * 9 / 10];
        Self { ns_per_tick, empty: undisturbed.iter().sum::<u64>() as f64 / undisturbed.len() as f64 }
    }

    /// Ticks that `f` takes, reading the clock included.
    #[inline(always)]
    pub(crate) fn time(f: impl FnOnce()) -> u64 {
        let first = begin();
        f();
        end().wrapping_sub(first)
    }

    /// Nanoseconds of `ticks` in `slices` slices, reading the clock not included.
    pub(crate) fn ns(&self, ticks: u64, slices: usize) -> f64 {
        (ticks as f64 - self.empty * slices as f64).max(0.0) * self.ns_per_tick
    }

    /// Nanoseconds that reading it twice takes.
    pub(crate) fn cost_ns(&self) -> f64 {
        self.empty * self.ns_per_tick
    }
}
