//! Anonymous memory on huge pages, if there are any. Knows no device.

use crate::verbs::CallError;
use crate::verbs::error::failed;

/// log2 of a huge page of 2 MiB, the size x86-64 and (with 4 KiB base pages) aarch64 have.
pub(in crate::verbs) const HUGE_PAGE_BITS: u8 = 21;

/// Which pages a pool got. Fewer pages mean fewer translations for the device to fetch and to cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Huge pages of 2 MiB that the administrator had set aside (`vm.nr_hugepages`).
    Huge,
    /// Base pages, with the kernel asked to put huge ones underneath (transparent huge pages) if it can.
    Transparent,
    /// Base pages: this kernel has no transparent huge pages.
    Base,
}

impl Pages {
    /// Maps anonymous memory of at least `bytes` bytes, all zero; huge pages are present at once.
    ///
    /// # Errors
    /// A failed `mmap`.
    pub fn map(bytes: usize) -> Result<(memmap2::MmapMut, Self), CallError> {
        map(bytes)
    }
}

/// As [`Pages::map`].
pub(in crate::verbs) fn map(bytes: usize) -> Result<(memmap2::MmapMut, Pages), CallError> {
    // SAFETY: asks the C library for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let too_much = CallError { call: "mmap", errno: libc::ENOMEM };
    let huge = bytes.checked_next_multiple_of(1 << HUGE_PAGE_BITS).ok_or(too_much)?;
    // Fails with ENOMEM when fewer huge pages are free, EINVAL when the kernel has none of this size.
    if let Ok(memory) = memmap2::MmapOptions::new().len(huge).huge(Some(HUGE_PAGE_BITS)).populate().map_anon() {
        return Ok((memory, Pages::Huge));
    }
    let memory =
        memmap2::MmapOptions::new().len(bytes.next_multiple_of(page)).map_anon().map_err(|e| failed("mmap", &e))?;
    // Before the first touch, which decides the size of the pages.
    let pages = match memory.advise(memmap2::Advice::HugePage) {
        Ok(()) => Pages::Transparent,
        Err(_) => Pages::Base,
    };
    // Registration pins every page, which makes it present, unless it is on demand.
    Ok((memory, pages))
}
