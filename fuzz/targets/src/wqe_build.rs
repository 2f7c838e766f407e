//! Any requests through the crate's encoder, and back through the device's decoder: it must read each request as
//! posted.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use blueflame::cq::CqId;
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::{BlueFlamePolicy, PostError, SendQueue};
use blueflame::transport;
use blueflame::types::{DciStream, Lkey, Qpn, Rkey, SqPi, Srqn, WrId};
use blueflame::wqe::atomics::Masked;
use blueflame::wqe::limits::FrameOffloads;
use blueflame::wqe::limits::MAX_SGE_BYTES;
use blueflame::wqe::{EncodeError, Fence};
use blueflame::{Remote, Sge};
use blueflame_testkit::request::{Data, Extended, Kind, Service, Target, Wr};
use softhca::context::{InlineHeaders, SqContext, Transport};
use softhca::packet::{self, Width};
use softhca::wqe::{self as device, Checksums, DataSeg, Framing, Payload, SendOp};

use super::memory::{Arena, BASE};
pub use super::request::{Entry, Input, Request};

/// Bytes per half of the register.
const HALF: usize = 256;

/// The sizes of inline headers that frames are posted with, and bytes for them where frames are gathered.
const INLINE_HEADERS: [usize; 6] = [0, 18, 34, 42, 66, 130];
/// The sizes of large sends' inline headers, and the most bytes of their payload.
const LARGE_HEADERS: [usize; 4] = [54, 66, 74, 130];
const MAX_LARGE_SEND: u32 = 1 << 18;
static HEADERS: [u8; 130] = {
    let mut bytes = [0; 130];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = !(i as u8);
        i += 1;
    }
    bytes
};

impl Request {
    /// The request for a queue of this transport.
    pub(crate) fn wr(&self, transport: Transport, id: u64) -> Wr {
        let remote = Remote { addr: self.addr, rkey: Rkey(self.rkey) };
        let operand = |at: usize| u64::from_le_bytes(self.operands[at..at + 8].try_into().expect("8 bytes"));
        let wide = u128::from_le_bytes(self.operands);
        let reliable = matches!(transport, Transport::Rc | Transport::Dc | Transport::Xrc);
        let kind = match self.kind % if reliable { 15 } else { 5 } {
            _ if transport == Transport::RawPacket && self.kind >= 128 => {
                let headers = LARGE_HEADERS[usize::from(self.kind) % LARGE_HEADERS.len()];
                Kind::LargeFrame(headers, self.imm & 1 != 0, (self.imm >> 1) as u16)
            }
            _ if transport == Transport::RawPacket && self.kind != 0 => {
                Kind::Frame(INLINE_HEADERS[usize::from(self.kind) % INLINE_HEADERS.len()], self.imm & 1 != 0)
            }
            0 => Kind::Nop,
            _ if transport == Transport::Ud => self.datagram(),
            1 => Kind::Send,
            2 => Kind::SendImm(self.imm),
            3 => Kind::Write(remote),
            4 => Kind::WriteImm(remote, self.imm),
            5 => Kind::SendInval(Rkey(self.imm)),
            6 => Kind::Read(remote),
            7 => Kind::CompareSwap(remote, operand(0), operand(8)),
            8 => Kind::FetchAdd(remote, operand(0)),
            9 => {
                let [compare, swap] =
                    [operand(0), operand(8)].map(|bits| Masked { value: bits as u32, mask: (bits >> 32) as u32 });
                Kind::Extended(remote, Extended::Swap32 { compare, swap })
            }
            10 => {
                let masked = |value, mask| Masked { value, mask };
                let (compare, swap) = (masked(operand(0), operand(8)), masked(!operand(8), operand(0).rotate_left(7)));
                Kind::Extended(remote, Extended::Swap64 { compare, swap })
            }
            11 => Kind::Extended(remote, Extended::Add32(operand(0) as u32, operand(8) as u32)),
            12 => Kind::Extended(remote, Extended::Add64(operand(0), operand(8))),
            13 => {
                let [compare, swap] = [wide, !wide.rotate_left(9)]
                    .map(|value| Masked { value, mask: value.rotate_left(64) ^ value.swap_bytes() });
                Kind::Extended(remote, Extended::Swap128 { compare, swap })
            }
            _ => Kind::Extended(remote, Extended::Add128(wide, !wide.rotate_left(9))),
        };
        let sge = |e: &Entry| Sge { addr: e.addr, length: e.bytes, lkey: Lkey(e.lkey) };
        let data = match kind {
            Kind::Nop => Data::Sges(Vec::new()),
            Kind::CompareSwap(..) | Kind::FetchAdd(..) | Kind::Extended(..) => {
                let length = if let Kind::Extended(_, extended) = kind { masked(extended).0.bytes().into() } else { 8 };
                Data::Sges(vec![Sge { addr: self.addr ^ 8, length, lkey: Lkey(self.imm) }])
            }
            Kind::Read(_) => Data::Sges(self.entries.iter().map(sge).collect()),
            _ if self.inline => {
                let headers = kind.inline_headers() as u16;
                let byte = |i: u16| i.wrapping_mul(7).wrapping_add(self.imm as u16) as u8;
                Data::Inline((0..headers + self.inline_len % 1100).map(byte).collect())
            }
            Kind::Frame(headers, _) | Kind::LargeFrame(headers, ..) => {
                // Their bytes are copied, so they must be in memory; the memory of the others is never read.
                let addr = HEADERS.as_ptr().expose_provenance() as u64;
                let headers = Sge { addr, length: headers as u32, lkey: Lkey(self.imm) };
                Data::Sges([headers].into_iter().chain(self.entries.iter().map(sge)).collect())
            }
            _ => Data::Sges(self.entries.iter().map(sge).collect()),
        };
        let fences = [Fence::None, Fence::Small, Fence::Reads, Fence::Strong, Fence::SmallAndReads];
        let fence = fences[usize::from(self.flags >> 2) % fences.len()];
        let to = match transport {
            _ if kind == Kind::Nop => None,
            Transport::Dc => Some(self.target()),
            Transport::Xrc => Some(Target::Srq(Srqn::truncate(self.imm ^ self.rkey))),
            _ => None,
        };
        let flag = |bit: u8| self.flags >> bit & 1 != 0;
        Wr { kind, data, id, signaled: flag(0), solicited: flag(1), fence, first_error_only: flag(5), to }
    }
}

/// Posts and decodes.
pub fn run(input: &Input) {
    match input.service >> 6 {
        2 if input.service & 0x20 != 0 => return super::waits::run(input),
        1 if input.service & 1 == 0 => return post::<transport::Signed<transport::Rc>>(input),
        1 if input.service & 2 == 0 => return post::<transport::Signed<transport::Dci>>(input),
        1 => return post_on_streams::<transport::Signed<transport::DciStreams>>(input),
        2 => return super::keys::run(input),
        3 if input.service & 0x20 != 0 => return super::tags::run(input),
        3 => return super::copies::run(input),
        _ => {}
    }
    match input.service % 7 {
        0 => post::<transport::Rc>(input),
        1 => post::<transport::Uc>(input),
        2 => post::<transport::RawPacket<0>>(input),
        3 => post::<transport::Ud>(input),
        4 => post::<transport::Dci>(input),
        5 => post_on_streams::<transport::DciStreams>(input),
        _ => post::<transport::XrcInitiator>(input),
    }
}

fn post<T: Service>(input: &Input) {
    post_to::<T>(input, |_, to| to);
}

/// Posts and decodes; requests with a full address name a stream.
fn post_on_streams<T: Service>(input: &Input) {
    post_to::<T>(input, |request, to| match to {
        Some(Target::Full(address)) => Some(Target::Stream(address.on(DciStream(request.imm as u16)))),
        to => to,
    });
}

/// Posts and decodes; `target` changes the target of a request.
fn post_to<T: Service>(input: &Input, target: fn(&Request, Option<Target>) -> Option<Target>) {
    let log_size = input.log_wqebbs & 7;
    let wqebbs = 1_u32 << log_size;
    let (ring, record, page) = (Arena::new(64 << log_size, 0xa5), Arena::new(8, 0xa5), Arena::new(2 * HALF, 0xa5));
    let mut shadow = vec![MaybeUninit::<WqeRecord>::uninit(); wqebbs as usize];
    let qpn = Qpn::truncate(input.qpn);
    let parts = SqParts {
        ring: ring.ptr(),
        wqebbs,
        dbrec: record.ptr().cast(),
        qpn,
        cq: CqId::NONE,
        max_inline: input.max_inline.into(),
        max_sge: input.max_sge.into(),
        signal_all: input.signal_all,
        pi: SqPi(input.pi),
        shadow: NonNull::from(&mut shadow[..]).cast(),
    };
    let size = if input.without_blueflame { 0 } else { HALF as u32 };
    // SAFETY: the arenas and the shadow outlive the queue, and nothing else uses them while it posts.
    let mut sq = unsafe {
        let register = ExclusiveRegister::from_parts(RegisterParts { reg: page.ptr(), size }).expect("a register");
        SendQueue::<T>::from_parts(parts, register).expect("a send queue")
    };
    sq.set_frame_offloads(FrameOffloads { max_large_send: MAX_LARGE_SEND, ..FrameOffloads::NONE });
    sq.set_blueflame_policy(if input.prefer_blueflame { BlueFlamePolicy::Prefer } else { BlueFlamePolicy::Inline });
    let context = SqContext {
        buf: BASE,
        log_size,
        inline_headers: InlineHeaders::None,
        multi_packet: true,
        software_parser: true,
        ..SqContext::default()
    };
    let mut doorbells = 0;
    for (n, request) in input.requests.iter().enumerate() {
        let mut wr = request.wr(T::TRANSPORT, n as u64 + 1);
        wr.to = target(request, wr.to);
        let (before, pi) = (ring.bytes(), sq.pi());
        // SAFETY: no device acts on the posted WQEs.
        match unsafe { T::put(&mut sq, &wr) } {
            Err(error) => {
                assert!(ring.bytes() == before && sq.pi() == pi, "{error}, but something was written");
                refused(&error, &wr, input, wqebbs);
            }
            Ok(()) => {
                let told = u32::from_be_bytes(record.bytes()[4..].try_into().expect("4 bytes"));
                assert_eq!(told, u32::from(sq.pi().0));
                let found = device::fetch(
                    &context,
                    qpn.get(),
                    (T::TRANSPORT, T::SIGNS),
                    pi.0,
                    sq.pi().0,
                    device::Source::Ring(&ring),
                );
                let found = found.unwrap_or_else(|fault| panic!("{wr:?}: {fault}"));
                agree(request, &wr, &found, input.signal_all);
                let taken = sq.pi().since(pi).0;
                unchanged_outside(&before, &ring.bytes(), pi.0, taken);
                rung(&page.bytes(), &ring.bytes(), input, &wr, (pi.0, doorbells));
                doorbells += 1;
                assert_eq!(sq.free().0, wqebbs as u16 - taken);
                // SAFETY: there is no device but `fetch`, which is done.
                let retired = unsafe { sq.retire_index(pi.0) }.expect("outstanding");
                assert_eq!((retired.wr_id, retired.freed.0), (WrId(wr.id), taken));
            }
        }
    }
}

/// A refusal names a limit that the request is really past.
fn refused(error: &PostError, wr: &Wr, input: &Input, ring: u32) {
    let units = |sges: &[Sge]| sges.iter().filter(|s| s.length != 0).count();
    let (headers, head) = match wr.kind {
        Kind::Frame(headers, _) | Kind::LargeFrame(headers, ..) => (headers, 1 + (14 + headers).div_ceil(16)),
        Kind::Datagram(..) => (0, 4),
        _ => (0, 3 + if wr.to.is_some() { 3 } else { 0 }),
    };
    let past = match (error, &wr.data) {
        (PostError::Encode(EncodeError::TooManySges { count, limit }), Data::Sges(sges)) => {
            *count == sges.len() && *limit == u32::from(input.max_sge) && *count > *limit as usize
        }
        (PostError::Encode(EncodeError::SgeTooLong { bytes, .. }), Data::Sges(sges)) => {
            *bytes > MAX_SGE_BYTES && sges.iter().any(|s| s.length == *bytes)
        }
        (PostError::Encode(EncodeError::InlineTooLong { bytes, limit }), Data::Inline(data)) => {
            *bytes == data.len() - headers && *limit == u32::from(input.max_inline) && *bytes > *limit as usize
        }
        (PostError::Encode(EncodeError::WqeTooLong { ds, .. }), Data::Sges(sges)) => {
            *ds > 63 && units(sges) + head >= *ds
        }
        (PostError::Encode(EncodeError::WqeTooLong { ds, .. }), Data::Inline(data)) => *ds > 63 && data.len() > 900,
        (PostError::Encode(EncodeError::LargeSendMss), _) => matches!(wr.kind, Kind::LargeFrame(_, _, 0)),
        (PostError::Encode(EncodeError::LargeSendTooLong { bytes, limit }), Data::Sges(sges)) => {
            let all: u64 = sges.iter().map(|sge| u64::from(sge.length)).sum();
            *limit == MAX_LARGE_SEND && *bytes > u64::from(*limit) && *bytes == all - headers as u64
        }
        (PostError::LargerThanRing { needed, ring: said }, _) => *said == ring && u32::from(needed.0) > ring,
        // The queue is empty.
        _ => false,
    };
    assert!(past, "{error:?} of {wr:?}");
}

/// A masked atomic as the device must read it.
fn masked(extended: Extended) -> (Width, packet::Masked) {
    match extended {
        Extended::Swap32 { compare, swap } => {
            let [compare_mask, swap_mask] = [compare.mask.into(), swap.mask.into()];
            let (compare, swap) = (compare.value.into(), swap.value.into());
            (Width::Four, packet::Masked::Swap { compare, compare_mask, swap, swap_mask })
        }
        Extended::Swap64 { compare, swap } => {
            let [compare_mask, swap_mask] = [compare.mask.into(), swap.mask.into()];
            let (compare, swap) = (compare.value.into(), swap.value.into());
            (Width::Eight, packet::Masked::Swap { compare, compare_mask, swap, swap_mask })
        }
        Extended::Add32(add, boundary) => {
            (Width::Four, packet::Masked::Add { add: add.into(), boundary: boundary.into() })
        }
        Extended::Add64(add, boundary) => {
            (Width::Eight, packet::Masked::Add { add: add.into(), boundary: boundary.into() })
        }
        Extended::Swap128 { compare: Masked { value: compare, mask: compare_mask }, swap } => {
            let (swap, swap_mask) = (swap.value, swap.mask);
            (Width::Sixteen, packet::Masked::Swap { compare, compare_mask, swap, swap_mask })
        }
        Extended::Add128(add, boundary) => (Width::Sixteen, packet::Masked::Add { add, boundary }),
    }
}

/// Asserts that the device decoded the posted request.
fn agree(request: &Request, wr: &Wr, found: &device::SendWqe, signal_all: bool) {
    let at = |r: Remote| device::Remote { addr: r.addr, rkey: r.rkey.0 };
    let (op, imm) = match wr.kind {
        Kind::Nop => (SendOp::Nop, 0),
        Kind::Send => (SendOp::Send(None), 0),
        Kind::SendImm(imm) => (SendOp::SendImm(None), imm),
        Kind::SendInval(key) => (SendOp::SendInval, key.0),
        Kind::Write(remote) => (SendOp::Write(at(remote)), 0),
        Kind::WriteImm(remote, imm) => (SendOp::WriteImm(at(remote)), imm),
        Kind::Read(remote) => (SendOp::Read(at(remote)), 0),
        Kind::CompareSwap(remote, compare, swap) => (SendOp::CompareSwap { remote: at(remote), compare, swap }, 0),
        Kind::FetchAdd(remote, add) => (SendOp::FetchAdd { remote: at(remote), add }, 0),
        Kind::Extended(remote, extended) => {
            let (width, masked) = masked(extended);
            (SendOp::Extended(at(remote), Box::new(device::Extended { width, masked })), 0)
        }
        Kind::Datagram(_, None) => (SendOp::Send(Some(request.address())), 0),
        Kind::Datagram(_, Some(imm)) => (SendOp::SendImm(Some(request.address())), imm),
        Kind::Frame(_, checksums) => {
            let checksums = Checksums { l3: checksums, l4: checksums, ..Checksums::default() };
            (SendOp::Frame(Framing { checksums, ..Framing::default() }), 0)
        }
        Kind::LargeFrame(_, checksums, mss) => {
            let checksums = Checksums { l3: checksums, l4: checksums, ..Checksums::default() };
            (SendOp::Frame(Framing { checksums, mss: Some(mss), ..Framing::default() }), 0)
        }
    };
    let (headers, data) = match wr.kind {
        Kind::Frame(headers, _) | Kind::LargeFrame(headers, ..) => {
            // SAFETY: the bytes are the request's, or those of `HEADERS`, which is the first entry.
            let head = unsafe { wr.data.head(headers) };
            (head, &wr.data.rest(headers))
        }
        _ => (Vec::new(), &wr.data),
    };
    let (target, srqn) = match wr.to {
        None => (None, None),
        Some(Target::Srq(srqn)) => (None, Some(srqn.get())),
        Some(_) => (Some(request.found_target()), None),
    };
    assert_eq!((found.target.as_deref(), found.srqn), (target.as_ref(), srqn));
    let payload = match data {
        Data::Inline(bytes) if bytes.is_empty() => Payload::default(),
        Data::Inline(bytes) => Payload::Inline(bytes.clone()),
        Data::Sges(sges) => {
            let seg = |s: &Sge| DataSeg { len: s.length, lkey: s.lkey.0, addr: s.addr };
            Payload::Segs(sges.iter().filter(|s| s.length != 0).map(seg).collect())
        }
    };
    let fence = match wr.fence {
        Fence::None => device::Fence::None,
        Fence::Small => device::Fence::Small,
        Fence::Reads | Fence::SmallAndReads => device::Fence::Full,
        Fence::Strong => device::Fence::Strong,
    };
    assert_eq!((&found.op, found.imm, &found.headers, &found.payload), (&op, imm, &headers, &payload));
    let signaled = wr.signaled || signal_all;
    let flags = (signaled, !signaled && wr.first_error_only, wr.solicited, fence);
    assert_eq!((found.signaled, found.first_error_only, found.solicited, found.fence), flags);
}

/// Only the WQEBBs of the WQE were written.
fn unchanged_outside(before: &[u8], after: &[u8], first: u16, wqebbs: u16) {
    let ring = before.len() / 64;
    for (slot, (old, new)) in before.chunks(64).zip(after.chunks(64)).enumerate() {
        let past = (slot + ring - usize::from(first) % ring) % ring;
        assert!(past < usize::from(wqebbs) || old == new, "WQEBB {slot} was written");
    }
}

/// The due half of the register has the WQE's first 8 bytes, and all of it when BlueFlame was to be used.
fn rung(page: &[u8], ring: &[u8], input: &Input, wr: &Wr, (first, doorbells): (u16, usize)) {
    let half = if input.without_blueflame { 0 } else { doorbells % 2 * HALF };
    let byte = |i: usize| ring[(usize::from(first) * 64 + i) % ring.len()];
    let bytes = usize::from(byte(7)) * 16;
    let inline = matches!(wr.data, Data::Inline(_));
    let copied = !input.without_blueflame
        && bytes > 16
        && (inline || input.prefer_blueflame)
        && bytes.next_multiple_of(64) <= HALF;
    let len = if copied { bytes } else { 8 };
    for i in 0..len {
        assert_eq!(page[half + i], byte(i), "byte {i} of the register");
    }
}
