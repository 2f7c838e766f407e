//! Memory that the object maps for itself.

use super::{Errno, real};
use std::os::fd::RawFd;

/// A mapping, past the object's own `mmap`, until it is dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    at: *mut libc::c_void,
    len: usize,
}

// SAFETY: the mapping belongs to no thread. Its users access the bytes by atomic words, or by system calls.
unsafe impl Send for Mapping {}
// SAFETY: the mapping belongs to no thread. Its users access the bytes by atomic words, or by system calls.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes at `offset` of the file `fd`, shared, to read and write.
    pub(crate) fn of(fd: RawFd, offset: u64, len: usize) -> Result<Self, Errno> {
        Self::with(libc::PROT_READ | libc::PROT_WRITE, fd, offset, len)
    }

    /// Maps them with this protection.
    pub(crate) fn with(protection: libc::c_int, fd: RawFd, offset: u64, len: usize) -> Result<Self, Errno> {
        let offset = libc::off_t::try_from(offset).map_err(|_| Errno::EINVAL)?;
        // SAFETY: a new mapping at an address that the kernel chooses replaces nothing.
        let at = unsafe { real::mmap(std::ptr::null_mut(), len, protection, libc::MAP_SHARED, fd, offset) };
        if at == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(Self { at, len }) }
    }

    /// Its first byte.
    pub(crate) fn at(&self) -> *mut libc::c_void {
        self.at
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: unmaps what `with` mapped, once.
        unsafe { real::munmap(self.at, self.len) };
    }
}
