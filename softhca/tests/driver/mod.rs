//! A minimal driver: it puts WQEs, written out byte by byte, into the raw parts of an embedded device, rings the
//! doorbell, and reads CQEs. It does not count free space: tests post less than the rings hold.

use softhca::embedded::{CqParts, QpParts, Ring, SrqParts};
use std::ptr::NonNull;

/// Stores `bytes` at byte `at` of device memory.
pub(crate) fn put(base: NonNull<u8>, at: usize, bytes: &[u8]) {
    // SAFETY: the tests stay inside of rings and pages that the device in scope owns, and step it only afterwards.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base.as_ptr().add(at), bytes.len()) };
}

/// Loads `N` bytes from byte `at` of device memory.
pub(crate) fn get<const N: usize>(base: NonNull<u8>, at: usize) -> [u8; N] {
    let mut out = [0; N];
    // SAFETY: as in `put`.
    unsafe { std::ptr::copy_nonoverlapping(base.as_ptr().add(at), out.as_mut_ptr(), N) };
    out
}

/// How a send queue's doorbell is rung.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doorbell {
    /// The first eight bytes of the last WQE.
    Eight,
    /// A copy of the last WQE.
    Copy,
}

/// A send queue's state.
pub(crate) struct Sender {
    pub(crate) parts: QpParts,
    pub(crate) pi: u16,
    half: usize,
}

impl Sender {
    pub(crate) fn new(parts: QpParts) -> Self {
        Self { parts, pi: 0, half: 0 }
    }

    /// Writes a WQE of `segments` after a control segment; gives its index and the expected copy.
    pub(crate) fn place(&mut self, opcode: u8, fm_ce_se: u8, imm: u32, segments: &[&[u8]]) -> (u16, Vec<u8>) {
        let index = self.pi;
        let mut wqe = vec![0, (index >> 8) as u8, index as u8, opcode];
        wqe.extend((self.parts.qpn << 8).to_be_bytes());
        wqe.extend([0, 0, 0, fm_ce_se]);
        wqe.extend(imm.to_be_bytes());
        wqe.extend(segments.concat());
        wqe.resize(wqe.len().next_multiple_of(16), 0);
        wqe[7] = (wqe.len() / 16) as u8;
        wqe.resize(wqe.len().next_multiple_of(64), 0);
        for (i, block) in wqe.chunks(64).enumerate() {
            let slot = (u32::from(index) + i as u32) & (self.parts.sq.wqe_cnt - 1);
            put(self.parts.sq.buf, slot as usize * 64, block);
        }
        self.pi = index.wrapping_add((wqe.len() / 64) as u16);
        (index, wqe)
    }

    /// Doorbell record, then register.
    pub(crate) fn ring(&mut self, wqe: &[u8], doorbell: Doorbell) {
        put(self.parts.dbrec.cast(), 4, &u32::from(self.pi).to_be_bytes());
        let len = if doorbell == Doorbell::Copy { wqe.len() } else { 8 };
        put(self.parts.bf_reg, self.half, &wqe[..len]);
        self.half ^= self.parts.bf_size as usize;
    }

    /// Places one WQE with a CQ update and rings with eight bytes; gives its index.
    pub(crate) fn post(&mut self, opcode: u8, imm: u32, segments: &[&[u8]]) -> u16 {
        let (index, wqe) = self.place(opcode, 0x08, imm, segments);
        self.ring(&wqe, Doorbell::Eight);
        index
    }
}

/// A receive queue's state.
pub(crate) struct Receiver {
    ring: Ring,
    dbrec: NonNull<u32>,
    counter: u16,
}

impl Receiver {
    pub(crate) fn new(parts: &QpParts) -> Self {
        Self { ring: parts.rq.expect("a receive ring"), dbrec: parts.dbrec, counter: 0 }
    }

    pub(crate) fn post(&mut self, segments: &[[u8; 16]]) {
        let at = (u32::from(self.counter) & (self.ring.wqe_cnt - 1)) * self.ring.stride;
        put_list(self.ring, at as usize, segments);
        self.counter = self.counter.wrapping_add(1);
        put(self.dbrec.cast(), 0, &u32::from(self.counter).to_be_bytes());
    }
}

/// Posts to an SRQ that nothing was posted to: WQE `counter` is the next, as they are linked at first.
pub(crate) fn post_srq(srq: &SrqParts, counter: u16, segments: &[[u8; 16]]) {
    put_list(srq.ring, usize::from(counter) * srq.ring.stride as usize + 16, segments);
    put(srq.dbrec.cast(), 0, &u32::from(counter + 1).to_be_bytes());
}

fn put_list(ring: Ring, at: usize, segments: &[[u8; 16]]) {
    put(ring.buf, at, &segments.concat());
    if segments.len() * 16 < ring.stride as usize - at % ring.stride as usize {
        put(ring.buf, at + segments.len() * 16, &data(0, 0x100, 0));
    }
}

/// A completion queue's state.
pub(crate) struct Poller {
    pub(crate) parts: CqParts,
    pub(crate) ci: u32,
}

impl Poller {
    pub(crate) fn new(parts: CqParts) -> Self {
        Self { parts, ci: 0 }
    }

    /// The next CQE's last 64 bytes, if the device has written it. Does not tell the device.
    pub(crate) fn poll(&mut self) -> Option<[u8; 64]> {
        let slot = self.ci & (self.parts.cqe_cnt - 1);
        let size = self.parts.cqe_size as usize;
        let cqe: [u8; 64] = get(self.parts.buf, slot as usize * size + size - 64);
        let owner = u8::from(self.ci & self.parts.cqe_cnt != 0);
        if cqe[63] >> 4 == 15 || cqe[63] & 1 != owner {
            return None;
        }
        self.ci = (self.ci + 1) & 0x00ff_ffff;
        Some(cqe)
    }

    /// Tells the device how far the queue was polled.
    pub(crate) fn publish(&self) {
        put(self.parts.dbrec.cast(), 0, &self.ci.to_be_bytes());
    }

    /// [`Self::poll`] and [`Self::publish`] of a CQE that must be there.
    pub(crate) fn expect(&mut self) -> [u8; 64] {
        let cqe = self.poll().expect("a completion");
        self.publish();
        cqe
    }

    /// Arms with `word` by record and register.
    pub(crate) fn arm(&self, word: u32) {
        put(self.parts.dbrec.cast(), 4, &word.to_be_bytes());
        put(self.parts.cq_uar, 0x20, &[word.to_be_bytes(), self.parts.cqn.to_be_bytes()].concat());
    }
}

/// A data segment.
pub(crate) fn data(len: u32, lkey: u32, addr: u64) -> [u8; 16] {
    let mut seg = [0; 16];
    seg[..4].copy_from_slice(&len.to_be_bytes());
    seg[4..8].copy_from_slice(&lkey.to_be_bytes());
    seg[8..].copy_from_slice(&addr.to_be_bytes());
    seg
}

/// A remote address segment.
pub(crate) fn raddr(addr: u64, rkey: u32) -> [u8; 16] {
    let mut seg = [0; 16];
    seg[..8].copy_from_slice(&addr.to_be_bytes());
    seg[8..12].copy_from_slice(&rkey.to_be_bytes());
    seg
}

/// An atomic segment.
pub(crate) fn atomic(swap_add: u64, compare: u64) -> [u8; 16] {
    let mut seg = [0; 16];
    seg[..8].copy_from_slice(&swap_add.to_be_bytes());
    seg[8..].copy_from_slice(&compare.to_be_bytes());
    seg
}

/// An inline segment, padded.
pub(crate) fn inline(bytes: &[u8]) -> Vec<u8> {
    let mut seg = (bytes.len() as u32 | 0x8000_0000).to_be_bytes().to_vec();
    seg.extend(bytes);
    seg.resize(seg.len().next_multiple_of(16), 0);
    seg
}

/// Opcode byte, QPN, WQE counter and last byte without the owner bit of a CQE.
pub(crate) fn summary(cqe: &[u8; 64]) -> (u8, u32, u16, u8) {
    let qpn = u32::from_be_bytes([0, cqe[57], cqe[58], cqe[59]]);
    (cqe[56], qpn, u16::from_be_bytes([cqe[60], cqe[61]]), cqe[63] & !1)
}
