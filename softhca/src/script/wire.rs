//! A network that is bad, or slow, for a time.

use super::{BadNetwork, Script};
use crate::faults::Faults;
use crate::wire::fault::{FaultConfig, FaultConfigError, FaultInjector};
use crate::wire::slow::SlowLink;
use crate::wire::{Frame, Wire};
use std::time::Duration;

impl Script {
    /// A wire through `wire` that has the faults of the script at their times, and `otherwise` at others. The seed is
    /// that of `otherwise`.
    ///
    /// # Errors
    /// [`FaultConfigError::Sum`] if rates add up to more than 1000.
    pub fn wire(&self, wire: Box<dyn Wire>, otherwise: &Faults) -> Result<Box<dyn Wire>, FaultConfigError> {
        if self.network.is_empty() {
            return otherwise.inject(wire);
        }
        let seed = otherwise.network.seed;
        let with_seed = |faults: &Faults| Faults { network: FaultConfig { seed, ..faults.network }, ..*faults };
        for bad in &self.network {
            bad.faults.network.check()?;
        }
        let slow = SlowLink::new(wire, otherwise.timing, seed);
        Ok(Box::new(Changing {
            wire: FaultInjector::new(slow, otherwise.network)?,
            zero: None,
            now: *otherwise,
            otherwise: *otherwise,
            network: self.network.iter().map(|bad| BadNetwork { faults: with_seed(&bad.faults), ..*bad }).collect(),
        }))
    }
}

/// A wire whose faults change with the time.
struct Changing {
    wire: FaultInjector<SlowLink<Box<dyn Wire>>>,
    /// The time at which the script began: that of the first step.
    zero: Option<Duration>,
    now: Faults,
    otherwise: Faults,
    network: Vec<BadNetwork>,
}

impl Wire for Changing {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        self.wire.send(frame)
    }

    fn recv(&mut self) -> Option<Frame> {
        self.wire.recv()
    }

    fn advance(&mut self, now: Duration) -> bool {
        let since = now.saturating_sub(*self.zero.get_or_insert(now));
        let bad = self.network.iter().find(|bad| bad.window.contains(since));
        let faults = bad.map_or(self.otherwise, |bad| bad.faults);
        if faults != self.now {
            self.now = faults;
            self.wire.change(faults.network);
            self.wire.inner_mut().change(faults.timing);
        }
        self.wire.advance(now)
    }

    fn behind(&self) -> Option<&dyn Wire> {
        Some(&self.wire)
    }

    fn behind_mut(&mut self) -> Option<&mut dyn Wire> {
        Some(&mut self.wire)
    }
}
