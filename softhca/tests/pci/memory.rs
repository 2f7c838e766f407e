//! A host's memory: one array that host and device share.

use softhca::memory::ArrayMemory;

/// Address of the first byte.
pub(crate) const BASE: u64 = 0x4000_0000;
/// Bytes.
pub(crate) const BYTES: usize = 16 << 20;

/// The array, by addresses as the device has them. Clones are the same.
#[derive(Clone)]
pub(crate) struct Memory(pub(crate) ArrayMemory);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(ArrayMemory::filled(BASE, BYTES, 0))
    }

    /// What is there.
    pub(crate) fn get(&self, addr: u64, len: usize) -> Vec<u8> {
        self.0.bytes()[(addr - BASE) as usize..][..len].to_vec()
    }

    /// Stores.
    pub(crate) fn put(&self, addr: u64, bytes: &[u8]) {
        self.0.put((addr - BASE) as usize, bytes);
    }
}
