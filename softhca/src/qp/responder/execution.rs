//! The execution of requests: what a SEND, a WRITE, a READ and an atomic need and do.

use super::late::Piece;
use super::receives::{Message, Receives};
use super::refusal::{Refusal, broken, invalid, no_access};
use super::replies::{Content, Found};
use super::{Arrival, Arriving, Responder, access, answers};
use crate::context::ReceiveSource;
use crate::cq::ReceiveKind;
use crate::explanation::Reason;
use crate::memory::Need;
use crate::memory::keys::mkey::{Accessor, KeyFault};
use crate::packet::{NakCode, Operation, Packet, Place, Reth, Tail, Width, XrcEth};
use crate::qp::failure::Failure;
use crate::qp::psn::Psn;
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;

impl Responder {
    /// Executes the request; returns the PSNs it takes.
    pub(super) fn execute(&mut self, arrival: &mut Arrival<'_>) -> Result<u32, Refusal> {
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
pub(super) fn user_of_keys(qp: &QpCore, resources: &Resources, packet: &Packet<'_>) -> Result<Accessor, Refusal> {
    let pd = match (qp.context.rq, packet.headers.xrc) {
        (ReceiveSource::Domain { xrcd }, Some(XrcEth(srqn))) => {
            let (srq, _) = resources.srq_of_domain(xrcd, srqn).ok_or(no_srq(srqn, xrcd))?;
            srq.context().pd
        }
        _ => qp.context.pd,
    };
    Ok(Accessor { qpn: Some(qp.qpn), ..pd.into() })
}

/// Whether the peer may do `need` to the range, by the QP and by the key itself: each packet's access checks the memory
/// behind the key. A QP that does not take part in the operation at all refuses it as
/// invalid (IBTA vol. 1, 9.7.4.1.2), a key as an access error.
pub(super) fn check_remote(
    qp: &QpCore,
    by: Accessor,
    resources: &Resources,
    reth: &Reth,
    need: Need,
) -> Result<(), Refusal> {
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
