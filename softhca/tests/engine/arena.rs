//! Memory of a node: a range of addresses with nothing mapped around it.

use std::sync::{Arc, Mutex};

use softhca::memory::{ArrayMemory, DmaFault, HostMemory};

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
    memory: ArrayMemory,
    stores: Arc<Mutex<Vec<Store>>>,
}

impl Arena {
    /// `len` zero bytes.
    pub(crate) fn new(len: usize) -> Self {
        Self { memory: ArrayMemory::filled(BASE, len, 0), stores: Arc::default() }
    }

    /// The device's stores since the last call, in order.
    pub(crate) fn take_stores(&self) -> Vec<Store> {
        std::mem::take(&mut self.stores.lock().unwrap())
    }

    fn note(&self, addr: u64, len: usize, publishes: bool) {
        self.stores.lock().unwrap().push(Store { addr, len, publishes });
    }

    pub(crate) fn read(&self, addr: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.memory.read(addr, &mut bytes).unwrap();
        bytes
    }

    pub(crate) fn write(&self, addr: u64, data: &[u8]) {
        self.memory.write(addr, data).unwrap();
    }
}

impl HostMemory for Arena {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: the caller promises that the memory stays valid until it is unmapped.
        unsafe { self.memory.map(addr, len) }
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        self.memory.unmap(addr, len);
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.memory.read(addr, out)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.note(addr, data.len(), false);
        self.memory.write(addr, data)
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.memory.load_be32(addr)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        self.note(addr, 8, false);
        self.memory.fetch_update_u64(addr, f)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.note(addr, data.len(), true);
        self.memory.write_last_byte_last(addr, data)
    }
}
