//! Floors: the loads and stores that the device asks for, and nothing else.
//!
//! A floor is a queue without everything that makes it safe to use: it does not look for space, keeps no `wr_id`, knows
//! one kind of request and checks nothing. It makes the same stores as the case beside it, in the same order, with the
//! same barriers, on memory of the same layout; the harness compares the bytes. Like a queue's state, its state is in a
//! structure behind a reference that is opaque to the compiler. So `case / floor` shows the cost of the crate's safety
//! and generality.
//!
//! Floors store words by 8 or by 16 bytes: the faster of the two on a Zen 4, where each was compared in turns with the
//! other. By 16 bytes go prepared requests, which were composed before (0.81 of the time by 8), and a lone inline request
//! (0.91). All others go by 8 bytes. The time by 16 bytes is 1.08 for a lone request with an entry, whose words are all
//! different, and 1.21 for bursts, which are stored once. It is 1.06 for a lone request with an 8-byte doorbell (with
//! an entry 1.14), and 1.6 beside the lock of a shared register.
//!
//! Layouts are written out here a second time. Barriers and stores of 16 bytes are the crate's: they are single
//! instructions per architecture.
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use blueflame::arch::{self, Wide};

use super::Message;
use super::contest::{Player, Poll, Queues, Work};
use super::floor_cq::FloorCq;
use super::rig::{Rig, Shape, Threads};

/// Words of a WQEBB.
pub(super) const WQEBB_WORDS: usize = 8;
/// 16-byte units of a WQEBB.
const WQEBB_UNITS: usize = WQEBB_WORDS / 2;
/// 16-byte units of a WRITE of 8 bytes inline, or of one entry: control, remote address and data.
const WQE_UNITS: usize = 3;
const RDMA_WRITE: u32 = 0x08;
const SEND: u32 = 0x0a;
/// Always a CQE (`MLX5_WQE_CTRL_CQ_UPDATE`): the last byte of the control segment's third word.
pub(super) const SIGNALED: u32 = 0x08;
pub(super) const INLINE: u32 = 0x8000_0000;

/// Two 32-bit words as one of 64, in memory order.
#[inline(always)]
pub(super) fn join(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// 8 bytes inline, behind their length.
#[inline(always)]
fn payload(m: &Message) -> Wide {
    Wide::new([u64::from_ne_bytes(m.payload), 0]).four_bytes_up()
}

/// The message's payload, behind the message's length.
#[inline(always)]
fn inline_payload(m: &Message) -> Wide {
    let [a, b, c, d, e, f, g, h] = m.payload;
    let [first, second] = [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])];
    Wide::new([join((INLINE | 8).to_be(), first), join(second, 0)])
}

/// The words of the address of a queue pair or target on the port with this LID (`struct mlx5_wqe_av`): of a target
/// with its key, of another with its Q_Key.
pub(crate) fn address<const V: usize>(key: u64, number: u32, lid: u16) -> [[u64; 2]; V] {
    let extended = if V == 1 { 0 } else { 1 << 31 };
    let mut words = [[0; 2]; V];
    words[0] = [key.to_be(), join((extended | number).to_be(), u32::from(lid).to_be())];
    words
}

/// A WQE as words in memory order.
pub(crate) type Wqe = [[u64; 2]; WQE_UNITS];
/// A WQE as 16-byte units.
pub(crate) type WideWqe = [Wide; WQE_UNITS];

/// A send queue without a queue, for WQEs of 3 units.
pub(crate) struct FloorSq {
    pub(super) ring: NonNull<u64>,
    record: NonNull<u32>,
    half: NonNull<u64>,
    half_bytes: usize,
    /// Second word of the control segment.
    pub(super) qpn_ds: u32,
    /// WQEBBs of the ring, less one.
    pub(super) mask: u32,
    /// Index, of which 16 bits count. A wider field, since rustc loads a `u16` with its padding: 32 bits just after a
    /// store of 16, which the CPU cannot forward.
    pub(super) pi: u32,
}

impl FloorSq {
    pub(crate) fn new(rig: &Rig) -> Self {
        const DS: u32 = WQE_UNITS as u32;
        let register = rig.register();
        Self {
            ring: rig.send_ring(),
            // SAFETY: the record has two words; the second is the send queue's.
            record: unsafe { rig.record().add(1) },
            half: register.reg.cast(),
            half_bytes: register.size as usize,
            qpn_ds: (rig.number() << 8 | DS).to_be(),
            mask: rig.shape.entries as u32 - 1,
            pi: 0,
        }
    }

    #[inline(always)]
    fn first_word(&self) -> u64 {
        join(((self.pi & 0xffff) << 8 | RDMA_WRITE).to_be(), self.qpn_ds)
    }

    /// A WRITE of 8 bytes inline.
    #[inline(always)]
    pub(crate) fn inline(&self, m: &Message, signaled: bool) -> Wqe {
        let [a, b, c, d, e, f, g, h] = m.payload;
        let [first, second] = [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])];
        [
            [self.first_word(), join(if signaled { SIGNALED } else { 0 }.to_be(), 0)],
            [m.addr.to_be(), join(m.rkey.to_be(), 0)],
            [join((INLINE | 8).to_be(), first), join(second, 0)],
        ]
    }

    /// A signalled WRITE of one scatter/gather entry.
    #[inline(always)]
    pub(crate) fn gathered(&self, m: &Message) -> Wqe {
        [
            [self.first_word(), join(SIGNALED.to_be(), 0)],
            [m.addr.to_be(), join(m.rkey.to_be(), 0)],
            [join(m.bytes.to_be(), m.lkey.to_be()), m.local.to_be()],
        ]
    }

    /// An inline WRITE of which all but index and payload was composed before, with zeros in their places.
    #[inline(always)]
    pub(crate) fn patched(&self, prepared: &WideWqe, m: &Message) -> WideWqe {
        let [control, address, data] = *prepared;
        [control.or(self.index()), address, data.or(payload(m))]
    }

    /// A WRITE of one entry of which all but index and entry was composed before; the shot brings the entry.
    #[inline(always)]
    pub(crate) fn patched_entry(&self, prepared: &WideWqe, m: &Message) -> WideWqe {
        let [control, address, _] = *prepared;
        let entry = [join(m.bytes.to_be(), m.lkey.to_be()), m.local.to_be()];
        [control.or(self.index()), address, Wide::new(entry)]
    }

    /// A SEND of 8 bytes inline of which all but index and payload was composed before.
    #[inline(always)]
    pub(crate) fn patched_send(&self, prepared: &[Wide; 2], m: &Message) -> [Wide; 2] {
        let [control, data] = *prepared;
        [control.or(self.index()), data.or(payload(m))]
    }

    /// A SEND of 8 bytes inline to be patched.
    pub(crate) fn prepared_send(&self) -> [Wide; 2] {
        const DS: u32 = 2;
        let control = [join(SEND.to_be(), self.qpn_ds & !0xff_u32.to_be() | DS.to_be()), join(SIGNALED.to_be(), 0)];
        [control, [join((INLINE | 8).to_be(), 0), 0]].map(Wide::new)
    }

    /// A signalled WRITE of 8 bytes inline to a target, by the words of its address: `N` units, 3 more than the
    /// address.
    #[inline(always)]
    pub(crate) fn write_to<const V: usize, const N: usize>(&self, address: &[[u64; 2]; V], m: &Message) -> [Wide; N] {
        let data = [m.addr.to_be(), join(m.rkey.to_be(), 0)];
        let mut wqe = [Wide::new([0; 2]); N];
        wqe[0] = self.control(RDMA_WRITE, N);
        for (unit, words) in wqe[1..].iter_mut().zip(address) {
            *unit = Wide::new(*words);
        }
        wqe[V + 1] = Wide::new(data);
        wqe[V + 2] = inline_payload(m);
        wqe
    }

    /// A signalled SEND of 8 bytes inline to a queue pair: `N` units, 2 more than the address.
    #[inline(always)]
    pub(crate) fn send_to<const V: usize, const N: usize>(&self, address: &[[u64; 2]; V], m: &Message) -> [Wide; N] {
        let mut wqe = [Wide::new([0; 2]); N];
        wqe[0] = self.control(SEND, N);
        for (unit, words) in wqe[1..].iter_mut().zip(address) {
            *unit = Wide::new(*words);
        }
        wqe[V + 1] = inline_payload(m);
        wqe
    }

    #[inline(always)]
    fn control(&self, opcode: u32, units: usize) -> Wide {
        let qpn_ds = self.qpn_ds & !0xff_u32.to_be() | (units as u32).to_be();
        Wide::new([join(((self.pi & 0xffff) << 8 | opcode).to_be(), qpn_ds), join(SIGNALED.to_be(), 0)])
    }

    /// The index as the control segment has it.
    #[inline(always)]
    pub(crate) fn index(&self) -> Wide {
        Wide::new([join(((self.pi & 0xffff) << 8).to_be(), 0), 0])
    }

    /// Stores a WQE to the ring.
    #[inline(always)]
    pub(crate) fn put(&mut self, wqe: &Wqe) {
        let slot = self.slot();
        for (i, &word) in wqe.as_flattened().iter().enumerate() {
            // SAFETY: the slot is inside of the ring and `i` inside of its eight words.
            unsafe { self.ring.add(slot * WQEBB_WORDS + i).write(word) };
        }
        self.pi = self.pi.wrapping_add(1);
    }

    /// Stores a WQE to the ring, 16 bytes at a time.
    #[inline(always)]
    pub(crate) fn put_wide<const N: usize>(&mut self, wqe: &[Wide; N]) {
        let slot = self.slot();
        for (i, unit) in wqe.iter().enumerate() {
            // SAFETY: the slot is inside of the ring, and `i` inside of its four units or of the next slot's. That slot
            // directly follows in the ring: all WQEs are of one size, and the ring holds a power of two of them.
            unsafe { unit.store(self.ring.add(slot * WQEBB_WORDS + 2 * i)) };
        }
        self.pi = self.pi.wrapping_add(const { N.div_ceil(WQEBB_UNITS) as u32 });
    }

    /// Counts a WQE that is in the ring already.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.pi = self.pi.wrapping_add(1);
    }

    /// Counts `count` WQEs less, so that they can be counted when they are rung for.
    pub(crate) fn take_back(&mut self, count: usize) {
        self.pi = self.pi.wrapping_sub(count as u32);
    }

    /// Index of the next WQEBB.
    #[inline(always)]
    pub(crate) fn pi(&self) -> u16 {
        self.pi as u16
    }

    /// Makes the WQEs visible and stores the record.
    #[inline(always)]
    pub(crate) fn record(&self) {
        arch::to_device();
        // SAFETY: the record's word, which stays.
        unsafe { self.record.write_volatile((self.pi & 0xffff).to_be()) };
    }

    /// The place of the next request in a table of `wr_id`s beside the ring.
    #[inline(always)]
    pub(crate) fn slot(&self) -> usize {
        (self.pi & self.mask) as usize
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
    pub(crate) fn copy<const FLUSH: bool>(&mut self, wqe: &Wqe) {
        let [[a, b], [c, d], [e, f]] = *wqe;
        self.register::<FLUSH>(|half| {
            for (i, word) in [a, b, c, d, e, f, 0, 0].into_iter().enumerate() {
                // SAFETY: a half has more than eight words.
                unsafe { half.add(i).write_volatile(word) };
            }
        });
    }

    /// Rings by BlueFlame, out of registers, 16 bytes at a time.
    #[inline(always)]
    pub(crate) fn copy_wide<const FLUSH: bool, const N: usize>(&mut self, wqe: &[Wide; N]) {
        self.register::<FLUSH>(|half| {
            for first in (0..N).step_by(WQEBB_UNITS) {
                let unit = |i: usize| if first + i < N { wqe[first + i] } else { Wide::new([0; 2]) };
                // SAFETY: a half has more than 128 bytes, and is aligned to as many as it has.
                unsafe { arch::mmio_copy64_wide(half.as_ptr().add(2 * first), std::array::from_fn(unit)) };
            }
        });
    }

    /// Posts one request and rings by BlueFlame.
    #[inline(always)]
    pub(crate) fn post<const FLUSH: bool>(&mut self, wqe: &Wqe) {
        self.put(wqe);
        self.record();
        self.copy::<FLUSH>(wqe);
    }

    /// Posts one request and rings by 8 bytes.
    #[inline(always)]
    pub(crate) fn post_eight<const FLUSH: bool>(&mut self, wqe: &Wqe) {
        self.put(wqe);
        self.record();
        self.eight::<FLUSH>(wqe[0][0]);
    }

    /// Posts one request as a queue without a doorbell record does: its register has no second half.
    #[inline(always)]
    pub(crate) fn post_recordless<const FLUSH: bool>(&mut self, wqe: &Wqe) {
        self.put(wqe);
        arch::mmio_wc_start();
        // SAFETY: the register has eight bytes at least.
        unsafe { self.half.write_volatile(wqe[0][0]) };
        if FLUSH {
            arch::mmio_flush_writes();
        }
    }

    /// Posts one request and rings by BlueFlame, 16 bytes at a time.
    #[inline(always)]
    pub(crate) fn post_wide<const FLUSH: bool, const N: usize>(&mut self, wqe: &[Wide; N]) {
        self.put_wide(wqe);
        self.record();
        self.copy_wide::<FLUSH, N>(wqe);
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

/// A lock without contention: one atomic operation to take it, one store to release it.
#[inline(always)]
pub(crate) fn locked(lock: &AtomicBool, f: impl FnOnce()) {
    while lock.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {}
    f();
    lock.store(false, Ordering::Release);
}

/// The queues of a floor.
pub(crate) struct Floor {
    pub(crate) sq: FloorSq,
    pub(crate) cq: FloorCq,
    pub(crate) rig: Rig,
}

impl Floor {
    pub(crate) fn new(shape: Shape) -> Self {
        Self::over(Rig::new(shape, Threads::Domain))
    }

    pub(crate) fn over(rig: Rig) -> Self {
        Self { sq: FloorSq::new(&rig), cq: FloorCq::new(&rig), rig }
    }
}

impl Queues for Floor {
    fn rigs(&self) -> Vec<&Rig> {
        vec![&self.rig]
    }
}

/// A floor that posts message by message, and polls.
pub(crate) fn floor(
    shape: Shape,
    mut post: impl FnMut(&mut FloorSq, u64),
) -> Player<Floor, impl Work<Floor>, impl Poll<Floor>> {
    Player::new(
        Floor::new(shape),
        move |floor: &mut Floor, first, count| {
            for n in first..first + count as u64 {
                post(&mut floor.sq, n);
            }
        },
        |floor: &mut Floor, count| floor.cq.poll::<1>(count, FloorCq::fields),
    )
}
