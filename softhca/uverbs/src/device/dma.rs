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
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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

    /// Its place among all windows.
    fn key(&self) -> (u32, u64) {
        (self.len.max(1).ilog2(), self.at)
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

/// All windows of a device, by log2 of their length and then by place. A window that has a byte begins at most its
/// length before that byte. So few windows of any length come into question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Windows(Arc<Mutex<ByPlace>>);

/// Windows by log2 of their length, and then by place.
type ByPlace = BTreeMap<(u32, u64), Vec<Window>>;

impl Windows {
    /// Opens one.
    pub(crate) fn open(&self, window: Window) {
        lock(&self.0).entry(window.key()).or_default().push(window);
    }

    /// Closes one of these.
    pub(crate) fn close(&self, window: &Window) {
        let mut open = lock(&self.0);
        let Entry::Occupied(mut there) = open.entry(window.key()) else { return };
        if let Some(index) = there.get().iter().position(|other| other == window) {
            there.get_mut().swap_remove(index);
        }
        if there.get().is_empty() {
            there.remove();
        }
    }

    fn translate(&self, at: u64, len: usize) -> Result<Place, DmaFault> {
        let open = lock(&self.0);
        let mut next = open.first_key_value();
        while let Some((&(log, _), _)) = next {
            // The longest of this length, less a byte.
            let longest = u64::MAX >> (u64::BITS - 1 - log);
            let near = open.range((log, at.saturating_sub(longest))..=(log, at)).rev();
            if let Some(place) = near.flat_map(|(_, same)| same).find_map(|window| window.translate(at, len as u64)) {
                return Ok(place);
            }
            next = open.range((log + 1, 0)..).next();
        }
        Err(DmaFault { addr: at, len })
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

    fn is_of_process(&self, addr: u64, len: usize, write: bool) -> bool {
        // What peers write past the device comes undamaged.
        self.damage.is_none() && self.pinned.is_of_process(addr, len, write)
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
        // Doorbell records are pinned, but for those in a file, which may be a dma-buf. The kernel copies such a word, which
        // is aligned, in one piece.
        self.pinned.load_be32(addr).or_else(|fault| {
            let mut word = [0; 4];
            let place = self.windows.translate(addr, word.len()).ok().filter(|_| addr % 4 == 0).ok_or(fault)?;
            place.read(&mut word).map_err(|_| fault)?;
            Ok(u32::from_be_bytes(word))
        })
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
        // CQEs are where records are.
        let damaged = self.damage.as_ref().and_then(|damage| damage.of_cqe(data));
        let data = damaged.as_deref().unwrap_or(data);
        self.pinned.write_last_byte_last(addr, data).or_else(|fault| {
            let place = self.windows.translate(addr, data.len()).map_err(|_| fault)?;
            let Some((last, before)) = data.split_last() else { return Ok(()) };
            place.write(before).map_err(|_| fault)?;
            let end = Place { address: place.address + before.len() as u64, ..place };
            end.write(&[*last]).map_err(|_| fault)
        })
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
    fn a_window_is_found_among_others_of_any_length() {
        let windows = Windows::default();
        let window = |at, len| Window { at, len, elsewhere: None, address: at.wrapping_add(1 << 40) };
        let all = [(0, 1), (8, 8), (12, 8), (16, 1), (16, 15), (100, 1000), (1 << 63, 1 << 62), (u64::MAX - 7, 7)];
        all.into_iter().for_each(|(at, len)| windows.open(window(at, len)));
        let found = |at, len| windows.translate(at, len).is_ok();
        for (at, len) in all {
            assert!(found(at, len as usize) && found(at + len - 1, 1) && found(at + len, 0), "{len} bytes at {at:#x}");
        }
        assert!(
            [(1, 1), (7, 2), (31, 1), (99, 2), (1099, 2), (u64::MAX - 7, 8)].iter().all(|&(at, len)| !found(at, len))
        );
        assert!(found(13, 7) && !found(11, 10), "no access is in two windows");
        windows.close(&window(12, 8));
        assert!(found(12, 4) && !found(13, 7));
        windows.open(window(0, u64::MAX));
        assert!(found(11, 10) && found(u64::MAX - 7, 7));
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
