//! The memory of packets, used again and again. To get it from the allocator, and fill it with zeros, would take longer
//! than the rest of the work on a small packet.
//!
//! Each thread keeps its own. A packet that is dropped elsewhere goes back to the allocator.

use std::cell::RefCell;

/// Bytes of the memory in each class: for short packets, and with 256 bytes for headers, packets of the largest MTU and
/// segments.
const CLASSES: [usize; 3] = [256, 4096 + 256, 65_536 + 256];
/// Most pieces of each class that a thread keeps.
const KEPT: usize = 64;

thread_local! {
    static FREE: RefCell<[Vec<Vec<u8>>; CLASSES.len()]> = const { RefCell::new([const { Vec::new() }; CLASSES.len()]) };
}

/// `len` bytes of any content, which is that of an earlier packet.
pub(crate) fn take(len: usize) -> Vec<u8> {
    let Some(class) = CLASSES.iter().position(|&bytes| len <= bytes) else { return vec![0; len] };
    let free = FREE.try_with(|free| free.borrow_mut()[class].pop()).ok().flatten();
    let mut bytes = free.unwrap_or_else(|| Vec::with_capacity(CLASSES[class]));
    // This fills only bytes past the end of the earlier packet.
    bytes.resize(len, 0);
    bytes
}

/// Keeps the memory for later packets.
pub(crate) fn give(bytes: Vec<u8>) {
    let Some(class) = CLASSES.iter().position(|&class| bytes.capacity() == class) else { return };
    // An error says that the thread ends.
    let _ = FREE.try_with(|free| {
        let free = &mut free.borrow_mut()[class];
        if free.len() < KEPT {
            free.push(bytes);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back() {
        for len in [0, 1, 256, 257, 4096, 5000, CLASSES[2]] {
            let bytes = take(len);
            let at = bytes.as_ptr();
            give(bytes);
            let again = take(len);
            assert_eq!((again.len(), again.as_ptr()), (len, at));
        }
        give(vec![1, 2, 3]);
        assert_eq!(take(3).capacity(), CLASSES[0], "memory of others is not kept");
        assert_eq!(take(CLASSES[2] + 1).len(), CLASSES[2] + 1);
    }

    #[test]
    fn only_so_much_is_kept() {
        let all: Vec<_> = (0..KEPT + 5).map(|_| take(100)).collect();
        all.into_iter().for_each(give);
        assert_eq!(FREE.with(|free| free.borrow()[0].len()), KEPT);
    }
}
