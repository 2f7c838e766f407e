//! Private memory of queues.

use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// A queue's private record of each request. Freed when dropped.
///
/// A pointer rather than a `Box`: the queue also keeps a pointer, and a `Box` that moves would claim the memory as its
/// own again.
#[derive(Debug)]
pub(super) struct Shadow<T>(NonNull<[MaybeUninit<T>]>);

// SAFETY: memory without an owner thread; the records are plain data.
unsafe impl<T: Send> Send for Shadow<T> {}
// SAFETY: `&self` gives out nothing but an address.
unsafe impl<T: Send> Sync for Shadow<T> {}

impl<T> Shadow<T> {
    pub(super) fn new(len: u32) -> Self {
        let records: Box<[MaybeUninit<T>]> = Box::new_uninit_slice(len as usize);
        Self(NonNull::from(Box::leak(records)))
    }

    pub(super) fn start(&self) -> NonNull<MaybeUninit<T>> {
        self.0.cast()
    }
}

impl<T> Drop for Shadow<T> {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`, freed once; the queue over it is dropped before (see `Owned`).
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
