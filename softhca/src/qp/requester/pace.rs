//! The pace of a send queue of frames: each frame leaves, or each WQE begins, when the rate permits.

use super::request::Request;
use crate::qp::failure::Failure;
use crate::qp::qp_core::QpCore;
use crate::resources::{Rate, RateMode, Resources};
use crate::wqe::Framing;
use std::time::Duration;

/// How late a WQE may begin and the next ones make up for it. After a longer break, the clock begins anew.
const MOST_LATE: Duration = Duration::from_millis(100);

/// The queue's rate, if it has this mode.
fn rate_of(qp: &QpCore, resources: &Resources, mode: RateMode) -> Option<Rate> {
    resources.rates.get(qp.rate).filter(|rate| rate.mode == mode)
}

/// How far a queue has used up its rate.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the bytes or WQEs sent so far have had their time.
    used_until: Duration,
}

impl Pace {
    /// When a frame of `bytes` bytes may leave. A burst, this frame included, then has at most as many bytes as the
    /// rate permits, and at least one frame.
    fn due(&self, rate: Rate, bytes: u64) -> Duration {
        let before = u64::from(rate.burst).saturating_sub(bytes);
        self.used_until.saturating_sub(rate.time_of(before))
    }

    /// A frame leaves.
    fn sent(&mut self, rate: Rate, bytes: u64, now: Duration) {
        self.used_until = self.used_until.max(now) + rate.time_of(bytes);
    }

    /// When the next frame, of `bytes` bytes, may leave, if not now.
    pub(super) fn wait(&self, bytes: u64, qp: &QpCore, resources: &Resources) -> Option<Duration> {
        let rate = rate_of(qp, resources, RateMode::Data)?;
        Some(self.due(rate, bytes)).filter(|&due| due > resources.now)
    }

    /// Whether its requests have times of their own.
    pub(super) fn has_rate(&self, qp: &QpCore, resources: &Resources) -> bool {
        rate_of(qp, resources, RateMode::Wqes).is_some()
    }

    /// When the next WQE may begin, if not now.
    pub(super) fn wait_to_begin(&self, qp: &QpCore, resources: &Resources) -> Option<Duration> {
        rate_of(qp, resources, RateMode::Wqes)?;
        Some(self.used_until).filter(|&due| due > resources.now)
    }

    /// A WQE begins. One that begins late does not delay the next one: a queue of WQEs at a rate is a clock.
    pub(super) fn begun(&mut self, qp: &QpCore, resources: &Resources) {
        let Some(rate) = rate_of(qp, resources, RateMode::Wqes) else { return };
        let late = resources.now.saturating_sub(self.used_until);
        let from = if late > MOST_LATE { resources.now } else { self.used_until };
        self.used_until = from + rate.time_of_wqe();
    }

    /// Sends the frames of a request that may leave now. `false` if some must wait for their time, or for room.
    pub(super) fn send(
        &mut self,
        request: &mut Request,
        framing: Framing,
        qp: &QpCore,
        resources: &mut Resources,
    ) -> Result<bool, Failure> {
        let is_cabled = qp.is_cabled(resources);
        if request.leaving.is_none() && (framing.many || framing.mss.is_some() || !is_cabled) {
            request.check_frames(qp, resources, framing)?;
        }
        if !is_cabled {
            // They are lost.
            return Ok(true);
        }
        loop {
            let index = *request.leaving.get_or_insert(0);
            let Some(bytes) = request.frame_bytes(index) else { return Ok(true) };
            if resources.egress.is_full() || self.wait(bytes, qp, resources).is_some() {
                return Ok(false);
            }
            let frame = request.ethernet_frame(qp, resources, framing, index)?;
            if let Some(rate) = rate_of(qp, resources, RateMode::Data) {
                self.sent(rate, bytes, resources.now);
            }
            resources.egress.push(qp.qpn, framing.metadata, frame);
            request.leaving = Some(index + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of these sizes, as fast as the pace permits: when each leaves, in microseconds.
    fn times(rate: Rate, sizes: &[u64]) -> Vec<u128> {
        let (mut pace, mut now) = (Pace::default(), Duration::from_secs(1));
        let mut leave = |bytes: u64| {
            now = now.max(pace.due(rate, bytes));
            pace.sent(rate, bytes, now);
            (now - Duration::from_secs(1)).as_micros()
        };
        sizes.iter().map(|&bytes| leave(bytes)).collect()
    }

    #[test]
    fn frames_leave_at_the_rate() {
        // 8 Mbit/s are a byte a microsecond.
        let rate = Rate { limit: 8000, mode: RateMode::Data, burst: 0, typical: 0 };
        assert_eq!(times(rate, &[100, 100, 1000, 60, 60]), [0, 100, 200, 1200, 1260]);
    }

    #[test]
    fn bursts_have_at_most_so_many_bytes() {
        let rate = Rate { limit: 8000, mode: RateMode::Data, burst: 350, typical: 100 };
        // Three of 100 bytes are a burst, and a fourth would be 400 bytes. Frames longer than a burst leave alone.
        assert_eq!(times(rate, &[100; 7]), [0, 0, 0, 50, 150, 250, 350]);
        assert_eq!(times(rate, &[1000, 1000, 100]), [0, 1000, 1750]);
    }
}
