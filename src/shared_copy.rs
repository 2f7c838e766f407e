//! Copies between memory that the device reaches and memory of the program's own.
//!
//! The device stores while the program copies, and the program may check the copy and then use it. So each byte must
//! be loaded once. A plain copy does not promise that. The compiler assumes that no other agent stores to the source.
//! So it may read the source again where the program reads its copy: LLVM turns "copy in, check, copy on" into two
//! copies of the source. Atomic loads and stores happen once each, as the program says. The words are as large as any
//! CPU here loads at once. Relaxed atomics are plain load and store instructions, so a long copy costs as much as
//! `memcpy`.

use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

const WORD: usize = size_of::<usize>();

/// For `len` bytes at `shared`: the number of bytes before the first aligned word, and the number of words after them.
fn parts(shared: *const u8, len: usize) -> (usize, usize) {
    let head = shared.align_offset(WORD).min(len);
    (head, (len - head) / WORD)
}

/// Copies `out.len()` bytes at `shared` to `out`; loads each byte once.
///
/// # Safety
/// The bytes at `shared` are valid for reads, and `out` does not overlap them.
pub(crate) unsafe fn copy_out(shared: *const u8, out: &mut [u8]) {
    let (head, words) = parts(shared, out.len());
    let (first, rest) = out.split_at_mut(head);
    let (middle, last) = rest.split_at_mut(words * WORD);
    let bytes = |from: usize, out: &mut [u8]| {
        for (i, byte) in out.iter_mut().enumerate() {
            // SAFETY: inside of the range; an atomic load does not write.
            *byte = unsafe { AtomicU8::from_ptr(shared.wrapping_add(from + i).cast_mut()) }.load(Ordering::Relaxed);
        }
    };
    bytes(0, first);
    for (i, out) in middle.chunks_exact_mut(WORD).enumerate() {
        let at = shared.wrapping_add(head + i * WORD).cast_mut().cast::<usize>();
        // SAFETY: inside of the range, and aligned behind the head; an atomic load does not write.
        out.copy_from_slice(&unsafe { AtomicUsize::from_ptr(at) }.load(Ordering::Relaxed).to_ne_bytes());
    }
    bytes(head + words * WORD, last);
}

/// Copies `data` to `shared`; stores each byte once.
///
/// # Safety
/// The bytes at `shared` are valid for writes, and `data` does not overlap them.
pub(crate) unsafe fn copy_in(data: &[u8], shared: *mut u8) {
    let (head, words) = parts(shared, data.len());
    let (first, rest) = data.split_at(head);
    let (middle, last) = rest.split_at(words * WORD);
    let bytes = |to: usize, data: &[u8]| {
        for (i, &byte) in data.iter().enumerate() {
            // SAFETY: inside of the range.
            unsafe { AtomicU8::from_ptr(shared.wrapping_add(to + i)) }.store(byte, Ordering::Relaxed);
        }
    };
    bytes(0, first);
    for (i, data) in middle.chunks_exact(WORD).enumerate() {
        let word = usize::from_ne_bytes(core::array::from_fn(|byte| data[byte]));
        let at = shared.wrapping_add(head + i * WORD).cast::<usize>();
        // SAFETY: inside of the range, and aligned behind the head.
        unsafe { AtomicUsize::from_ptr(at) }.store(word, Ordering::Relaxed);
    }
    bytes(head + words * WORD, last);
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn every_length_at_every_alignment() {
        let data: Vec<u8> = (1..=40).collect();
        for start in 0..WORD {
            for len in 0..=data.len() {
                let mut shared = [0xa5_u8; 64];
                let at = shared.as_mut_ptr().wrapping_add(start);
                let mut out = vec![0; len];
                // SAFETY: 8 + 40 bytes are within the 64.
                unsafe {
                    copy_in(&data[..len], at);
                    copy_out(at, &mut out);
                }
                assert_eq!(out, data[..len]);
                assert!(shared[..start].iter().chain(&shared[start + len..]).all(|&byte| byte == 0xa5));
            }
        }
    }
}
