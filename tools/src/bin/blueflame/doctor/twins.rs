//! Twin queues: the same requests through libmlx5 and through this crate must leave the same bytes in their rings.
//!
//! Twins differ in the number of their queue pair, which each WQE contains, and in the second word of fetch-and-add,
//! which libmlx5 leaves as it was.

use blueflame::transport::{InlineL2, InlineLayers, InlineMode, InlineNone, RawPacket, Rc, Receives, Ud};
use blueflame::types::{Psn, Qkey};
use blueflame::verbs::{OwnedCq, Qp, QueuePair, VerbsTransport, ffi};
use blueflame::wqe::{self, Fence, Sge, WorkRequest};
use blueflame::{Remote, WrId};
use rdma_sys as sys;

use super::check::Check;
use super::ethernet::Frames;
use super::found::{Failure, Seen, ensure};
use super::lab::{DEPTH, End, INLINE, Lab, ROOM, pattern, queues};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "twins.rc",
        title: "RC: WQEs, receives and doorbell records are those of ibv_post_send and ibv_post_recv",
        fault: "This crate encodes a request otherwise than the libmlx5 of this machine. The text has the first byte. \
                Report it with the release of rdma-core.",
        needs: &[Need::Link, Need::Address],
        run: rc,
    },
    Check {
        id: "twins.ud",
        title: "UD: WQEs with the address of a handle are those of ibv_post_send",
        fault: "As twins.rc.",
        needs: &[Need::Link, Need::Address],
        run: ud,
    },
    Check {
        id: "twins.frames",
        title: "raw frames: WQEs are those of ibv_post_send",
        fault: "As twins.rc.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw],
        run: frames,
    },
];

/// The rings are filled with this byte before.
const FILL: u8 = 0xa5;
/// Bytes of a WQEBB, and of the unit that a WQE counts its size in.
const WQEBB: usize = 64;
const UNIT: usize = 16;
/// `MLX5_OPCODE_ATOMIC_FA`.
const FETCH_ADD: u8 = 0x12;
/// Bytes of control and remote address segments, and of the first word of an atomic segment.
const COMPARE: usize = 16 + 16 + 8;

/// The ring of a work queue, as bytes.
fn ring(wq: &ffi::Mlx5dvWq) -> Vec<u8> {
    let len = (wq.wqe_cnt * wq.stride) as usize;
    // SAFETY: the ring that libmlx5 allocated; the device only reads it, and nothing is posted now.
    unsafe { core::slice::from_raw_parts(wq.buf.cast::<u8>(), len) }.to_vec()
}

/// The raw parts of a queue pair.
fn parts(qp: &Qp) -> Result<ffi::Mlx5dvQp, Failure> {
    // SAFETY: numbers and pointers, for which zero is a value.
    let mut parts: ffi::Mlx5dvQp = unsafe { core::mem::zeroed() };
    let mut obj =
        ffi::Mlx5dvObj { qp: ffi::Mlx5dvPair { r#in: qp.as_raw(), out: &raw mut parts }, ..ffi::Mlx5dvObj::NONE };
    // SAFETY: the queue pair is alive, the parts are ours.
    let returned = unsafe { ffi::mlx5dv_init_obj(&raw mut obj, ffi::MLX5DV_OBJ_QP) };
    ensure(returned == 0, || format!("mlx5dv_init_obj: {returned}"))?;
    Ok(parts)
}

/// libmlx5's queue pair. Its queues in this crate were dropped unused.
struct Theirs {
    qp: Qp,
    cq: OwnedCq,
}

impl Theirs {
    /// Posts one request, as a C program would.
    fn post(
        &self,
        opcode: sys::ibv_wr_opcode::Type,
        flags: sys::ibv_send_flags,
        sges: &[Sge],
        edit: impl FnOnce(&mut sys::ibv_send_wr),
    ) -> Result<(), Failure> {
        let mut list: Vec<_> =
            sges.iter().map(|sge| sys::ibv_sge { addr: sge.addr, length: sge.length, lkey: sge.lkey.0 }).collect();
        // SAFETY: numbers and pointers, for which zero is a value.
        let mut wr: sys::ibv_send_wr = unsafe { core::mem::zeroed() };
        (wr.sg_list, wr.num_sge) = (list.as_mut_ptr(), list.len() as i32);
        (wr.opcode, wr.send_flags) = (opcode, (flags | sys::ibv_send_flags::IBV_SEND_SIGNALED).0);
        edit(&mut wr);
        let mut bad = core::ptr::null_mut();
        // SAFETY: the queue pair is alive; request, entries and inline bytes live until the call returns; registered
        // memory lives as long as the queue pair.
        let returned = unsafe { sys::ibv_post_send(self.qp.as_raw(), &raw mut wr, &raw mut bad) };
        ensure(returned == 0, || format!("ibv_post_send: {returned}"))
    }

    /// Waits for one completion. libmlx5 is not told, so it can post only as much as fits its ring.
    fn sent(&mut self, lab: &Lab) -> Result<(), Failure> {
        lab.completion("libmlx5's request", &mut self.cq, |_| Ok(()))
    }
}

/// Twins of one geometry: both were made by this crate, and one posts by libmlx5.
struct Twins<T: VerbsTransport> {
    theirs: Theirs,
    ours: End<T>,
    posted: usize,
}

impl<T: VerbsTransport + Receives> Twins<T> {
    fn new(lab: &Lab, ready: impl Fn(&mut QueuePair<T>) -> Result<(), Failure>) -> Result<Self, Failure> {
        let mut pairs = Vec::new();
        for _ in 0..2 {
            let [sent, received] = queues(lab)?;
            let builder = lab.pd().queue_pair::<T>(&sent, &received).sends(DEPTH).send_sge(2).inline(INLINE);
            let mut pair = builder.receives(DEPTH).build()?;
            ready(&mut pair)?;
            let parts = parts(&pair.qp)?;
            for wq in [parts.sq, parts.rq] {
                // SAFETY: the ring that libmlx5 allocated, before anything is posted.
                unsafe { wq.buf.cast::<u8>().write_bytes(FILL, (wq.wqe_cnt * wq.stride) as usize) };
            }
            pairs.push((pair, sent, received));
        }
        let (Some((pair, sent, received)), Some((theirs, cq, _))) = (pairs.pop(), pairs.pop()) else {
            return Err("there are two".into());
        };
        let ours = End { pair, sent, received, memory: lab.memory(ROOM)? };
        Ok(Self { theirs: Theirs { qp: theirs.qp, cq }, ours, posted: 0 })
    }

    /// Posts our twin of a request that libmlx5 has posted, and waits for both.
    fn post(&mut self, lab: &Lab, request: &impl WorkRequest<T>) -> Result<(), Failure> {
        self.ours.post(request)?;
        self.ours.sent(lab, "our request")?;
        self.theirs.sent(lab)?;
        self.posted += 1;
        Ok(())
    }

    /// Compares rings and records.
    fn compare(&self) -> Result<(), Failure> {
        let (theirs, ours) = (parts(&self.theirs.qp)?, parts(&self.ours.pair.qp)?);
        let numbers = [self.theirs.qp.qpn().get(), self.ours.pair.qp.qpn().get()];
        same_wqes([&ring(&theirs.sq), &ring(&ours.sq)], numbers, self.posted)?;
        let (a, b) = (ring(&theirs.rq), ring(&ours.rq));
        let differs = a.iter().zip(&b).position(|(a, b)| a != b);
        ensure(differs.is_none() && a.len() == b.len(), || format!("receive rings differ at byte {differs:?}"))?;
        // SAFETY: two words that libmlx5 allocated.
        let record =
            |parts: &ffi::Mlx5dvQp| [0, 1].map(|n| u32::from_be(unsafe { parts.dbrec.add(n).read_volatile() }));
        let (a, b) = (record(&theirs), record(&ours));
        ensure(a == b, || format!("doorbell records differ: libmlx5 {a:x?}, this crate {b:x?}"))
    }
}

/// Compares the first `count` WQEs of two rings, whose queue pairs have these numbers.
fn same_wqes(rings: [&[u8]; 2], numbers: [u32; 2], count: usize) -> Result<(), Failure> {
    let mut at = 0;
    for n in 0..count {
        let [theirs, ours] = rings.map(|ring| ring.get(at..).unwrap_or_default());
        let units = theirs.get(7).map_or(0, |ds| usize::from(ds & 0x3f));
        ensure(units > 0 && units * UNIT <= theirs.len().min(ours.len()), || format!("WQE {n} has {units} units"))?;
        let mut wqes = [theirs, ours].map(|wqe| wqe[..units * UNIT].to_vec());
        for (wqe, number) in wqes.iter_mut().zip(numbers) {
            ensure(wqe[4..7] == number.to_be_bytes()[1..], || format!("WQE {n} has another number than {number:#x}"))?;
            wqe[4..7].fill(0);
            if wqe[3] == FETCH_ADD {
                wqe[COMPARE..COMPARE + 8].fill(0);
            }
        }
        let [theirs, ours] = &wqes;
        if let Some(byte) = (0..theirs.len()).find(|&byte| theirs[byte] != ours[byte]) {
            let dump = |wqe: &[u8]| wqe.chunks(4).map(hex).collect::<Vec<_>>().join(" ");
            return Err(format!(
                "WQE {n} differs at byte {byte}. libmlx5: {}. This crate: {}",
                dump(theirs),
                dump(ours)
            )
            .into());
        }
        at += units.div_ceil(WQEBB / UNIT) * WQEBB;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of a program, as libmlx5 takes inline data.
fn inline(bytes: &[u8]) -> [Sge; 1] {
    [Sge { addr: bytes.as_ptr().expose_provenance() as u64, length: bytes.len() as u32, lkey: blueflame::Lkey(0) }]
}

const NONE: sys::ibv_send_flags = sys::ibv_send_flags(0);

fn rc(lab: &Lab) -> Result<Seen, Failure> {
    use sys::ibv_send_flags as flags;
    use sys::ibv_wr_opcode as op;
    let path = lab.path()?;
    let mut twins = Twins::<Rc>::new(lab, |pair| {
        // Each is connected to itself.
        let itself = pair.qp.endpoint_with(&path, Psn::truncate(0xff_fff0));
        pair.qp.to_init(&path)?;
        Ok(pair.sq.connect(&path, &itself, &itself)?)
    })?;
    let place = twins.ours.memory.remote().at(4096);
    let [a, b] = [twins.ours.memory.sge_of(0..100), twins.ours.memory.sge_of(200..1000)];
    let rdma = |wr: &mut sys::ibv_send_wr, at: Remote| {
        wr.wr.rdma = sys::rdma_t { remote_addr: at.addr, rkey: at.rkey.0 };
    };
    let imm = |wr: &mut sys::ibv_send_wr, value: u32| {
        wr.imm_data_invalidated_rkey_union = sys::imm_data_invalidated_rkey_union_t { imm_data: value.to_be() };
    };
    // Inline data of whole units, so that no bytes are left over.
    for len in [12, 28, 44, 60, 108] {
        let data = pattern(len as u32, len);
        twins.theirs.post(op::IBV_WR_RDMA_WRITE, flags::IBV_SEND_INLINE, &inline(&data), |wr| rdma(wr, place))?;
        twins.post(lab, &wqe::write(place).inline(&data[..]).signaled(WrId(1)))?;
    }
    twins.theirs.post(op::IBV_WR_RDMA_WRITE, NONE, &[a, b], |wr| rdma(wr, place))?;
    twins.post(lab, &wqe::write(place).gather([a, b]).signaled(WrId(2)))?;
    twins.theirs.post(op::IBV_WR_RDMA_READ, NONE, &[b], |wr| rdma(wr, place))?;
    twins.post(lab, &wqe::read(place).scatter([b]).signaled(WrId(3)))?;
    twins.theirs.post(op::IBV_WR_RDMA_WRITE, flags::IBV_SEND_FENCE, &[a], |wr| rdma(wr, place))?;
    twins.post(lab, &wqe::write(place).gather([a]).fence(Fence::SmallAndReads).signaled(WrId(4)))?;
    if lab.device().attr().atomics {
        let word = Sge { length: 8, ..a };
        let atomic = |wr: &mut sys::ibv_send_wr, compare_add, swap| {
            wr.wr.atomic = sys::atomic_t { remote_addr: place.addr, compare_add, swap, rkey: place.rkey.0 };
        };
        twins.theirs.post(op::IBV_WR_ATOMIC_CMP_AND_SWP, NONE, &[word], |wr| atomic(wr, 5, 0x0102_0304_0506_0708))?;
        let request = wqe::compare_swap(place, 5, 0x0102_0304_0506_0708).result(word.addr, word.lkey);
        twins.post(lab, &request.signaled(WrId(5)))?;
        twins.theirs.post(op::IBV_WR_ATOMIC_FETCH_AND_ADD, NONE, &[word], |wr| atomic(wr, 77, 0))?;
        twins.post(lab, &wqe::fetch_add(place, 77).result(word.addr, word.lkey).signaled(WrId(6)))?;
    }
    // Messages: receives by both, too.
    for n in 0..3 {
        twins.ours.receive(WrId(n), 8192..9000)?;
        let sge = twins.ours.memory.sge_of(8192..9000);
        let mut sge = sys::ibv_sge { addr: sge.addr, length: sge.length, lkey: sge.lkey.0 };
        let mut wr = sys::ibv_recv_wr { wr_id: n, next: core::ptr::null_mut(), sg_list: &raw mut sge, num_sge: 1 };
        let mut bad = core::ptr::null_mut();
        // SAFETY: the queue pair is alive, the request lives until the call returns, and the memory outlives both.
        let returned = unsafe { sys::ibv_post_recv(twins.theirs.qp.as_raw(), &raw mut wr, &raw mut bad) };
        ensure(returned == 0, || format!("ibv_post_recv: {returned}"))?;
    }
    twins.theirs.post(op::IBV_WR_SEND, flags::IBV_SEND_SOLICITED, &[a], |_| ())?;
    twins.post(lab, &wqe::send().gather([a]).solicited().signaled(WrId(7)))?;
    twins.theirs.post(op::IBV_WR_SEND_WITH_IMM, NONE, &[b], |wr| imm(wr, 0x1122_3344))?;
    twins.post(lab, &wqe::send().imm(0x1122_3344).gather([b]).signaled(WrId(8)))?;
    twins.theirs.post(op::IBV_WR_RDMA_WRITE_WITH_IMM, NONE, &[a], |wr| {
        rdma(wr, place);
        imm(wr, 0x5566_7788);
    })?;
    twins.post(lab, &wqe::write(place).imm(0x5566_7788).gather([a]).signaled(WrId(9)))?;
    twins.compare()?;
    Ok(Seen::new("WRITEs, a READ, atomics where there are any, messages: the same bytes")
        .figure("requests", twins.posted))
}

fn ud(lab: &Lab) -> Result<Seen, Failure> {
    use sys::ibv_send_flags as flags;
    use sys::ibv_wr_opcode as op;
    const QKEY: Qkey = Qkey(0x1234_5678);
    let path = lab.path()?;
    let mut twins = Twins::<Ud>::new(lab, |pair| Ok(pair.activate(&path, QKEY)?))?;
    // To a queue pair without receives.
    let mut nobody = End::<Ud>::new(lab)?;
    nobody.pair.activate(&path, QKEY)?;
    let handle = lab.pd().address(&path.route(&nobody.pair.qp.endpoint(&path))?)?;
    let number = nobody.pair.qp.qpn();
    let to = handle.queue_pair(number, QKEY);
    let address = |wr: &mut sys::ibv_send_wr| {
        wr.wr.ud = sys::ud_t { ah: handle.as_raw(), remote_qpn: number.get(), remote_qkey: QKEY.0 };
    };
    let sge = twins.ours.memory.sge_of(0..1000);
    for len in [12, 28, 60] {
        let data = pattern(len as u32, len);
        twins.theirs.post(op::IBV_WR_SEND, flags::IBV_SEND_INLINE, &inline(&data), address)?;
        twins.post(lab, &wqe::send().to(to).inline(&data[..]).signaled(WrId(1)))?;
    }
    twins.theirs.post(op::IBV_WR_SEND, NONE, &[sge], address)?;
    twins.post(lab, &wqe::send().to(to).gather([sge]).signaled(WrId(2)))?;
    twins.theirs.post(op::IBV_WR_SEND_WITH_IMM, NONE, &[sge], |wr| {
        address(wr);
        wr.imm_data_invalidated_rkey_union = sys::imm_data_invalidated_rkey_union_t { imm_data: 9_u32.to_be() };
    })?;
    twins.post(lab, &wqe::send().to(to).imm(9).gather([sge]).signaled(WrId(3)))?;
    twins.compare()?;
    Ok(Seen::new("datagrams inline and from memory: the same bytes").figure("requests", twins.posted))
}

/// Bytes of inline headers in the first WQE of a ring: the low 10 bits of `mlx5_wqe_eth_seg::inline_hdr_sz`.
fn inline_headers(ring: &[u8]) -> usize {
    const SIZE: usize = 16 + 12;
    ring.get(SIZE..SIZE + 2).map_or(0, |size| usize::from(u16::from_be_bytes([size[0], size[1]]) & 0x3ff))
}

fn frames(lab: &Lab) -> Result<Seen, Failure> {
    match lab.device().inline_layers() {
        // This inline mode takes frames with headers in the WQE and without.
        None | Some(InlineLayers::None) => {
            twin_frames::<InlineNone>(lab, |twins, inline, [whole, rest], headers| match inline {
                0 => twins.post(lab, &wqe::frame().gather([whole]).signaled(WrId(1))),
                _ => twins.post(lab, &wqe::frame().inline_headers(headers).gather([rest]).signaled(WrId(1))),
            })
        }
        Some(_) => twin_frames::<InlineL2>(lab, |twins, _, [_, rest], headers| {
            twins.post(lab, &wqe::frame().inline_headers(headers).gather([rest]).signaled(WrId(1)))
        }),
    }
}

/// `post` posts a frame: as a whole from memory, or the headers inline and the rest from memory, if libmlx5 has put so
/// many bytes inline.
fn twin_frames<M: InlineMode>(
    lab: &Lab,
    post: impl Fn(&mut Twins<RawPacket<M>>, usize, [Sge; 2], &[u8; 18]) -> Result<(), Failure>,
) -> Result<Seen, Failure> {
    use sys::ibv_wr_opcode as op;
    let own = Frames::new(lab)?;
    let mut twins = Twins::<RawPacket<M>>::new(lab, |pair| Ok(pair.activate(&lab.subject.port)?))?;
    let mut headers = None;
    for len in [60, 200, 1514] {
        let bytes = own.frame(len as u32, len);
        twins.ours.memory.write(0, &bytes);
        let (first, _) = bytes.split_first_chunk::<18>().ok_or("too short a frame")?;
        let (whole, rest) = (twins.ours.memory.sge_of(0..len), twins.ours.memory.sge_of(18..len));
        twins.theirs.post(op::IBV_WR_SEND, NONE, &[whole], |_| ())?;
        // The kernel has told libmlx5 how many bytes the device needs.
        let inline = match headers {
            Some(inline) => inline,
            None => *headers.insert(inline_headers(&ring(&parts(&twins.theirs.qp)?.sq))),
        };
        ensure(inline == 0 || inline == 18, || format!("libmlx5 puts headers of {inline} bytes into WQEs of frames"))?;
        post(&mut twins, inline, [whole, rest], first)?;
    }
    twins.compare()?;
    let seen = Seen::new("frames of 60, 200 and 1514 bytes: the same bytes").figure("requests", twins.posted);
    Ok(seen.figure("bytes of headers inline", headers.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of two WQEs of a queue pair: one of two units, one of five.
    fn two(number: u32) -> Vec<u8> {
        let mut ring = vec![FILL; 4 * WQEBB];
        for (at, units, opcode) in [(0, 2, 8), (WQEBB, 5, FETCH_ADD)] {
            ring[at..at + units * UNIT].fill(at as u8);
            ring[at + 3] = opcode;
            ring[at + 4..at + 8].copy_from_slice(&(number << 8 | units as u32).to_be_bytes());
        }
        ring
    }

    #[test]
    fn each_byte_of_a_wqe_is_compared() {
        let numbers = [0x12_3456, 0x65_4321];
        let theirs = two(numbers[0]);
        let differs = |at: usize| {
            let mut ours = two(numbers[1]);
            ours[at] ^= 1;
            same_wqes([&theirs, &ours], numbers, 2).is_err()
        };
        assert!(same_wqes([&theirs, &two(numbers[1])], numbers, 2).is_ok());
        // Whole WQEs, except the word that libmlx5 leaves. Bytes behind them do not count.
        let compare = WQEBB + COMPARE;
        for at in 0..4 * WQEBB {
            let is_wqe = at < 2 * UNIT || (WQEBB..WQEBB + 5 * UNIT).contains(&at);
            assert_eq!(differs(at), is_wqe && !(compare..compare + 8).contains(&at), "byte {at}");
        }
        // The number of another queue pair, and a WQE that is not there.
        assert!(same_wqes([&theirs, &theirs], numbers, 2).is_err());
        assert!(same_wqes([&[], &[]], numbers, 1).is_err());
    }
}
