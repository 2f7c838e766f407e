//! Memory that an embedded device owns: rings, doorbell records, buffers.

use crate::memory::shared_copy::{copy_in, copy_out};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

/// Zeroed memory that the device and the host share, reached by pointer only.
#[derive(Debug)]
pub(super) struct Allocation {
    ptr: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the pointer is the only handle to memory that this value owns, and is not tied to a thread.
unsafe impl Send for Allocation {}
// SAFETY: a shared reference gives the address only; each access through it is an `unsafe` argument of its own.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// `len` bytes (at least 1), aligned to `align`, a power of two.
    ///
    /// # Panics
    /// If the size does not fit the address space.
    pub(super) fn new(len: usize, align: usize) -> Self {
        let layout = Layout::from_size_align(len.max(1), align).expect("a size that fits the address space");
        // SAFETY: the layout's size is not zero.
        let ptr = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Self { ptr, layout }
    }

    pub(super) fn ptr(&self) -> NonNull<u8> {
        self.ptr
    }

    pub(super) fn len(&self) -> usize {
        self.layout.size()
    }

    /// The address as the device names it.
    pub(super) fn addr(&self) -> u64 {
        self.ptr.as_ptr().expose_provenance() as u64
    }

    /// Copies `data` to byte `at`; panics if it does not fit.
    pub(super) fn write(&self, at: usize, data: &[u8]) {
        self.check(at, data.len());
        // SAFETY: inside of the allocation; `data` cannot overlap it, since no reference to it exists. A device that
        // accesses the same bytes now may see or leave any mix of old and new, as with any DMA.
        unsafe { copy_in(data, self.ptr.as_ptr().add(at)) };
    }

    /// Copies from byte `at`; panics if that goes past the end.
    pub(super) fn read(&self, at: usize, out: &mut [u8]) {
        self.check(at, out.len());
        // SAFETY: as in `write`.
        unsafe { copy_out(self.ptr.as_ptr().add(at), out.as_mut_ptr(), out.len()) };
    }

    fn check(&self, at: usize, len: usize) {
        let fits = at.checked_add(len).is_some_and(|end| end <= self.len());
        assert!(fits, "{len} bytes at {at} of memory of {} bytes", self.len());
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout.
        unsafe { dealloc(self.ptr.as_ptr(), self.layout) };
    }
}

/// Registered memory. The device shares its ownership until the key is destroyed or the device is dropped, so a WQE
/// cannot name freed memory. Contents are copied in and out, since the device may write to it at any step.
///
/// Only one owner may write at a time, as with `&mut`. The device's accesses are byte-wise atomic copies, as those of
/// these methods are.
///
/// ```compile_fail,E0599
/// fn race(buffer: softhca::embedded::Buffer) {
///     let other = buffer.clone();
/// }
/// ```
/// ```compile_fail,E0596
/// fn race(buffer: &softhca::embedded::Buffer) {
///     buffer.write(0, b"from two threads");
/// }
/// ```
#[derive(Debug)]
pub struct Buffer {
    pub(super) memory: Arc<Allocation>,
    pub(super) key: u32,
}

impl Buffer {
    /// First byte. Aligned to a page.
    #[must_use]
    pub fn ptr(&self) -> NonNull<u8> {
        self.memory.ptr()
    }

    /// Address of the first byte, as data segments and peers name it.
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.memory.addr()
    }

    /// Bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Always `false`: a buffer has at least one byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Key for the host's own requests.
    #[must_use]
    pub fn lkey(&self) -> u32 {
        self.key
    }

    /// Key for peers.
    #[must_use]
    pub fn rkey(&self) -> u32 {
        self.key
    }

    /// Copies `data` to byte `at`.
    ///
    /// # Panics
    /// If that goes past the end.
    pub fn write(&mut self, at: usize, data: &[u8]) {
        self.memory.write(at, data);
    }

    /// Copies from byte `at`.
    ///
    /// # Panics
    /// If that goes past the end.
    pub fn read(&self, at: usize, out: &mut [u8]) {
        self.memory.read(at, out);
    }

    /// `len` bytes from byte `at`.
    ///
    /// # Panics
    /// If that goes past the end.
    #[must_use]
    pub fn to_vec(&self, at: usize, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        self.read(at, &mut out);
        out
    }
}
