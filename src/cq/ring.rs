//! The CQEs in memory and the next of them: the part of polling that has pointers and passes.
use crate::hint::cold_path;
use core::ptr::NonNull;

use super::layout::{CQE64_BYTES, EMPTY, SIGNATURE_OFFSET, TAIL_OFFSET, Tail};
use super::source::InQueue;
use crate::arch;
use crate::types::CqCi;

/// A CQE of a ring: the state that changes with each completion, small enough for a loop to keep in registers.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its fields: its only or its second 64 bytes.
    cqe: NonNull<u8>,
    /// Its index, less than 2^24.
    ci: u32,
}

impl Place {
    /// The CQE's index: at most [`CqCi::MAX`].
    #[inline(always)]
    pub(super) const fn ci(self) -> u32 {
        self.ci
    }

    /// Whether a pass over the ring begins with it.
    #[inline(always)]
    pub(super) fn is_first_of(self, ring: &Ring) -> bool {
        self.cqe == ring.first
    }
}

/// A ring of CQEs: the state that changes once a pass, or never.
///
/// The size of a CQE is a value and not a type: advancing adds it from a register, and the constant 64 would save no
/// instruction.
#[derive(Clone, Debug)]
pub struct Ring {
    /// The owner bit of a CQE that is software's, 0 or 1: the device flips the bit it writes on each pass over the ring
    /// (PRM "CQE ownership").
    phase: u32,
    /// How many CQEs there are.
    cqe_cnt: u32,
    /// Bytes in one CQE: 64 or 128.
    cqe_bytes: usize,
    /// The fields of the first CQE.
    first: NonNull<u8>,
    /// The fields of the last CQE.
    last: NonNull<u8>,
}

impl Ring {
    /// A ring, and the place in it of the CQE with index `ci`.
    ///
    /// # Safety
    ///
    /// `buf` is `cqe_cnt * cqe_bytes` readable and writable bytes for as long as the ring is used, aligned to
    /// `cqe_bytes`, which is 64 or 128; `cqe_cnt` is a power of two up to 2^23.
    pub(super) unsafe fn new(buf: NonNull<u8>, cqe_cnt: u32, cqe_bytes: usize, ci: CqCi) -> (Self, Place) {
        // SAFETY: the fields end where the CQE ends, and the first CQE is in the buffer.
        let first = unsafe { buf.add(cqe_bytes - CQE64_BYTES) };
        // SAFETY: the last CQE is in the buffer, too.
        let last = unsafe { first.add((cqe_cnt as usize - 1) * cqe_bytes) };
        let mut ring = Self { phase: 0, cqe_cnt, cqe_bytes, first, last };
        let next = ring.begin_at(ci);
        (ring, next)
    }

    /// Makes the pass of the CQE with index `ci` the current one, and returns the CQE's place.
    pub(super) fn begin_at(&mut self, ci: CqCi) -> Place {
        self.phase = self.phase_of(ci);
        self.place(ci)
    }

    /// The fields of the CQE behind `place`.
    #[inline(always)]
    pub(super) fn behind<'a>(&self, place: Place) -> InQueue<'a> {
        // SAFETY: the branch chooses a CQE of this ring.
        let cqe = if place.cqe == self.last { self.first } else { unsafe { place.cqe.add(self.cqe_bytes) } };
        // SAFETY: as in `fields`; its caller reads a CQE that is software's.
        unsafe { InQueue::new(cqe, false) }
    }

    /// The fields of the CQE `count` places behind `place`: fewer than the ring has.
    #[inline(always)]
    pub(super) fn ahead<'a>(&self, place: Place, count: u32) -> InQueue<'a> {
        let (bytes, left) = (count as usize * self.cqe_bytes, self.last.addr().get() - place.cqe.addr().get());
        // SAFETY: so far from this CQE, or from the first one, there is a CQE of this ring.
        let cqe = unsafe {
            if bytes <= left {
                place.cqe.add(bytes)
            } else {
                cold_path();
                self.first.add(bytes - left - self.cqe_bytes)
            }
        };
        // SAFETY: as in `fields`; its caller reads a CQE that is software's.
        unsafe { InQueue::new(cqe, false) }
    }

    /// The place of the CQE with index `ci`, in any pass.
    pub(super) fn place(&self, ci: CqCi) -> Place {
        let ci = ci.get();
        // SAFETY: the masked index is less than the number of CQEs.
        let cqe = unsafe { self.first.add((ci & (self.cqe_cnt - 1)) as usize * self.cqe_bytes) };
        Place { cqe, ci }
    }

    /// The owner bit, 0 or 1, of a CQE that is software's in the pass of index `ci`.
    const fn phase_of(&self, ci: CqCi) -> u32 {
        (ci.get() & self.cqe_cnt != 0) as u32
    }

    /// The last four bytes of the CQE with index `ci`, with either owner.
    pub(super) fn tail_at(&self, ci: CqCi) -> Tail {
        // SAFETY: a place of this ring.
        let loaded = unsafe { self.load_tail(self.place(ci)) };
        Tail::new(loaded, self.phase_of(ci))
    }

    /// Copies the CQE with index `from` to that with index `to` of `target`, as the device would have written it in the
    /// pass of `to`.
    ///
    /// # Safety
    ///
    /// Both are software's, and the CQE at `to` is not lent. CQEs of both rings have one size.
    pub(super) unsafe fn copy_cqe(&self, from: CqCi, target: &Self, to: CqCi) {
        let before = self.cqe_bytes - CQE64_BYTES;
        // SAFETY: the CQEs begin there: with 128-byte CQEs the first half precedes the fields.
        let [start, end] =
            [self.place(from), target.place(to)].map(|place| unsafe { place.cqe.sub(before).cast::<u64>() });
        for word in 0..self.cqe_bytes / size_of::<u64>() {
            // SAFETY: within the two CQEs, aligned as the buffer is; volatile: it is the device's memory.
            unsafe { end.add(word).write_volatile(start.add(word).read_volatile()) };
        }
        // SAFETY: the last byte of the CQE's fields.
        let op_own = unsafe { target.place(to).cqe.add(CQE64_BYTES - 1) };
        // SAFETY: the last byte of the CQE at `to`. The caller promises that it is software's, and not lent.
        unsafe { op_own.write_volatile(op_own.read_volatile() & !1 | target.phase_of(to) as u8) };
    }

    /// How many CQEs there are.
    #[inline(always)]
    pub(super) const fn cqe_cnt(&self) -> u32 {
        self.cqe_cnt
    }

    /// Bytes in one CQE.
    pub(super) const fn cqe_bytes(&self) -> usize {
        self.cqe_bytes
    }

    /// The ring's address, which tells queues apart.
    pub(super) fn addr(&self) -> usize {
        self.first.addr().get()
    }

    /// The last four bytes of a CQE, if it is software's.
    ///
    /// # Safety
    ///
    /// `place` is in this ring.
    #[inline(always)]
    pub(super) unsafe fn tail(&self, place: Place) -> Option<Tail> {
        // SAFETY: the caller promises that `place` is in this ring.
        let tail = unsafe { self.any_tail(place) };
        tail.is_software_owned().then_some(tail)
    }

    /// The last four bytes of a CQE, with either owner.
    ///
    /// # Safety
    ///
    /// `place` is in this ring.
    #[inline(always)]
    pub(super) unsafe fn any_tail(&self, place: Place) -> Tail {
        // SAFETY: the caller promises that `place` is in this ring.
        Tail::new(unsafe { self.load_tail(place) }, self.phase)
    }

    /// # Safety
    ///
    /// `place` is in this ring.
    #[inline(always)]
    unsafe fn load_tail(&self, place: Place) -> u32 {
        // SAFETY: `cqe` is 64 readable bytes, 64-byte aligned, and these are the last four; volatile: the device writes
        // them whenever it likes.
        unsafe { place.cqe.add(TAIL_OFFSET).cast::<u32>().read_volatile() }
    }

    /// The last four bytes of a CQE that the device has written in pass number `iteration` over the ring. For rings
    /// whose CQEs have the number of their pass (the enhanced layout of compressed CQEs).
    ///
    /// # Safety
    ///
    /// `place` is in this ring.
    #[inline(always)]
    pub(super) unsafe fn tail_of_pass(&self, place: Place, iteration: u8) -> Option<Tail> {
        // SAFETY: the caller promises that `place` is in this ring.
        Tail::of_pass(unsafe { self.load_tail(place) }, iteration)
    }

    /// Like [`tail_of_pass`](Self::tail_of_pass), for the place that comes `slot` places after the start of pass number
    /// `first`. The index gives only the low bits of `first`: as many as it has above the ring's size. The CQE gives
    /// the other bits.
    pub(super) fn tail_of_passes(&self, place: Place, (first, slot): (u32, u32)) -> Option<Tail> {
        let known = (CqCi::MAX / self.cqe_cnt) as u8;
        // SAFETY: a place of this ring.
        let written = unsafe { place.cqe.add(SIGNATURE_OFFSET).read_volatile() };
        let pass = (first + slot / self.cqe_cnt) as u8 & known | written & !known;
        // SAFETY: a place of this ring.
        unsafe { self.tail_of_pass(place, pass) }
    }

    /// Marks a CQE of this pass as one that holds no completion. The device may skip the CQE's place in any pass, and
    /// its old contents would then pass for a completion.
    ///
    /// # Safety
    ///
    /// `place` is in this ring, of its current pass; the CQE is software's, and not lent.
    #[inline(always)]
    pub(super) unsafe fn mark_empty(&self, place: Place, iteration: u8) {
        let bytes = [iteration, EMPTY | self.phase as u8];
        // SAFETY: two of the 64 bytes, and even; volatile: it is the device's memory.
        unsafe { place.cqe.add(SIGNATURE_OFFSET).cast::<u16>().write_volatile(u16::from_ne_bytes(bytes)) };
    }

    /// Marks `count` CQEs as [`mark_empty`](Self::mark_empty) does, and goes on behind them. `false`, with nothing
    /// done, if the ring's last CQE is among them.
    ///
    /// # Safety
    ///
    /// The conditions of [`mark_empty`](Self::mark_empty) and [`advance`](Self::advance), for each of them.
    #[inline(always)]
    pub(super) unsafe fn give_back_marked(&self, place: &mut Place, count: u32, iteration: u8) -> bool {
        const AT_ONCE: u32 = 8;
        // In registers: the marks could be stores to the queue itself, as far as the compiler knows.
        let (mut cqe, size) = (place.cqe, self.cqe_bytes);
        if count as usize * size > self.last.addr().get() - cqe.addr().get() {
            return false;
        }
        let mark = u16::from_ne_bytes([iteration, EMPTY | self.phase as u8]);
        let mark_one = |cqe: NonNull<u8>| {
            // SAFETY: as in `mark_empty`; one of the CQEs.
            unsafe { cqe.add(SIGNATURE_OFFSET).cast::<u16>().write_volatile(mark) };
        };
        // SAFETY: so many CQEs, before the last one. So there is one behind each.
        unsafe {
            let end = cqe.add(count as usize * size);
            let blocks = cqe.add((count - count % AT_ONCE) as usize * size);
            while cqe != blocks {
                (0..AT_ONCE as usize).for_each(|n| mark_one(cqe.add(n * size)));
                cqe = cqe.add(AT_ONCE as usize * size);
            }
            while cqe != end {
                mark_one(cqe);
                cqe = cqe.add(size);
            }
        }
        place.cqe = cqe;
        place.ci += count;
        true
    }

    /// Writes the number of a CQE's pass over the ring.
    ///
    /// # Safety
    ///
    /// `place` is in this ring; the CQE is software's, and not lent.
    pub(super) unsafe fn number(&self, place: Place, iteration: u8) {
        // SAFETY: one of the 64 bytes; volatile: it is the device's memory.
        unsafe { place.cqe.add(SIGNATURE_OFFSET).write_volatile(iteration) };
    }

    /// Writes a CQE: its fields, its last four bytes, and its owner in this pass.
    ///
    /// # Safety
    ///
    /// `place` is in this ring, of its current pass; the CQE is software's, and not lent.
    pub(super) unsafe fn store(&self, place: Place, words: &[u32; 16], tail: Tail, iteration: u8) {
        for (n, &word) in words[..15].iter().enumerate() {
            // SAFETY: within the 64 bytes, aligned; volatile: it is the device's memory.
            unsafe { place.cqe.cast::<u32>().add(n).write_volatile(word) };
        }
        let [high, low] = tail.wqe_counter().to_be_bytes();
        let bytes = [high, low, iteration, tail.op_own().0 & !1 | self.phase as u8];
        // SAFETY: the last four of the 64 bytes.
        unsafe { place.cqe.cast::<u32>().add(15).write_volatile(u32::from_ne_bytes(bytes)) };
    }

    /// The fields of a CQE.
    ///
    /// # Safety
    ///
    /// `place` is in this ring. The CQE is software's for the lifetime that the caller chooses.
    #[inline(always)]
    pub(super) unsafe fn fields<'a>(&self, place: Place) -> InQueue<'a> {
        // SAFETY: `cqe` is the fields of a CQE in the buffer, 64-byte aligned as the buffer is; with 128-byte CQEs the
        // first half precedes it.
        unsafe { InQueue::new(place.cqe, self.cqe_bytes != CQE64_BYTES) }
    }

    /// Asks for the CQE `ahead` places after this one, as if the ring did not end.
    #[inline(always)]
    pub(super) fn prefetch(&self, place: Place, ahead: usize) {
        arch::prefetch_read(place.cqe.as_ptr().wrapping_add(self.cqe_bytes.wrapping_mul(ahead)));
    }

    /// Goes on to the next CQE; past the ring's end, where a new pass begins.
    ///
    /// # Safety
    ///
    /// `place` is the one in this ring that was never advanced over.
    #[inline(always)]
    pub(super) unsafe fn advance(&mut self, place: &mut Place) {
        place.ci += 1;
        if place.cqe == self.last {
            cold_path();
            place.cqe = self.first;
            // Indices wrap where a pass ends: both are powers of two.
            place.ci &= CqCi::MAX;
            self.phase ^= 1;
        } else {
            // SAFETY: there is a CQE after this one.
            place.cqe = unsafe { place.cqe.add(self.cqe_bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    /// CQEs of a ring that has memory on both sides. Each block of 64 bytes has its own number.
    #[test]
    fn cqes_are_found_across_the_end() {
        const CQES: usize = 8;
        #[repr(align(128))]
        struct Memory([[u32; 16]; 4 * 2 * CQES]);
        for blocks in [1, 2] {
            let cqe_bytes = blocks * CQE64_BYTES;
            let mut memory = Memory(core::array::from_fn(|block| [(block as u32).to_be(); 16]));
            let start = NonNull::from(&mut memory.0).cast::<u8>();
            // SAFETY: the second eight CQEs of 32.
            let buf = unsafe { start.add(CQES * cqe_bytes) };
            // SAFETY: memory of this test, aligned to 128.
            let (ring, _) = unsafe { Ring::new(buf, CQES as u32, cqe_bytes, CqCi::truncate(0)) };
            for at in 0..CQES {
                let place = ring.place(CqCi::truncate(at as u32));
                for count in 1..CQES {
                    let expected = (CQES + (at + count) % CQES) * blocks + blocks - 1;
                    let found = ring.ahead(place, count as u32).be32(0);
                    assert_eq!(found, expected as u32, "{count} ahead of {at}, {cqe_bytes} bytes each");
                    if count == 1 {
                        assert_eq!(ring.behind(place).be32(0), found, "behind {at}, {cqe_bytes} bytes each");
                    }
                }
            }
        }
    }
}
