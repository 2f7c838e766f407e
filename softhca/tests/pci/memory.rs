//! A host's memory: one array that host and device share.

use softhca::memory::{DmaFault, HostMemory};
use std::sync::{Arc, Mutex, MutexGuard};

/// Address of the first byte.
pub(crate) const BASE: u64 = 0x4000_0000;
/// Bytes.
pub(crate) const BYTES: usize = 16 << 20;

/// The array. Clones are the same.
#[derive(Clone)]
pub(crate) struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(vec![0; BYTES])))
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().expect("nobody has panicked")
    }

    fn range(addr: u64, len: usize) -> Result<std::ops::Range<usize>, DmaFault> {
        let fault = DmaFault { addr, len };
        let start = usize::try_from(addr.checked_sub(BASE).ok_or(fault)?).map_err(|_| fault)?;
        let end = start.checked_add(len).filter(|&end| end <= BYTES).ok_or(fault)?;
        Ok(start..end)
    }

    /// What is there.
    pub(crate) fn get(&self, addr: u64, len: usize) -> Vec<u8> {
        self.bytes()[Self::range(addr, len).expect("in memory")].to_vec()
    }

    /// Stores.
    pub(crate) fn put(&self, addr: u64, bytes: &[u8]) {
        self.bytes()[Self::range(addr, bytes.len()).expect("in memory")].copy_from_slice(bytes);
    }
}

impl HostMemory for Memory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        Self::range(addr, len).map(drop)
    }

    fn unmap(&mut self, _addr: u64, _len: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        out.copy_from_slice(&self.bytes()[Self::range(addr, out.len())?]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.bytes()[Self::range(addr, data.len())?].copy_from_slice(data);
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
