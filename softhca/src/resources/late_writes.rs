//! Which WRITEs are placed late: a decision for each packet, by random numbers.

use std::time::Duration;

use fastrand::Rng;

use crate::config;

/// Microseconds that a packet waits at most: long enough for a program to look at its memory meanwhile.
const LATEST: u64 = 100;

/// The random numbers: see [`config::LateWrites`].
#[derive(Debug)]
pub(crate) struct LateWrites {
    rate: u16,
    rng: Rng,
}

impl LateWrites {
    pub(crate) fn new(config: config::LateWrites) -> Self {
        Self { rate: config.rate, rng: Rng::with_seed(config.seed) }
    }

    /// Whether any packet can be late.
    pub(crate) fn are_possible(&self) -> bool {
        self.rate > 0
    }

    /// How late the next packet is, if it is.
    pub(crate) fn next(&mut self) -> Option<Duration> {
        let is_late = self.rate > 0 && self.rng.u16(..1000) < self.rate;
        is_late.then(|| Duration::from_micros(self.rng.u64(1..=LATEST)))
    }
}
