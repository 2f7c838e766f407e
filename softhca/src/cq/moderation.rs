//! Moderation: events held back, so that one is raised for several CQEs.

use std::time::Duration;

/// How events are held back (CQC.cq_max_count and CQC.cq_period).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moderation {
    /// Until there are so many CQEs; 0: however many there are.
    pub(crate) count: u16,
    /// At most so long after the first; 0: however long it takes. With a count of 0 or 1 as well, not at all.
    pub(crate) period: Duration,
}

/// CQEs that an arming asked for, and that wait for more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gathered {
    cqes: u32,
    /// When they need wait no longer.
    due: Option<Duration>,
}

impl Gathered {
    /// Counts one more. `true` if the event need not wait for others.
    pub(super) fn add(&mut self, moderation: Moderation, now: Duration) -> bool {
        let Moderation { count, period } = moderation;
        if self.cqes == 0 && !period.is_zero() {
            self.due = Some(now + period);
        }
        self.cqes += 1;
        (count <= 1 && period.is_zero()) || (count != 0 && self.cqes >= u32::from(count))
    }

    /// When they need wait no longer, if there are any and that is ever so.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }
}
