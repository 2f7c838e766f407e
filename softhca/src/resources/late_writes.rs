//! Which WRITEs are placed late: a decision for each packet, by random numbers.

use fastrand::Rng;

use crate::config;

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

    /// Whether the next packet is late.
    pub(crate) fn next(&mut self) -> bool {
        self.rate > 0 && self.rng.u16(..1000) < self.rate
    }

    /// Which of so many late packets, at least one, is placed next.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        self.rng.usize(..count)
    }
}
