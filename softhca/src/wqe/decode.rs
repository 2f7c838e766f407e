//! The meaning of a send WQE's bytes. Everything is checked: a value that a driver cannot have meant is a
//! [`WqeFault`].

use super::fault::WqeFault;
use super::opcode::{self, Operands, SHAPES, Tail};
use super::payload::Payload;
use super::segments::ethernet::Frames;
use super::segments::{DATA_SEG_BYTES, Segments, be16, be32, be64};
use super::segments::{address, atomics, control, cross_channel, ethernet, formats, memcpy, tags, umr};
use super::send::{Remote, SendOp, SendWqe};
use crate::context::{SqContext, Transport};
use crate::packet::Width;

/// Decodes the bytes of one WQE, whose control segment's index, QPN and DS have been checked. The caller sets `index`
/// and `wqebbs`.
pub(super) fn decode(wqe: &[u8], transport: Transport, sq: &SqContext) -> Result<SendWqe, WqeFault> {
    let opcode = wqe[control::OPCODE];
    let shape = SHAPES.iter().find(|s| s.opcode == opcode).ok_or(WqeFault::UnknownOpcode(opcode))?;
    if !shape.transports.contains(&transport) {
        return Err(WqeFault::WrongTransport { opcode, transport });
    }
    let opmod = wqe[control::OPMOD];
    let width = match shape.atomic {
        Operands::Extended2 | Operands::Extended4 => atomics::width(opmod),
        Operands::None if shape.tail == Tail::Queue => cross_channel::has(opcode, opmod).then_some(Width::Eight),
        Operands::None | Operands::Two => {
            let only = if shape.tail == Tail::Copy { opcode::MMO_DMA } else { 0 };
            (opmod == only).then_some(Width::Eight)
        }
    };
    let width = width.ok_or(WqeFault::BadOpmod { opcode, opmod })?;
    let (signaled, solicited, fence) = control::flags(wqe[control::FM_CE_SE])?;

    let mut segs = Segments::new(wqe, control::BYTES);
    let mut address = None;
    if transport == Transport::Ud && shape.tail.is_for_a_peer() {
        address = Some(address::datagram(&mut segs)?);
    }
    let mut target = None;
    if transport == Transport::Dc && shape.tail.is_for_a_peer() {
        target = Some(Box::new(address::target(&mut segs)?));
    }
    let mut srqn = None;
    if transport == Transport::Xrc && shape.tail.is_for_a_peer() {
        srqn = Some(address::srq(&mut segs)?);
    }
    let (mut framing, mut headers) = (None, Vec::new());
    if transport == Transport::RawPacket && shape.tail.is_for_a_peer() {
        let frames = match opcode {
            opcode::TSO => Frames::Large,
            opcode::MULTI_PACKET if !sq.multi_packet => return Err(WqeFault::SingleFramesOnly),
            opcode::MULTI_PACKET => Frames::Many,
            _ => Frames::One,
        };
        let eth = ethernet::take(&mut segs, sq, frames)?;
        framing = Some(eth.framing);
        headers = eth.headers;
    }
    let mut remote = Remote { addr: 0, rkey: 0 };
    if shape.remote {
        // Its last word is reserved and may hold anything: UCX leaves old bytes of the ring there
        // (`uct_ib_mlx5_ep_set_rdma_seg`).
        let (_, seg) = segs.take("remote address", DATA_SEG_BYTES)?;
        remote = Remote { addr: be64(seg, 0), rkey: be32(seg, 8) };
    }
    let (mut swap_add, mut compare) = (0, 0);
    let mut masked = None;
    match shape.atomic {
        Operands::None => {}
        Operands::Two => {
            let (_, seg) = segs.take("atomic", DATA_SEG_BYTES)?;
            (swap_add, compare) = (be64(seg, 0), be64(seg, 8));
        }
        Operands::Extended2 => masked = Some(atomics::take(&mut segs, width, false)?),
        Operands::Extended4 => masked = Some(atomics::take(&mut segs, width, true)?),
    }
    let (is_atomic, bytes) = (shape.atomic != Operands::None, width.bytes());
    let payload = match shape.tail {
        Tail::Ignored | Tail::Key | Tail::SignatureValue | Tail::Copy | Tail::Queue | Tail::Tags => Payload::default(),
        Tail::Source => segs.payload(true)?,
        Tail::Result | Tail::Dumped => segs.payload(false)?,
    };
    if opcode == opcode::MULTI_PACKET && payload == Payload::default() {
        return Err(WqeFault::MissingSegment { segment: "data", needs: wqe.len() + DATA_SEG_BYTES, has: wqe.len() });
    }
    if is_atomic && payload.len() != u64::from(bytes) {
        return Err(WqeFault::AtomicLength { found: payload.len(), bytes });
    }

    let copy = if shape.tail == Tail::Copy { Some(memcpy::take(&mut segs)?) } else { None };

    let imm = be32(wqe, control::IMM);
    let mut set_psv = None;
    let umr = if shape.tail == Tail::Key {
        Some(Box::new(umr::take(&mut segs, imm, transport == Transport::RegUmr)?))
    } else {
        None
    };

    if shape.tail == Tail::SignatureValue {
        set_psv = Some(formats::set_psv(&mut segs)?);
    }

    let op = match opcode {
        opcode::SEND | opcode::TSO | opcode::MULTI_PACKET => framing.map_or(SendOp::Send(address), SendOp::Frame),
        opcode::SEND_IMM => SendOp::SendImm(address),
        opcode::SEND_INVAL => SendOp::SendInval,
        opcode::RDMA_WRITE => SendOp::Write(remote),
        opcode::RDMA_WRITE_IMM => SendOp::WriteImm(remote),
        opcode::RDMA_READ => SendOp::Read(remote),
        opcode::ATOMIC_CS => SendOp::CompareSwap { remote, compare, swap: swap_add },
        opcode::ATOMIC_FA => SendOp::FetchAdd { remote, add: swap_add },
        opcode::UMR => SendOp::Umr,
        opcode::DUMP => SendOp::Dump,
        opcode::TAG_MATCHING => SendOp::Tags(tags::take(&mut segs)?),
        _ if shape.tail == Tail::Queue => cross_channel::take(&mut segs, opcode, opmod)?,
        opcode::SET_PSV => set_psv.map_or(SendOp::Nop, |(psv, value)| SendOp::SetPsv { psv, value }),
        _ => match (masked, copy) {
            (Some(masked), _) => SendOp::Extended(remote, Box::new(masked)),
            (_, Some(copy)) => SendOp::Memcpy(copy),
            _ => SendOp::Nop,
        },
    };
    Ok(SendWqe {
        index: 0,
        wqebbs: 0,
        opcode,
        op,
        umr,
        stream: if target.is_some() { be16(wqe, control::STREAM) } else { 0 },
        target,
        srqn,
        headers,
        payload,
        signaled,
        first_error_only: control::first_error_only(wqe[control::FM_CE_SE]),
        solicited,
        fence,
        imm,
    })
}
