//! The memory of a program that the device reaches: pinned memory at its place, and windows through the kernel, page by
//! page at each access. The memory of a window may be absent: on-demand paging, files that may be truncated, memory of
//! another process.

#[cfg(target_arch = "x86_64")]
use super::pinned::PinnedMemory;
use crate::process::{Elsewhere, Errno, lock, user};
#[cfg(not(target_arch = "x86_64"))]
use softhca::memory::ProcessMemory as PinnedMemory;
use softhca::memory::{DmaFault, HostMemory};
use softhca_settings::Damage;
use std::sync::{Arc, Mutex};

/// Memory that need not be pinned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    /// Where the device finds it.
    pub(crate) at: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// The other process that it is in; `None` in this one.
    pub(crate) elsewhere: Option<Elsewhere>,
    /// Its address there.
    pub(crate) address: u64,
}

impl Window {
    /// Memory of this process, which the device finds where the program does.
    pub(crate) fn own(address: u64, len: u64) -> Self {
        Self { at: address, len, elsewhere: None, address }
    }

    /// Process and address behind `len` bytes at `at`.
    fn translate(&self, at: u64, len: u64) -> Option<Place> {
        let offset = at.checked_sub(self.at)?;
        let is_inside = offset <= self.len && len <= self.len - offset;
        is_inside.then(|| Place { elsewhere: self.elsewhere.clone(), address: self.address.wrapping_add(offset) })
    }
}

/// Memory behind a window.
struct Place {
    elsewhere: Option<Elsewhere>,
    address: u64,
}

impl Place {
    fn read(&self, out: &mut [u8]) -> Result<(), Errno> {
        match &self.elsewhere {
            None => user::read(self.address, out),
            Some(process) => process.read(self.address, out),
        }
    }

    fn write(&self, data: &[u8]) -> Result<(), Errno> {
        match &self.elsewhere {
            None => user::write(self.address, data),
            Some(process) => process.write(self.address, data),
        }
    }
}

/// All windows of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows(Arc<Mutex<Vec<Window>>>);

impl Windows {
    /// Opens one.
    pub(crate) fn open(&self, window: Window) {
        lock(&self.0).push(window);
    }

    /// Closes one of these.
    pub(crate) fn close(&self, window: &Window) {
        let mut open = lock(&self.0);
        if let Some(index) = open.iter().position(|other| other == window) {
            open.swap_remove(index);
        }
    }

    fn translate(&self, at: u64, len: usize) -> Result<Place, DmaFault> {
        let fault = DmaFault { addr: at, len };
        lock(&self.0).iter().find_map(|window| window.translate(at, len as u64)).ok_or(fault)
    }
}

/// Pinned memory, and windows.
pub(crate) struct UserMemory {
    pinned: PinnedMemory,
    windows: Windows,
    /// `None` of a device that works.
    damage: Option<Damage>,
}

impl UserMemory {
    pub(crate) fn new(windows: Windows, damage: Option<Damage>) -> Self {
        Self { pinned: PinnedMemory::new(), windows, damage }
    }

    fn write_intact(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.pinned
            .write(addr, data)
            .or_else(|fault| self.windows.translate(addr, data.len())?.write(data).map_err(|_| fault))
    }
}

impl HostMemory for UserMemory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: passed on to the caller.
        unsafe { self.pinned.map(addr, len) }
    }

    unsafe fn map_writable(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: passed on to the caller.
        unsafe { self.pinned.map_writable(addr, len) }
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        self.pinned.unmap(addr, len);
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.pinned
            .read(addr, out)
            .or_else(|fault| self.windows.translate(addr, out.len())?.read(out).map_err(|_| fault))
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let damaged = self.damage.as_ref().and_then(|damage| damage.of_data(data));
        self.write_intact(addr, damaged.as_deref().unwrap_or(data))
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        // Doorbell records are always pinned.
        self.pinned.load_be32(addr)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        const BYTES: usize = size_of::<u64>();
        self.pinned.fetch_update_u64(addr, f).or_else(|fault| {
            let Place { elsewhere, address } = self.windows.translate(addr, BYTES)?;
            if elsewhere.is_some() || address % (BYTES as u64) != 0 {
                // No system call makes an atomic access to another process.
                return Err(fault);
            }
            // Pinned for as long as the access takes.
            let mut page = PinnedMemory::new();
            // SAFETY: this function unmaps the mapping before it returns. Mapping makes the page present and says
            // whether it can be written. A program that unmaps the target of an atomic meanwhile makes a mistake, as
            // with pinned memory.
            unsafe { page.map(address, BYTES) }?;
            page.fetch_update_u64(address, f)
        })
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        // So are CQEs.
        let damaged = self.damage.as_ref().and_then(|damage| damage.of_cqe(data));
        self.pinned.write_last_byte_last(addr, damaged.as_deref().unwrap_or(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_bounded_and_closed_one_by_one() {
        let windows = Windows::default();
        let memory = UserMemory::new(windows.clone(), None);
        let bytes = [1_u8, 2, 3, 4];
        let address = bytes.as_ptr() as u64;
        let alias = Window { at: 1 << 63, len: 4, elsewhere: None, address };
        let mut out = [0; 2];
        assert!(memory.read(alias.at, &mut out).is_err());
        windows.open(alias.clone());
        windows.open(alias.clone());
        assert_eq!((memory.read(alias.at + 2, &mut out), out), (Ok(()), [3, 4]));
        assert_eq!(memory.read(alias.at + 3, &mut out), Err(DmaFault { addr: alias.at + 3, len: 2 }));
        assert!(memory.read(alias.at - 1, &mut out).is_err());
        windows.close(&alias);
        assert!(memory.read(alias.at, &mut out).is_ok());
        windows.close(&alias);
        assert!(memory.read(alias.at, &mut out).is_err());
    }

    #[test]
    fn memory_that_is_not_there_is_a_fault_and_no_signal() {
        let windows = Windows::default();
        let memory = UserMemory::new(windows.clone(), None);
        windows.open(Window::own(0, u64::MAX));
        assert!(memory.read(8, &mut [0]).is_err());
        assert!(memory.write(8, &[0]).is_err());
        assert!(memory.fetch_update_u64(8, &mut |word| word).is_err());
        let word = std::cell::UnsafeCell::new(5_u64);
        let address = word.get() as u64;
        assert_eq!(memory.fetch_update_u64(address, &mut |word| word + 1), Ok(5));
        assert_eq!(memory.fetch_update_u64(address, &mut |word| word), Ok(6));
        assert!(memory.fetch_update_u64(address + 4, &mut |word| word).is_err());
    }
}
