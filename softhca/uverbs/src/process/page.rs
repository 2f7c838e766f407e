//! The kernel's pages.

/// Bytes of a page.
pub(crate) fn page_bytes() -> u64 {
    // SAFETY: takes no pointers.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}
