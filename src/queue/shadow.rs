//! Private memory of queues, on the heap.
use core::mem::MaybeUninit;
use core::ptr::NonNull;

/// Private memory of a queue: a record for each request, which `from_parts` takes as `shadow`. Freed when dropped, which
/// must be after the queue.
///
/// A pointer rather than a `Box`, because the queue keeps a pointer as well, and a `Box` that moves would claim the
/// memory as its own again.
#[derive(Debug)]
pub struct Shadow<T>(NonNull<[MaybeUninit<T>]>);

// SAFETY: memory without an owner thread; the records are plain data.
unsafe impl<T: Send> Send for Shadow<T> {}
// SAFETY: `&self` gives out nothing but an address.
unsafe impl<T: Send> Sync for Shadow<T> {}

impl<T> Shadow<T> {
    /// Memory for this many records, uninitialized.
    #[must_use]
    pub fn new(records: u32) -> Self {
        let records: Box<[MaybeUninit<T>]> = Box::new_uninit_slice(records as usize);
        Self(NonNull::from(Box::leak(records)))
    }

    /// The first record.
    #[must_use]
    pub fn start(&self) -> NonNull<MaybeUninit<T>> {
        self.0.cast()
    }
}

impl<T> Drop for Shadow<T> {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`, freed once. The queue over it was dropped before, as whoever made the queue promised.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
