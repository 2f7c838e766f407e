//! The responder of RC and UC, and of targets of XRC and of dynamic connections, which respond as RC does. It executes
//! the peer's requests in the order of their PSNs (IBTA vol. 1, 9.7.4 for RC, 9.8 for UC, annex A14 for XRC).

mod answered;
pub(super) mod datagram;
mod delivery;
mod execution;
mod late;
pub(super) mod receives;
mod refusal;
pub(super) mod rendezvous;
mod repeated;
pub(super) mod replies;
mod tagged;

use std::time::Duration;

use super::psn::{HALF, Psn};
use super::qp_core::QpCore;
use crate::context::{Access, Transport};
use crate::event::QpEvent;
use crate::explanation::{Reason, Subject};
use crate::memory::keys::mkey::Accessor;
use crate::packet::{AethSyndrome, NakCode, Operation, Packet, Reth, XrcEth};
use crate::resources::Resources;
use crate::wire::loan::{Grant, MAX_BYTES};
use answered::Answered;
use late::{Late, Revoked};
use receives::Receives;
use refusal::Refusal;
use replies::{Replies, Sent, Verdict};

/// The receive queue is broken, or a refusal has been sent: the QP goes to the error state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fatal;

/// The message of which not all packets have arrived.
#[derive(Clone, Copy, Debug, Default)]
enum Arriving {
    #[default]
    None,
    /// A SEND: bytes received.
    Send(u64),
    /// A WRITE: the range still to be written, and the length of the whole.
    Write(Reth, u32),
}

/// State of the responder.
#[derive(Debug, Default)]
pub(super) struct Responder {
    expected: Psn,
    /// Messages completed, 24 bits.
    msn: u32,
    arriving: Arriving,
    /// XRC: the SRQ that its packets name.
    named: Option<XrcEth>,
    replies: Replies,
    answered: Answered,
    late: Late,
    /// A NAK or RNR NAK for the expected PSN has been sent.
    asked_again: bool,
    /// A refusal is on its way; everything else is ignored.
    refused: bool,
}

/// A request packet that has arrived, with the QP that it is for and what its execution may change beside the responder.
pub(super) struct Arrival<'a> {
    pub(super) qp: &'a QpCore,
    pub(super) receives: &'a mut Receives,
    pub(super) resources: &'a mut Resources,
    pub(super) packet: &'a Packet<'a>,
}

impl Responder {
    /// A responder that expects `psn` first.
    pub(super) fn new(psn: Psn) -> Self {
        Self { expected: psn, ..Self::default() }
    }

    /// PSN expected next.
    pub(super) fn expected(&self) -> Psn {
        self.expected
    }

    /// Messages completed, 24 bits.
    pub(super) fn messages(&self) -> u32 {
        self.msn
    }

    /// Whether a peer may go on in its place: it is between messages, and owes nothing.
    pub(super) fn may_be_lent(&self) -> bool {
        matches!(self.arriving, Arriving::None) && self.has_replied() && !self.asked_again && !self.refused
    }

    /// What the peer may read and write by this key. `None` if the peer's process cannot reach all of its memory.
    pub(super) fn grant(&self, qp: &QpCore, resources: &Resources, key: u32) -> Option<Grant> {
        let access = access(qp);
        let by = Accessor { qpn: Some(qp.qpn), ..qp.context.pd.into() };
        let grant = resources.grant(by, key).filter(|_| qp.max_message >= MAX_BYTES)?;
        let (reads, writes) =
            (grant.reads && access.remote_read && answers(qp) > 0, grant.writes && access.remote_write);
        (reads || writes).then_some(Grant { reads, writes, ..grant })
    }

    /// The peer has executed messages in its place, up to before `psn`.
    pub(super) fn go_on_at(&mut self, psn: Psn) {
        self.expected = psn;
        self.answered.forget_old(psn);
    }

    /// So many messages have been executed elsewhere.
    pub(super) fn add_messages(&mut self, count: u32) {
        self.msn = self.msn.wrapping_add(count) & 0x00ff_ffff;
    }

    /// Takes a request packet of the peer.
    pub(super) fn request(&mut self, mut arrival: Arrival<'_>) -> Result<(), Fatal> {
        if arrival.qp.transport() == Transport::Uc {
            return self.unreliable(arrival);
        }
        if self.refused {
            return Ok(());
        }
        let Arrival { qp, packet, .. } = arrival;
        let psn = Psn::new(packet.headers.bth.psn);
        match psn.after(self.expected) {
            0 => {}
            1..HALF => {
                arrival.resources.count(qp.counter, |counter| &mut counter.out_of_sequence);
                if !self.asked_again {
                    self.asked_again = true;
                    self.replies.conclude(Verdict::Again(AethSyndrome::Nak(NakCode::PSN_SEQUENCE)));
                }
                return Ok(());
            }
            _ => {
                arrival.resources.count(qp.counter, |counter| &mut counter.duplicate_request);
                self.duplicate(qp, arrival.resources, packet, psn);
                return Ok(());
            }
        }
        match self.execute(&mut arrival) {
            Ok(psns) => {
                self.expected = psn.plus(psns);
                self.answered.forget_old(self.expected);
                // A NAK for it that waits must not be sent any more. An answer acknowledges by itself.
                let acknowledge = packet.headers.bth.ack_request || self.asked_again;
                self.asked_again = false;
                if acknowledge && !is_answered(packet) {
                    self.replies.conclude(Verdict::Ack);
                }
            }
            Err(refusal) => self.refuse(arrival, refusal, psn),
        }
        Ok(())
    }

    /// Nothing waits to be sent, or to be placed first.
    pub(super) fn has_replied(&self) -> bool {
        self.replies.are_empty() && self.late.is_empty()
    }

    /// When bytes that wait are placed.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.late.deadline()
    }

    /// Sends replies, as many as one step may. `true` if there were any.
    pub(super) fn reply(&mut self, qp: &QpCore, resources: &mut Resources) -> Result<bool, Fatal> {
        match self.late.place_due(resources) {
            Ok(placed) if placed || !self.late.is_empty() => return Ok(placed),
            Ok(_) => {}
            Err(Revoked { psn, fault }) => {
                self.late = Late::default();
                self.nak(qp, resources, NakCode::REMOTE_ACCESS, psn, fault.into());
            }
        }
        match self.replies.send(qp, resources, self.msn, self.expected) {
            Sent::Nothing => Ok(false),
            Sent::Some => Ok(true),
            Sent::Refusal => Err(Fatal),
            Sent::Unreadable(psn, reason) => {
                self.replies.give_up_answers();
                self.nak(qp, resources, NakCode::REMOTE_ACCESS, psn, reason);
                Ok(true)
            }
        }
    }

    /// Refuses the request with PSN `psn`.
    fn refuse(&mut self, arrival: Arrival<'_>, refusal: Refusal, psn: Psn) {
        let Arrival { qp, receives, resources, .. } = arrival;
        match refusal {
            Refusal::NotReady(reason) => {
                self.asked_again = true;
                let timer = qp.attr.min_rnr_timer.unwrap_or(0);
                let subject = Subject::Request { peer: qp.dest_qpn(), psn: psn.get(), nak: None };
                resources.explanations.add(qp.qpn, subject, reason);
                self.replies.conclude(Verdict::NotReady(timer, reason));
            }
            Refusal::Wrong(code, reason) => self.nak(qp, resources, code, psn, reason),
            Refusal::WrongReceive(code, failure) => {
                receives.fail(qp, resources, failure);
                self.nak(qp, resources, code, psn, failure.reason);
            }
            Refusal::Silent(failure) => {
                receives.fail(qp, resources, failure);
                self.refused = true;
                self.replies.conclude(Verdict::Silence);
            }
        }
    }

    fn nak(&mut self, qp: &QpCore, resources: &mut Resources, code: NakCode, psn: Psn, reason: Reason) {
        let subject = Subject::Request { peer: qp.dest_qpn(), psn: psn.get(), nak: Some(code) };
        resources.explanations.add(qp.qpn, subject, reason);
        match code {
            NakCode::INVALID_REQUEST => {
                resources.count(qp.counter, |counter| &mut counter.resp_remote_invalid_request);
                qp.raise(resources, QpEvent::RequestError);
            }
            NakCode::REMOTE_ACCESS => {
                resources.count(qp.counter, |counter| &mut counter.resp_remote_access_errors);
                qp.raise(resources, QpEvent::AccessError);
            }
            // The receive WQE's CQE tells.
            _ => {}
        }
        self.refused = true;
        self.replies.conclude(Verdict::Refuse(code, psn, reason));
    }

    /// UC: a request that cannot be executed is dropped with the rest of its message, and the peer is not told. Its
    /// receive WQE serves the next message. Only a bad receive WQE stops the QP.
    fn unreliable(&mut self, mut arrival: Arrival<'_>) -> Result<(), Fatal> {
        let Arrival { qp, packet, .. } = arrival;
        let psn = Psn::new(packet.headers.bth.psn);
        if psn != self.expected || packet.headers.bth.opcode.place().begins() {
            self.arriving = Arriving::None;
        }
        self.expected = psn.plus(packet.packets.into());
        match self.execute(&mut arrival) {
            Err(Refusal::WrongReceive(NakCode::REMOTE_OPERATIONAL, failure)) => {
                arrival.receives.fail(qp, arrival.resources, failure);
                Err(Fatal)
            }
            Err(refusal) => {
                self.arriving = Arriving::None;
                if let Some(reason) = refusal.reason() {
                    let subject = Subject::Message { peer: qp.dest_qpn(), psn: psn.get() };
                    arrival.resources.explanations.add(qp.qpn, subject, reason);
                }
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

fn is_answered(packet: &Packet<'_>) -> bool {
    matches!(
        packet.headers.bth.opcode.operation(),
        Operation::ReadRequest | Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic
    )
}

fn access(qp: &QpCore) -> Access {
    qp.attr.access.unwrap_or_default()
}

/// READs and atomics that the peer may have outstanding.
fn answers(qp: &QpCore) -> usize {
    qp.attr.max_dest_rd_atomic.unwrap_or(0).into()
}
