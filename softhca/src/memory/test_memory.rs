//! Host memory for unit tests: one array at a fixed address.

use super::host_memory::{DmaFault, HostMemory};
use std::sync::{Mutex, MutexGuard};

/// Address of the first byte.
pub(crate) const BASE: u64 = 0x7f00_0000_0000;

/// An array at [`BASE`].
pub(crate) struct TestMemory(Mutex<Vec<u8>>);

impl TestMemory {
    pub(crate) fn filled(len: usize, byte: u8) -> Self {
        Self(Mutex::new(vec![byte; len]))
    }

    pub(crate) fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap()
    }

    /// Stores data of any length at an offset.
    pub(crate) fn put(&self, at: usize, data: &[u8]) {
        self.bytes()[at..at + data.len()].copy_from_slice(data);
    }

    fn range(&self, addr: u64, len: usize) -> Result<std::ops::Range<usize>, DmaFault> {
        let fault = DmaFault { addr, len };
        let start = usize::try_from(addr.checked_sub(BASE).ok_or(fault)?).map_err(|_| fault)?;
        let end = start.checked_add(len).filter(|&end| end <= self.bytes().len()).ok_or(fault)?;
        Ok(start..end)
    }
}

impl HostMemory for TestMemory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        self.range(addr, len).map(drop)
    }

    fn unmap(&mut self, _addr: u64, _len: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let range = self.range(addr, out.len())?;
        out.copy_from_slice(&self.bytes()[range]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let range = self.range(addr, data.len())?;
        self.bytes()[range].copy_from_slice(data);
        Ok(())
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        let mut word = [0; 4];
        self.read(addr, &mut word)?;
        Ok(u32::from_be_bytes(word))
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        let mut word = [0; 8];
        self.read(addr, &mut word)?;
        let old = u64::from_ne_bytes(word);
        self.write(addr, &f(old).to_ne_bytes())?;
        Ok(old)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.write(addr, data)
    }
}
