//! Where encoded units go: eight words in registers, or the ring in place.
use core::ptr::NonNull;

use super::be::join;
use super::payload::{take4, take8};
use crate::arch::Packed;
use crate::arch::copy::BlockCopy;
use crate::types::{DS_BYTES, WQEBB_BYTES};

/// Sixteen bytes of a WQE as two words in memory order: what a store of the words puts into memory is the wire's
/// layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit(pub [u64; 2]);

impl Unit {
    /// Four 32-bit pieces in memory order, each with its bytes in memory order.
    #[inline]
    pub(crate) const fn from_halves([a, b, c, d]: [u32; 4]) -> Self {
        Self([join(a, b), join(c, d)])
    }
}

/// Units in one WQEBB.
pub(crate) const LINE_UNITS: usize = WQEBB_BYTES / DS_BYTES;

/// Takes the units of one WQE in order.
pub trait Sink {
    /// Whether only requests come here whose every part is present, so that no part has to be looked at again: the
    /// size that a request states at compile time is its size.
    const HAS_STATIC_SIZE: bool;

    /// Takes the next unit.
    fn unit(&mut self, unit: Unit);

    /// Takes the next unit: four bytes in memory order, and up to twelve off the front of `rest`, zero behind its end.
    #[inline(always)]
    fn headed(&mut self, head: u32, rest: &mut &[u8]) {
        let first = take4(rest);
        self.unit(Unit([join(head, first), take8(rest)]));
    }
}

/// One WQEBB in CPU registers. Used only for requests of a size known at compile time to fit: then every index below is a
/// constant, the arrays never exist in memory and the checks cost nothing. Units past the WQE's end are zero.
pub(crate) trait Line: Sink {
    /// Nothing yet.
    fn new() -> Self;

    /// Stores the first `units` units to a ring.
    ///
    /// # Safety
    /// `place` must be 64-byte aligned and valid for writes of 64 bytes, with no reference to it.
    unsafe fn store(&self, place: NonNull<u64>, units: usize);

    /// Stores all of it to a BlueFlame register.
    ///
    /// # Safety
    /// As for [`BlockCopy::copy`].
    unsafe fn copy(&self, copy: impl BlockCopy, dst: *mut u64);
}

/// In wide registers.
pub(crate) struct PackedLine {
    units: [Packed; LINE_UNITS],
    at: usize,
}

impl PackedLine {
    #[inline(always)]
    fn packed(&mut self, unit: Packed) {
        if let Some(place) = self.units.get_mut(self.at) {
            *place = unit;
        }
        self.at += 1;
    }
}

impl Sink for PackedLine {
    const HAS_STATIC_SIZE: bool = true;

    #[inline(always)]
    fn unit(&mut self, Unit(words): Unit) {
        self.packed(Packed::new(words));
    }

    #[inline(always)]
    fn headed(&mut self, head: u32, rest: &mut &[u8]) {
        let bytes = Packed::new([take8(rest), join(take4(rest), 0)]);
        self.packed(bytes.four_bytes_up().or(Packed::new([join(head, 0), 0])));
    }
}

impl Line for PackedLine {
    #[inline(always)]
    fn new() -> Self {
        Self { units: [Packed::new([0; 2]); LINE_UNITS], at: 0 }
    }

    #[inline(always)]
    unsafe fn store(&self, place: NonNull<u64>, units: usize) {
        for (i, unit) in self.units.into_iter().enumerate().take(units) {
            // SAFETY: the `i`th unit of the 64 bytes that the caller vouches for, aligned as they are.
            unsafe { unit.store(place.byte_add(i * DS_BYTES)) };
        }
    }

    #[inline(always)]
    unsafe fn copy(&self, copy: impl BlockCopy, dst: *mut u64) {
        // SAFETY: the caller's.
        unsafe { copy.copy_packed(dst, self.units) }
    }
}

/// In words.
pub(crate) struct WordLine {
    units: [Unit; LINE_UNITS],
    at: usize,
}

impl Sink for WordLine {
    const HAS_STATIC_SIZE: bool = true;

    #[inline(always)]
    fn unit(&mut self, unit: Unit) {
        if let Some(place) = self.units.get_mut(self.at) {
            *place = unit;
        }
        self.at += 1;
    }
}

impl Line for WordLine {
    #[inline(always)]
    fn new() -> Self {
        Self { units: [Unit([0; 2]); LINE_UNITS], at: 0 }
    }

    #[inline(always)]
    unsafe fn store(&self, place: NonNull<u64>, units: usize) {
        for (i, Unit([first, second])) in self.units.into_iter().enumerate().take(units) {
            // SAFETY: the `i`th unit of the 64 bytes that the caller vouches for.
            unsafe {
                place.byte_add(i * DS_BYTES).write(first);
                place.byte_add(i * DS_BYTES).add(1).write(second);
            }
        }
    }

    #[inline(always)]
    unsafe fn copy(&self, copy: impl BlockCopy, dst: *mut u64) {
        let [Unit([a, b]), Unit([c, d]), Unit([e, f]), Unit([g, h])] = self.units;
        // SAFETY: the caller's.
        unsafe { copy.copy(dst, &[a, b, c, d, e, f, g, h]) }
    }
}

/// One WQEBB of a ring, written in place, in words: for what is stored once. Used, as a [`Line`], only for requests of a size known at compile time to fit.
pub(crate) struct InPlace {
    place: NonNull<u64>,
    first_word: u64,
    at: usize,
}

impl InPlace {
    /// # Safety
    /// `place` must be valid for writes of 64 bytes and 8-byte aligned, with no reference to it and free of a WQE that
    /// the device still owns, as long as the value is used; no more than four units may be written.
    #[inline(always)]
    pub(crate) const unsafe fn new(place: NonNull<u64>) -> Self {
        Self { place, first_word: 0, at: 0 }
    }

    /// The first word written.
    #[inline(always)]
    pub(crate) const fn first_word(&self) -> u64 {
        self.first_word
    }
}

impl Sink for InPlace {
    const HAS_STATIC_SIZE: bool = true;

    #[inline(always)]
    fn unit(&mut self, Unit([first, second]): Unit) {
        if self.at == 0 {
            self.first_word = first;
        }
        // SAFETY: the fourth unit at most, by `new`'s caller, who vouches for the 64 bytes.
        unsafe {
            self.place.add(2 * self.at).write(first);
            self.place.add(2 * self.at + 1).write(second);
        }
        self.at += 1;
    }
}

/// The place in a ring where the next unit goes; goes on at the ring's start when it comes to the end.
///
/// Rings are whole WQEBBs and units are 16 bytes, so a unit never straddles the end.
pub(crate) struct RingCursor {
    next: NonNull<u64>,
    start: NonNull<u64>,
    end: NonNull<u64>,
}

impl RingCursor {
    /// Starts at WQEBB `slot` of the ring of `wqebbs` WQEBBs at `ring`.
    ///
    /// # Safety
    /// The ring must be valid for writes of `wqebbs * 64` bytes, 8-byte aligned, with no reference into it, for as long
    /// as the cursor is used; `slot < wqebbs`. What is written must be free of WQEs the device still owns: the caller
    /// passes no more units than it has reserved.
    #[inline]
    pub(crate) unsafe fn new(ring: NonNull<u64>, wqebbs: usize, slot: usize) -> Self {
        let words = WQEBB_BYTES / size_of::<u64>();
        // SAFETY: both stay inside, or one past the end of, the ring the caller vouches for.
        unsafe { Self { next: ring.add(slot * words), start: ring, end: ring.add(wqebbs * words) } }
    }
}

impl Sink for RingCursor {
    const HAS_STATIC_SIZE: bool = false;

    #[inline(always)]
    fn unit(&mut self, unit: Unit) {
        let Unit([first, second]) = unit;
        // SAFETY: `next` is inside the ring: it starts there, moves in steps of 16 bytes, of which the ring holds a
        // whole number, and goes back to the start at the end. `new`'s caller vouches for the ring. Plain stores do:
        // the device looks only after the barrier that rings.
        unsafe {
            self.next.write(first);
            self.next.add(1).write(second);
            self.next = self.next.add(2);
        }
        if self.next == self.end {
            self.next = self.start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::copy::Words;

    #[test]
    fn cursor_wraps_at_every_unit() {
        let mut ring = [0xa5a5_a5a5_a5a5_a5a5_u64; 2 * 8];
        let start = NonNull::from(&mut ring).cast::<u64>();
        // SAFETY: the array is two WQEBBs, reached only through `start` from here on, and eight units fit.
        let mut cursor = unsafe { RingCursor::new(start, 2, 1) };
        for n in 0..5 {
            cursor.unit(Unit([2 * n, 2 * n + 1]));
        }
        // SAFETY: the array lives; nothing else touches it.
        let seen = unsafe { start.cast::<[u64; 16]>().read() };
        let old = 0xa5a5_a5a5_a5a5_a5a5;
        assert_eq!(seen, [8, 9, old, old, old, old, old, old, 0, 1, 2, 3, 4, 5, 6, 7]);
    }

    fn line<L: Line>() -> [u64; 8] {
        #[repr(align(64))]
        struct Place([u64; 8]);
        let mut line = L::new();
        line.unit(Unit([1, 2]));
        line.unit(Unit([3, 4]));
        let (mut ring, mut register) = (Place([7; 8]), Place([7; 8]));
        // SAFETY: 64 aligned bytes each.
        unsafe {
            line.store(NonNull::from(&mut ring.0).cast(), 2);
            line.copy(Words, register.0.as_mut_ptr());
        }
        assert_eq!(ring.0, [1, 2, 3, 4, 7, 7, 7, 7]);
        register.0
    }

    #[test]
    fn lines_keep_order_and_pad_with_zero() {
        assert_eq!(line::<PackedLine>(), [1, 2, 3, 4, 0, 0, 0, 0]);
        assert_eq!(line::<WordLine>(), [1, 2, 3, 4, 0, 0, 0, 0]);
    }
}
