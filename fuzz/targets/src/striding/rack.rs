//! Buffers from the heap, which says when they are gone.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use blueflame::queue::striding::{BufferState, Slab, SlabParts, StridedMemory, Strides};
use blueflame::types::Lkey;

use super::model::LKEY;
use crate::memory::Arena;

/// All that one memory needs.
#[repr(C)]
struct Rack {
    /// First: its address is that of the rack.
    slab: MaybeUninit<Slab>,
    states: NonNull<[MaybeUninit<BufferState>]>,
    _memory: Arena,
    _alive: Arc<()>,
}

/// Divides an arena into buffers. The token goes when no queue and no frame has the memory any more.
pub(super) fn memory(arena: Arena, strides: Strides) -> (StridedMemory, Weak<()>) {
    let buffers = arena.len() as u32 / strides.wqe_bytes();
    let (start, token) = (arena.ptr(), Arc::new(()));
    let alive = Arc::downgrade(&token);
    let states = NonNull::from(Box::leak(Box::new_uninit_slice(buffers as usize)));
    let rack = Box::new(Rack { slab: MaybeUninit::uninit(), states, _memory: arena, _alive: token });
    let slab = NonNull::from(Box::leak(rack)).cast();
    let parts = SlabParts { slab, states: states.cast(), buffers, start, lkey: Lkey(LKEY), strides, release };
    // SAFETY: the arena and the rack, which stay until `release`; only the model writes, as the device would.
    (unsafe { StridedMemory::from_parts(parts) }, alive)
}

/// Frees a rack.
///
/// # Safety
/// `slab` is a rack's, which no other code uses any more.
unsafe fn release(slab: NonNull<Slab>) {
    // SAFETY: leaked in `memory`; freed once.
    let rack = unsafe { Box::from_raw(slab.cast::<Rack>().as_ptr()) };
    // SAFETY: leaked in `memory`; freed once.
    drop(unsafe { Box::from_raw(rack.states.as_ptr()) });
}
