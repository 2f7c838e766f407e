//! Memory of a node: a range of addresses with nothing mapped around it.

use std::sync::{Arc, Mutex, MutexGuard};

use softhca::memory::{DmaFault, HostMemory};

/// First address of each node's memory; below is nothing.
pub(crate) const BASE: u64 = 0x10_0000;

/// Something that the device has stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Store {
    pub(crate) addr: u64,
    pub(crate) len: usize,
    /// So that its last byte is seen last.
    pub(crate) publishes: bool,
}

/// Memory of one node. Clones are the same memory.
#[derive(Clone)]
pub(crate) struct Arena {
    bytes: Arc<Mutex<Vec<u8>>>,
    stores: Arc<Mutex<Vec<Store>>>,
}

impl Arena {
    /// `len` zero bytes.
    pub(crate) fn new(len: usize) -> Self {
        Self { bytes: Arc::new(Mutex::new(vec![0; len])), stores: Arc::default() }
    }

    /// What the device has stored since the last call, in order.
    pub(crate) fn take_stores(&self) -> Vec<Store> {
        std::mem::take(&mut self.stores.lock().unwrap())
    }

    fn note(&self, addr: u64, len: usize, publishes: bool) {
        self.stores.lock().unwrap().push(Store { addr, len, publishes });
    }

    fn put(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let mut bytes = self.bytes();
        let range = Self::range(addr, data.len(), bytes.len())?;
        bytes[range].copy_from_slice(data);
        Ok(())
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap()
    }

    fn range(addr: u64, len: usize, size: usize) -> Result<std::ops::Range<usize>, DmaFault> {
        let fault = DmaFault { addr, len };
        let start = addr.checked_sub(BASE).ok_or(fault)? as usize;
        match start.checked_add(len) {
            Some(end) if end <= size => Ok(start..end),
            _ => Err(fault),
        }
    }

    pub(crate) fn read(&self, addr: u64, len: usize) -> Vec<u8> {
        let bytes = self.bytes();
        bytes[Self::range(addr, len, bytes.len()).unwrap()].to_vec()
    }

    pub(crate) fn write(&self, addr: u64, data: &[u8]) {
        self.put(addr, data).unwrap();
    }
}

impl HostMemory for Arena {
    unsafe fn map(&mut self, _: u64, _: usize) -> Result<(), DmaFault> {
        Ok(())
    }

    fn unmap(&mut self, _: u64, _: usize) {}

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let bytes = self.bytes();
        out.copy_from_slice(&bytes[Self::range(addr, out.len(), bytes.len())?]);
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.note(addr, data.len(), false);
        self.put(addr, data)
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        let mut word = [0; 4];
        HostMemory::read(self, addr, &mut word)?;
        Ok(u32::from_be_bytes(word))
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        let mut word = [0; 8];
        HostMemory::read(self, addr, &mut word)?;
        let old = u64::from_ne_bytes(word);
        HostMemory::write(self, addr, &f(old).to_ne_bytes())?;
        Ok(old)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.note(addr, data.len(), true);
        self.put(addr, data)
    }
}
