//! Host memory that is an array at a fixed address.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::host_memory::{DmaFault, HostMemory};

/// Host memory that is one array: for tests, and for simulated hosts. The device reaches all of it from the beginning,
/// and nothing else. Clones are the same memory.
#[derive(Clone, Debug)]
pub struct ArrayMemory {
    base: u64,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl ArrayMemory {
    /// `len` bytes of value `byte`, the first of which has address `base`.
    #[must_use]
    pub fn filled(base: u64, len: usize, byte: u8) -> Self {
        Self { base, bytes: Arc::new(Mutex::new(vec![byte; len])) }
    }

    /// All bytes. The device waits while the guard lives.
    pub fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        // A panic of another thread leaves bytes behind, all of which are values.
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores `data` at byte `at` of the array.
    ///
    /// # Panics
    /// If it does not fit, as indexing a slice would.
    pub fn put(&self, at: usize, data: &[u8]) {
        self.bytes()[at..][..data.len()].copy_from_slice(data);
    }

    /// The place of `len` bytes at `addr` in the array, which has `size` bytes.
    fn range(&self, addr: u64, len: usize, size: usize) -> Result<Range<usize>, DmaFault> {
        let fault = DmaFault { addr, len };
        let start = usize::try_from(addr.checked_sub(self.base).ok_or(fault)?).map_err(|_| fault)?;
        let end = start.checked_add(len).filter(|&end| end <= size).ok_or(fault)?;
        Ok(start..end)
    }

    /// Replaces the word at `addr` by `f` of it; returns the old one.
    fn update<const N: usize>(&self, addr: u64, f: impl FnOnce([u8; N]) -> [u8; N]) -> Result<[u8; N], DmaFault> {
        if addr % (N as u64) != 0 {
            return Err(DmaFault { addr, len: N });
        }
        let mut bytes = self.bytes();
        let range = self.range(addr, N, bytes.len())?;
        let mut old = [0; N];
        old.copy_from_slice(&bytes[range.clone()]);
        bytes[range].copy_from_slice(&f(old));
        Ok(old)
    }
}

/// The lock orders all accesses, so each is atomic, and later ones see it whole.
impl HostMemory for ArrayMemory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        let size = self.bytes().len();
        self.range(addr, len, size).map(drop)
    }

    fn unmap(&mut self, _addr: u64, _len: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let bytes = self.bytes();
        out.copy_from_slice(&bytes[self.range(addr, out.len(), bytes.len())?]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let mut bytes = self.bytes();
        let range = self.range(addr, data.len(), bytes.len())?;
        bytes[range].copy_from_slice(data);
        Ok(())
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.update(addr, |word| word).map(u32::from_be_bytes)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.update(addr, |word| f(u64::from_ne_bytes(word)).to_ne_bytes()).map(u64::from_ne_bytes)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.write(addr, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_access_is_bounded_and_aligned() {
        const BASE: u64 = 0x1000;
        let mut memory = ArrayMemory::filled(BASE, 16, 0xa5);
        let other = memory.clone();
        memory.put(8, &7_u64.to_ne_bytes());
        for (addr, len) in [(BASE - 1, 1), (BASE + 16, 1), (BASE + 9, 8), (0, 0), (u64::MAX, 8)] {
            let (fault, mut bytes) = (Err(DmaFault { addr, len }), vec![0; len]);
            assert_eq!(other.read(addr, &mut bytes), fault);
            assert_eq!(other.write(addr, &bytes), fault);
            assert_eq!(other.write_last_byte_last(addr, &bytes), fault);
            // SAFETY: nothing is mapped.
            assert_eq!(unsafe { memory.map(addr, len) }, fault);
        }
        assert_eq!(other.write(BASE + 16, &[]), Ok(()));
        for (addr, len) in [(BASE + 2, 4), (BASE + 16, 4), (BASE - 4, 4)] {
            assert_eq!(other.load_be32(addr), Err(DmaFault { addr, len }));
        }
        for (addr, len) in [(BASE + 4, 8), (BASE + 16, 8)] {
            assert_eq!(other.fetch_update_u64(addr, &mut |_| 0), Err(DmaFault { addr, len }));
        }
        assert_eq!(other.load_be32(BASE + 4), Ok(0xa5a5_a5a5));
        assert_eq!(other.fetch_update_u64(BASE + 8, &mut |old| old + 1), Ok(7));
        assert_eq!(memory.bytes()[..], [&[0xa5; 8][..], &8_u64.to_ne_bytes()].concat());
    }
}
