//! A striding queue's memory, with room for its state from the heap: made at setup.
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::boxed::Box;

use crate::queue::striding::memory::{BufferState, Slab, SlabParts, StridedMemory};
use crate::queue::striding::strides::Strides;
use crate::types::Lkey;

/// All that one memory needs.
#[repr(C)]
struct Rack<K> {
    /// First: its address is that of the rack.
    slab: MaybeUninit<Slab>,
    states: NonNull<[MaybeUninit<BufferState>]>,
    /// There to be dropped.
    _keep: K,
}

impl StridedMemory {
    /// Divides `len` registered bytes at `start` into as many buffers as fit. `keep` is dropped when the memory and all
    /// frames in it are gone, on the thread that drops the last of them.
    ///
    /// # Errors
    /// `keep`, if the memory has not the bytes of one WQE.
    ///
    /// # Safety
    /// Until `keep` is dropped, the bytes are valid and registered with `lkey` for the device to write. No other code
    /// writes them, and no Rust reference to them exists. Dropping `keep` does not panic.
    pub unsafe fn over<K: Send + 'static>(
        (start, len): (NonNull<u8>, usize),
        lkey: Lkey,
        strides: Strides,
        keep: K,
    ) -> Result<Self, K> {
        let buffers = u32::try_from(len / strides.wqe_bytes() as usize).unwrap_or(u32::MAX >> 1);
        if buffers == 0 {
            return Err(keep);
        }
        let states = NonNull::from(Box::leak(Box::new_uninit_slice(buffers as usize)));
        let rack = NonNull::from(Box::leak(Box::new(Rack { slab: MaybeUninit::uninit(), states, _keep: keep })));
        let (slab, states) = (rack.cast(), states.cast());
        let parts = SlabParts { slab, states, buffers, start, lkey, strides, release: release::<K> };
        // SAFETY: both were just made, and stay until `release`; the caller vouches for the memory.
        Ok(unsafe { Self::from_parts(parts) })
    }
}

/// Frees a rack.
///
/// # Safety
/// `slab` is that of a `Rack<K>` from the heap, which no other code uses any more.
unsafe fn release<K>(slab: NonNull<Slab>) {
    // SAFETY: leaked in `over`: the slab is the first field. Freed once.
    let rack = unsafe { Box::from_raw(slab.cast::<Rack<K>>().as_ptr()) };
    // SAFETY: leaked in `over`; freed once.
    drop(unsafe { Box::from_raw(rack.states.as_ptr()) });
}
