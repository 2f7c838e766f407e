//! Floors: the loads and stores that the device asks for, and nothing else.
//!
//! A floor is what remains when everything that makes a queue safe to use is taken away: it does not look for space, keeps
//! no tag, knows one kind of request and checks nothing. It does the same as the case beside it, in the same order, by
//! stores and loads of the same width, with the same barriers, on memory of the same layout; the harness compares the
//! bytes. Its state is in a structure that is reached by a reference the compiler knows nothing
//! about, as a queue's is. So `case / floor` is what
//! the crate's safety and generality cost.
//!
//! Layouts are written out here a second time. Barriers are the crate's: they are single instructions per architecture.
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use blueflame::arch;

use super::Message;
use super::rig::{CqRig, ENTRIES, ENTRY_BYTES, QPN, SendRig};

/// Words of a WQEBB.
const WQEBB_WORDS: usize = 8;
/// Words of a WRITE of 8 bytes inline, or of one entry: control, remote address and data, 16 bytes each.
const WQE_WORDS: usize = 6;
/// 16-byte units of the same.
const WQE_DS: u32 = 3;
const RDMA_WRITE: u32 = 0x08;
/// Always a CQE (`MLX5_WQE_CTRL_CQ_UPDATE`): the last byte of the control segment's third word.
const SIGNALED: u32 = 0x08;
const INLINE: u32 = 0x8000_0000;

/// Two 32-bit words as one of 64, in memory order.
#[inline(always)]
fn join(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// A send queue without a queue.
pub(crate) struct FloorSq {
    ring: NonNull<u64>,
    record: NonNull<u32>,
    half: NonNull<u64>,
    half_bytes: usize,
    /// Second word of the control segment.
    qpn_ds: u32,
    /// Index, of which 16 bits count. A wider field, since rustc loads a `u16` with its padding: 32 bits just after a store
    /// of 16, which the CPU cannot forward.
    pi: u32,
}

impl FloorSq {
    pub(crate) fn new(rig: &SendRig) -> Self {
        Self {
            ring: rig.ring,
            // SAFETY: the record has two words; the second is the send queue's.
            record: unsafe { rig.dbrec.add(1) },
            half: rig.register(),
            half_bytes: rig.half_bytes as usize,
            qpn_ds: (QPN << 8 | WQE_DS).to_be(),
            pi: 0,
        }
    }

    #[inline(always)]
    fn first_word(&self) -> u64 {
        join(((self.pi & 0xffff) << 8 | RDMA_WRITE).to_be(), self.qpn_ds)
    }

    /// A signalled WRITE of 8 bytes inline.
    #[inline(always)]
    pub(crate) fn inline(&self, m: &Message) -> [u64; WQE_WORDS] {
        let [a, b, c, d, e, f, g, h] = m.payload;
        let [first, second] = [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])];
        [
            self.first_word(),
            join(SIGNALED.to_be(), 0),
            m.addr.to_be(),
            join(m.rkey.to_be(), 0),
            join((INLINE | 8).to_be(), first),
            join(second, 0),
        ]
    }

    /// The same, of which all but index and payload was composed before.
    #[inline(always)]
    pub(crate) fn patched(&self, prepared: &[u64; WQE_WORDS], m: &Message) -> [u64; WQE_WORDS] {
        let [first, flags, addr, key, ..] = *prepared;
        let [a, b, c, d, e, f, g, h] = m.payload;
        let inline = join((INLINE | 8).to_be(), u32::from_ne_bytes([a, b, c, d]));
        let index = join(((self.pi & 0xffff) << 8).to_be(), 0);
        [first | index, flags, addr, key, inline, join(u32::from_ne_bytes([e, f, g, h]), 0)]
    }

    /// A signalled WRITE of one scatter/gather entry.
    #[inline(always)]
    pub(crate) fn gathered(&self, m: &Message) -> [u64; WQE_WORDS] {
        [
            self.first_word(),
            join(SIGNALED.to_be(), 0),
            m.addr.to_be(),
            join(m.rkey.to_be(), 0),
            join(m.bytes.to_be(), m.lkey.to_be()),
            m.local.to_be(),
        ]
    }

    /// Stores a WQE to the ring.
    #[inline(always)]
    pub(crate) fn put(&mut self, wqe: &[u64; WQE_WORDS]) {
        let slot = self.pi as usize % ENTRIES;
        for (i, &word) in wqe.iter().enumerate() {
            // SAFETY: the slot is inside of the ring and `i` inside of its eight words.
            unsafe { self.ring.add(slot * WQEBB_WORDS + i).write(word) };
        }
        self.advance();
    }

    /// Counts a WQE without storing one.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.pi = self.pi.wrapping_add(1);
    }

    /// Makes the WQEs visible and stores the record.
    #[inline(always)]
    pub(crate) fn record(&self) {
        arch::to_device();
        // SAFETY: the record's word, which stays.
        unsafe { self.record.write_volatile((self.pi & 0xffff).to_be()) };
    }

    /// Rings by 8 bytes.
    #[inline(always)]
    pub(crate) fn eight<const FLUSH: bool>(&mut self, first_word: u64) {
        self.register::<FLUSH>(|half| {
            // SAFETY: the register has eight bytes at least.
            unsafe { half.write_volatile(first_word) }
        });
    }

    /// Rings by BlueFlame, out of registers.
    #[inline(always)]
    pub(crate) fn copy<const FLUSH: bool>(&mut self, wqe: &[u64; WQE_WORDS]) {
        let [a, b, c, d, e, f] = *wqe;
        self.copy_words::<FLUSH>(&[a, b, c, d, e, f, 0, 0]);
    }

    /// Rings by 64 bytes.
    #[inline(always)]
    pub(crate) fn copy_words<const FLUSH: bool>(&mut self, words: &[u64; WQEBB_WORDS]) {
        self.register::<FLUSH>(|half| store_line(half, 0, words));
    }

    /// Rings by `wqebbs` WQEBBs read from the ring's start.
    #[inline(always)]
    pub(crate) fn copy_ring<const FLUSH: bool>(&mut self, wqebbs: usize) {
        let ring = self.ring;
        self.register::<FLUSH>(|half| {
            for line in 0..wqebbs {
                // SAFETY: the WQE is inside of the ring.
                let words = std::array::from_fn(|i| unsafe { ring.add(line * WQEBB_WORDS + i).read() });
                store_line(half, line, &words);
            }
        });
    }

    #[inline(always)]
    fn register<const FLUSH: bool>(&mut self, store: impl FnOnce(NonNull<u64>)) {
        arch::mmio_wc_start();
        store(self.half);
        if FLUSH {
            arch::mmio_flush_writes();
        }
        // SAFETY: the register is aligned to both its halves, so the address moves between them and is not zero.
        self.half = unsafe { NonNull::new_unchecked(self.half.as_ptr().map_addr(|address| address ^ self.half_bytes)) };
    }
}

#[inline(always)]
fn store_line(half: NonNull<u64>, line: usize, words: &[u64; WQEBB_WORDS]) {
    for (i, &word) in words.iter().enumerate() {
        // SAFETY: a half has four lines of eight words, and the callers store no more.
        unsafe { half.add(line * WQEBB_WORDS + i).write_volatile(word) };
    }
}

/// A lock that nobody else wants: one atomic operation to take it, one store to give it back.
#[inline(always)]
pub(crate) fn locked(lock: &AtomicBool, f: impl FnOnce()) {
    while lock.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {}
    f();
    lock.store(false, Ordering::Release);
}

/// A completion queue without a queue.
pub(crate) struct FloorCq {
    ring: NonNull<u8>,
    record: NonNull<u32>,
    ci: u32,
}

/// What is read of a completion, added up.
#[inline(always)]
pub(crate) fn sum(counter: u16, qpn: u32, bytes: u32) -> u64 {
    u64::from(counter) + u64::from(qpn) + u64::from(bytes)
}

/// What a CQE is copied by.
#[cfg(target_arch = "x86_64")]
type Wide = std::arch::x86_64::__m128i;
#[cfg(target_arch = "aarch64")]
type Wide = std::arch::aarch64::uint64x2_t;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Wide = u64;

impl FloorCq {
    pub(crate) fn new(rig: &CqRig) -> Self {
        Self { ring: rig.ring, record: rig.dbrec, ci: 0 }
    }

    /// The CQE at the consumer index, if it is ours.
    #[inline(always)]
    pub(crate) fn cqe(&mut self) -> Option<NonNull<u8>> {
        // SAFETY: inside of the ring.
        let cqe = unsafe { self.ring.add(self.ci as usize % ENTRIES * ENTRY_BYTES) };
        // SAFETY: the last byte of the CQE.
        let op_own = unsafe { cqe.add(63).read_volatile() };
        let owner = (self.ci & ENTRIES as u32 != 0) as u8;
        if op_own & 1 != owner || op_own >> 4 == 0xf {
            return None;
        }
        arch::from_device();
        self.ci = self.ci.wrapping_add(1);
        (op_own >> 4 == 0).then_some(cqe)
    }

    /// What is looked at, by a load each.
    #[inline(always)]
    pub(crate) fn fields(cqe: NonNull<u8>) -> u64 {
        // SAFETY: aligned fields of a CQE in the ring.
        let (counter, qpn, bytes) = unsafe {
            (
                cqe.add(60).cast::<u16>().read_volatile(),
                cqe.add(56).cast::<u32>().read_volatile(),
                cqe.add(44).cast::<u32>().read_volatile(),
            )
        };
        sum(u16::from_be(counter), u32::from_be(qpn) & 0x00ff_ffff, u32::from_be(bytes))
    }

    /// What is looked at, out of a copy of all 64 bytes.
    #[inline(always)]
    pub(crate) fn copied(cqe: NonNull<u8>) -> u64 {
        const PARTS: usize = ENTRY_BYTES / size_of::<Wide>();
        // SAFETY: the CQE is 64 bytes, aligned to as many.
        let parts: [Wide; PARTS] = std::array::from_fn(|i| unsafe { cqe.cast::<Wide>().add(i).read_volatile() });
        // SAFETY: as many bytes, and any are words.
        let words = unsafe { std::mem::transmute::<[Wide; PARTS], [u32; 16]>(parts) };
        let counter = (u32::from_be(words[15]) >> 16) as u16;
        sum(counter, u32::from_be(words[14]) & 0x00ff_ffff, u32::from_be(words[11]))
    }

    /// Stores the consumer index.
    #[inline(always)]
    pub(crate) fn record(&self) {
        // SAFETY: the record's word, which stays.
        unsafe { self.record.write_volatile((self.ci & 0x00ff_ffff).to_be()) };
    }
}
