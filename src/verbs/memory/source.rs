//! Memory that can be registered. Knows no registration.

use core::ptr::NonNull;

/// Memory that can be registered: it stays where it is and is accessible through no reference while it is registered.
///
/// # Safety
/// [`Self::range`] always gives the same range, which is valid for reads and writes from when the value is made until
/// it is dropped, moved or not. During that time, no other code reads or writes it through a Rust reference, or by
/// pointer at the same time as a [`Buffer`](super::buffer::Buffer) of it does. The buffers of a second registration of
/// the same memory count as other code.
pub unsafe trait Memory: Send + 'static {
    /// The first byte and the number of bytes.
    fn range(&mut self) -> (NonNull<u8>, usize);
}

// SAFETY: a map stays where it is until it is dropped, and only its owner can borrow from it; the owner is the
// registration, which does not.
unsafe impl Memory for memmap2::MmapMut {
    fn range(&mut self) -> (NonNull<u8>, usize) {
        (NonNull::new(self.as_mut_ptr()).unwrap_or(NonNull::dangling()), self.len())
    }
}

/// Memory of the caller's, by address: a framework's huge pages, shared memory, the stack of a `'static` thread.
#[derive(Debug)]
pub struct RawMemory {
    start: NonNull<u8>,
    len: usize,
}

impl RawMemory {
    /// Takes charge of `len` bytes at `start`.
    ///
    /// # Safety
    /// The memory is valid for reads and writes until every [`Buffer`](super::buffer::Buffer) of the registration is
    /// dropped. Until then, no other code accesses it through a Rust reference, or by pointer at the same time as such
    /// a buffer does. A caller that registers the same memory twice keeps the two registrations apart. The memory may
    /// belong to any allocator and is not freed.
    #[must_use]
    pub const unsafe fn new(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }
}

// SAFETY: an address and a length; the contract of `new` covers the memory.
unsafe impl Send for RawMemory {}

// SAFETY: the contract of `new`.
unsafe impl Memory for RawMemory {
    fn range(&mut self) -> (NonNull<u8>, usize) {
        (self.start, self.len)
    }
}
