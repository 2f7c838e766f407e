//! The responder of RC and UC, and of targets of XRC and of dynamic connections, which respond as RC does. It executes
//! the peer's requests in the order of their PSNs (IBTA vol. 1, 9.7.4 for RC, 9.8 for UC, annex A14 for XRC).

mod answered;
pub(super) mod datagram;
mod delivery;
mod late;
pub(super) mod receives;
pub(super) mod rendezvous;
mod repeated;
pub(super) mod replies;
mod tagged;

use std::time::Duration;

use super::failure::Failure;
use super::psn::{HALF, Psn};
use super::qp_core::QpCore;
use crate::context::{Access, ReceiveSource, Transport};
use crate::cq::ReceiveKind;
use crate::event::QpEvent;
use crate::explanation::{Reason, Subject};
use crate::memory::Need;
use crate::memory::keys::mkey::{Accessor, KeyFault};
use crate::packet::{AethSyndrome, NakCode, Operation, Packet, Place, Reth, Tail, Width, XrcEth};
use crate::resources::Resources;
use crate::wire::loan::{Grant, MAX_BYTES};
use answered::Answered;
use late::{Late, Piece, Revoked};
use receives::{Message, Receives};
use replies::{Content, Found, Replies, Sent, Verdict};

/// Why a request is not executed.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    /// No receive WQE.
    NotReady(Reason),
    /// The request is wrong.
    Wrong(NakCode, Reason),
    /// The request is wrong for the receive WQE at hand, which fails with it.
    WrongReceive(NakCode, Failure),
    /// The request is wrong for the receive WQE at hand, which fails with it, and the peer is told nothing.
    Silent(Failure),
}

impl Refusal {
    /// Its reason; `None` if a receive WQE's failure has told it.
    fn reason(&self) -> Option<Reason> {
        match *self {
            Self::NotReady(reason) | Self::Wrong(_, reason) => Some(reason),
            Self::WrongReceive(_, failure) => Some(failure.reason),
            Self::Silent(_) => None,
        }
    }
}

/// The request makes no sense.
fn invalid(reason: Reason) -> Refusal {
    Refusal::Wrong(NakCode::INVALID_REQUEST, reason)
}

/// A key does not give access.
fn no_access(fault: KeyFault) -> Refusal {
    Refusal::Wrong(NakCode::REMOTE_ACCESS, fault.into())
}

/// A receive WQE is broken.
fn broken(failure: Failure) -> Refusal {
    Refusal::WrongReceive(NakCode::REMOTE_OPERATIONAL, failure)
}

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

    /// What a key lets the peer read and write, if the peer can reach all of the key's memory by itself.
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

    /// Executes the request; returns the PSNs it takes.
    fn execute(&mut self, arrival: &mut Arrival<'_>) -> Result<u32, Refusal> {
        let Arrival { qp, receives, resources, packet } = arrival;
        let opcode = packet.headers.bth.opcode;
        let (place, len, packets) = (opcode.place(), packet.payload.len(), u32::from(packet.packets));
        let continues = match (self.arriving, opcode.operation()) {
            (Arriving::None, _) => false,
            (Arriving::Send(_), Operation::Send) | (Arriving::Write(..), Operation::Write) => true,
            _ => return Err(invalid(Reason::Is("a packet of another kind of request in the middle of a message"))),
        };
        // All packets of a segment are full but perhaps the last.
        let most = qp.mtu as usize * packets as usize;
        let before = most - qp.mtu as usize;
        let len_fits = match place {
            Place::First | Place::Middle => len == most,
            Place::Only if packets == 1 => len <= most,
            Place::Last | Place::Only => (before + 1..=most).contains(&len),
        };
        let named = packet.headers.xrc;
        if continues == place.begins() {
            return Err(invalid(Reason::Is("the opcode is not the one that follows: first, middle, last or only")));
        }
        if !len_fits {
            return Err(invalid(Reason::PathMtu { len, mtu: qp.mtu }));
        }
        if continues && named != self.named {
            return Err(invalid(Reason::Is("a packet for another SRQ in the middle of a message")));
        }
        let by = user_of_keys(qp, resources, packet)?;
        if let (ReceiveSource::Domain { xrcd }, Some(XrcEth(srqn)), false) = (qp.context.rq, named, continues) {
            let (_, xrc) = resources.srq_of_domain(xrcd, srqn).ok_or(no_srq(srqn, xrcd))?;
            receives.turn_to(srqn, xrc);
            self.named = named;
        }
        match opcode.operation() {
            Operation::Write if place.begins() => resources.count(qp.counter, |counter| &mut counter.rx_write_requests),
            Operation::ReadRequest => resources.count(qp.counter, |counter| &mut counter.rx_read_requests),
            Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic => {
                resources.count(qp.counter, |counter| &mut counter.rx_atomic_requests);
            }
            _ => {}
        }
        // The rest of a WRITE alone announces nothing.
        if opcode.operation() != Operation::Write || opcode.tail() == Tail::Immediate {
            self.late.place_all(resources).map_err(|revoked| no_access(revoked.fault))?;
        }
        match opcode.operation() {
            Operation::Send => self.send(by, arrival)?,
            Operation::Write => self.write(by, arrival).map_err(|refusal| with_its_receive(arrival, refusal))?,
            Operation::ReadRequest => return self.read(qp, by, resources, packet),
            Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic => {
                self.atomic(qp, by, resources, packet)?
            }
            _ => return Err(invalid(Reason::Is("an opcode that is no request"))),
        }
        Ok(packets)
    }

    fn send(&mut self, by: Accessor, arrival: &mut Arrival<'_>) -> Result<(), Refusal> {
        let Arrival { qp, receives, resources, packet } = arrival;
        let place = packet.headers.bth.opcode.place();
        let offset = if let Arriving::Send(received) = self.arriving { received } else { 0 };
        let begins = place.begins() && !receives.has_begun();
        if begins && receives.match_tag(qp, resources, packet.payload, place == Place::Only) {
            self.complete_message();
            return Ok(());
        }
        take_receive(qp, receives, resources)?;
        if begins {
            receives.note_tag(resources, packet.payload);
        }
        let offset_of_next = offset + packet.payload.len() as u64;
        let (payload, offset) = receives.without_header(packet.payload, offset);
        let end = offset + payload.len() as u64;
        let room = receives.capacity().min(qp.max_message);
        if end > room {
            let failure = Failure::RECEIVE_LENGTH.because(Reason::ReceiveLength { len: end, room });
            return Err(Refusal::WrongReceive(NakCode::INVALID_REQUEST, failure));
        }
        receives.put(qp, resources, offset, payload, place == Place::Only).map_err(broken)?;
        if !place.ends() {
            self.arriving = Arriving::Send(offset_of_next);
            return Ok(());
        }
        receives.check_end(qp, resources, end).map_err(broken)?;
        if let Some(key) = packet.headers.ieth {
            let refused = |fault: KeyFault| Refusal::Silent(Failure::BAD_INVALIDATE.because(fault));
            resources.invalidate(by, key.0).map_err(refused)?;
        }
        self.complete_receive(arrival, end as u32);
        Ok(())
    }

    fn write(&mut self, by: Accessor, arrival: &mut Arrival<'_>) -> Result<(), Refusal> {
        let Arrival { qp, receives, resources, packet } = arrival;
        let opcode = packet.headers.bth.opcode;
        let place = opcode.place();
        let (mut left, whole) = match (self.arriving, packet.headers.reth) {
            (Arriving::Write(left, whole), _) => (left, whole),
            (_, Some(reth)) => {
                check_remote(qp, by, resources, &reth, Need::RemoteWrite)?;
                (reth, reth.len)
            }
            _ => return Err(invalid(Reason::Is("a WRITE without an RETH"))),
        };
        let len = packet.payload.len() as u32;
        if len > left.len || (len == left.len) != place.ends() {
            return Err(invalid(Reason::PacketLength { len, left: left.len }));
        }
        if opcode.tail() == Tail::Immediate {
            take_receive(qp, receives, resources)?;
        }
        let may_be_late = opcode.tail() == Tail::None && qp.is_reliable() && qp.attr.in_order != Some(true);
        let written = if may_be_late && resources.late_writes.are_possible() {
            self.place_in_any_order(qp, by, resources, &left, packet)
        } else {
            resources.remote_write(by, left.rkey, left.addr, packet.payload)
        };
        resources.report_signature_errors(qp.context.recv_cqn, qp.qpn);
        written.map_err(no_access)?;
        left.addr = left.addr.wrapping_add(u64::from(len));
        left.len -= len;
        match (place.ends(), opcode.tail()) {
            (false, _) => self.arriving = Arriving::Write(left, whole),
            (true, Tail::Immediate) => self.complete_receive(arrival, whole),
            (true, _) => self.complete_message(),
        }
        Ok(())
    }

    /// Places the bytes of a WRITE's packets, each of them now or later.
    fn place_in_any_order(
        &mut self,
        qp: &QpCore,
        by: Accessor,
        resources: &mut Resources,
        to: &Reth,
        packet: &Packet<'_>,
    ) -> Result<(), KeyFault> {
        let first = Psn::new(packet.headers.bth.psn);
        for (bytes, n) in packet.payload.chunks(qp.mtu as usize).zip(0_u32..) {
            let addr = to.addr.wrapping_add(u64::from(n) * u64::from(qp.mtu));
            match resources.late_writes.next().filter(|_| self.late.has_room()) {
                None => resources.remote_write(by, to.rkey, addr, bytes)?,
                Some(delay) => {
                    resources.check_remote(by, to.rkey, addr, bytes.len() as u64, Need::RemoteWrite)?;
                    let (due, psn, bytes) = (resources.now + delay, first.plus(n), bytes.to_vec());
                    self.late.add(Piece { due, psn, by, rkey: to.rkey, addr, bytes });
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, qp: &QpCore, by: Accessor, resources: &Resources, packet: &Packet<'_>) -> Result<u32, Refusal> {
        let reth = packet.headers.reth.ok_or(invalid(Reason::Is("a READ without an RETH")))?;
        self.check_resources(qp)?;
        check_remote(qp, by, resources, &reth, Need::RemoteRead)?;
        self.complete_message();
        self.answer(qp, Content::Read { by, left: reth });
        Ok(qp.packets(reth.len))
    }

    fn atomic(&mut self, qp: &QpCore, by: Accessor, resources: &Resources, packet: &Packet<'_>) -> Result<(), Refusal> {
        self.check_resources(qp)?;
        if !access(qp).remote_atomic {
            return Err(invalid(Reason::NotEnabled { operation: "atomics", flag: "IBV_ACCESS_REMOTE_ATOMIC" }));
        }
        let headers = &packet.headers;
        let (original, width) = if let Some(request) = headers.extended {
            let (permitted, bytes) = (qp.attr.extended_atomics.unwrap_or(0), request.width.bytes());
            if permitted & bytes == 0 {
                return Err(invalid(Reason::AtomicSize { bytes, permitted }));
            }
            if request.addr % u64::from(bytes) != 0 {
                return Err(invalid(Reason::Alignment { addr: request.addr, bytes }));
            }
            let mut update = |old| request.masked.apply(old);
            (resources.remote_atomic(by, request.rkey, (request.addr, request.width), &mut update), request.width)
        } else {
            let request = headers.atomic.ok_or(invalid(Reason::Is("an atomic without its header")))?;
            if request.addr % 8 != 0 {
                return Err(invalid(Reason::Alignment { addr: request.addr, bytes: 8 }));
            }
            let is_swap = headers.bth.opcode.operation() == Operation::CompareSwap;
            let mut update = |old: u128| match is_swap {
                true if old == request.compare.into() => request.swap_add.into(),
                true => old,
                false => old.wrapping_add(request.swap_add.into()),
            };
            (resources.remote_atomic(by, request.rkey, (request.addr, Width::Eight), &mut update), Width::Eight)
        };
        let found = Found { original: original.map_err(no_access)?, width };
        self.complete_message();
        self.answer(qp, Content::Atomic(found));
        Ok(())
    }

    /// Answers the request with the expected PSN.
    fn answer(&mut self, qp: &QpCore, content: Content) {
        self.answered.note(self.expected, content, answers(qp));
        self.replies.answer(self.expected, content);
    }

    /// The peer has not more READs and atomics outstanding than it may.
    fn check_resources(&self, qp: &QpCore) -> Result<(), Refusal> {
        let limit = answers(qp);
        if self.replies.waiting() < limit { Ok(()) } else { Err(invalid(Reason::Outstanding { limit })) }
    }

    fn complete_message(&mut self) {
        self.arriving = Arriving::None;
        self.msn = self.msn.wrapping_add(1) & 0x00ff_ffff;
    }

    fn complete_receive(&mut self, arrival: &mut Arrival<'_>, byte_cnt: u32) {
        self.complete_message();
        let Arrival { qp, receives, resources, packet } = arrival;
        let headers = &packet.headers;
        let kind = match (headers.bth.opcode.operation(), headers.bth.opcode.tail()) {
            (Operation::Write, _) => ReceiveKind::WriteImm,
            (_, Tail::None) => ReceiveKind::Send,
            (_, Tail::Immediate) => ReceiveKind::SendImm,
            (_, Tail::Invalidate) => ReceiveKind::SendInval,
        };
        let imm = headers.imm.map(|imm| imm.0).or(headers.ieth.map(|key| key.0)).unwrap_or(0);
        let solicited = headers.bth.solicited;
        receives.complete(qp, resources, Message { kind, byte_cnt, imm, solicited, source: qp.dc_source(resources) });
    }
}

fn take_receive(qp: &QpCore, receives: &mut Receives, resources: &mut Resources) -> Result<(), Refusal> {
    let begins = !receives.has_begun();
    if begins && qp.is_reliable() && resources.script.is_not_ready() {
        return Err(Refusal::NotReady(Reason::Is("the script has receivers not ready")));
    }
    match receives.take(qp, resources) {
        Ok(true) if begins && receives.are_shared(qp) && qp.is_reliable() => match resources.srq_faults.tick() {
            None => Ok(()),
            Some(fault) => {
                let failure = Failure::of_srq_fault(fault);
                receives.fail(qp, resources, failure);
                Err(Refusal::NotReady(failure.reason))
            }
        },
        Ok(true) => Ok(()),
        Ok(false) => {
            resources.count_out_of_buffer(qp.counter);
            Err(Refusal::NotReady(receives.none_posted()))
        }
        Err(failure) => Err(broken(failure)),
    }
}

/// A WRITE with immediate data would complete a receive WQE. If its key does not permit the WRITE, that WQE fails, if
/// one is posted (`IBV_WC_LOC_ACCESS_ERR`). Linux `rxe_resp.c` does the same: `check_resource` takes the WQE before
/// `check_rkey` looks at the key, and an error of class C completes the WQE. On UC the WQE serves the next message.
fn with_its_receive(arrival: &mut Arrival<'_>, refusal: Refusal) -> Refusal {
    let Arrival { qp, receives, resources, packet } = arrival;
    let Refusal::Wrong(code @ NakCode::REMOTE_ACCESS, reason) = refusal else { return refusal };
    let takes_one = qp.is_reliable() && packet.headers.bth.opcode.tail() == Tail::Immediate;
    match takes_one.then(|| receives.take(qp, resources)) {
        Some(Ok(true)) => Refusal::WrongReceive(code, Failure::REMOTE_WRITE.because(reason)),
        Some(Err(failure)) => Refusal::WrongReceive(code, failure),
        Some(Ok(false)) | None => refusal,
    }
}

/// The SRQ that an XRC packet names is not in the target's domain.
fn no_srq(srqn: u32, xrcd: u32) -> Refusal {
    invalid(Reason::NoSrq { srqn, xrcd })
}

/// The accessor for the keys that a request names: the QP, in its protection domain. XRC has the protection domain of
/// the SRQ, which must belong to the target's XRC domain.
fn user_of_keys(qp: &QpCore, resources: &Resources, packet: &Packet<'_>) -> Result<Accessor, Refusal> {
    let pd = match (qp.context.rq, packet.headers.xrc) {
        (ReceiveSource::Domain { xrcd }, Some(XrcEth(srqn))) => {
            let (srq, _) = resources.srq_of_domain(xrcd, srqn).ok_or(no_srq(srqn, xrcd))?;
            srq.context().pd
        }
        _ => qp.context.pd,
    };
    Ok(Accessor { qpn: Some(qp.qpn), ..pd.into() })
}

fn access(qp: &QpCore) -> Access {
    qp.attr.access.unwrap_or_default()
}

/// Whether the peer may do `need` to the range, by the QP and by the key itself: each packet's access checks the memory
/// behind the key. A QP that does not take part in the operation at all refuses it as
/// invalid (IBTA vol. 1, 9.7.4.1.2), a key as an access error.
fn check_remote(qp: &QpCore, by: Accessor, resources: &Resources, reth: &Reth, need: Need) -> Result<(), Refusal> {
    let (permitted, operation, flag) = match need {
        Need::RemoteRead => (access(qp).remote_read, "READs", "IBV_ACCESS_REMOTE_READ"),
        _ => (access(qp).remote_write, "WRITEs", "IBV_ACCESS_REMOTE_WRITE"),
    };
    if !permitted {
        return Err(invalid(Reason::NotEnabled { operation, flag }));
    }
    let (len, limit) = (reth.len.into(), qp.max_message);
    if len > limit {
        return Err(invalid(Reason::MessageLength { len, limit }));
    }
    resources.check_remote(by, reth.rkey, reth.addr, len, need).map_err(no_access)
}

/// READs and atomics that the peer may have outstanding.
fn answers(qp: &QpCore) -> usize {
    qp.attr.max_dest_rd_atomic.unwrap_or(0).into()
}

fn is_answered(packet: &Packet<'_>) -> bool {
    matches!(
        packet.headers.bth.opcode.operation(),
        Operation::ReadRequest | Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic
    )
}
