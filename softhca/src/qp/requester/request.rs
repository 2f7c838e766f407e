//! One request of the send queue: its PSNs, and its packets.

use crate::explanation::Reason;
use crate::qp::failure::Failure;

use crate::context::Transport;
use crate::cq::InCqe;
use crate::ethernet::{self, FRAME_BYTES, LOG_MAX_LARGE, Parser, Segmentation};
use crate::memory::Need;
use crate::memory::keys::fault::LocalFault;
use crate::packet::{
    AtomicEth, Bth, Deth, ExtendedAtomicEth, Headers, Ieth, ImmDt, Opcode, Operation, Place, Reth, Tail, XrcEth,
};
use crate::qp::psn::Psn;
use crate::qp::qp_core::QpCore;
use crate::qp::responder::rendezvous::Errand;
use crate::resources::Resources;
use crate::wire::{Frame, Route};
use crate::wqe::{Extended, Framing, Part, Payload, Remote, SendOp, SendWqe, UdAddress, WqeFault};

/// Most bytes of a message (IBTA vol. 1, 9.7.1).
pub(in crate::qp) const MAX_MESSAGE: u64 = 1 << 31;

/// Most bytes that a DUMP reads: Linux gives it a packet's at most
/// (`drivers/net/ethernet/mellanox/mlx5/core/en_accel/ktls_tx.c`), of which this is the largest.
const DUMP_BYTES: u64 = 1 << 16;

/// A long message asks for an acknowledgement after this many packets, so that the window moves before it ends.
const ACK_INTERVAL: u32 = 32;

/// Most bytes of a request's data.
fn longest_message(op: &SendOp, qp: &QpCore) -> u64 {
    if *op == SendOp::Dump { DUMP_BYTES } else { qp.max_message }
}

/// Bit 31 of a datagram's Q_Key: the QP's own goes out in its place (IBTA vol. 1, 10.2.5).
const PRIVILEGED_QKEY: u32 = 1 << 31;

/// A send WQE that was fetched and has not completed.
#[derive(Debug, Default)]
pub(in crate::qp) struct Request {
    /// The fetched WQE; if it made no sense, only its index, size and opcode.
    pub(in crate::qp) wqe: SendWqe,
    /// First PSN.
    pub(in crate::qp) first: Psn,
    /// PSNs it takes: its packets, or those of its answer; 0 if there are none: a NOP, or any request in a sink.
    pub(in crate::qp) span: u32,
    /// Its first packet has been sent.
    pub(in crate::qp) started: bool,
    /// Why it cannot be executed any further; reported once all requests before it have completed.
    pub(in crate::qp) failure: Option<Box<Failure>>,
    /// It completes as flushed, though the queue goes on: only its stream has failed.
    pub(super) is_flushed: bool,
    /// Scatter-to-CQE: the answer.
    pub(super) inline_result: Option<Box<InCqe>>,
    /// It is the device's own.
    pub(super) errand: Option<Box<Errand>>,
    /// The one before it waits for the clock.
    pub(super) follows_wait: bool,
    /// The index of the frame that leaves next, once it has begun. A frame is made when it leaves: all of them would
    /// take megabytes.
    pub(super) leaving: Option<usize>,
    /// Bytes of the message or of the answer.
    pub(super) len: u32,
}

impl Request {
    /// The request of `wqe`, of which the first packet has PSN `first`.
    pub(in crate::qp) fn new(wqe: SendWqe, first: Psn, qp: &QpCore) -> Self {
        let len = wqe.payload.len() + wqe.headers.len() as u64;
        let framing = if let SendOp::Frame(framing) = wqe.op { Some(framing) } else { None };
        let is_frame = framing.is_some();
        let limit = match qp.transport() {
            Transport::Ud => longest_message(&wqe.op, qp).min(qp.mtu.into()),
            _ => longest_message(&wqe.op, qp),
        };
        let failure = if framing.is_some_and(|framing| !have_lengths_of_frames(&wqe, &framing)) {
            Some(Failure::FRAME_LENGTH)
        } else if is_frame && !qp.may_send_frames() {
            Some(Failure::BAD_WQE.because(Reason::Is("a frame of a send queue that has no TIS")))
        } else if len > limit {
            Some(Failure::MESSAGE_LENGTH.because(Reason::MessageLength { len, limit }))
        } else {
            None
        };
        let failure = failure.map(Box::new);
        let len = len.min(MAX_MESSAGE) as u32;
        let span = match wqe.op {
            SendOp::Nop | SendOp::Umr | SendOp::SetPsv { .. } | SendOp::Memcpy(_) | SendOp::Dump => 0,
            SendOp::Tags(_) => 0,
            SendOp::WaitCqe { .. } | SendOp::WaitTime(_) | SendOp::WaitData(_) => 0,
            SendOp::EnableSends(_) | SendOp::EnableReceives(_) => 0,
            SendOp::CompareSwap { .. } | SendOp::FetchAdd { .. } | SendOp::Extended(..) | SendOp::Frame(_) => 1,
            _ => qp.packets(len),
        };
        Self { wqe, first, span, failure, len, ..Self::default() }
    }

    /// A malformed WQE: it fails when all requests before it have completed.
    pub(in crate::qp) fn broken(
        index: u16,
        (opcode, wqebbs, first_error_only): (u8, u16, bool),
        first: Psn,
        fault: WqeFault,
    ) -> Self {
        let wqe = SendWqe { index, wqebbs, opcode, signaled: true, first_error_only, ..SendWqe::default() };
        Self { wqe, first, failure: Some(Box::new(Failure::BAD_WQE.because(fault))), ..Self::default() }
    }

    /// This request without packets, as if all were sent and acknowledged: it completes after those before it.
    pub(super) fn sunk(mut self) -> Self {
        self.wqe.target = None;
        self.wqe.umr = None;
        // A list of tags and its completions stay at home.
        if self.span == 0 && !matches!(self.wqe.op, SendOp::Tags(_)) {
            self.wqe.op = SendOp::Nop;
        }
        Self { span: 0, ..self }
    }

    /// This request without packets, completing as flushed after those before it: its stream has failed.
    pub(in crate::qp) fn flushed(mut self) -> Self {
        self.flush();
        self
    }

    /// Makes it one that is [flushed](Self::flushed).
    pub(in crate::qp) fn flush(&mut self) {
        self.wqe.target = None;
        (self.span, self.is_flushed) = (0, true);
        self.fail(Failure::FLUSH);
    }

    /// It cannot be executed any further, for this reason.
    pub(in crate::qp) fn fail(&mut self, failure: Failure) {
        self.failure = Some(Box::new(failure));
    }

    /// READ or atomic: only its answer acknowledges it.
    pub(in crate::qp) fn is_answered(&self) -> bool {
        is_answered(&self.wqe.op)
    }

    /// Bytes of the message or of the answer.
    pub(in crate::qp) fn len(&self) -> u32 {
        self.len
    }

    /// Packets that the requester sends. An answered request is one packet, even if its answer takes more.
    pub(in crate::qp) fn packets(&self) -> u32 {
        if self.is_answered() { 1 } else { self.span }
    }

    /// PSN after its last.
    pub(in crate::qp) fn end(&self) -> Psn {
        self.first.plus(self.span)
    }

    /// How many packets from packet `index` on go out together.
    pub(super) fn together(&self, qp: &QpCore, resources: &Resources, index: u32) -> u16 {
        match self.wqe.op {
            SendOp::Frame(_) => 1,
            _ if self.is_answered() || qp.transport() == Transport::Ud => 1,
            _ => qp.together(resources, self.span.saturating_sub(index)),
        }
    }

    /// Its packet `index`, or the `packets` packets from there on as a segment. For a READ: the request for the rest of
    /// the answer after its first `index` packets.
    pub(in crate::qp) fn frame(
        &self,
        qp: &QpCore,
        resources: &Resources,
        index: u32,
        packets: u16,
    ) -> Result<Frame, Failure> {
        let offset = u64::from(index) * u64::from(qp.mtu);
        let left = self.len - (offset.min(u64::from(self.len)) as u32);
        let (operation, tail, remote, address) = match self.wqe.op {
            // None is ever a packet of the transport.
            SendOp::Nop | SendOp::Umr | SendOp::SetPsv { .. } | SendOp::Memcpy(_) | SendOp::Frame(_) | SendOp::Dump => {
                return Err(Failure::BAD_WQE);
            }
            SendOp::WaitCqe { .. } | SendOp::WaitTime(_) | SendOp::WaitData(_) => return Err(Failure::BAD_WQE),
            SendOp::EnableSends(_) | SendOp::EnableReceives(_) => return Err(Failure::BAD_WQE),
            SendOp::Tags(_) => return Err(Failure::BAD_WQE),
            SendOp::Send(address) => (Operation::Send, Tail::None, None, address),
            SendOp::SendImm(address) => (Operation::Send, Tail::Immediate, None, address),
            SendOp::SendInval => (Operation::Send, Tail::Invalidate, None, None),
            SendOp::Write(remote) => (Operation::Write, Tail::None, Some(remote), None),
            SendOp::WriteImm(remote) => (Operation::Write, Tail::Immediate, Some(remote), None),
            SendOp::Read(remote) => (Operation::ReadRequest, Tail::None, Some(remote), None),
            SendOp::CompareSwap { remote, .. } => (Operation::CompareSwap, Tail::None, Some(remote), None),
            SendOp::FetchAdd { remote, .. } => (Operation::FetchAdd, Tail::None, Some(remote), None),
            SendOp::Extended(remote, _) => (Operation::ExtendedAtomic, Tail::None, Some(remote), None),
        };
        let answered = self.is_answered();
        let end = index + u32::from(packets);
        let place = if answered { Place::Only } else { Place::of(index == 0, end >= self.span) };
        let tail = if place.ends() { tail } else { Tail::None };
        let opcode = Opcode::of(qp.transport(), operation, place, tail).ok_or(Failure::BAD_WQE)?;
        let psn = self.first.plus(index);
        let mut headers = Headers::new(Bth {
            opcode,
            solicited: self.wqe.solicited && place.ends() && (tail != Tail::None || operation == Operation::Send),
            migrated: true,
            pkey: qp.pkey,
            dest_qp: address.map_or(qp.dest_qpn(), |address| address.vector.dest_qpn),
            ack_request: qp.is_reliable() && (place.ends() || end / ACK_INTERVAL > index / ACK_INTERVAL),
            psn: psn.get(),
        });
        headers.dc = qp.dc_header();
        headers.xrc = self.wqe.srqn.map(XrcEth);
        headers.deth = address.map(|address| Deth { qkey: qkey(qp, &address), src_qp: qp.source_qpn() });
        headers.reth = remote.filter(|_| place.begins() && !is_atomic(operation)).map(|remote| Reth {
            addr: if answered { remote.addr.wrapping_add(offset) } else { remote.addr },
            rkey: remote.rkey,
            len: if answered { left } else { self.len },
        });
        headers.atomic = self.atomic_header();
        if let SendOp::Extended(Remote { addr, rkey }, extended) = &self.wqe.op {
            let Extended { width, masked } = **extended;
            headers.extended = Some(ExtendedAtomicEth { addr: *addr, rkey: *rkey, width, masked });
        }
        headers.imm = (tail == Tail::Immediate).then_some(ImmDt(self.wqe.imm));
        headers.ieth = (tail == Tail::Invalidate).then_some(Ieth(self.wqe.imm));

        let payload_len = if answered { 0 } else { left.min(qp.mtu * u32::from(packets)) as usize };
        let mut draft = headers.build_segment(payload_len, packets).map_err(|_| Failure::BAD_WQE)?;
        self.gather(qp, resources, offset, draft.payload_mut())?;
        let route = match address {
            None => qp.route.ok_or(Failure::BAD_ADDRESS)?,
            Some(address) => {
                let port = qp.port(resources).ok_or(Failure::BAD_ADDRESS)?;
                Route::along(port, &address.vector.path(port.link)).ok_or(Failure::BAD_ADDRESS)?
            }
        };
        Ok(Frame { route, packet: draft.finish(), packets })
    }

    /// Bytes of the Ethernet frame with this index: a raw packet is one, a session has one for each segment, and a
    /// large packet has many. `None` if there is no such frame.
    pub(super) fn frame_bytes(&self, index: usize) -> Option<u64> {
        let SendOp::Frame(framing) = self.wqe.op else { return None };
        let payload = &self.wqe.payload;
        match framing.mss {
            _ if framing.many => payload.part(index).map(|part| part.bytes()),
            Some(mss) => {
                let part = ethernet::segment(payload.len() as usize, mss.into(), index)?;
                Some((self.wqe.headers.len() + part.len()) as u64)
            }
            None => (index == 0).then_some(self.len.into()),
        }
    }

    /// Checks that all frames can be made, so that a WQE with a fault sends none of them.
    pub(super) fn check_frames(&self, qp: &QpCore, resources: &Resources, framing: Framing) -> Result<(), Failure> {
        let mut payload = vec![0; self.wqe.payload.len() as usize];
        self.gather(qp, resources, 0, &mut payload)?;
        match framing.mss {
            Some(mss) => self.segmentation(resources, framing, mss).map(drop),
            None => Ok(()),
        }
    }

    /// The Ethernet frame with this index.
    pub(super) fn ethernet_frame(
        &self,
        qp: &QpCore,
        resources: &Resources,
        framing: Framing,
        index: usize,
    ) -> Result<Vec<u8>, Failure> {
        if let Some(mss) = framing.mss {
            let fill = |start: usize, out: &mut [u8]| self.gather(qp, resources, start as u64, out);
            return self.segmentation(resources, framing, mss)?.frame(index, fill)?.ok_or(Failure::BAD_WQE);
        }
        let mut frame = self.wqe.headers.clone();
        let headers = frame.len();
        if framing.many {
            let part = self.wqe.payload.part(index).ok_or(Failure::BAD_WQE)?;
            frame.resize(headers + part.bytes() as usize, 0);
            copy_part(&part, qp, resources, 0, &mut frame[headers..])?;
        } else {
            frame.resize(self.len as usize, 0);
            self.gather(qp, resources, 0, &mut frame[headers..])?;
        }
        ethernet::fill_checksums(&mut frame, framing.checksums, parser(resources, framing));
        Ok(frame)
    }

    /// How a large packet becomes frames.
    fn segmentation(&self, resources: &Resources, framing: Framing, mss: u16) -> Result<Segmentation<'_>, Failure> {
        let (headers, bytes) = (&self.wqe.headers, self.wqe.payload.len() as usize);
        Segmentation::new(headers, bytes, mss.into(), framing.checksums.l4, parser(resources, framing))
            .ok_or(Failure::BAD_WQE)
    }

    /// Copies the message from `offset` on into `out`.
    pub(in crate::qp) fn gather(
        &self,
        qp: &QpCore,
        resources: &Resources,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), Failure> {
        if out.is_empty() {
            return Ok(());
        }
        match &self.wqe.payload {
            Payload::Segs(segs) => resources.gather((&qp.context).into(), segs, offset, out).map_err(unreachable),
            Payload::Inline(bytes) => copy_inline(bytes, offset, out),
            Payload::Mixed(parts) => {
                let (mut skip, mut done) = (offset, 0);
                for part in parts {
                    let here = part.bytes().saturating_sub(skip).min((out.len() - done) as u64) as usize;
                    let to = &mut out[done..done + here];
                    if here != 0 {
                        copy_part(part, qp, resources, skip, to)?;
                    }
                    skip = skip.saturating_sub(part.bytes());
                    done += here;
                }
                if done == out.len() { Ok(()) } else { Err(Failure::BAD_WQE) }
            }
        }
    }

    /// Most bytes of an answer that go to the CQE of a signaled READ, and not to memory.
    pub(super) fn room_in_cqe(&self, qp: &QpCore, resources: &Resources) -> u32 {
        let room = resources.inline_capacity(qp.context.send_cqn);
        u32::try_from(room).unwrap_or(u32::MAX).min(qp.context.scatter_to_cqe_req)
    }

    /// Puts `data`, which begins at byte `offset` of the answer, where the WQE wants it.
    pub(super) fn scatter_answer(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        offset: u64,
        data: &[u8],
        signaled: bool,
    ) -> Result<(), Failure> {
        if data.is_empty() {
            return Ok(());
        }
        // Results of atomics go to memory always. In a CQE they would be in network order by UCX (`rc_mlx5_common.c`,
        // `uct_rc_mlx5_common_atomic64_le_handler`) and in the host's by libmlx5 (`qp.c`, `mlx5_copy_to_send_wqe`).
        let is_read = matches!(self.wqe.op, SendOp::Read(_));
        let whole = is_read && offset == 0 && data.len() == self.len as usize;
        if whole && signaled && self.len <= self.room_in_cqe(qp, resources) {
            self.inline_result = Some(Box::new(InCqe::from_slice(data)));
            return Ok(());
        }
        let by = self.errand.as_ref().and_then(|errand| errand.accessor()).unwrap_or((&qp.context).into());
        match &self.wqe.payload {
            Payload::Segs(segs) => {
                let ends = offset + data.len() as u64 == self.len.into();
                let checked = match ends {
                    true => resources.check_units(by, segs, self.len.into(), Need::LocalWrite),
                    false => Ok(()),
                };
                let done = checked.and_then(|()| resources.scatter(by, segs, offset, data));
                resources.report_signature_errors(qp.context.send_cqn, qp.qpn);
                done.map_err(unreachable)
            }
            Payload::Inline(_) | Payload::Mixed(_) => Err(Failure::BAD_WQE),
        }
    }

    fn atomic_header(&self) -> Option<AtomicEth> {
        let (Remote { addr, rkey }, swap_add, compare) = match self.wqe.op {
            SendOp::CompareSwap { remote, compare, swap } => (remote, swap, compare),
            SendOp::FetchAdd { remote, add } => (remote, add, 0),
            _ => return None,
        };
        Some(AtomicEth { addr, rkey, swap_add, compare })
    }
}

/// The knowledge by which the headers of a WQE's frames are found.
fn parser(resources: &Resources, framing: Framing) -> Parser<'_> {
    Parser { stated: framing.stated, vxlan_ports: &resources.vxlan_ports }
}

/// Whether the frames of a WQE have possible lengths.
fn have_lengths_of_frames(wqe: &SendWqe, framing: &Framing) -> bool {
    let (headers, payload) = (wqe.headers.len() as u64, wqe.payload.len());
    let longest = match framing.mss {
        Some(_) if payload > 1 << LOG_MAX_LARGE => return false,
        Some(mss) => headers + payload.min(mss.into()),
        None if framing.many => return wqe.payload.lengths().all(|len| FRAME_BYTES.contains(&len)),
        None => headers + payload,
    };
    FRAME_BYTES.contains(&longest)
}

/// The keys of a scatter list do not give access.
fn unreachable(fault: LocalFault) -> Failure {
    Failure::LOCAL_PROTECTION.because(fault)
}

/// Copies a segment's data from `offset` on into `out`.
fn copy_part(part: &Part, qp: &QpCore, resources: &Resources, offset: u64, out: &mut [u8]) -> Result<(), Failure> {
    match part {
        Part::Seg(seg) => resources.gather((&qp.context).into(), &[*seg], offset, out).map_err(unreachable),
        Part::Inline(bytes) => copy_inline(bytes, offset, out),
    }
}

/// The inline data from `offset` on.
fn copy_inline(bytes: &[u8], offset: u64, out: &mut [u8]) -> Result<(), Failure> {
    let start = offset as usize;
    let part = bytes.get(start..start + out.len()).ok_or(Failure::BAD_WQE)?;
    out.copy_from_slice(part);
    Ok(())
}

fn is_atomic(operation: Operation) -> bool {
    matches!(operation, Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic)
}

fn is_answered(op: &SendOp) -> bool {
    matches!(op, SendOp::Read(_) | SendOp::CompareSwap { .. } | SendOp::FetchAdd { .. } | SendOp::Extended(..))
}

fn qkey(qp: &QpCore, address: &UdAddress) -> u32 {
    if address.qkey & PRIVILEGED_QKEY != 0 { qp.attr.qkey.unwrap_or(0) } else { address.qkey }
}
