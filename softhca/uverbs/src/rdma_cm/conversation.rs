//! A conversation of two communication managers: its progress, and the parameters of its QP (IBTA vol. 1, 12.9).

use super::mad::Message;
use super::peer::Peer;
use std::time::{Duration, Instant};

/// How far it is (`enum ib_cm_state` of the kernel).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// REQ sent.
    ReqSent,
    /// REQ received, not answered.
    ReqReceived,
    /// REP sent.
    RepSent,
    /// REP received, not answered.
    RepReceived,
    /// Both know of each other.
    Established,
    /// DREQ sent.
    DreqSent,
    /// DREQ received, not answered.
    DreqReceived,
    /// Over; packets may still be under way.
    TimeWait,
    /// Service ID resolution: asked.
    SidrReqSent,
    /// Asked of us, not answered.
    SidrReqReceived,
    /// Nothing is left to be said.
    #[default]
    Over,
}

/// The message that is sent again until it is answered.
#[derive(Debug)]
pub(super) struct Resend {
    pub(super) message: Message,
    pub(super) interval: Duration,
    /// How often still.
    pub(super) left: u8,
}

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    pub(super) phase: Phase,
    pub(super) peer: Peer,
    /// The peer's life when the conversation began: with another one, the peer is gone.
    pub(super) life: Option<u32>,
    pub(super) transaction: u64,
    pub(super) local_id: u32,
    pub(super) remote_id: u32,
    /// When something is due: `resend`, or the end of the wait.
    pub(super) deadline: Option<Instant>,
    pub(super) resend: Option<Resend>,
    /// The answer to the peer's message, if it comes again.
    pub(super) answer: Option<Message>,
    pub(super) service_id: u64,
    pub(super) local_qpn: u32,
    pub(super) remote_qpn: u32,
    /// First PSN that we send; the first that we receive is the id's.
    pub(super) sq_psn: u32,
    pub(super) responder_resources: u8,
    pub(super) initiator_depth: u8,
    pub(super) retry_count: u8,
    pub(super) rnr_retry_count: u8,
    pub(super) mtu: u8,
    /// Local ACK timeout of the QP.
    pub(super) ack_timeout: u8,
    /// How long the peer takes to answer, in milliseconds.
    pub(super) response_ms: u64,
    pub(super) max_retries: u8,
}

impl Conversation {
    pub(super) fn new(phase: Phase, peer: Peer, life: Option<u32>, local_id: u32) -> Self {
        Self { phase, peer, life, transaction: u64::from(local_id) << 32, local_id, ..Self::default() }
    }

    /// Has `message` sent again until an answer ends the phase.
    pub(super) fn expect_answer(&mut self, phase: Phase, message: Message, now: Instant) {
        let interval = Duration::from_millis(self.response_ms);
        self.phase = phase;
        self.deadline = Some(now + interval);
        self.resend = Some(Resend { message, interval, left: self.max_retries });
    }

    /// Enters a phase in which nothing is sent again.
    pub(super) fn settle(&mut self, phase: Phase) {
        self.phase = phase;
        self.deadline = None;
        self.resend = None;
    }

    /// Waits until no packet can be under way.
    pub(super) fn wait_out(&mut self, now: Instant) {
        self.settle(Phase::TimeWait);
        self.deadline = Some(now + Duration::from_millis(super::mad::milliseconds(self.ack_timeout)));
    }

    /// Whether the end of the peer's process matters.
    pub(super) fn needs_peer(&self) -> bool {
        use Phase::*;
        matches!(
            self.phase,
            ReqSent | ReqReceived | RepSent | RepReceived | Established | DreqSent | SidrReqSent | SidrReqReceived
        )
    }
}

/// A QP's local ACK timeout, from the path's packet life time and the peer's delay (`cm_ack_timeout` of the kernel):
/// 4.096 us times a power of two.
pub(super) fn ack_timeout(ack_delay: u8, packet_life_time: u8) -> u8 {
    let once = packet_life_time + 1;
    let sum = if once >= ack_delay {
        once + u8::from(ack_delay >= once - 1)
    } else {
        ack_delay + u8::from(once >= ack_delay - 1)
    };
    sum.min(31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_add_up_as_powers_of_two() {
        assert_eq!(
            [ack_timeout(16, 16), ack_timeout(0, 16), ack_timeout(31, 16), ack_timeout(30, 30)],
            [18, 17, 31, 31]
        );
    }
}
