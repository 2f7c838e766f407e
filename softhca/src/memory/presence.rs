//! Whether a range of addresses of this process exists, and whether it can be written.

use std::sync::atomic::{AtomicU8, Ordering};

/// Makes the pages of a range present. `Some(writable)`, or `None` if part of it does not exist or cannot be read.
///
/// Kernels before 5.14 have no `MADV_POPULATE_*`, and emulators may ignore it. Then the kernel's list of mappings
/// tells.
pub(super) fn populate(addr: usize, len: usize) -> Option<bool> {
    let page = page_bytes();
    let start = addr & !(page - 1);
    let len = addr.checked_add(len)?.checked_next_multiple_of(page)? - start;
    if can_populate() {
        return if advise(start, len, libc::MADV_POPULATE_WRITE) {
            Some(true)
        } else {
            advise(start, len, libc::MADV_POPULATE_READ).then_some(false)
        };
    }
    listed(start, start + len)
}

/// Whether `MADV_POPULATE_READ` tells good memory from bad. Threads that ask first find out together: the child of a
/// fork must not wait for one that it does not have.
fn can_populate() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    const NO: u8 = 1;
    const YES: u8 = 2;
    match KNOWN.load(Ordering::Relaxed) {
        0 => {
            let works = populate_works();
            KNOWN.store(if works { YES } else { NO }, Ordering::Relaxed);
            works
        }
        known => known == YES,
    }
}

fn populate_works() -> bool {
    let (page, flags) = (page_bytes(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let [bad, good] = [libc::PROT_NONE, libc::PROT_READ].map(|protection| {
        // SAFETY: a new mapping at an address that the kernel chooses replaces nothing; nothing accesses it.
        let addr = unsafe { libc::mmap(std::ptr::null_mut(), page, protection, flags, -1, 0) };
        if addr == libc::MAP_FAILED {
            return None;
        }
        let populated = advise(addr.addr(), page, libc::MADV_POPULATE_READ);
        // SAFETY: unmaps the mapping made above.
        unsafe { libc::munmap(addr, page) };
        Some(populated)
    });
    // A kernel that does not know the advice refuses both, an emulator that ignores it neither.
    (bad, good) == (Some(false), Some(true))
}

/// `madvise` with an advice that changes no contents. True on success.
fn advise(start: usize, len: usize, advice: libc::c_int) -> bool {
    loop {
        let addr = std::ptr::without_provenance_mut::<libc::c_void>(start);
        // SAFETY: populating changes neither contents nor protection of any range; a bad range is an error.
        if unsafe { libc::madvise(addr, len, advice) } == 0 {
            return true;
        }
        let errno = std::io::Error::last_os_error().raw_os_error();
        if !matches!(errno, Some(libc::EINTR | libc::EAGAIN)) {
            return false;
        }
    }
}

/// [`populate`] by the kernel's list of mappings: the range is whole pages, and no page is made present.
fn listed(start: usize, end: usize) -> Option<bool> {
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let (mut reached, mut writable) = (start, true);
    // By address. Names of files are not always UTF-8.
    for line in String::from_utf8_lossy(&maps).lines() {
        let mut words = line.split([' ', '-']);
        let mut address = || usize::from_str_radix(words.next()?, 16).ok();
        let (first, last) = (address()?, address()?);
        let rights = words.next()?;
        if first <= reached && reached < last && rights.starts_with('r') {
            (reached, writable) = (last, writable && rights.as_bytes().get(1) == Some(&b'w'));
        }
        if reached >= end {
            return Some(writable);
        }
    }
    None
}

/// Bytes in a page of this system.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: no arguments to get wrong.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|b| b.is_power_of_two()).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of these protections, side by side.
    fn pages(protections: &[libc::c_int]) -> (usize, usize) {
        let (page, flags) = (page_bytes(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let len = protections.len() * page;
        // SAFETY: a new mapping at an address that the kernel chooses. It stays until the process ends.
        let addr = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(addr, libc::MAP_FAILED);
        for (n, &protection) in protections.iter().enumerate() {
            // SAFETY: inside of the mapping.
            assert_eq!(unsafe { libc::mprotect(addr.byte_add(n * page), page, protection) }, 0);
        }
        (addr.expose_provenance(), page)
    }

    /// Both ways to find out, where this system has both.
    #[test]
    fn a_range_exists_as_far_as_its_pages_can_be_read() {
        const NONE: libc::c_int = libc::PROT_NONE;
        const READ: libc::c_int = libc::PROT_READ;
        const WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
        let (start, page) = pages(&[NONE, WRITE, WRITE, READ, READ, WRITE, NONE, WRITE]);
        for (pages, expected) in [
            (1..3, Some(true)),
            (2..3, Some(true)),
            (3..5, Some(false)),
            (4..5, Some(false)),
            (2..4, Some(false)),
            (4..6, Some(false)),
            (1..6, Some(false)),
            (0..1, None),
            (0..2, None),
            (5..7, None),
            (5..8, None),
        ] {
            let (first, len) = (start + pages.start * page, pages.len() * page);
            assert_eq!(listed(first, first + len), expected, "{pages:?}");
            assert_eq!(populate(first + 5, len - 9), expected, "{pages:?}");
        }
        assert_eq!(populate(usize::MAX - 7, 5), None);
        assert_eq!(populate(usize::MAX - 7, 9), None);
    }
}
