//! The requester's two timers: the transport timer and the RNR timer (IBTA vol. 1, 9.7.6.1.3 and 9.7.5.2.8).

use std::time::Duration;

use crate::context::QpAttr;

/// The `rnr_retry` without end.
const RNR_WITHOUT_END: u8 = 7;

/// Retries of the same request after which the transport timer runs [`LATE_FACTOR`] times as long.
const EARLY_RETRIES: u8 = 2;

/// How much longer the later retries wait. A device may take up to four times the time of the timeout code (IBTA vol.
/// 1, 9.7.6.1.3). The early retries do not wait longer, so that a loss costs little. The later ones do, so that a peer
/// does not count as dead because its process has had no CPU for a while.
const LATE_FACTOR: u32 = 4;

/// How often it is looked at least whether a peer that is away has come back.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// RNR timer codes 0 to 31 in units of 10 us (IBTA vol. 1, table 45).
const RNR_TIMER: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
    6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// How long an RNR timer code (its low 5 bits) says to wait.
fn rnr_delay(code: u8) -> Duration {
    Duration::from_micros(10 * u64::from(RNR_TIMER[usize::from(code & 31)]))
}

/// How long a local ACK timeout code waits: 4.096 us * 2^code; `None` for code 0, which waits without end.
pub(in crate::qp) fn ack_timeout(code: u8) -> Option<Duration> {
    (code != 0).then(|| Duration::from_nanos(4096 << (code & 31)))
}

/// Timers and retry counters of a reliable requester.
///
/// The two counters are apart: a loss counts as a transport retry, an RNR NAK as an RNR retry, and neither resets the
/// other's. Only an acknowledgement of something new resets them, then both. Linux' rxe does the same (`rxe_comp.c`:
/// `reset_retry_counters` for acknowledgements and answers, not for RNR NAKs). So a SEND that waits long for its
/// receiver, on a network that loses packets, can run out of transport retries, even with `rnr_retry` 7.
#[derive(Clone, Debug, Default)]
pub(in crate::qp) struct Retry {
    /// When the oldest request is taken for lost; `None` while nothing is unacknowledged.
    lost_at: Option<Duration>,
    /// Nothing is sent before this: the responder said that it is not ready.
    not_ready_until: Option<Duration>,
    retries: u8,
    rnr_retries: u8,
}

impl Retry {
    /// Something was sent: the transport timer runs if it did not.
    pub(in crate::qp) fn sent(&mut self, attr: &QpAttr, now: Duration) {
        if self.lost_at.is_none() {
            self.lost_at = self.lost_after(attr, now);
        }
    }

    /// When a request that is sent at `now` is taken for lost.
    fn lost_after(&self, attr: &QpAttr, now: Duration) -> Option<Duration> {
        let factor = if self.retries < EARLY_RETRIES { 1 } else { LATE_FACTOR };
        ack_timeout(attr.timeout.unwrap_or(0)).map(|wait| now.saturating_add(wait * factor))
    }

    /// How long a lost packet is waited for at least; zero if for ever.
    pub(super) fn shortest_timeout(&self, attr: &QpAttr) -> Duration {
        ack_timeout(attr.timeout.unwrap_or(0)).unwrap_or_default()
    }

    /// The peer acknowledged something new. `outstanding`: something still waits for its acknowledgement.
    pub(in crate::qp) fn progress(&mut self, attr: &QpAttr, outstanding: bool, now: Duration) {
        self.retries = 0;
        self.rnr_retries = 0;
        self.lost_at = if outstanding { self.lost_after(attr, now) } else { None };
    }

    /// The peer cannot have answered yet: the transport timer begins anew. It does not begin more often than each
    /// [`SHORTEST_WAIT`], because the peer may stay away for hours.
    pub(in crate::qp) fn wait_longer(&mut self, attr: &QpAttr, now: Duration) {
        self.lost_at = self.lost_after(attr, now).map(|at| at.max(now.saturating_add(SHORTEST_WAIT)));
    }

    /// A transport retry is about to happen; `false` if there has been one too many.
    pub(super) fn may_retry(&mut self, attr: &QpAttr) -> bool {
        self.lost_at = None;
        let permitted = self.retries < attr.retry_cnt.unwrap_or(0);
        self.retries = self.retries.saturating_add(1);
        permitted
    }

    /// An RNR NAK came: nothing is sent until its timer has run; `false` if there has been one too many.
    pub(super) fn not_ready(&mut self, attr: &QpAttr, code: u8, now: Duration) -> bool {
        let limit = attr.rnr_retry.unwrap_or(0);
        let permitted = limit == RNR_WITHOUT_END || self.rnr_retries < limit;
        self.rnr_retries = self.rnr_retries.saturating_add(1);
        self.lost_at = None;
        self.not_ready_until = Some(now.saturating_add(rnr_delay(code)));
        permitted
    }

    /// The responder has said that it is not ready, and the time it asked for has not passed.
    pub(super) fn is_waiting(&self) -> bool {
        self.not_ready_until.is_some()
    }

    /// Lets the RNR timer run out at `now`; `true` if it did.
    pub(super) fn end_wait(&mut self, now: Duration) -> bool {
        let ended = self.not_ready_until.is_some_and(|until| until <= now);
        if ended {
            self.not_ready_until = None;
        }
        ended
    }

    /// The transport timer has run out.
    pub(in crate::qp) fn is_lost(&self, now: Duration) -> bool {
        self.lost_at.is_some_and(|at| at <= now)
    }

    /// The next moment at which something has to happen.
    pub(in crate::qp) fn deadline(&self) -> Option<Duration> {
        self.not_ready_until.or(self.lost_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_specification() {
        assert_eq!(ack_timeout(0), None);
        assert_eq!(ack_timeout(14), Some(Duration::from_nanos(67_108_864)));
        assert_eq!(ack_timeout(31), Some(Duration::from_nanos(4096 << 31)));
        assert_eq!(rnr_delay(0), Duration::from_micros(655_360));
        assert_eq!(rnr_delay(1), Duration::from_micros(10));
        assert_eq!(rnr_delay(12), Duration::from_micros(640));
        assert_eq!(rnr_delay(31), Duration::from_micros(491_520));
    }
}
