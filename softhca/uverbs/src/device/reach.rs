//! Memory of the program that the device can reach as long as somebody holds on to it: pinned, or by a window.

use super::dma::Window;
use super::hca::Hca;
use crate::process::{Errno, Locked};
use std::sync::Arc;

/// Pinned memory.
pub(crate) struct Pinned {
    hca: Arc<Hca>,
    address: u64,
    len: usize,
    locked: Arc<Locked>,
}

impl Pinned {
    /// Pins `len` bytes at `address` that the device reads.
    pub(crate) fn to_read(hca: &Arc<Hca>, address: u64, len: u64) -> Result<Self, Errno> {
        Self::new(hca, address, len, false)
    }

    /// Pins `len` bytes at `address`. If the device is to write them (`write`), the process must have that right, too:
    /// `EFAULT` otherwise, as from Linux (`ib_umem_get`).
    pub(crate) fn new(hca: &Arc<Hca>, address: u64, len: u64, write: bool) -> Result<Self, Errno> {
        let locked = hca.lock_pages(address, len)?;
        Self::counted(hca, address, len, Arc::new(locked), write)
    }

    /// Pins `len` bytes at `address`, which `locked` counts.
    pub(crate) fn counted(
        hca: &Arc<Hca>,
        address: u64,
        len: u64,
        locked: Arc<Locked>,
        write: bool,
    ) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::EFAULT)?;
        // SAFETY: the program registers its own memory and, as with every RDMA device, keeps it until it has destroyed
        // the object. libmlx5 keeps rings and records, and verbs requires it for regions.
        unsafe { hca.pin(address, len, write) }?;
        Ok(Self { hca: hca.clone(), address, len, locked })
    }

    /// Pins the same memory for writing, too. `EFAULT` if the process cannot write it.
    pub(crate) fn for_writing(&self) -> Result<Self, Errno> {
        Self::counted(&self.hca, self.address, self.len as u64, self.locked.clone(), true)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.hca.unpin(self.address, self.len);
    }
}

/// A window of the device's, until this is dropped.
pub(crate) struct Opened {
    hca: Arc<Hca>,
    window: Window,
}

impl Opened {
    pub(crate) fn new(hca: &Arc<Hca>, window: Window) -> Self {
        hca.windows.open(window.clone());
        Self { hca: hca.clone(), window }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.hca.windows.close(&self.window);
    }
}
