//! The destination of an encoded WQE, DS by DS: CPU registers, in words or wide, or the ring in place. Knows no queue.
use core::ptr::NonNull;

use super::words::bytes::take8;
use super::words::ds::{DsWords, HeldDs};
use crate::types::{DS_BYTES, WQEBB_BYTES};

/// DS in one WQEBB.
pub(crate) const WQEBB_DS: usize = WQEBB_BYTES / DS_BYTES;

/// Takes the DS of one WQE in order.
pub trait Sink {
    /// Whether every request here has all its parts, so that no part needs a second look. The size that a request
    /// states at compile time is then its size.
    const HAS_STATIC_SIZE: bool;

    /// Takes the next DS.
    fn ds(&mut self, ds: DsWords);

    /// Takes the next DS: four bytes in memory order, and up to twelve off the front of `rest`, with zeros after its
    /// end.
    #[inline(always)]
    fn headed(&mut self, head: u32, rest: &mut &[u8]) {
        self.ds(DsWords::headed(head, rest));
    }

    /// Takes bytes, padded with zeros to a whole DS.
    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        // Whole DS apart from the rest: where the length is known, the compiler unrolls a loop that only loads, and
        // words stay in registers.
        let (whole, mut tail) = whole_ds(bytes);
        for mut ds in whole.iter().map(<[u8; DS_BYTES]>::as_slice) {
            self.ds(DsWords([take8(&mut ds), take8(&mut ds)]));
        }
        if !tail.is_empty() {
            self.ds(DsWords([take8(&mut tail), take8(&mut tail)]));
        }
    }
}

/// The whole DS of `bytes`, and the rest: `slice::as_chunks`, which Rust has from 1.88 on. `chunks_exact` would be longer
/// code.
#[inline(always)]
fn whole_ds(bytes: &[u8]) -> (&[[u8; DS_BYTES]], &[u8]) {
    let (whole, rest) = bytes.split_at(bytes.len() / DS_BYTES * DS_BYTES);
    // SAFETY: `whole` has as many arrays of bytes, one behind the other, and bytes have no alignment.
    (unsafe { core::slice::from_raw_parts(whole.as_ptr().cast(), whole.len() / DS_BYTES) }, rest)
}

/// A WQE, or its first `N` DS, composed in CPU registers in form `D`. The DS past the WQE's end are zero.
///
/// Used only for requests whose size is known at compile time to fit. So every index below is a constant, the array
/// never exists in memory and the checks cost nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Composed<D, const N: usize = WQEBB_DS> {
    ds: [D; N],
    len: usize,
}

impl<D: HeldDs, const N: usize> Composed<D, N> {
    /// A WQE with no DS yet.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { ds: [D::new(DsWords::ZERO); N], len: 0 }
    }

    /// The DS.
    #[inline(always)]
    pub(crate) const fn all(&self) -> &[D; N] {
        &self.ds
    }

    /// Changes the first DS.
    #[inline(always)]
    pub(crate) fn change_first(&mut self, change: impl FnOnce(D) -> D) {
        if let Some(first) = self.ds.first_mut() {
            *first = change(*first);
        }
    }

    #[inline(always)]
    fn push(&mut self, ds: D) {
        if let Some(place) = self.ds.get_mut(self.len) {
            *place = ds;
        }
        self.len += 1;
    }
}

impl<D: HeldDs> Composed<D> {
    /// One WQEBB, from its DS.
    #[inline(always)]
    pub(crate) const fn of(ds: [D; WQEBB_DS]) -> Self {
        Self { ds, len: WQEBB_DS }
    }

    /// The first word, in memory order, for an 8-byte doorbell.
    #[inline(always)]
    pub(crate) fn first_word(&self) -> u64 {
        self.ds[0].first_word()
    }

    /// Stores the first `count` DS.
    ///
    /// # Safety
    /// `place` must be 64-byte aligned and valid for writes of 64 bytes, with no reference to it.
    #[inline(always)]
    pub(crate) unsafe fn store(&self, place: NonNull<u64>, count: usize) {
        for (i, ds) in self.ds.into_iter().enumerate().take(count) {
            // SAFETY: the `i`th DS of the 64 bytes that the caller vouches for, aligned as they are.
            unsafe { ds.store(place.byte_add(i * DS_BYTES)) };
        }
    }
}

impl<D: HeldDs> Composed<D, { 2 * WQEBB_DS }> {
    /// The two WQEBBs.
    #[inline(always)]
    pub(crate) const fn pair(&self) -> [Composed<D>; 2] {
        let [a, b, c, d, e, f, g, h] = self.ds;
        [Composed::of([a, b, c, d]), Composed::of([e, f, g, h])]
    }
}

impl<D: HeldDs, const N: usize> Sink for Composed<D, N> {
    const HAS_STATIC_SIZE: bool = true;

    #[inline(always)]
    fn ds(&mut self, ds: DsWords) {
        self.push(D::new(ds));
    }

    #[inline(always)]
    fn headed(&mut self, head: u32, rest: &mut &[u8]) {
        self.push(D::headed(head, rest));
    }
}

/// The place in a ring where the next DS goes. At the ring's end it continues at the start.
///
/// Rings are whole WQEBBs and a DS is 16 bytes, so no DS straddles the end.
pub(crate) struct RingCursor {
    next: NonNull<u64>,
    start: NonNull<u64>,
    end: NonNull<u64>,
}

impl RingCursor {
    /// Starts at WQEBB `place` of the ring of `wqebbs` WQEBBs at `ring`.
    ///
    /// # Safety
    /// The ring must be valid for writes of `wqebbs * 64` bytes, 8-byte aligned, with no reference into it, for as
    /// long as the cursor is used; `place < wqebbs`. The place of the written DS must be free of WQEs that the device
    /// still owns: the caller passes no more DS than it has reserved.
    #[inline]
    pub(crate) unsafe fn new(ring: NonNull<u64>, wqebbs: usize, place: usize) -> Self {
        let words = WQEBB_BYTES / size_of::<u64>();
        // SAFETY: both stay inside, or one past the end of, the ring the caller vouches for.
        unsafe { Self { next: ring.add(place * words), start: ring, end: ring.add(wqebbs * words) } }
    }

    /// Goes on at `next` in the ring from `ring` to `end`; `end` itself stands for the ring's start.
    ///
    /// # Safety
    /// As for [`new`](Self::new). `next` is a DS of the ring, or its end.
    #[inline]
    pub(crate) unsafe fn resume(ring: NonNull<u64>, end: NonNull<u64>, next: NonNull<u64>) -> Self {
        Self { next: if next == end { ring } else { next }, start: ring, end }
    }
}

impl Sink for RingCursor {
    const HAS_STATIC_SIZE: bool = false;

    #[inline(always)]
    fn ds(&mut self, DsWords([first, second]): DsWords) {
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

/// The place where the next DS goes, in memory that has no end before the last one.
pub(crate) struct Straight {
    next: NonNull<u64>,
}

impl Straight {
    /// Starts at `next`.
    ///
    /// # Safety
    /// The memory must be valid for writes of all DS that are passed on, 8-byte aligned, with no reference into it.
    #[inline(always)]
    pub(crate) unsafe fn new(next: NonNull<u64>) -> Self {
        Self { next }
    }

    /// The place behind the last DS.
    #[inline(always)]
    pub(crate) const fn next(&self) -> NonNull<u64> {
        self.next
    }
}

impl Sink for Straight {
    const HAS_STATIC_SIZE: bool = true;

    #[inline(always)]
    fn ds(&mut self, ds: DsWords) {
        // SAFETY: `new`'s caller vouches for the memory of each DS.
        unsafe {
            ds.store(self.next);
            self.next = self.next.byte_add(DS_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Wide;
    use crate::wqe::words::be::join;

    #[test]
    fn cursor_wraps_at_every_ds() {
        let mut ring = [0xa5a5_a5a5_a5a5_a5a5_u64; 2 * 8];
        let start = NonNull::from(&mut ring).cast::<u64>();
        // SAFETY: the array is two WQEBBs, reached only through `start` from here on, and eight DS fit.
        let mut cursor = unsafe { RingCursor::new(start, 2, 1) };
        for n in 0..5 {
            cursor.ds(DsWords([2 * n, 2 * n + 1]));
        }
        // SAFETY: the array lives; nothing else touches it.
        let seen = unsafe { start.cast::<[u64; 16]>().read() };
        let old = 0xa5a5_a5a5_a5a5_a5a5;
        assert_eq!(seen, [8, 9, old, old, old, old, old, old, 0, 1, 2, 3, 4, 5, 6, 7]);
    }

    fn composed<D: HeldDs>() -> [u64; 8] {
        #[repr(align(64))]
        struct Place([u64; 8]);
        let mut wqebb = Composed::<D>::new();
        wqebb.ds(DsWords([1, 2]));
        wqebb.headed(3, &mut [4, 0, 0, 0, 5, 0, 0, 0, 6].as_slice());
        let (mut two, mut all) = (Place([7; 8]), Place([7; 8]));
        // SAFETY: 64 aligned bytes each.
        unsafe {
            wqebb.store(NonNull::from(&mut two.0).cast(), 2);
            wqebb.store(NonNull::from(&mut all.0).cast(), WQEBB_DS);
        }
        assert_eq!(two.0[..4], all.0[..4]);
        assert_eq!(two.0[4..], [7; 4]);
        assert_eq!(wqebb.first_word(), 1);
        all.0
    }

    #[test]
    fn both_forms_keep_order_and_pad_with_zero() {
        let headed = [join(3, u32::from_ne_bytes([4, 0, 0, 0])), u64::from_ne_bytes([5, 0, 0, 0, 6, 0, 0, 0])];
        let expected = [1, 2, headed[0], headed[1], 0, 0, 0, 0];
        assert_eq!(composed::<Wide>(), expected);
        assert_eq!(composed::<DsWords>(), expected);
    }
}
