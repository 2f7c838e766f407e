//! Copies between private memory and memory that others (the host, a peer) may store to at the same time.
//!
//! The device checks its copy and then uses it, so it must load each byte once. After a plain copy the compiler could
//! read the source again in place of the copy, because it may assume that the source does not change. An atomic access
//! happens once, as written. The copies go by aligned words of the shared side, and by bytes at its ends. The accesses
//! are relaxed, which are plain loads and stores, so a long copy is as fast as `memcpy`.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

const WORD: usize = size_of::<usize>();

/// Calls `byte` for each byte that is not in a whole aligned word of the `len` at `shared`, and `word` for each word,
/// with their offsets, in ascending order.
#[inline(always)]
fn walk(shared: *const u8, len: usize, byte: impl Fn(usize), word: impl Fn(usize)) {
    let words_from = shared.align_offset(WORD).min(len);
    let words_to = words_from + (len - words_from) / WORD * WORD;
    (0..words_from).for_each(&byte);
    (words_from..words_to).step_by(WORD).for_each(word);
    (words_to..len).for_each(byte);
}

/// Copies `len` bytes at `shared` to `out`, in ascending order; loads each byte once.
///
/// # Safety
/// `shared` is valid for reads and `out` for writes of `len` bytes; they do not overlap, and nobody else has `out`.
pub(crate) unsafe fn copy_out(shared: *const u8, out: *mut u8, len: usize) {
    let shared = shared.cast_mut();
    // SAFETY: inside of both ranges; the load does not write.
    let byte = |at| unsafe { out.add(at).write(AtomicU8::from_ptr(shared.add(at)).load(Relaxed)) };
    // SAFETY: as above, and aligned by `walk`.
    let load = |at| unsafe { AtomicUsize::from_ptr(shared.add(at).cast()).load(Relaxed) };
    // SAFETY: inside of `out`.
    let word = |at| unsafe { out.add(at).cast::<usize>().write_unaligned(load(at)) };
    walk(shared, len, byte, word);
}

/// Copies `data` to `shared`, in ascending order; stores each byte once.
///
/// # Safety
/// `shared` is valid for writes of as many bytes, and `data` does not overlap them.
pub(crate) unsafe fn copy_in(data: &[u8], shared: *mut u8) {
    let from = data.as_ptr();
    // SAFETY: inside of both ranges.
    let byte = |at| unsafe { AtomicU8::from_ptr(shared.add(at)).store(*from.add(at), Relaxed) };
    // SAFETY: inside of `data`.
    let load = |at| unsafe { from.add(at).cast::<usize>().read_unaligned() };
    // SAFETY: inside of the shared range, and aligned by `walk`.
    let word = |at| unsafe { AtomicUsize::from_ptr(shared.add(at).cast()).store(load(at), Relaxed) };
    walk(shared, data.len(), byte, word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_range_is_touched() {
        let data: Vec<u8> = (0..5 * WORD as u8).map(|i| i ^ 0x3c).collect();
        for start in 0..=WORD {
            for len in 0..=data.len() {
                let mut shared = vec![0xee; data.len() + 2 * WORD];
                let mut out = vec![0x77; len + 1];
                let at = shared.as_mut_ptr().wrapping_add(start);
                // SAFETY: `shared` is longer than all starts and lengths.
                unsafe { copy_in(&data[..len], at) };
                // SAFETY: as above; `out` has a byte more.
                unsafe { copy_out(at, out.as_mut_ptr(), len) };
                assert_eq!((&out[..len], out[len]), (&data[..len], 0x77));
                let (before, after) = (&shared[..start], &shared[start + len..]);
                assert!(before.iter().chain(after).all(|&byte| byte == 0xee), "start {start} length {len}");
            }
        }
    }
}
