//! Registered memory: the caller's own, and buffers of the device's.

use super::device::{EmbeddedDevice, Region};
use super::memory::{Allocation, Buffer};
use super::parts::ConnectOptions;
use crate::context::{Access, MkeyContext};
use crate::error::{Error, Object};
use crate::memory::page_bytes;
use std::ptr::NonNull;
use std::sync::Arc;

impl EmbeddedDevice {
    /// Registers memory of the caller; returns its key.
    ///
    /// # Errors
    /// [`Error::Dma`] if the memory does not exist; [`Error::BadValue`] for access rights that contradict each other.
    ///
    /// # Safety
    /// The memory stays valid until [`Self::deregister`] or until the device is dropped: for reads and, if `access` or
    /// a QP permit writing, for writes. Nothing holds a Rust reference to it while the device works.
    pub unsafe fn register(&mut self, ptr: NonNull<u8>, len: usize, access: Access) -> Result<u32, Error> {
        let addr = ptr.as_ptr().expose_provenance() as u64;
        // SAFETY: the caller promises that the memory stays valid until it is deregistered, and that nobody has a
        // reference to it.
        unsafe { self.register_region(Region { addr, len, _memory: None }, access) }
    }

    /// Maps a region, makes a key for it and keeps both.
    ///
    /// # Safety
    /// As for [`Self::register`].
    unsafe fn register_region(&mut self, region: Region, access: Access) -> Result<u32, Error> {
        let Region { addr, len, .. } = region;
        // SAFETY: the caller promises that the memory stays valid until it is deregistered, which unmaps it.
        unsafe { self.device.memory().map(addr, len) }?;
        let context = MkeyContext { pd: self.pd, iova: addr, addr, len: len as u64, access };
        let key = self.device.create_mkey(context).inspect_err(|_| self.device.memory().unmap(addr, len))?;
        self.regions.insert(key, region);
        Ok(key)
    }

    /// Undoes [`Self::register`], or ends the device's use of a [`Buffer`].
    ///
    /// # Errors
    /// [`Error::NoSuch`] for keys that were not made so, or no longer are.
    pub fn deregister(&mut self, key: u32) -> Result<(), Error> {
        let missing = Error::NoSuch { object: Object::Mkey, number: key };
        let region = self.regions.remove(&key).ok_or(missing)?;
        // Gone already if the caller destroyed it on the device; the memory is to be unmapped all the same.
        let destroyed = self.device.destroy_mkey(key);
        self.device.memory().unmap(region.addr, region.len);
        destroyed
    }

    /// `len` bytes of registered memory, zeroed. With every access right: [`Self::buffer_with`] takes others.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn buffer(&mut self, len: usize) -> Result<Buffer, Error> {
        self.buffer_with(len, ConnectOptions::default().access)
    }

    /// `len` bytes (at least 1) of registered memory, zeroed.
    ///
    /// # Errors
    /// [`Error::BadValue`] for access rights that contradict each other; [`Error::Exhausted`].
    pub fn buffer_with(&mut self, len: usize, access: Access) -> Result<Buffer, Error> {
        let memory = Arc::new(Allocation::new(len, page_bytes()));
        let region = Region { addr: memory.addr(), len: memory.len(), _memory: Some(Arc::clone(&memory)) };
        // SAFETY: the allocation is kept in `regions` until the key is gone, and nobody makes a reference to it.
        let key = unsafe { self.register_region(region, access) }?;
        Ok(Buffer { memory, key })
    }
}
