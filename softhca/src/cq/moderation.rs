//! Moderation: events held back, so that one is raised for several CQEs.

use crate::context::PeriodStart;
use std::time::Duration;

/// How events are held back (CQC.cq_max_count, cq_period and cq_period_mode). Not at all if one of the two numbers is
/// 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moderation {
    /// CQEs since the last event that raise the next one.
    pub(crate) count: u16,
    /// The longest time to hold an event back.
    pub(crate) period: Duration,
    /// Start of the period.
    pub(crate) start: PeriodStart,
}

/// When a CQ's periods began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// The last event, if there was one.
    pub(super) event: Option<Duration>,
    /// The last CQE.
    pub(super) cqe: Duration,
}

impl Moderation {
    /// When the event is due for `cqes` since the last one.
    pub(super) fn due(&self, cqes: u32, times: Times) -> Duration {
        let Self { count, period, start } = *self;
        if count == 0 || period.is_zero() || cqes >= count.into() {
            return Duration::ZERO;
        }
        match start {
            PeriodStart::Event => times.event.map_or(Duration::ZERO, |event| event + period),
            PeriodStart::Cqe => times.cqe + period,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn due(count: u16, period: Duration, start: PeriodStart, cqes: u32) -> Duration {
        let times = Times { event: Some(10 * SECOND), cqe: 20 * SECOND };
        Moderation { count, period, start }.due(cqes, times)
    }

    #[test]
    fn an_event_waits_for_more_or_for_its_time() {
        assert_eq!(due(3, SECOND, PeriodStart::Event, 2), 11 * SECOND);
        assert_eq!(due(3, SECOND, PeriodStart::Cqe, 2), 21 * SECOND);
        assert_eq!(due(3, SECOND, PeriodStart::Cqe, 3), Duration::ZERO);
    }

    #[test]
    fn without_one_of_the_limits_nothing_waits() {
        for start in [PeriodStart::Event, PeriodStart::Cqe] {
            assert_eq!(due(0, SECOND, start, 1), Duration::ZERO);
            assert_eq!(due(9, Duration::ZERO, start, 1), Duration::ZERO);
        }
    }

    #[test]
    fn the_first_event_waits_for_none_before_it() {
        let first = Moderation { count: 9, period: SECOND, start: PeriodStart::Event };
        assert_eq!(first.due(1, Times { event: None, cqe: SECOND }), Duration::ZERO);
    }
}
