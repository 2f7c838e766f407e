//! Floors by hand of two cases that miss their goals: frames sent by pointer in one WQE, and frames received by
//! compressed completions of a striding queue. Each is counted twice: with the duties of a safe queue, and without.
//!
//! The sender checks the room in the ring, the length of the WQE, and the length of each frame. It keeps a record of
//! the request for the completion. The receiver checks that the title is a success in the open buffer, and that its
//! count is possible. It checks for each frame that its strides are the next ones, and have room for its bytes.
//!
//! These floors know one shape each. The sender gets all frames at once. The receiver takes sessions as a whole, of
//! frames of any length and any number of strides. Layouts are written out here a second time.
use std::ptr::NonNull;

use blueflame::Sge;
use blueflame::arch;
use blueflame::types::Lkey;

use crate::case::{Case, case};
use crate::hot::Completed;
use crate::memory::{ENTRIES, QPN, REGISTER, pages};
use crate::striding::{CQES, FRAME_BYTES, Form, LOG_BYTES, LOG_STRIDES, Rig, SESSION};
use functions as hot;

/// The places of frames in memory.
pub(crate) static PIECES: [Sge; 32] = [Sge { addr: 0x7000, length: 60, lkey: Lkey(0x1800) }; 32];

const WQEBB_BYTES: usize = 64;
const UNIT_WORDS: usize = 2;
/// The most units of a WQE, of which control and Ethernet segment take two.
const MOST_UNITS: usize = 63;
const HEAD_UNITS: usize = 2;
/// `MLX5_OPCODE_ENHANCED_MPSW`, and a CQE always.
const SESSION_OPCODE: u32 = 0x29;
const SIGNALED: u32 = 0x08;
/// Both checksums.
const CHECKSUMS: u32 = 0xc0 << 24;
const MOST_BYTES: u32 = 1 << 31;

/// Two 32-bit words as one of 64, in memory order.
#[inline(always)]
fn join(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// Stores the segment of a frame, if its length is possible or nobody asks.
///
/// # Safety
/// The place is one of the ring.
#[inline(always)]
unsafe fn store<const DUTIES: bool>(place: NonNull<u64>, frame: &Sge) -> bool {
    if DUTIES && frame.length.wrapping_sub(1) >= MOST_BYTES {
        return false;
    }
    // One word, so that both are swapped together: of a CPU that is little-endian.
    let both = u64::from(frame.length) | u64::from(frame.lkey.0) << 32;
    // SAFETY: the caller promises a place of the ring. Volatile, so that the loop is not made one of vectors, which
    // takes more instructions.
    unsafe {
        place.write_volatile(both.swap_bytes().rotate_left(32));
        place.add(1).write_volatile(frame.addr.to_be());
    }
    true
}

/// A send queue by hand.
pub(crate) struct Sends {
    ring: NonNull<u64>,
    record: NonNull<u32>,
    half: NonNull<u64>,
    /// Second word of a control segment, without the size.
    qpn: u32,
    pi: u32,
    /// WQEBBs that have completed.
    completed: u32,
    /// The record of each request: its identifier, WQEBBs and frames.
    shadow: NonNull<[u64; 2]>,
}

impl Sends {
    fn new() -> Self {
        Self {
            ring: pages(ENTRIES * WQEBB_BYTES).cast(),
            record: pages(ENTRIES).cast(),
            // SAFETY: inside of the page.
            half: unsafe { pages(REGISTER.0 + 2 * REGISTER.1 as usize).add(REGISTER.0) }.cast(),
            qpn: (QPN << 8).to_be(),
            pi: 0,
            completed: 0,
            shadow: pages(ENTRIES * size_of::<[u64; 2]>()).cast(),
        }
    }

    /// The place of a unit of the WQE, around the ring's end.
    #[inline(always)]
    fn place(&self, n: usize) -> NonNull<u64> {
        let word = (self.pi as usize * WQEBB_BYTES / 8 + n * UNIT_WORDS) % (ENTRIES * WQEBB_BYTES / 8);
        // SAFETY: a word of the ring.
        unsafe { self.ring.add(word) }
    }

    /// One WQE of these frames, and its doorbell.
    #[inline(always)]
    fn session<const DUTIES: bool>(&mut self, frames: &[Sge], id: u64) -> bool {
        let units = HEAD_UNITS + frames.len();
        let wqebbs = units.div_ceil(4) as u32;
        let free = ENTRIES as u32 - self.pi.wrapping_sub(self.completed);
        if DUTIES && (frames.is_empty() || units > MOST_UNITS || wqebbs > free) {
            return false;
        }
        let start = self.place(0);
        if self.pi as usize % ENTRIES * 4 + units <= ENTRIES * 4 {
            // SAFETY: the WQE's units, which are not past the ring's end.
            let mut place = unsafe { start.add(HEAD_UNITS * UNIT_WORDS) };
            for frame in frames {
                // SAFETY: the WQE's units, which are not past the ring's end.
                unsafe {
                    if !store::<DUTIES>(place, frame) {
                        return false;
                    }
                    place = place.add(UNIT_WORDS);
                }
            }
        } else {
            for (n, frame) in frames.iter().enumerate() {
                // SAFETY: a unit of the ring.
                if !unsafe { store::<DUTIES>(self.place(HEAD_UNITS + n), frame) } {
                    return false;
                }
            }
        }
        let control = join(((self.pi & 0xffff) << 8 | SESSION_OPCODE).to_be(), self.qpn | (units as u32).to_be());
        for (n, word) in [control, join(SIGNALED.to_be(), 0), join(0, CHECKSUMS.to_be()), 0].into_iter().enumerate() {
            // SAFETY: words of a WQEBB.
            unsafe { start.add(n).write(word) };
        }
        if DUTIES {
            let size = (frames.len() as u64) << 16;
            for n in 0..wqebbs {
                // An index that names another WQEBB of the WQE than the first is the index of nothing.
                let words = [id, if n == 0 { size | u64::from(wqebbs) } else { 0 }];
                // SAFETY: one of as many as the ring has WQEBBs.
                unsafe { self.shadow.add(self.pi.wrapping_add(n) as usize % ENTRIES).write(words) };
            }
        }
        self.pi = self.pi.wrapping_add(wqebbs);
        arch::to_device();
        // SAFETY: the record's word, which stays.
        unsafe { self.record.write_volatile((self.pi & 0xffff).to_be()) };
        arch::mmio_wc_start();
        // SAFETY: a half of the register, and the other.
        unsafe {
            self.half.write_volatile(control);
            arch::mmio_flush_writes();
            self.half = NonNull::new_unchecked(self.half.as_ptr().map_addr(|at| at ^ REGISTER.1 as usize));
        }
        true
    }
}

/// A receive queue by hand, and its completions.
pub(crate) struct Receives {
    rig: Rig,
    /// Completions taken.
    taken: u32,
    /// WQEs before the open one, and its next stride.
    wqe: u32,
    next: u32,
    /// Frames of the open buffer that are kept: none here, but the count is the buffer's.
    kept: u32,
    done: Completed,
}

impl Receives {
    /// A queue whose ring is full of completions.
    fn new() -> Self {
        let mut rig = Rig::new(Form::Compressed);
        rig.fill();
        Self { rig, taken: 0, wqe: 0, next: 0, kept: 0, done: Completed::default() }
    }

    /// A byte of a CQE.
    #[inline(always)]
    fn at(&self, index: u32, offset: usize) -> NonNull<u8> {
        // SAFETY: a byte of a CQE of the ring.
        unsafe { self.rig.cqes.add(index as usize % CQES).cast::<u8>().add(offset) }
    }

    /// The frames of a session; how many.
    #[inline(always)]
    fn session<const DUTIES: bool>(&mut self) -> usize {
        let (begin, phase) = (self.taken, (self.taken as usize / CQES % 2) as u8);
        // SAFETY: fields of a CQE of the ring.
        let last = unsafe { self.at(begin, 63).read_volatile() };
        // Compressed, of a frame's receive.
        if last != 0x2c | phase {
            return 0;
        }
        arch::from_device();
        // SAFETY: fields of a CQE of the ring.
        let (count, tag, wqe) = unsafe {
            (
                u32::from_be(self.at(begin, 44).cast().read_volatile()),
                u32::from_be(self.at(begin, 56).cast().read_volatile()) & 0x00ff_ffff,
                u16::from_be(self.at(begin, 2).cast().read_volatile()),
            )
        };
        if DUTIES && (!(2..=CQES as u32).contains(&count) || u32::from(wqe) != self.wqe & 0xffff) {
            return 0;
        }
        let (mut next, mut sum, mut from) = (self.next, self.done.sum, 0);
        while from < count {
            let array = self.at(if from == 0 { begin + 1 } else { begin + from }, 0).cast::<u64>();
            for n in 0..(count - from).min(8) as usize {
                // SAFETY: a mini-CQE of an array of the session.
                let mini = u64::from_be(unsafe { array.add(n).read_volatile() });
                let (first, strides, bytes) = ((mini >> 32) as u16, (mini >> 16) as u16, mini as u16);
                if DUTIES {
                    let end = u32::from(first) + u32::from(strides);
                    // A filler has the highest bit, and so too many strides.
                    let room = u32::from(strides) << LOG_BYTES;
                    if u32::from(first) < next || end > 1 << LOG_STRIDES || u32::from(bytes).wrapping_sub(1) >= room {
                        return n;
                    }
                    next = end;
                }
                sum += u64::from(bytes) + u64::from(tag);
            }
            from += 8;
        }
        self.done.sum = sum;
        if DUTIES {
            self.next = next;
            if next == 1 << LOG_STRIDES {
                (self.wqe, self.next, self.kept) = (self.wqe + 1, 0, 0);
            }
        }
        for n in 1..count {
            // SAFETY: the last byte of a CQE of the ring, which an earlier pass may have left valid.
            unsafe { self.at(begin + n, 63).write_volatile(0xf0 | phase) };
        }
        self.taken = begin + count;
        // SAFETY: the record's word, which stays.
        unsafe { self.rig.record.write_volatile((self.taken & 0x00ff_ffff).to_be()) };
        count as usize
    }
}

/// The counted functions, behind a call and in the caller.
mod functions {
    macro_rules! both {
        ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty { $body:expr })*) => {
            pub(super) mod called {
                use super::super::*;
                $(
                    #[inline(never)]
                    pub(crate) fn $name($($argument: $type),*) -> $result { $body }
                )*
            }
            pub(super) mod inlined {
                use super::super::*;
                $(
                    #[inline(always)]
                    pub(crate) fn $name($($argument: $type),*) -> $result { $body }
                )*
            }
        };
    }
    both! {
        fn floor_session(sq: &mut Sends, frames: &[Sge], id: u64) -> bool { sq.session::<true>(frames, id) }
        fn bare_session(sq: &mut Sends, frames: &[Sge], id: u64) -> bool { sq.session::<false>(frames, id) }
        fn floor_receive(queue: &mut Receives) -> usize { queue.session::<true>() }
        fn bare_receive(queue: &mut Receives) -> usize { queue.session::<false>() }
    }
}

/// A queue whose first session is received, and counted as it should be.
fn received(receive: fn(&mut Receives) -> usize) -> Receives {
    let mut queue = Receives::new();
    assert_eq!(receive(&mut queue), SESSION);
    assert_eq!(queue.done.sum, SESSION as u64 * u64::from(FRAME_BYTES));
    queue
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case!("floor: frames pointer 32 session", 32 in 9, Sends::new, floor_session, |sq, n, post| {
            assert!(post(sq, std::hint::black_box(&PIECES), n));
        }),
        case!("bare floor: frames pointer 32 session", 32 in 9, Sends::new, bare_session, |sq, n, post| {
            assert!(post(sq, std::hint::black_box(&PIECES), n));
        }),
        case!(
            "floor: receive frames compressed",
            16,
            || received(functions::called::floor_receive),
            floor_receive,
            |queue, _n, receive| {
                receive(queue);
            }
        ),
        case!(
            "bare floor: receive frames compressed",
            16,
            || received(functions::called::bare_receive),
            bare_receive,
            |queue, _n, receive| {
                receive(queue);
            }
        ),
    ]
}
