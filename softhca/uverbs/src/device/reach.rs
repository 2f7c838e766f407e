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
    _locked: Arc<Locked>,
}

impl Pinned {
    /// Pins `len` bytes at `address`.
    pub(crate) fn new(hca: &Arc<Hca>, address: u64, len: u64) -> Result<Self, Errno> {
        let locked = Locked::new(hca.settings.memlock, address, len)?;
        Self::counted(hca, address, len, Arc::new(locked))
    }

    /// Pins `len` bytes at `address`, which `locked` counts.
    pub(crate) fn counted(hca: &Arc<Hca>, address: u64, len: u64, locked: Arc<Locked>) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::EFAULT)?;
        // SAFETY: the program registers its own memory and, as with every RDMA device, keeps it until it has destroyed
        // the object. libmlx5 keeps rings and records, and verbs requires it for regions.
        unsafe { hca.pin(address, len) }?;
        Ok(Self { hca: hca.clone(), address, len, _locked: locked })
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
