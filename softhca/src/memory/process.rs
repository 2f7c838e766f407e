//! Host memory that is the memory of the device's own process: addresses are pointers.
//!
//! The device touches only ranges that were mapped. `map` makes the pages present and finds out whether they can be
//! written. So a bad address is an error of `map`, and not a signal when a packet arrives.

use super::host_memory::{DmaFault, HostMemory};
use super::presence::populate;
use super::shared_copy::{copy_in, copy_out};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::atomic::{AtomicU8, Ordering, fence};

/// A stretch of addresses that is mapped the same way throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    end: u64,
    /// How many mappings cover it.
    count: u32,
    writable: bool,
}

/// Segments that are remembered.
const RECENT: usize = 16;
const LOG_PAGE: u32 = 12;

/// The memory of this process.
#[derive(Debug, Default)]
pub struct ProcessMemory {
    /// By first address; disjoint.
    segments: BTreeMap<u64, Segment>,
    /// Some of them, at a place that follows from the page of the latest access: a device uses the same few pages again
    /// and again.
    recent: [Cell<Option<(u64, Segment)>>; RECENT],
}

impl ProcessMemory {
    /// Nothing mapped.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether `len` bytes at `addr` are mapped, and can be written if they are to be.
    ///
    /// # Errors
    /// [`DmaFault`] if not.
    #[inline]
    pub fn check(&self, addr: u64, len: usize, write: bool) -> Result<(), DmaFault> {
        let recent = self.recent(addr).get();
        let is_inside = |start, end| start <= addr && addr <= end && len as u64 <= end - addr;
        match recent {
            Some((start, segment)) if is_inside(start, segment.end) && (!write || segment.writable) => Ok(()),
            _ => self.search(addr, len, write),
        }
    }

    /// Where a segment is remembered for the page of `addr`.
    fn recent(&self, addr: u64) -> &Cell<Option<(u64, Segment)>> {
        &self.recent[(addr >> LOG_PAGE) as usize % RECENT]
    }

    /// [Checks](Self::check) all segments.
    fn search(&self, addr: u64, len: usize, write: bool) -> Result<(), DmaFault> {
        let fault = DmaFault { addr, len };
        let end = addr.checked_add(len as u64).ok_or(fault)?;
        let mut reached = addr;
        let below = self.segments.range(..=addr).next_back();
        if let Some((&start, segment)) = below.filter(|(_, segment)| !write || segment.writable) {
            reached = reached.max(segment.end);
            self.recent(addr).set(Some((start, *segment)));
        }
        while reached < end {
            match self.segments.get(&reached) {
                Some(segment) if reached != addr && (!write || segment.writable) => reached = segment.end,
                _ => return Err(fault),
            }
        }
        Ok(())
    }

    /// The pointer to `len` mapped bytes at `addr`.
    fn pointer(&self, addr: u64, len: usize, write: bool) -> Result<*mut u8, DmaFault> {
        self.check(addr, len, write)?;
        usize::try_from(addr).map(std::ptr::with_exposed_provenance_mut).map_err(|_| DmaFault { addr, len })
    }

    /// The segments change: none that is remembered counts any more.
    fn forget(&mut self) {
        self.recent = Default::default();
    }

    /// Makes `at` a boundary between segments.
    fn split(&mut self, at: u64) {
        let below = self.segments.range_mut(..at).next_back();
        if let Some((_, segment)) = below.filter(|(_, segment)| segment.end > at) {
            let rest = *segment;
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }

    /// Maps memory that is there and, if `write` is set, can be written.
    fn map_present(&mut self, addr: u64, len: usize, write: bool) -> Result<(), DmaFault> {
        let fault = DmaFault { addr, len };
        let end = addr.checked_add(len as u64).ok_or(fault)?;
        if len == 0 {
            return Ok(());
        }
        let writable = populate(usize::try_from(addr).map_err(|_| fault)?, len).ok_or(fault)?;
        if write && !writable {
            return Err(fault);
        }
        self.add(addr, end, writable);
        Ok(())
    }

    /// Counts one more mapping of `addr..end`.
    fn add(&mut self, addr: u64, end: u64, writable: bool) {
        self.forget();
        self.split(addr);
        self.split(end);
        let mut at = addr;
        while at < end {
            let next = self.segments.range((Excluded(at), Unbounded)).next().map_or(end, |(&s, _)| s.min(end));
            let segment = self.segments.entry(at).or_insert(Segment { end: next, count: 0, writable });
            segment.count += 1;
            segment.writable |= writable;
            at = segment.end;
        }
        self.merge(addr, end);
    }

    /// Joins neighbours that are mapped alike, between and around `addr` and `end`.
    fn merge(&mut self, addr: u64, end: u64) {
        let first = self.segments.range(..addr).next_back().map_or(addr, |(&s, _)| s);
        let mut starts: Vec<u64> = self.segments.range(first..=end).map(|(&s, _)| s).collect();
        starts.reverse();
        for pair in starts.windows(2) {
            let [right, left] = [pair[0], pair[1]];
            let (l, r) = (self.segments[&left], self.segments[&right]);
            if l.end == right && (l.count, l.writable) == (r.count, r.writable) {
                self.segments.remove(&right);
                self.segments.insert(left, Segment { end: r.end, ..l });
            }
        }
    }
}

impl HostMemory for ProcessMemory {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        self.map_present(addr, len, false)
    }

    unsafe fn map_writable(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        self.map_present(addr, len, true)
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        let Some(end) = addr.checked_add(len as u64).filter(|&end| end > addr) else { return };
        self.forget();
        self.split(addr);
        self.split(end);
        let starts: Vec<u64> = self.segments.range(addr..end).map(|(&s, _)| s).collect();
        for start in starts {
            if let Some(segment) = self.segments.get_mut(&start) {
                segment.count -= 1;
                if segment.count == 0 {
                    self.segments.remove(&start);
                }
            }
        }
        self.merge(addr, end);
    }

    fn is_of_process(&self, addr: u64, len: usize, write: bool) -> bool {
        self.check(addr, len, write).is_ok()
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        let from = self.pointer(addr, out.len(), false)?;
        // SAFETY: the range is mapped, and whoever mapped it promised that it stays valid until it is unmapped. `out`
        // is a reference and cannot overlap memory given to the device. The host may store to the range meanwhile: as
        // with any DMA the bytes may then be old, new or torn.
        unsafe { copy_out(from, out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let to = self.pointer(addr, data.len(), true)?;
        // SAFETY: as in `read`; the range was found writable when it was mapped.
        unsafe { copy_in(data, to) };
        Ok(())
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        if addr % 4 != 0 {
            return Err(DmaFault { addr, len: 4 });
        }
        let at = self.pointer(addr, 4, false)?;
        // SAFETY: mapped and aligned. Volatile rather than atomic, which would ask for memory that can be written; an
        // aligned word is one load either way.
        let word = unsafe { at.cast::<u32>().read_volatile() };
        fence(Ordering::Acquire);
        Ok(u32::from_be(word))
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        if addr % 8 != 0 {
            return Err(DmaFault { addr, len: 8 });
        }
        let at = self.pointer(addr, 8, true)?;
        // SAFETY: mapped, writable and aligned.
        Ok(unsafe { update_u64(at.cast(), f) })
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let to = self.pointer(addr, data.len(), true)?;
        let Some((&last, rest)) = data.split_last() else { return Ok(()) };
        // SAFETY: as in `write`; the last byte lies in the range and a byte is always aligned.
        unsafe {
            copy_in(rest, to);
            AtomicU8::from_ptr(to.add(rest.len())).store(last, Ordering::Release);
        }
        Ok(())
    }
}

/// Replaces the word at `at` by `f` of it; returns the old one.
///
/// # Safety
/// `at` is aligned and valid for reads and writes.
#[cfg(target_has_atomic = "64")]
pub(super) unsafe fn update_u64(at: *mut u64, f: &mut dyn FnMut(u64) -> u64) -> u64 {
    use std::sync::atomic::AtomicU64;
    // SAFETY: the caller promises an aligned word that is valid for reads and writes.
    let word = unsafe { AtomicU64::from_ptr(at) };
    let mut old = word.load(Ordering::Acquire);
    loop {
        match word.compare_exchange_weak(old, f(old), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return old,
            Err(current) => old = current,
        }
    }
}

/// Replaces the word at `at` by `f` of it; returns the old one. This CPU has no 64-bit atomics: devices are atomic
/// among themselves, the host's own accesses are not (what IBTA calls `IBV_ATOMIC_HCA`).
///
/// # Safety
/// `at` is aligned and valid for reads and writes.
#[cfg(not(target_has_atomic = "64"))]
pub(super) unsafe fn update_u64(at: *mut u64, f: &mut dyn FnMut(u64) -> u64) -> u64 {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // SAFETY: the caller promises an aligned word that is valid for reads and writes.
    unsafe {
        let old = at.read_volatile();
        at.write_volatile(f(old));
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::page_bytes;
    use std::sync::atomic::AtomicUsize;

    /// Pages of our own, to change the protection of.
    struct Pages {
        addr: *mut libc::c_void,
        len: usize,
    }

    impl Pages {
        fn new(count: usize, prot: libc::c_int) -> Self {
            let (len, flags) = (count * page_bytes(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: a new mapping at an address that the kernel chooses.
            let addr = unsafe { libc::mmap(std::ptr::null_mut(), len, prot, flags, -1, 0) };
            assert_ne!(addr, libc::MAP_FAILED);
            Self { addr, len }
        }

        fn at(&self, offset: usize) -> u64 {
            (self.addr.expose_provenance() + offset) as u64
        }

        /// Two pages with a hole of one between them. Another thread may map something there at any time.
        fn around_a_hole() -> [Self; 2] {
            let page = page_bytes();
            let whole = std::mem::ManuallyDrop::new(Self::new(3, libc::PROT_READ | libc::PROT_WRITE));
            // SAFETY: the second page of our own mapping; nothing refers to it. From here on it is not ours.
            assert_eq!(unsafe { libc::munmap(whole.addr.byte_add(page), page) }, 0);
            // SAFETY: inside of the mapping.
            [0, 2].map(|n| Self { addr: unsafe { whole.addr.byte_add(n * page) }, len: page })
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: our own mapping, which nothing refers to any more.
            unsafe { libc::munmap(self.addr, self.len) };
        }
    }

    /// Maps for the length of a test, in which the pages live.
    fn map(m: &mut ProcessMemory, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: every test keeps its pages until the last access.
        unsafe { m.map(addr, len) }
    }

    /// The byte that [`look_and_open`] reads, the value that it saw there, and the page that it opens.
    static LAST_BYTE: AtomicUsize = AtomicUsize::new(0);
    static SEEN: AtomicU8 = AtomicU8::new(0);
    static CLOSED: AtomicUsize = AtomicUsize::new(0);

    /// Runs at the first store to a closed page: notes whether the last byte is already there.
    extern "C" fn look_and_open(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        let closed = CLOSED.load(Ordering::Relaxed);
        // SAFETY: the kernel has filled it in for this signal.
        let at = unsafe { (*info).si_addr() }.addr();
        if !(closed..closed + page_bytes()).contains(&at) {
            // SAFETY: not ours: the fault comes again, and kills.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            return;
        }
        let last = std::ptr::with_exposed_provenance_mut(LAST_BYTE.load(Ordering::Relaxed));
        // SAFETY: in the test's second page, which is open.
        SEEN.store(unsafe { AtomicU8::from_ptr(last) }.load(Ordering::Relaxed), Ordering::Relaxed);
        let closed = std::ptr::with_exposed_provenance_mut(closed);
        // SAFETY: the test's first page.
        unsafe { libc::mprotect(closed, page_bytes(), libc::PROT_READ | libc::PROT_WRITE) };
    }

    #[test]
    fn a_segment_is_remembered_until_it_changes() {
        let page = page_bytes();
        let pages = Pages::new(RECENT + 1, libc::PROT_READ | libc::PROT_WRITE);
        let mut m = ProcessMemory::new();
        // Pages 0 and `RECENT` have one place.
        let [first, last] = [pages.at(0), pages.at(RECENT * page)];
        let mut byte = [0];
        for at in [first, last] {
            map(&mut m, at, page).unwrap();
            m.read(at, &mut byte).unwrap();
        }
        m.read(first, &mut byte).unwrap();
        m.read(last, &mut byte).unwrap();
        m.read(last + page as u64, &mut byte).unwrap_err();
        m.unmap(last, page);
        m.read(last, &mut byte).unwrap_err();
        m.read(first, &mut byte).unwrap();
        m.unmap(first, page);
        m.read(first, &mut byte).unwrap_err();
    }

    #[test]
    fn the_last_byte_is_stored_last() {
        const CQE: usize = 64;
        let page = page_bytes();
        // On the closed page: from only the first byte, up to all bytes but the last.
        for on_the_closed_page in [1, 7, 8, 9, 32, CQE - 1] {
            let pages = Pages::new(2, libc::PROT_READ | libc::PROT_WRITE);
            let mut m = ProcessMemory::new();
            map(&mut m, pages.at(0), 2 * page).unwrap();
            let addr = pages.at(page - on_the_closed_page);
            LAST_BYTE.store(pages.addr.expose_provenance() + page - on_the_closed_page + CQE - 1, Ordering::Relaxed);
            CLOSED.store(pages.addr.expose_provenance(), Ordering::Relaxed);
            SEEN.store(0xff, Ordering::Relaxed);
            // SAFETY: plain data, for which all zeros is valid.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = look_and_open as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            // SAFETY: plain data, for which all zeros is valid.
            let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: both are valid; the handler makes one system call and touches atomics only.
            assert_eq!(unsafe { libc::sigaction(libc::SIGSEGV, &action, &mut before) }, 0);
            // SAFETY: our own page.
            assert_eq!(unsafe { libc::mprotect(pages.addr, page, libc::PROT_READ) }, 0);
            m.write_last_byte_last(addr, &[0x5a; CQE]).unwrap();
            // SAFETY: restores the action from before.
            unsafe { libc::sigaction(libc::SIGSEGV, &before, std::ptr::null_mut()) };
            assert_eq!(SEEN.load(Ordering::Relaxed), 0, "{on_the_closed_page} bytes: the last byte came first");
            let mut written = [0; CQE];
            m.read(addr, &mut written).unwrap();
            assert_eq!(written, [0x5a; CQE]);
        }
    }

    #[test]
    fn a_write_across_segments_needs_the_right_to_each() {
        let page = page_bytes();
        let pages = Pages::new(3, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: our own page, to which nothing is written.
        assert_eq!(unsafe { libc::mprotect(pages.addr.byte_add(2 * page), page, libc::PROT_READ) }, 0);
        let mut m = ProcessMemory::new();
        for n in 0..3 {
            map(&mut m, pages.at(n * page), page).unwrap();
        }
        m.write(pages.at(page - 4), &[7; 8]).unwrap();
        m.read(pages.at(2 * page - 4), &mut [0; 8]).unwrap();
        m.write(pages.at(2 * page - 4), &[7; 8]).unwrap_err();
        m.write(pages.at(2 * page), &[7; 8]).unwrap_err();
    }

    #[test]
    fn a_check_tells_what_an_access_would() {
        let pages = Pages::new(1, libc::PROT_READ | libc::PROT_WRITE);
        let mut m = ProcessMemory::new();
        let at = |n: usize| pages.at(n);
        map(&mut m, at(16), 16).unwrap();
        for write in [false, true] {
            assert_eq!(m.check(at(16), 16, write), Ok(()));
            assert_eq!(m.check(at(16), 17, write), Err(DmaFault { addr: at(16), len: 17 }));
            assert_eq!(m.check(at(15), 1, write), Err(DmaFault { addr: at(15), len: 1 }));
        }
    }

    #[test]
    fn only_what_is_mapped_is_reached() {
        let pages = Pages::new(1, libc::PROT_READ | libc::PROT_WRITE);
        let mut m = ProcessMemory::new();
        let at = |n: usize| pages.at(n);
        map(&mut m, at(16), 16).unwrap();
        m.write(at(16), &[7; 16]).unwrap();
        assert_eq!(m.write(at(17), &[7; 16]), Err(DmaFault { addr: at(17), len: 16 }));
        assert_eq!(m.read(at(15), &mut [0; 2]), Err(DmaFault { addr: at(15), len: 2 }));
        assert!(m.read(at(32), &mut [0]).is_err());
        assert!(m.read(u64::MAX, &mut [0; 2]).is_err());
        assert!(m.load_be32(at(18)).is_err(), "not aligned");
        assert_eq!(m.load_be32(at(28)), Ok(0x0707_0707));
        m.unmap(at(16), 16);
        assert!(m.read(at(16), &mut [0]).is_err());
        assert!(m.segments.is_empty());
    }

    #[test]
    fn overlapping_mappings_are_counted_and_neighbours_join() {
        let pages = Pages::new(1, libc::PROT_READ | libc::PROT_WRITE);
        let mut m = ProcessMemory::new();
        let at = |n: usize| pages.at(n);
        map(&mut m, at(0), 100).unwrap();
        map(&mut m, at(50), 100).unwrap();
        assert_eq!(m.segments.len(), 3);
        assert!(m.write(at(0), &[1; 150]).is_ok(), "an access across mappings");
        assert!(m.write(at(0), &[1; 151]).is_err());
        m.unmap(at(0), 100);
        assert!(m.read(at(49), &mut [0]).is_err());
        assert!(m.read(at(50), &mut [0; 100]).is_ok());
        map(&mut m, at(0), 50).unwrap();
        assert_eq!(m.segments.len(), 1);
        m.unmap(at(0), 50);
        m.unmap(at(50), 100);
        assert!(m.segments.is_empty());
    }

    #[test]
    fn memory_that_is_not_there_cannot_be_mapped() {
        let page = page_bytes();
        // In one of these rounds no other thread's mapping fills the hole.
        let refused = (0..100).any(|_| {
            let mut m = ProcessMemory::new();
            let [low, high] = Pages::around_a_hole();
            let inside = map(&mut m, low.at(page + 5), 1).is_err();
            let into = map(&mut m, low.at(page - 1), 2).is_err();
            assert!(map(&mut m, low.at(0), page).is_ok());
            assert!(map(&mut m, high.at(0), page).is_ok());
            inside && into
        });
        assert!(refused);
        assert!(map(&mut ProcessMemory::new(), u64::MAX - 1, 5).is_err());
    }

    #[test]
    fn read_only_pages_can_be_read() {
        let mut m = ProcessMemory::new();
        let pages = Pages::new(1, libc::PROT_READ);
        map(&mut m, pages.at(0), 8).unwrap();
        assert_eq!(m.read(pages.at(0), &mut [1; 8]), Ok(()));
        assert_eq!(m.load_be32(pages.at(4)), Ok(0));
        assert!(m.write(pages.at(0), &[1]).is_err());
        assert!(m.write_last_byte_last(pages.at(0), &[1]).is_err());
        assert!(m.fetch_update_u64(pages.at(0), &mut |v| v).is_err());
        assert!(map(&mut m, Pages::new(1, libc::PROT_NONE).at(0), 1).is_err());
    }

    #[test]
    fn atomics_and_last_byte() {
        let pages = Pages::new(1, libc::PROT_READ | libc::PROT_WRITE);
        let mut m = ProcessMemory::new();
        map(&mut m, pages.at(0), 64).unwrap();
        m.write(pages.at(8), &5u64.to_ne_bytes()).unwrap();
        assert_eq!(m.fetch_update_u64(pages.at(8), &mut |v| v + 2), Ok(5));
        assert_eq!(m.fetch_update_u64(pages.at(8), &mut |v| v), Ok(7));
        assert!(m.fetch_update_u64(pages.at(12), &mut |v| v).is_err());
        m.write_last_byte_last(pages.at(60), &[1, 2, 3, 4]).unwrap();
        assert_eq!(m.load_be32(pages.at(60)), Ok(0x0102_0304));
        m.write_last_byte_last(pages.at(60), &[]).unwrap();
    }
}
