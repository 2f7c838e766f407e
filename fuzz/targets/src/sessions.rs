//! Batches of frames on a send queue of raw packets: WQEs of several frames, of one, and large sends. The device's
//! decoder must find each WQE as it was put, also around the ring's end. The space and the `wr_id`s that the queue
//! reports follow from the calls alone, with any bytes of a hostile device in the ring and the records.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::CqId;
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::{PostError, SendBatch, SendQueue};
use blueflame::transport::RawPacket;
use blueflame::types::{Lkey, Qpn, SqPi, WrId};
use blueflame::wqe::limits::{FrameOffloads, MAX_SGE_BYTES};
use blueflame::wqe::operations::{Frame, HeaderOffsets, HeadersAt, Ip, L4};
use blueflame::wqe::{self, EncodeError, Request};
use blueflame::{Sge, db};
use softhca::context::{InlineHeaders, SqContext, Transport};
use softhca::wqe::{self as device, Checksums, DataSeg, Framing, Part, Payload, SendOp, StatedHeaders, StatedLayer};

use super::memory::{Arena, BASE};

type Queue = SendQueue<RawPacket<0>>;

const QPN: u32 = 0x123;
/// DS in front of the frames of a WQE, and the most of a WQE.
const HEAD_DS: usize = 2;
const MOST_DS: usize = 63;
/// The most bytes of a large send.
const LARGE: u32 = 1 << 18;
/// Bytes of headers, behind which a frame's payload begins: untagged, and with a VLAN tag.
const HEADERS: [usize; 2] = [54, 58];

input_struct! {
    /// A frame of a session.
    Piece {
        len: u32,
        /// The frame is copied; else it is fetched.
        inline: bool,
    }
}

input_enum! {
    /// A WQE of a batch.
    Wqe {
        /// Several frames; without `close` it is dropped.
        Several { pieces: Vec<Piece>, checksums: u8, close: bool },
        /// A frame with `len` bytes behind its headers, which may have a VLAN tag.
        One { tagged: bool, len: u8, checksums: u8 },
        /// A large send.
        Large { tagged: bool, mss: u16, len: u32 },
    }
}

input_enum! {
    /// One call, or one thing that the device does.
    Op {
        /// Puts WQEs into a batch, and rings it or drops it.
        Batch { wqes: Vec<Wqe>, ring: bool },
        /// A completion with this counter.
        Retire { counter: u16 },
        /// A completion of the n-th outstanding WQE (modulo how many there are).
        RetireNth { n: u8 },
        /// The device writes where it likes: to the ring, or to the records.
        Scribble { ring: bool, at: u16, bytes: [u8; 16] },
    }
}

input_struct! {
    /// The queue, and what happens.
    Input {
        /// log2 of the ring's WQEBBs; the low 3 bits count.
        log_wqebbs: u8,
        pi: u16,
        ops: Vec<Op>,
    }
}

/// A WQE of a batch as the device must find it.
struct Put {
    index: u16,
    wqebbs: u16,
    id: u64,
    frames: u16,
    framing: Framing,
    headers: Vec<u8>,
    parts: Vec<Part>,
}

struct Lab {
    sq: Queue,
    ring: Arena,
    records: Arena,
    log_wqebbs: u8,
    /// Outstanding WQEs: index, WQEBBs, tag, frames.
    sent: VecDeque<(u16, u16, u64, u16)>,
    next_id: u64,
}

/// Does it all.
pub fn run(input: &Input) {
    let log_wqebbs = input.log_wqebbs & 7;
    let wqebbs = 1_u32 << log_wqebbs;
    let (ring, records, page) = (Arena::new(64 << log_wqebbs, 0xa5), Arena::new(8, 0), Arena::new(512, 0));
    let mut shadow = vec![MaybeUninit::<WqeRecord>::uninit(); wqebbs as usize];
    let parts = SqParts {
        ring: ring.ptr(),
        wqebbs,
        dbrec: records.ptr().cast(),
        qpn: Qpn::truncate(QPN),
        cq: CqId::NONE,
        max_inline: 1 << 10,
        max_sge: 1,
        signal_all: false,
        pi: SqPi(input.pi),
        shadow: NonNull::from(&mut shadow[..]).cast(),
    };
    // SAFETY: the arenas and the shadow outlive the queue, and only the "device" writes to the arenas besides it.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(RegisterParts { reg: page.ptr(), size: 256 }).expect("a register");
        Queue::from_parts(parts, register).expect("a send queue")
    };
    sq.set_frame_offloads(FrameOffloads {
        multi_packet: true,
        inner_checksums: true,
        header_offsets: true,
        header_offsets_of_large: true,
        metadata: true,
        max_large_send: LARGE,
    });
    let mut lab = Lab { sq, ring, records, log_wqebbs, sent: VecDeque::new(), next_id: 1 };
    for op in &input.ops {
        lab.act(op);
        let used: u16 = lab.sent.iter().map(|(_, wqebbs, ..)| *wqebbs).sum();
        assert_eq!(u32::from(lab.sq.free().0 + used), wqebbs);
    }
}

impl Lab {
    fn act(&mut self, op: &Op) {
        match op {
            Op::Batch { wqes, ring } => self.batch(wqes, *ring),
            Op::Retire { counter } => self.retire(*counter),
            Op::RetireNth { n } => {
                if let Some((index, ..)) = self.sent.get(usize::from(*n) % self.sent.len().max(1)) {
                    self.retire(*index);
                }
            }
            Op::Scribble { ring, at, bytes } => {
                let area = if *ring { &self.ring } else { &self.records };
                area.scribble(usize::from(*at), bytes);
            }
        }
    }

    fn batch(&mut self, wqes: &[Wqe], ring: bool) {
        let first = self.sq.pi();
        let mut next = first.0;
        let mut puts = Vec::new();
        let mut batch = self.sq.batch();
        for wqe in wqes {
            let id = self.next_id;
            let before = batch.free();
            let put = match wqe {
                Wqe::Several { pieces, checksums, close } => {
                    several(&mut batch, next, id, (pieces, *checksums, *close))
                }
                Wqe::One { tagged, len, checksums } => one(&mut batch, next, id, (*tagged, *len, *checksums)),
                Wqe::Large { tagged, mss, len } => large(&mut batch, next, id, (*tagged, *mss, *len)),
            };
            let taken = put.as_ref().map_or(0, |put| put.wqebbs);
            assert_eq!(batch.free().0 + taken, before.0);
            next = next.wrapping_add(taken);
            self.next_id += put.as_ref().map_or(1, |put| u64::from(put.frames));
            puts.extend(put);
        }
        assert_eq!(batch.len(), puts.iter().map(|put| usize::from(put.frames)).sum::<usize>());
        if !ring {
            drop(batch);
            assert_eq!(self.sq.pi(), first);
            return;
        }
        batch.ring_doorbell();
        assert_eq!(self.sq.pi().0, next);
        if puts.is_empty() {
            return;
        }
        assert_eq!(self.records.bytes()[4..], u32::from(next).to_be_bytes());
        let (buf, log_size) = (BASE, self.log_wqebbs);
        let (inline_headers, multi_packet, software_parser) = (InlineHeaders::None, true, true);
        let context =
            SqContext { buf, log_size, inline_headers, multi_packet, software_parser, ..SqContext::default() };
        for put in puts {
            let service = (Transport::RawPacket, false);
            let found = device::fetch(&context, QPN, service, put.index, next, device::Source::Ring(&self.ring));
            let found = found.unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!((found.op, found.wqebbs), (SendOp::Frame(put.framing), put.wqebbs));
            assert_eq!((&found.headers, &split(found.payload)), (&put.headers, &put.parts));
            self.sent.push_back((put.index, put.wqebbs, put.id, put.frames));
        }
    }

    /// A completion with this counter, as any device may write it.
    fn retire(&mut self, counter: u16) {
        // SAFETY: no device acts on the posted WQEs.
        let result = unsafe { self.sq.retire_index(counter) };
        let place = self.sent.iter().position(|(index, ..)| *index == counter);
        match (result, place) {
            (Ok(retired), Some(place)) => {
                let (.., id, frames) = self.sent[place];
                let freed: u16 = self.sent.drain(..=place).map(|(_, wqebbs, ..)| wqebbs).sum();
                assert_eq!((retired.wr_id.0, retired.frames, retired.freed.0), (id, frames, freed));
            }
            (Err(_), None) => {}
            (found, expected) => panic!("{found:?} for {counter}, outstanding is {expected:?} of {:?}", self.sent),
        }
    }
}

/// The parts of a payload.
fn split(payload: Payload) -> Vec<Part> {
    match payload {
        Payload::Segs(segs) => segs.into_iter().map(Part::Seg).collect(),
        Payload::Inline(bytes) => vec![Part::Inline(bytes)],
        Payload::Mixed(parts) => parts,
    }
}

/// The result that the device must find in a frame with the options of these bits.
fn framing_of(bits: u8) -> Framing {
    let (l3, l4, more) = (bits & 1 != 0, bits & 2 != 0, bits & MORE != 0);
    let checksums = Checksums { l3, l4, inner_l3: more && bits & 8 != 0, inner_l4: more && bits & 8 == 0 };
    if !more {
        return Framing { checksums, ..Framing::default() };
    }
    let outer = StatedLayer { l3: 14, l4: 34 + usize::from(bits) * 2 % 400, ipv6: bits & 16 != 0, udp: bits & 32 != 0 };
    let inner = StatedLayer { l3: 510, l4: 0, ipv6: bits & 64 != 0, udp: false };
    Framing {
        checksums,
        stated: StatedHeaders { outer, inner },
        metadata: METADATA * u32::from(bits),
        ..Framing::default()
    }
}

/// Chooses more options than the outer checksums.
const MORE: u8 = 4;
const METADATA: u32 = 0x0101_0101;

/// A head, or a frame without headers, with the options of these bits.
fn head(id: u64, bits: u8) -> Request<'static, Frame> {
    let mut head = wqe::frame().signaled(WrId(id));
    if bits & 1 != 0 {
        head = head.l3_checksum();
    }
    if bits & 2 != 0 {
        head = head.l4_checksum();
    }
    if bits & MORE == 0 {
        return head;
    }
    let ip = |flag: u8| if bits & flag != 0 { Ip::V6 } else { Ip::V4 };
    let protocol = if bits & 32 != 0 { L4::Udp } else { L4::Tcp };
    let outer = HeadersAt { ip: ip(16), l3: 14, l4: Some((protocol, 34 + u16::from(bits) * 2 % 400)) };
    let offsets = HeaderOffsets::new(outer, Some(HeadersAt { ip: ip(64), l3: 510, l4: None })).expect("even offsets");
    let inner = if bits & 8 != 0 { head.inner_l3_checksum() } else { head.inner_l4_checksum() };
    inner.header_offsets(offsets).metadata(METADATA * u32::from(bits))
}

/// Different bytes.
fn bytes(len: usize, seed: u64) -> Vec<u8> {
    (0..len).map(|n| (n as u64 * 7 + seed) as u8).collect()
}

fn entry(len: u32, id: u64) -> (Sge, DataSeg) {
    let (addr, lkey) = (0x7f00_0000 ^ id << 12, 0x1800 ^ id as u32);
    (Sge { addr, length: len, lkey: Lkey(lkey) }, DataSeg { len, lkey, addr })
}

/// A WQE of several frames, if one was put.
fn several<R: db::Register>(
    batch: &mut SendBatch<'_, RawPacket<0>, R>,
    index: u16,
    id: u64,
    (pieces, bits, close): (&[Piece], u8, bool),
) -> Option<Put> {
    let limit = (usize::from(batch.free().0) * 4).min(MOST_DS);
    let mut session = match batch.session(&head(id, bits)) {
        Ok(session) => session,
        Err(error) => {
            assert!(matches!(error, PostError::Full { .. }) && limit == 0, "{error}");
            return None;
        }
    };
    let (mut parts, mut used) = (Vec::new(), HEAD_DS);
    for piece in pieces {
        let len = if piece.inline { piece.len % 5000 } else { piece.len };
        let (sge, seg) = entry(len, id + parts.len() as u64);
        let data = bytes(if piece.inline { len as usize } else { 0 }, id);
        let (ds, put) = if piece.inline {
            ((4 + data.len()).div_ceil(16), session.inline(&data))
        } else {
            // SAFETY: no device acts on it.
            (1, unsafe { session.gather_unchecked(sge) })
        };
        match put {
            Ok(()) => {
                assert!(used + ds <= limit && len > 0);
                used += ds;
                parts.push(if piece.inline { Part::Inline(data) } else { Part::Seg(seg) });
            }
            Err(PostError::Encode(EncodeError::EmptyFrame)) => assert_eq!(len, 0),
            Err(PostError::Encode(EncodeError::SgeTooLong { bytes, .. })) => {
                assert!(!piece.inline && bytes == len && len > MAX_SGE_BYTES);
            }
            Err(PostError::Encode(EncodeError::WqeTooLong { ds: all, .. })) => {
                assert!(all == used + ds && all > MOST_DS, "{all} DS");
            }
            Err(PostError::Full { needed, free }) => {
                assert!(used + ds > limit && usize::from(needed.0) == (used + ds).div_ceil(4));
                assert_eq!(usize::from(free.0), limit / 4);
            }
            Err(error) => panic!("{error}"),
        }
        assert_eq!((usize::from(session.free().0), session.len()), (limit - used, parts.len()));
    }
    if !close {
        drop(session);
        return None;
    }
    session.close();
    let framing = Framing { many: true, ..framing_of(bits) };
    let (wqebbs, frames) = (used.div_ceil(4) as u16, parts.len() as u16);
    (frames > 0).then_some(Put { index, wqebbs, id, frames, framing, headers: Vec::new(), parts })
}

/// A frame in a WQE of its own.
fn one<R: db::Register>(
    batch: &mut SendBatch<'_, RawPacket<0>, R>,
    index: u16,
    id: u64,
    (tagged, len, checksums): (bool, u8, u8),
) -> Option<Put> {
    let headers = bytes(HEADERS[usize::from(tagged)], id);
    let data = bytes(len.into(), id + 1);
    let frame = head(id, checksums).inline_slice(&data);
    let result = match tagged {
        false => batch.push(&frame.inline_headers(array::<{ HEADERS[0] }>(&headers))),
        true => batch.push(&frame.inline_headers(array::<{ HEADERS[1] }>(&headers))),
    };
    let inline = if data.is_empty() { 0 } else { (4 + data.len()).div_ceil(16) };
    let wqebbs = (1 + (14 + headers.len()).div_ceil(16) + inline).div_ceil(4) as u16;
    put(batch, result, wqebbs)?;
    let framing = framing_of(checksums);
    let parts = if data.is_empty() { Vec::new() } else { vec![Part::Inline(data)] };
    Some(Put { index, wqebbs, id, frames: 1, framing, headers, parts })
}

/// A large send.
fn large<R: db::Register>(
    batch: &mut SendBatch<'_, RawPacket<0>, R>,
    index: u16,
    id: u64,
    (tagged, mss, len): (bool, u16, u32),
) -> Option<Put> {
    let headers = bytes(HEADERS[usize::from(tagged)], id);
    let (sge, seg) = entry(len, id);
    // SAFETY: no device acts on it.
    let result = unsafe {
        match tagged {
            false => {
                let request = head(id, 3).inline_headers(array::<{ HEADERS[0] }>(&headers)).large(mss);
                batch.push_unchecked(&request.gather([sge]))
            }
            true => {
                let request = head(id, 3).inline_headers(array::<{ HEADERS[1] }>(&headers)).large(mss);
                batch.push_unchecked(&request.gather([sge]))
            }
        }
    };
    let data = usize::from(len != 0);
    let wqebbs = (1 + (14 + headers.len()).div_ceil(16) + data).div_ceil(4) as u16;
    match result {
        Err(PostError::Encode(EncodeError::LargeSendMss)) => {
            assert_eq!(mss, 0);
            return None;
        }
        Err(PostError::Encode(EncodeError::LargeSendTooLong { bytes, limit })) => {
            assert!(limit == LARGE && bytes == u64::from(len) && len > LARGE);
            return None;
        }
        Err(PostError::Encode(EncodeError::SgeTooLong { bytes, .. })) => {
            assert!(bytes == len && len > MAX_SGE_BYTES);
            return None;
        }
        other => put(batch, other, wqebbs)?,
    }
    let framing = Framing { mss: Some(mss), ..framing_of(3) };
    let parts = if len == 0 { Vec::new() } else { vec![Part::Seg(seg)] };
    Some(Put { index, wqebbs, id, frames: 1, framing, headers, parts })
}

/// Whether the WQE was put, which only the room for its WQEBBs decides.
fn put<R: db::Register>(
    batch: &SendBatch<'_, RawPacket<0>, R>,
    result: Result<(), PostError>,
    wqebbs: u16,
) -> Option<()> {
    match result {
        Ok(()) => Some(()),
        Err(PostError::Full { needed, free }) => {
            assert!(needed.0 == wqebbs && free == batch.free() && free < needed);
            None
        }
        Err(PostError::LargerThanRing { needed, .. }) => {
            assert_eq!(needed.0, wqebbs);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn array<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.first_chunk().expect("as many")
}
