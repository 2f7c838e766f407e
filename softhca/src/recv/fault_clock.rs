//! Receives from SRQs that fail at a rate, so that drivers meet the failures of a device in trouble.

use crate::config::SrqFaults;

/// How a receive from an SRQ fails although its WQE is good: see [`SrqFaults`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SrqFault {
    /// A page of the buffer was not there.
    Page,
    /// The packet that the WQE was taken for was out of sequence.
    Sequence,
}

/// When the next receive from an SRQ is to fail: see [`SrqFaults`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultClock {
    rates: SrqFaults,
    /// Fractions of a fault due, in thousandths: page faults, and wrong sequences.
    due: [u16; 2],
}

impl FaultClock {
    pub(crate) fn new(rates: SrqFaults) -> Self {
        Self { rates, due: [0; 2] }
    }

    /// How the receive that begins now fails, if it does.
    pub(crate) fn tick(&mut self) -> Option<SrqFault> {
        let kinds = [(self.rates.page, SrqFault::Page), (self.rates.sequence, SrqFault::Sequence)];
        for (due, (rate, _)) in self.due.iter_mut().zip(kinds) {
            *due += rate;
        }
        // If both are due at once, the other waits.
        let at = self.due.iter().position(|&due| due >= 1000)?;
        self.due[at] -= 1000;
        Some(kinds[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_at_their_rates() {
        let mut clock = FaultClock::new(SrqFaults { page: 300, sequence: 100 });
        // Once more for the one that has waited for another.
        let found: Vec<_> = (0..=1000).filter_map(|_| clock.tick()).collect();
        let count = |kind| found.iter().filter(|&&fault| fault == kind).count();
        assert_eq!((count(SrqFault::Page), count(SrqFault::Sequence)), (300, 100));
        assert!((0..1000).all(|_| FaultClock::new(SrqFaults::default()).tick().is_none()));
    }
}
