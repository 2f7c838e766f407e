//! A pool: maps and registers memory once, at start, and hands it out in pieces.

use crate::verbs::error::in_range;
use crate::verbs::pages::{Pages, map};
use crate::verbs::{Access, Buffer, Error, ProtectionDomain};

/// Pieces begin at multiples of this many bytes: two of x86's cache lines of 64 bytes, one of the 128 bytes of other
/// CPUs. If two buffers shared a line, their threads and the device would take the line from each other.
pub const POOL_ALIGN: usize = 128;

/// Registered memory that is handed out in pieces.
///
/// A pool does not take pieces back. Take what you need at start and keep each thread's free pieces in a `Vec` of its
/// own (`pool.take(64 * 2048)?.chunks(2048)`): then the data path needs neither lock nor allocator.
/// [`crate::verbs::BufferPool`] does that for buffers of one size, and makes more when they are needed.
#[derive(Debug)]
pub struct Pool {
    rest: Buffer,
    capacity: usize,
    pages: Pages,
}

impl Pool {
    /// Maps at least `bytes` bytes, on huge pages if there are any, and registers them. Afterwards every page is
    /// present, except base pages that are registered [`Access::ON_DEMAND`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no bytes, or more than the machine has, which can only be registered on demand; a
    /// failed `mmap` or registration.
    pub fn new(pd: &ProtectionDomain, bytes: usize, access: Access) -> Result<Self, Error> {
        if access.bits() & Access::ON_DEMAND.bits() != 0 {
            in_range("bytes of a pool", bytes as u64, 1..=isize::MAX as u64)?;
        } else {
            in_range("bytes of a pool (this machine's memory)", bytes as u64, 1..=memory_bytes())?;
        }
        let (memory, pages) = map(bytes)?;
        let buffer = pd.register(memory, access)?;
        Ok(Self { capacity: buffer.len(), rest: buffer, pages })
    }

    /// Which pages the memory lies on.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Bytes in all.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes not yet handed out.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Hands out `bytes` bytes, aligned to [`POOL_ALIGN`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no bytes, or more than [`Self::remaining`].
    pub fn take(&mut self, bytes: usize) -> Result<Buffer, Error> {
        in_range("bytes taken from a pool", bytes as u64, 1..=self.remaining() as u64)?;
        // The rest begins at a multiple of the alignment, since every step is one. Its length is a multiple as well,
        // since pages are. So rounding up cannot ask for more than the rest.
        let piece = self.rest.carve(bytes.next_multiple_of(POOL_ALIGN));
        Ok(piece.truncated(bytes))
    }
}

/// Bytes of memory that the machine has: all registered memory is present.
fn memory_bytes() -> u64 {
    // SAFETY: asks the C library for two numbers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    match (u64::try_from(pages), u64::try_from(page)) {
        (Ok(pages), Ok(page)) => pages.saturating_mul(page),
        // Unknown: the kernel will say.
        _ => isize::MAX as u64,
    }
}
