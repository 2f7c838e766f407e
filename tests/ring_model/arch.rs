//! The program's CPU: its barriers are loom's fences, and a store to a register stores one word.

use loom::sync::atomic::{Ordering, fence};

use crate::faults::{self, Caller};
use crate::memory;

#[path = "../../src/arch/wide.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the model does not use all that this file has")]
mod wide;
pub(crate) use wide::Wide;

pub(crate) mod x86_64 {
    pub(crate) use std::arch::x86_64::*;
}

macro_rules! barriers {
    ($($name:ident $ordering:ident;)*) => {$(
        #[track_caller]
        pub(crate) fn $name() {
            if faults::has_barrier(stringify!($name), Caller::here()) {
                fence(Ordering::$ordering);
            }
        }
    )*};
}

barriers! {
    to_device Release;
    from_device Acquire;
    from_device_conservative Acquire;
    mmio_wc_start Release;
    mmio_flush_writes Release;
}

pub(crate) fn mmio_wc_hint() {}

pub(crate) fn prefetch_read(_: *const u8) {}

pub(crate) fn prefetch_write<T>(_: *const T) {}

/// Stores the first half of a doorbell: with the index of a WQE, or the request to arm.
///
/// # Safety
/// That of the crate's function: the place may be written.
#[track_caller]
pub(crate) unsafe fn mmio_write64(place: *mut u64, value_in_memory_order: u64) {
    let [a, b, c, d, ..] = value_in_memory_order.to_ne_bytes();
    // SAFETY: the caller's.
    unsafe { memory::write(place.cast(), u32::from_ne_bytes([a, b, c, d]), Caller::here()) };
}

pub(crate) mod copy {
    use super::Wide;

    pub(crate) trait BlockCopy: Copy + std::fmt::Debug + Send + Sync + 'static {
        const WIDE: bool;

        /// # Safety
        /// As for [`mmio_write64`](super::mmio_write64), as below.
        unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]);
        /// # Safety
        /// As above.
        unsafe fn copy_wide(self, dst: *mut u64, block: [Wide; 4]);
        /// # Safety
        /// As above.
        unsafe fn copy_wqebb(self, dst: *mut u64, wqebb: *const u64);
    }

    /// One store in the model, of the first word.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Block;
    pub(crate) type DefaultCopy = Block;

    impl BlockCopy for Block {
        const WIDE: bool = true;

        unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
            // SAFETY: the caller's.
            unsafe { super::mmio_write64(dst, words[0]) }
        }

        unsafe fn copy_wide(self, dst: *mut u64, block: [Wide; 4]) {
            // SAFETY: the caller's.
            unsafe { super::mmio_write64(dst, block[0].first_word()) }
        }

        unsafe fn copy_wqebb(self, _: *mut u64, _: *const u64) {
            unreachable!("the model's requests have a size by type");
        }
    }
}
