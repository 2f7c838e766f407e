//! The bytes that barriers and register stores leave in memory. `tests/arch_asm.rs` checks the instructions.
use core::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[repr(align(64))]
struct Register([u64; 16]);

#[test]
fn doorbell_writes_its_eight_bytes_and_no_others() {
    let mut reg = Register([0xa5a5_a5a5_a5a5_a5a5; 16]);
    // SAFETY: word 3 of an array of 16 words that nothing else uses.
    unsafe { mmio_write64(reg.0.as_mut_ptr().add(3), 0x0102_0304_0506_0708_u64.to_be()) };
    assert_eq!(reg.0[3].to_ne_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(reg.0.iter().enumerate().all(|(i, word)| i == 3 || *word == 0xa5a5_a5a5_a5a5_a5a5));
}

/// On a 32-bit CPU a doorbell is two stores: those of two threads must not mix.
#[cfg(feature = "std")]
#[test]
fn doorbells_of_two_threads_do_not_mix() {
    use core::ptr::NonNull;
    use std::sync::Barrier;

    #[derive(Clone, Copy)]
    struct Word(NonNull<u64>);
    // SAFETY: a word that the threads store to and the test reads, in turns.
    unsafe impl Send for Word {}

    let mut reg = Register([0; 16]);
    let word = Word(NonNull::from(&mut reg.0[0]));
    let (begin, end) = (Barrier::new(3), Barrier::new(3));
    std::thread::scope(|scope| {
        for value in [u64::MAX, 0] {
            let (begin, end) = (&begin, &end);
            scope.spawn(move || {
                let word = word;
                for _ in 0..200 {
                    begin.wait();
                    // SAFETY: the word lives until the threads have ended.
                    (0..50).for_each(|_| unsafe { mmio_write64(word.0.as_ptr(), value) });
                    end.wait();
                }
            });
        }
        for _ in 0..200 {
            begin.wait();
            end.wait();
            // SAFETY: the word lives until the threads have ended, and they wait now.
            let last = unsafe { word.0.read_volatile() };
            assert!(last == u64::MAX || last == 0, "{last:#x}");
        }
    });
}

#[test]
fn block_copy_keeps_the_order_of_words_and_stays_within_64_bytes() {
    let mut reg = Register([0xa5a5_a5a5_a5a5_a5a5; 16]);
    let words: [u64; 8] = core::array::from_fn(|i| u64::from_be_bytes([i as u8; 8]) ^ 0x11);
    // SAFETY: the first 64 bytes of a 128-byte, 64-byte aligned array.
    unsafe { mmio_copy64(reg.0.as_mut_ptr(), &words) };
    assert_eq!(reg.0[..8], words);
    assert_eq!(reg.0[8..], [0xa5a5_a5a5_a5a5_a5a5; 8]);
}

/// When the reader sees a store made after the writer's barrier, it has also seen every store made before that
/// barrier. On CPUs that keep the order of stores and of loads themselves, only a compiler could break this.
fn keeps_the_order_of_two_words(between_stores: fn(), between_loads: fn()) {
    const LAST: usize = 20_000;
    let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=LAST {
                first.store(n, Ordering::Relaxed);
                between_stores();
                second.store(n, Ordering::Relaxed);
            }
        });
        let mut seen = 0;
        while seen < LAST {
            seen = second.load(Ordering::Relaxed);
            between_loads();
            let before = first.load(Ordering::Relaxed);
            assert!(before >= seen, "{seen} was seen, of what precedes it {before}");
            core::hint::spin_loop();
        }
    });
}

#[test]
fn barriers_keep_the_order_of_stores_and_of_loads() {
    keeps_the_order_of_two_words(to_device, from_device);
    keeps_the_order_of_two_words(to_device, from_device_conservative);
    keeps_the_order_of_two_words(mmio_wc_start, from_device);
    keeps_the_order_of_two_words(mmio_flush_writes, from_device);
}
