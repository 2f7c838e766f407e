//! The program's CPU: its barriers are loom's fences, and a store to a register stores one word.

use loom::sync::atomic::{Ordering, fence};

use crate::access;
use crate::faults::{self, Caller};

pub(crate) mod copy;
#[path = "../../src/arch/ds.rs"]
#[allow(dead_code, unreachable_pub, reason = "the model does not use all that this file has")]
pub(crate) mod ds;
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
    // SAFETY: the caller promises that the place may be written; a word has no padding.
    unsafe { access::write(place.cast(), u32::from_ne_bytes([a, b, c, d]), Caller::here()) };
}
