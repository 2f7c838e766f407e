//! A network that is bad, or slow, for a time.

use super::{BadNetwork, Script};
use crate::faults::Faults;
use crate::wire::cable::Dropped;
use crate::wire::fault::{FaultConfig, FaultConfigError, FaultInjector};
use crate::wire::slow::SlowLink;
use crate::wire::{Announcement, Arrived, Fate, Frame, Wire};
use std::fmt::Display;
use std::os::fd::RawFd;
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

    fn segment_bytes(&self) -> usize {
        self.wire.segment_bytes()
    }

    fn comment(&mut self, packet: &[u8], reason: &dyn Display) {
        self.wire.comment(packet, reason);
    }

    fn note(&mut self, frame: &Frame, fate: Fate) {
        self.wire.note(frame, fate);
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        self.wire.send_ethernet(frame);
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        self.wire.recv_ethernet()
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        self.wire.next_dropped()
    }

    fn announce(&mut self, announcement: Announcement) {
        self.wire.announce(announcement);
    }

    fn neighbour(&mut self, from: [u8; 16], to: [u8; 16]) -> Option<[u8; 6]> {
        self.wire.neighbour(from, to)
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

    fn flush(&mut self, arrived: Arrived) {
        self.wire.flush(arrived);
    }

    fn is_kept_waiting_by(&mut self, qpn: u32) -> bool {
        self.wire.is_kept_waiting_by(qpn)
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.wire.next_deadline()
    }

    fn is_holding(&self) -> bool {
        self.wire.is_holding()
    }

    fn descriptors(&self) -> Vec<RawFd> {
        self.wire.descriptors()
    }
}
