//! Copies between private memory and memory that others (the host, a peer) may store to at the same time.
//!
//! The device checks its copy and then uses it, so it must load each byte once. After a plain copy the compiler could
//! read the source again in place of the copy, because it may assume that the source does not change. An atomic access
//! happens once, as written. The copies go by aligned words of the shared side, and by bytes at its ends. The accesses
//! are relaxed, which are plain loads and stores. On x86-64, the middle of a long copy goes by registers of 16 bytes:
//! half the time.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

const WORD: usize = size_of::<usize>();

/// Bytes that [`blocks`] copies at once.
#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 64;

/// Copies as many whole blocks of `len` bytes as there are, in ascending order; returns their bytes. Loads and stores
/// each byte once.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `len` bytes; they do not overlap.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn blocks(from: *const u8, to: *mut u8, len: usize) -> usize {
    let bytes = len / BLOCK * BLOCK;
    if bytes == 0 {
        return 0;
    }
    // SAFETY: the loop stays within the first `bytes` bytes of both, and changes nothing else.
    unsafe {
        std::arch::asm!(
            "2:",
            "movups {a}, [{from} + {at}]",
            "movups {b}, [{from} + {at} + 16]",
            "movups {c}, [{from} + {at} + 32]",
            "movups {d}, [{from} + {at} + 48]",
            "movups [{to} + {at}], {a}",
            "movups [{to} + {at} + 16], {b}",
            "movups [{to} + {at} + 32], {c}",
            "movups [{to} + {at} + 48], {d}",
            "add {at}, 64",
            "cmp {at}, {bytes}",
            "jb 2b",
            from = in(reg) from,
            to = in(reg) to,
            bytes = in(reg) bytes,
            at = inout(reg) 0_usize => _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack),
        );
    }
    bytes
}

/// Elsewhere words are fast enough.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn blocks(_from: *const u8, _to: *mut u8, _len: usize) -> usize {
    0
}

/// Calls `byte` for each byte that is not in a whole aligned word of the `len` at `shared`, and `word` for each word,
/// with their offsets, in ascending order. `middle` gets the offset of the first word and the bytes of all words, and
/// returns how many it has done.
#[inline(always)]
fn walk(
    shared: *const u8,
    len: usize,
    byte: impl Fn(usize),
    word: impl Fn(usize),
    middle: impl Fn(usize, usize) -> usize,
) {
    let words_from = shared.align_offset(WORD).min(len);
    let words_to = words_from + (len - words_from) / WORD * WORD;
    (0..words_from).for_each(&byte);
    let done = middle(words_from, words_to - words_from);
    (words_from + done..words_to).step_by(WORD).for_each(word);
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
    // SAFETY: inside of the range, and aligned by `walk`; the load does not write.
    let load = |at| unsafe { AtomicUsize::from_ptr(shared.add(at).cast()).load(Relaxed) };
    // SAFETY: inside of `out`.
    let word = |at| unsafe { out.add(at).cast::<usize>().write_unaligned(load(at)) };
    // SAFETY: inside of both ranges.
    let middle = |at, len| unsafe { blocks(shared.add(at), out.add(at), len) };
    walk(shared, len, byte, word, middle);
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
    // SAFETY: inside of both ranges.
    let middle = |at, len| unsafe { blocks(from.add(at), shared.add(at), len) };
    walk(shared, data.len(), byte, word, middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_range_is_touched() {
        let data: Vec<u8> = (0..200).map(|i| i ^ 0x3c).collect();
        for start in 0..=WORD {
            for len in 0..=data.len() {
                let mut shared = vec![0xee; data.len() + 2 * WORD];
                let mut out = vec![0x77; len + 1];
                let at = shared.as_mut_ptr().wrapping_add(start);
                // SAFETY: `shared` is longer than all starts and lengths.
                unsafe { copy_in(&data[..len], at) };
                // SAFETY: `shared` is longer than all starts and lengths, and `out` has a byte more than `len`.
                unsafe { copy_out(at, out.as_mut_ptr(), len) };
                assert_eq!((&out[..len], out[len]), (&data[..len], 0x77));
                let (before, after) = (&shared[..start], &shared[start + len..]);
                assert!(before.iter().chain(after).all(|&byte| byte == 0xee), "start {start} length {len}");
            }
        }
    }
}
