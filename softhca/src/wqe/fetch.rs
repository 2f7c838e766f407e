//! Reading a send WQE from the ring. Everything is checked; nothing in the ring is trusted.

use super::eth_segment;
use super::{DataSeg, Fence, Payload, Remote, SendOp, SendWqe, UdAddress, WqeFault, opcode};
use crate::context::{InlineHeaders, PathGrh, SqContext, Transport};
use crate::memory::{DmaFault, HostMemory};

/// Bytes in a WQEBB, the unit of the send ring's indices.
pub const WQEBB_BYTES: usize = 64;
/// Bytes in a DS unit; also the size of the control, remote address, atomic and data segments.
pub const DATA_SEG_BYTES: usize = 16;
/// Key that ends a receive WQE's list (`MLX5_INVALID_LKEY`).
pub const INVALID_LKEY: u32 = 0x100;

/// Most bytes that DS (six bits) can describe.
const MAX_WQE_BYTES: usize = 63 * DATA_SEG_BYTES;
/// Bit 31 of a data segment's first word: inline (`MLX5_INLINE_SEG`).
const INLINE: u32 = 1 << 31;
/// A byte count of 0 means this.
const COUNT_ZERO_MEANS: u32 = 1 << 31;
/// Bit 31 of `dqp_dct`: the address vector has 48 bytes, not 16 (`MLX5_EXTENDED_UD_AV`).
const EXTENDED_AV: u32 = 1 << 31;
/// Bytes of the extended address vector (`struct mlx5_wqe_av`).
const EXTENDED_AV_BYTES: usize = 48;
/// Bit 30 of `grh_gid_fl`: the packet has a GRH.
const AV_GRH: u32 = 1 << 30;

/// Offsets in bytes into the control segment (`struct mlx5_wqe_ctrl_seg`).
mod ctrl {
    pub(super) const OPMOD: usize = 0;
    pub(super) const INDEX: usize = 1;
    pub(super) const OPCODE: usize = 3;
    pub(super) const QPN_DS: usize = 4;
    // Byte 8 is the signature: a device looks at it only where the QP was made with signatures, which none is here.
    pub(super) const DCI_STREAM: usize = 9;
    pub(super) const FM_CE_SE: usize = 11;
    pub(super) const IMM: usize = 12;
    pub(super) const BYTES: usize = 16;
}

/// Offsets in bytes into the address vector (`struct mlx5_wqe_av`).
mod av {
    pub(super) const QKEY: usize = 0;
    pub(super) const RESERVED_KEY: usize = 4;
    pub(super) const DQP: usize = 8;
    pub(super) const STAT_RATE_SL: usize = 12;
    pub(super) const FL_MLID: usize = 13;
    pub(super) const RLID: usize = 14;
    pub(super) const RESERVED: usize = 16;
    pub(super) const RMAC: usize = 20;
    pub(super) const TCLASS: usize = 26;
    pub(super) const HOP_LIMIT: usize = 27;
    pub(super) const GRH_GID_FL: usize = 28;
    pub(super) const RGID: usize = 32;
    pub(super) const SHORT_BYTES: usize = 16;
}

/// What follows the segments that the opcode and the transport call for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing that is looked at.
    Ignored,
    /// Data to send, by reference or inline.
    Source,
    /// Buffers for the answer, by reference only.
    Result,
}

/// The shape of the WQEs of one opcode.
pub(super) struct Shape {
    pub(super) opcode: u8,
    transports: &'static [Transport],
    remote: bool,
    atomic: bool,
    tail: Tail,
}

/// All opcodes, and which transports have them (IBTA vol. 1 table 38; raw packets have what drivers use on them).
pub(super) const SHAPES: &[Shape] = {
    use Transport::{RawPacket, Rc, Uc, Ud};
    const fn shape(opcode: u8, transports: &'static [Transport], remote: bool, atomic: bool, tail: Tail) -> Shape {
        Shape { opcode, transports, remote, atomic, tail }
    }
    &[
        shape(opcode::NOP, &[Rc, Uc, Ud, RawPacket], false, false, Tail::Ignored),
        shape(opcode::SEND, &[Rc, Uc, Ud, RawPacket], false, false, Tail::Source),
        shape(opcode::SEND_IMM, &[Rc, Uc, Ud], false, false, Tail::Source),
        shape(opcode::SEND_INVAL, &[Rc, Uc], false, false, Tail::Source),
        shape(opcode::RDMA_WRITE, &[Rc, Uc], true, false, Tail::Source),
        shape(opcode::RDMA_WRITE_IMM, &[Rc, Uc], true, false, Tail::Source),
        shape(opcode::RDMA_READ, &[Rc], true, false, Tail::Result),
        shape(opcode::ATOMIC_CS, &[Rc], true, true, Tail::Result),
        shape(opcode::ATOMIC_FA, &[Rc], true, true, Tail::Result),
    ]
};

pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be32(bytes, at)) << 32 | u64::from(be32(bytes, at + 4))
}

/// The data segment in the first 16 bytes of `bytes` (`struct mlx5_wqe_data_seg`), a byte count of 0 decoded as 2^31.
/// `None` if it is an inline segment.
///
/// # Panics
/// If `bytes` is shorter than [`DATA_SEG_BYTES`].
#[must_use]
pub fn data_seg(bytes: &[u8]) -> Option<DataSeg> {
    let count = be32(bytes, 0);
    if count & INLINE != 0 {
        return None;
    }
    let len = if count == 0 { COUNT_ZERO_MEANS } else { count };
    Some(DataSeg { len, lkey: be32(bytes, 4), addr: be64(bytes, 8) })
}

/// Copies bytes out of the ring, from WQEBB `index` on, around its end.
pub(crate) fn copy_from_ring(
    sq: &SqContext,
    index: u16,
    offset: usize,
    out: &mut [u8],
    memory: &dyn HostMemory,
) -> Result<(), DmaFault> {
    let ring = WQEBB_BYTES << sq.log_size;
    let mut at = (usize::from(index) * WQEBB_BYTES + offset) % ring;
    let mut done = 0;
    while done < out.len() {
        let n = (ring - at).min(out.len() - done);
        memory.read(sq.buf.wrapping_add(at as u64), &mut out[done..done + n])?;
        done += n;
        at = 0;
    }
    Ok(())
}

/// Reads and checks the WQE at WQEBB `index` of the send ring of `qpn`; `producer` is the index that the doorbell record
/// announced, and is not `index` (there is at least one WQEBB).
///
/// # Errors
/// [`WqeFault`] names the first thing that is wrong.
pub fn fetch(
    sq: &SqContext,
    qpn: u32,
    transport: Transport,
    index: u16,
    producer: u16,
    memory: &dyn HostMemory,
) -> Result<SendWqe, WqeFault> {
    checked(sq, qpn, transport, index, producer, |at, out| copy_from_ring(sq, index, at, out, memory))
}

/// As [`fetch`], for a WQE of which the register received `copy`: all bytes that its control segment claims.
///
/// # Errors
/// As for [`fetch`].
pub(crate) fn fetch_copy(
    sq: &SqContext,
    qpn: u32,
    transport: Transport,
    index: u16,
    producer: u16,
    copy: &[u8],
) -> Result<SendWqe, WqeFault> {
    checked(sq, qpn, transport, index, producer, |at, out| {
        for (to, from) in out.iter_mut().zip(copy.iter().skip(at)) {
            *to = *from;
        }
        Ok(())
    })
}

/// The WQE of which `read` gives the bytes from an offset on.
fn checked(
    sq: &SqContext,
    qpn: u32,
    transport: Transport,
    index: u16,
    producer: u16,
    read: impl Fn(usize, &mut [u8]) -> Result<(), DmaFault>,
) -> Result<SendWqe, WqeFault> {
    let announced = producer.wrapping_sub(index);
    let entries = 1u32 << sq.log_size;
    if u32::from(announced) > entries {
        return Err(WqeFault::Overrun { index, producer, ahead: announced, entries });
    }
    let mut buf = [0; MAX_WQE_BYTES];
    read(0, &mut buf[..ctrl::BYTES])?;

    let found = be16(&buf, ctrl::INDEX);
    if found != index {
        return Err(WqeFault::WrongIndex { found, expected: index });
    }
    let qpn_ds = be32(&buf, ctrl::QPN_DS);
    if qpn_ds >> 8 != qpn {
        return Err(WqeFault::WrongQpn { found: qpn_ds >> 8, expected: qpn });
    }
    let ds = (qpn_ds & 0xff) as u8;
    if !(1..=63).contains(&ds) {
        return Err(WqeFault::BadDs(ds));
    }
    let wqebbs = u16::from(ds).div_ceil(4);
    if wqebbs > announced {
        return Err(WqeFault::PastProducer { index, wqebbs, announced });
    }
    let len = usize::from(ds) * DATA_SEG_BYTES;
    read(ctrl::BYTES, &mut buf[ctrl::BYTES..len])?;
    decode(&buf[..len], transport, sq.inline_headers).map(|wqe| SendWqe { index, wqebbs, ..wqe })
}

/// Opcode byte and WQEBBs of the WQE at WQEBB `index`, for a WQE that is skipped without being executed: a flushed or a
/// bad one. Whatever the ring holds, it takes at least one WQEBB and none past `producer`.
pub(crate) fn extent(sq: &SqContext, index: u16, producer: u16, memory: &dyn HostMemory) -> (u8, u16) {
    let mut control = [0; ctrl::BYTES];
    if copy_from_ring(sq, index, 0, &mut control, memory).is_err() {
        return (0, 1);
    }
    let ds = control[ctrl::QPN_DS + 3];
    let announced = producer.wrapping_sub(index);
    (control[ctrl::OPCODE], u16::from(ds).div_ceil(4).clamp(1, announced.max(1)))
}

/// Decodes the bytes of one WQE, whose control segment's index, QPN and DS have been checked. The caller sets `index`
/// and `wqebbs`.
fn decode(wqe: &[u8], transport: Transport, inline_headers: InlineHeaders) -> Result<SendWqe, WqeFault> {
    let opcode = wqe[ctrl::OPCODE];
    if opcode == opcode::TSO {
        return Err(WqeFault::Tso);
    }
    let shape = SHAPES.iter().find(|s| s.opcode == opcode).ok_or(WqeFault::UnknownOpcode(opcode))?;
    if !shape.transports.contains(&transport) {
        return Err(WqeFault::WrongTransport { opcode, transport });
    }
    if wqe[ctrl::OPMOD] != 0 {
        return Err(WqeFault::BadOpmod { opcode, opmod: wqe[ctrl::OPMOD] });
    }
    zero("DCI stream channel", ctrl::DCI_STREAM, be16(wqe, ctrl::DCI_STREAM).into())?;
    let (signaled, solicited, fence) = flags(wqe[ctrl::FM_CE_SE])?;

    let mut segs = Segments { wqe, at: ctrl::BYTES };
    let mut address = None;
    if transport == Transport::Ud && shape.tail != Tail::Ignored {
        address = Some(segs.address()?);
    }
    let (mut checksums, mut headers) = (None, Vec::new());
    if transport == Transport::RawPacket && shape.tail != Tail::Ignored {
        let eth = eth_segment::take(&mut segs, inline_headers)?;
        checksums = Some(eth.checksums);
        headers = eth.headers;
    }
    let mut remote = Remote { addr: 0, rkey: 0 };
    if shape.remote {
        let (_, seg) = segs.take("remote address", DATA_SEG_BYTES)?;
        zero("remote address reserved word", segs.at - 4, be32(seg, 12).into())?;
        remote = Remote { addr: be64(seg, 0), rkey: be32(seg, 8) };
    }
    let (mut swap_add, mut compare) = (0, 0);
    if shape.atomic {
        let (_, seg) = segs.take("atomic", DATA_SEG_BYTES)?;
        (swap_add, compare) = (be64(seg, 0), be64(seg, 8));
        if !remote.addr.is_multiple_of(8) {
            return Err(WqeFault::AtomicAlignment(remote.addr));
        }
    }
    let payload = match shape.tail {
        Tail::Ignored => Payload::Segs(Vec::new()),
        Tail::Source => segs.payload(true)?,
        Tail::Result => segs.payload(false)?,
    };
    if shape.atomic && payload.len() != 8 {
        return Err(WqeFault::AtomicLength(payload.len()));
    }

    let op = match opcode {
        opcode::SEND => checksums.map_or(SendOp::Send(address), SendOp::Frame),
        opcode::SEND_IMM => SendOp::SendImm(address),
        opcode::SEND_INVAL => SendOp::SendInval,
        opcode::RDMA_WRITE => SendOp::Write(remote),
        opcode::RDMA_WRITE_IMM => SendOp::WriteImm(remote),
        opcode::RDMA_READ => SendOp::Read(remote),
        opcode::ATOMIC_CS => SendOp::CompareSwap { remote, compare, swap: swap_add },
        opcode::ATOMIC_FA => SendOp::FetchAdd { remote, add: swap_add },
        _ => SendOp::Nop,
    };
    let imm = be32(wqe, ctrl::IMM);
    Ok(SendWqe { index: 0, wqebbs: 0, opcode, op, headers, payload, signaled, solicited, fence, imm })
}

pub(super) fn zero(field: &'static str, at: usize, value: u64) -> Result<(), WqeFault> {
    if value == 0 { Ok(()) } else { Err(WqeFault::Reserved { field, at, value }) }
}

/// `fm_ce_se`: fence mode in bits 7:5, completion mode in bits 3:2, solicited in bit 1.
///
/// Completion modes 0 and 1 give a CQE for an error only, 2 always; 3 (an event queue entry besides) is not something
/// this device has. Fence modes 2 to 4 all wait for outstanding READs and atomics.
/// Whether byte `at` of a WQE's copy in a register may be another than in the ring, where it begins with `control`: a NOP may
/// ask for a completion in the register only, which tells a driver which of the two was executed (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/wc.c`, `mlx5_wc_post_nop`).
pub(crate) fn may_differ(control: [u8; 8], at: usize, ring: u8, copied: u8) -> bool {
    const CQ_UPDATE: u8 = 0x08;
    control[ctrl::OPCODE] == opcode::NOP && at == ctrl::FM_CE_SE && copied == ring | CQ_UPDATE
}

fn flags(byte: u8) -> Result<(bool, bool, Fence), WqeFault> {
    let bad = Err(WqeFault::BadFlags(byte));
    if byte & 0b0001_0001 != 0 {
        return bad;
    }
    let signaled = match byte >> 2 & 3 {
        0 | 1 => false,
        2 => true,
        _ => return bad,
    };
    let fence = match byte >> 5 {
        0 => Fence::None,
        1 => Fence::Small,
        2..=4 => Fence::Full,
        _ => return bad,
    };
    Ok((signaled, byte & 2 != 0, fence))
}

/// Walks the segments of a WQE.
pub(super) struct Segments<'a> {
    wqe: &'a [u8],
    at: usize,
}

impl<'a> Segments<'a> {
    /// The next `len` bytes, and where they start.
    pub(super) fn take(&mut self, segment: &'static str, len: usize) -> Result<(usize, &'a [u8]), WqeFault> {
        let start = self.at;
        let seg = self.wqe.get(start..start + len).ok_or(WqeFault::MissingSegment {
            segment,
            needs: start + len,
            has: self.wqe.len(),
        })?;
        self.at += len;
        Ok((start, seg))
    }

    /// The UD address vector, short or extended.
    fn address(&mut self) -> Result<UdAddress, WqeFault> {
        let (start, short) = self.take("address vector", av::SHORT_BYTES)?;
        let dqp = be32(short, av::DQP);
        zero("address vector key", start + av::RESERVED_KEY, be32(short, av::RESERVED_KEY).into())?;
        zero("address vector QPN bits 30:24", start + av::DQP, (dqp >> 24 & 0x7f).into())?;
        let mut address = UdAddress {
            dest_qpn: dqp & 0x00ff_ffff,
            qkey: be32(short, av::QKEY),
            stat_rate_sl: short[av::STAT_RATE_SL],
            src_path_bits: short[av::FL_MLID] & 0x7f,
            rlid: be16(short, av::RLID),
            grh_present: false,
            grh: PathGrh { dgid: [0; 16], sgid_index: 0, flow_label: 0, hop_limit: 0, traffic_class: 0 },
            dmac: [0; 6],
        };
        if dqp & EXTENDED_AV == 0 {
            return Ok(address);
        }
        self.at = start;
        let (_, long) = self.take("extended address vector", EXTENDED_AV_BYTES)?;
        zero("address vector reserved word", start + av::RESERVED, be32(long, av::RESERVED).into())?;
        let gid_fl = be32(long, av::GRH_GID_FL);
        zero("address vector GRH bits", start + av::GRH_GID_FL, (gid_fl & !AV_GRH & 0xf000_0000).into())?;
        address.dmac.copy_from_slice(&long[av::RMAC..av::RMAC + 6]);
        address.grh_present = gid_fl & AV_GRH != 0;
        address.grh = PathGrh {
            dgid: [0; 16],
            sgid_index: (gid_fl >> 20 & 0xff) as u8,
            flow_label: gid_fl & 0x000f_ffff,
            hop_limit: long[av::HOP_LIMIT],
            traffic_class: long[av::TCLASS],
        };
        address.grh.dgid.copy_from_slice(&long[av::RGID..av::RGID + 16]);
        Ok(address)
    }

    /// Everything up to the end: data segments, or one inline segment.
    fn payload(&mut self, inline_permitted: bool) -> Result<Payload, WqeFault> {
        let mut list = Vec::new();
        while self.at < self.wqe.len() {
            let (start, bytes) = self.take("data", DATA_SEG_BYTES)?;
            match data_seg(bytes) {
                Some(seg) => list.push(seg),
                None if !inline_permitted => return Err(WqeFault::InlineResult { at: start }),
                None if !list.is_empty() => return Err(WqeFault::MixedPayload { at: start }),
                None => return self.inline(start),
            }
        }
        Ok(Payload::Segs(list))
    }

    /// The inline segment at `start`, which ends the WQE.
    fn inline(&mut self, start: usize) -> Result<Payload, WqeFault> {
        let len = (be32(self.wqe, start) & !INLINE) as usize;
        let first = start + 4;
        let data = first.checked_add(len).and_then(|end| self.wqe.get(first..end)).ok_or(WqeFault::InlineTooLong {
            at: start,
            len,
            room: self.wqe.len() - first,
        })?;
        self.at = (first + len).next_multiple_of(DATA_SEG_BYTES);
        if self.at != self.wqe.len() {
            return Err(WqeFault::AfterInline { at: self.at });
        }
        Ok(Payload::Inline(data.to_vec()))
    }
}
