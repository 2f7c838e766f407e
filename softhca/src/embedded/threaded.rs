//! An embedded device on a thread of its own.

use std::time::Duration;

use super::device::EmbeddedDevice;
use crate::event::Event;
use crate::runner::Step;

/// For a [`Runner`](crate::runner::Runner), whose clock replaces the device's. Doorbells must come from records or from
/// calls: see [`DoorbellSource`](crate::config::DoorbellSource).
impl Step for EmbeddedDevice {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.device.doorbell(uar, offset, stored);
    }

    fn step(&mut self, now: Duration) -> bool {
        self.now = self.now.max(now);
        self.device.step(self.now)
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.device.next_deadline()
    }

    fn next_event(&mut self) -> Option<Event> {
        self.device.next_event()
    }
}
