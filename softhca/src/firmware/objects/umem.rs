//! User memory: pages that a user has registered for queues, doorbell records and translation tables to lie in.

/// Bytes of a page of the device, which page sizes are multiples of (`MLX5_ADAPTER_PAGE_SHIFT`).
pub(crate) const ADAPTER_PAGE_BYTES: u64 = 4096;

/// User memory.
#[derive(Debug)]
pub(crate) struct Umem {
    /// Where the device finds its pages.
    pub(crate) pages: u64,
    /// Bytes of one page, as the driver chose.
    pub(crate) page_bytes: u64,
    /// Where it begins in its first page.
    pub(crate) offset: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// The device may write it.
    pub(crate) writable: bool,
    /// Objects in it.
    pub(crate) users: u32,
}

impl Umem {
    /// Where the device finds `len` bytes at `offset`.
    pub(crate) fn address(&self, offset: u64, len: u64) -> Option<u64> {
        (offset <= self.len && len <= self.len - offset).then(|| self.pages + self.offset + offset)
    }

    /// Where byte `offset` lies in its page.
    pub(crate) fn in_page(&self, offset: u64) -> u64 {
        self.offset.wrapping_add(offset) % self.page_bytes
    }
}
