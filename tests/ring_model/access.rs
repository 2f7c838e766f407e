//! Accesses of the program: to the memory that the device shares, word by word, or to memory of its own.

use std::mem::MaybeUninit;

use crate::faults::{self, Caller};
use crate::memory;

/// A load of a value at any place.
///
/// # Safety
/// Elsewhere than in the shared memory, the place is one to read a value from. There, any bytes are a value.
pub(crate) unsafe fn read<T>(place: *const T, caller: Caller) -> T {
    let Some(start) = memory::offset(place) else {
        // SAFETY: not in the shared memory, so the caller promises a place to read a value from.
        return unsafe { place.read_volatile() };
    };
    let mut value = MaybeUninit::<T>::uninit();
    let mut at = start;
    while at < start + size_of::<T>() {
        let bytes = faults::load(at / 4, caller).to_ne_bytes();
        let count = (4 - at % 4).min(start + size_of::<T>() - at);
        // SAFETY: bytes of the word, and bytes of the value.
        unsafe {
            let from = bytes.as_ptr().add(at % 4);
            from.copy_to(value.as_mut_ptr().cast::<u8>().add(at - start), count);
        }
        at += count;
    }
    // SAFETY: all bytes are written, and the caller says that any are a value.
    unsafe { value.assume_init() }
}

/// A store of a value to any place. In the shared memory, the rest of a word keeps its bytes: the device does not store
/// to it at that time.
///
/// # Safety
/// Elsewhere than in the shared memory, the place is one to write a value to. The value has no padding.
pub(crate) unsafe fn write<T>(place: *mut T, value: T, caller: Caller) {
    let Some(start) = memory::offset(place) else {
        // SAFETY: not in the shared memory, so the caller promises a place to write a value to.
        return unsafe { place.write_volatile(value) };
    };
    let mut at = start;
    while at < start + size_of::<T>() {
        let count = (4 - at % 4).min(start + size_of::<T>() - at);
        let mut bytes = if count == 4 { [0; 4] } else { memory::load(at / 4).to_ne_bytes() };
        // SAFETY: bytes of the value, and bytes of the word.
        unsafe {
            let from = (&raw const value).cast::<u8>().add(at - start);
            from.copy_to(bytes.as_mut_ptr().add(at % 4), count);
        }
        faults::store(at / 4, u32::from_ne_bytes(bytes), caller);
        at += count;
    }
}
