//! The floor of polling; see [`floor`](super::floor).
use std::ptr::NonNull;

use blueflame::arch;

use super::rig::{ENTRY_BYTES, Rig};

/// A completion queue without a queue.
pub(crate) struct FloorCq {
    ring: NonNull<u8>,
    record: NonNull<u32>,
    /// Bytes of the ring.
    bytes: u32,
    /// The consumer index in bytes: the bit above the ring's offsets is the owner bit's sense.
    position: u32,
}

/// The fields that are read from a completion.
#[derive(Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) counter: u16,
    pub(crate) qpn: u32,
    pub(crate) bytes: u32,
}

/// The unit in which a CQE is copied.
#[cfg(target_arch = "x86_64")]
type Wide = std::arch::x86_64::__m128i;
#[cfg(target_arch = "aarch64")]
type Wide = std::arch::aarch64::uint64x2_t;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Wide = u64;

impl FloorCq {
    pub(crate) fn new(rig: &Rig) -> Self {
        let parts = rig.cq_parts();
        Self { ring: parts.buf, record: parts.dbrec, bytes: parts.cqe_cnt * ENTRY_BYTES as u32, position: 0 }
    }

    /// The CQE at the consumer index, if software owns it and its request succeeded.
    #[inline(always)]
    pub(crate) fn cqe(&mut self) -> Option<NonNull<u8>> {
        // SAFETY: inside of the ring.
        let cqe = unsafe { self.ring.add((self.position & (self.bytes - 1)) as usize) };
        // SAFETY: the last byte of the CQE.
        let op_own = unsafe { cqe.add(63).read_volatile() };
        // Success of a request is opcode 0. One comparison checks it, and also that the CQE belongs to this pass over
        // the ring.
        if op_own & 0xf1 != u8::from(self.position & self.bytes != 0) {
            return None;
        }
        arch::from_device();
        self.position = self.position.wrapping_add(ENTRY_BYTES as u32);
        Some(cqe)
    }

    /// Reads the fields, by a load each.
    #[inline(always)]
    pub(crate) fn fields(cqe: NonNull<u8>) -> Fields {
        // SAFETY: aligned fields of a CQE in the ring.
        let (counter, qpn, bytes) = unsafe {
            (
                cqe.add(60).cast::<u16>().read_volatile(),
                cqe.add(56).cast::<u32>().read_volatile(),
                cqe.add(44).cast::<u32>().read_volatile(),
            )
        };
        Fields { counter: u16::from_be(counter), qpn: u32::from_be(qpn) & 0x00ff_ffff, bytes: u32::from_be(bytes) }
    }

    /// Reads the fields from a copy of all 64 bytes.
    #[inline(always)]
    pub(crate) fn copied(cqe: NonNull<u8>) -> Fields {
        const PARTS: usize = ENTRY_BYTES / size_of::<Wide>();
        // SAFETY: the CQE is 64 bytes, aligned to as many.
        let parts: [Wide; PARTS] = std::array::from_fn(|i| unsafe { cqe.cast::<Wide>().add(i).read_volatile() });
        // SAFETY: as many bytes, and any are words.
        let words = unsafe { std::mem::transmute::<[Wide; PARTS], [u32; 16]>(parts) };
        Fields {
            counter: (u32::from_be(words[15]) >> 16) as u16,
            qpn: u32::from_be(words[14]) & 0x00ff_ffff,
            bytes: u32::from_be(words[11]),
        }
    }

    /// Stores the consumer index.
    #[inline(always)]
    pub(crate) fn record(&self) {
        // SAFETY: the record's word, which stays.
        unsafe { self.record.write_volatile(((self.position / ENTRY_BYTES as u32) & 0x00ff_ffff).to_be()) };
    }

    /// Takes `count` completions, up to `N` per store of the consumer index; returns the sum of their indices.
    #[inline(always)]
    pub(crate) fn poll<const N: usize>(&mut self, count: usize, read: impl Fn(NonNull<u8>) -> Fields) -> u64 {
        let mut read_sum = Sum::default();
        for _ in 0..count / N {
            let before = self.position;
            for _ in 0..N {
                let Some(cqe) = self.cqe() else { break };
                read_sum.add(read(cqe));
            }
            if self.position != before {
                self.record();
            }
        }
        read_sum.finish()
    }
}

/// Sums of the fields, so that the compiler cannot omit the loads.
#[derive(Default)]
pub(crate) struct Sum {
    counters: u64,
    others: u64,
}

impl Sum {
    #[inline(always)]
    pub(crate) fn add(&mut self, read: Fields) {
        self.counters += u64::from(read.counter);
        self.others += u64::from(read.qpn) + u64::from(read.bytes);
    }

    /// The sum of the indices.
    pub(crate) fn finish(self) -> u64 {
        std::hint::black_box(self.others);
        self.counters
    }
}
