//! The place in a ring where a WQE is written in place, DS by DS. Knows no request.
use core::ptr::NonNull;

use crate::arch::ds::{DsWords, take8};
use crate::types::{DS_BYTES, WQEBB_BYTES};

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
    /// The ring must be valid for reads and writes of `wqebbs * 64` bytes, 8-byte aligned, with no reference into it,
    /// for as long as the cursor is used; `place < wqebbs`. The place of the written DS must be free of WQEs that the
    /// device still owns: the caller passes no more DS than it has reserved.
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

    /// Goes to the next DS, and gives the place of this one.
    #[inline(always)]
    fn step(&mut self) -> NonNull<u64> {
        let here = self.next;
        // SAFETY: `next` is inside the ring: it starts there, moves in steps of 16 bytes, of which the ring holds a
        // whole number, and goes back to the start at the end. `new`'s caller vouches for the ring.
        self.next = unsafe { here.add(2) };
        if self.next == self.end {
            self.next = self.start;
        }
        here
    }

    /// Writes the next DS.
    #[inline(always)]
    pub(crate) fn ds(&mut self, DsWords([first, second]): DsWords) {
        let here = self.step();
        // SAFETY: a DS of the ring, see `step`. Plain stores do: the device looks only after the barrier that rings.
        unsafe {
            here.write(first);
            here.add(1).write(second);
        }
    }

    /// Writes bytes, padded with zeros to a whole DS.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        each_ds(bytes, |ds| self.ds(ds));
    }

    /// The next DS.
    #[inline(always)]
    pub(crate) fn read(&mut self) -> DsWords {
        let here = self.step();
        // SAFETY: a DS of the ring, see `step`, which only this queue writes.
        unsafe { DsWords([here.read(), here.add(1).read()]) }
    }
}

/// Passes on bytes by DS, padded with zeros to a whole one.
#[inline(always)]
pub(crate) fn each_ds(bytes: &[u8], mut put: impl FnMut(DsWords)) {
    // Whole DS apart from the rest: where the length is known, the compiler unrolls a loop that only loads, and words
    // stay in registers.
    let (whole, mut tail) = whole_ds(bytes);
    for mut ds in whole.iter().map(<[u8; DS_BYTES]>::as_slice) {
        put(DsWords([take8(&mut ds), take8(&mut ds)]));
    }
    if !tail.is_empty() {
        put(DsWords([take8(&mut tail), take8(&mut tail)]));
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
