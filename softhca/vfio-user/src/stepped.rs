//! The parts of a function that its thread steps.

use softhca::event::Event;
use softhca::pci::Function;
use softhca::runner::Step;
use softhca_settings::Mishaps;
use std::time::Duration;

/// A function.
pub(crate) struct Stepped {
    pub(crate) function: Function,
    /// Its accidents, on a network of processes.
    pub(crate) mishaps: Option<Mishaps>,
}

impl Step for Stepped {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.function.doorbell(uar, offset, stored);
    }

    fn step(&mut self, now: Duration) -> bool {
        if let Some(mishaps) = &mut self.mishaps {
            mishaps.befall(now, self.function.device());
        }
        let worked = self.function.step(now);
        if worked {
            // The device has logged its complaints.
            drop(self.function.device().complaints());
        }
        worked
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.function.next_deadline()
    }

    fn next_event(&mut self) -> Option<Event> {
        self.function.next_event()
    }
}
