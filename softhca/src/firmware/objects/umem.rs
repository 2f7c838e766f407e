//! User memory: pages that a user has registered for queues, doorbell records and translation tables to lie in.

/// Bytes of a page of the device, which page sizes are multiples of (`MLX5_ADAPTER_PAGE_SHIFT`).
pub(in crate::firmware) const ADAPTER_PAGE_BYTES: u64 = 4096;

/// User memory.
#[derive(Debug)]
pub(in crate::firmware) struct Umem {
    /// Where the device finds its pages.
    pub(in crate::firmware) pages: u64,
    /// Where it begins in its first page.
    pub(in crate::firmware) offset: u64,
    /// Bytes.
    pub(in crate::firmware) len: u64,
    /// The device may write it.
    pub(in crate::firmware) writable: bool,
    /// Objects in it.
    pub(in crate::firmware) users: u32,
}

impl Umem {
    /// Where the device finds `len` bytes at `offset`.
    pub(in crate::firmware) fn address(&self, offset: u64, len: u64) -> Option<u64> {
        (offset <= self.len && len <= self.len - offset).then(|| self.pages + self.offset + offset)
    }
}
