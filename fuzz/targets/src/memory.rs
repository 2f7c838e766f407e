//! Memory that a device reaches at fixed addresses, so that an input does the same in every run.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;

use softhca::memory::{DmaFault, HostMemory};

/// The device's address of an arena's first byte.
pub const BASE: u64 = 0x10_0000;

/// Exactly as many bytes as asked for, so that the sanitizer sees every access past them.
#[derive(Clone)]
pub struct Arena(Arc<Allocation>);

struct Allocation {
    ptr: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the pointer owns the memory, and is not tied to a thread.
unsafe impl Send for Allocation {}
// SAFETY: fuzz targets have one thread; each access is a copy, or an `unsafe` argument of whoever took the pointer.
unsafe impl Sync for Allocation {}

impl Arena {
    /// `len` bytes (at least 1) of `fill`.
    pub fn new(len: usize, fill: u8) -> Self {
        assert!(len > 0, "an arena has bytes");
        // No more than queues ask for: the sanitizer keeps freed memory, alignment included, for long.
        let align = len.next_power_of_two().clamp(64, 512);
        let layout = Layout::from_size_align(len, align).expect("a size that fits the address space");
        // SAFETY: the size is not zero.
        let ptr = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: all of the allocation.
        unsafe { ptr.write_bytes(fill, len) };
        Self(Arc::new(Allocation { ptr, layout }))
    }

    /// The first byte, aligned to 64 bytes, and to the arena's size up to 512.
    pub fn ptr(&self) -> NonNull<u8> {
        self.0.ptr
    }

    #[expect(clippy::len_without_is_empty, reason = "an arena has bytes")]
    pub fn len(&self) -> usize {
        self.0.layout.size()
    }

    /// All bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![0; self.len()];
        self.read(BASE, &mut out).expect("all of it");
        out
    }

    /// Overwrites as much from byte `at` (modulo the length) on as fits.
    pub fn scribble(&self, at: usize, data: &[u8]) {
        let at = at % self.len();
        let n = data.len().min(self.len() - at);
        // SAFETY: inside of the allocation; `data` cannot overlap it, since no reference to it exists.
        unsafe { self.ptr().add(at).copy_from_nonoverlapping(NonNull::from(data).cast(), n) };
    }

    fn place(&self, addr: u64, len: usize) -> Result<NonNull<u8>, DmaFault> {
        let fault = DmaFault { addr, len };
        let at = usize::try_from(addr.checked_sub(BASE).ok_or(fault)?).map_err(|_| fault)?;
        if at.checked_add(len).is_none_or(|end| end > self.len()) {
            return Err(fault);
        }
        // SAFETY: inside of the allocation, just checked.
        Ok(unsafe { self.ptr().add(at) })
    }

    fn word<const N: usize>(&self, addr: u64) -> Result<[u8; N], DmaFault> {
        if !addr.is_multiple_of(N as u64) {
            return Err(DmaFault { addr, len: N });
        }
        let mut out = [0; N];
        self.read(addr, &mut out)?;
        Ok(out)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.ptr.as_ptr(), self.layout) };
    }
}

impl HostMemory for Arena {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        self.place(addr, len).map(drop)
    }

    fn unmap(&mut self, _: u64, _: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let from = self.place(addr, out.len())?;
        // SAFETY: `place` checked the range; `out` cannot overlap the arena.
        unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len()) };
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let to = self.place(addr, data.len())?;
        // SAFETY: as in `read`.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(data).cast(), data.len()) };
        Ok(())
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.word(addr).map(u32::from_be_bytes)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        let old = self.word(addr).map(u64::from_ne_bytes)?;
        self.write(addr, &f(old).to_ne_bytes())?;
        Ok(old)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.write(addr, data)
    }
}
