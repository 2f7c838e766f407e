//! The watched mappings: a static table, since handlers read it.
//!
//! Storing its length publishes an entry, and it never changes. When a part of a mapping is unmapped, the rest gets its
//! own entry before the old entry is freed, so no store to it is missed.

use super::store::Store;
use super::trapped::Trapped;
use crate::process::Errno;
use softhca::uar::UAR_PAGE_BYTES;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};

/// Mappings that can be watched at once.
pub(super) const MAX_MAPPINGS: usize = 1024;

/// A watched mapping: pages of a device in a row.
struct Mapping {
    /// Address of the program's mapping; 0 = free.
    program: AtomicUsize,
    /// Its length; 0 = not valid.
    bytes: AtomicUsize,
    /// The device's number for the first page.
    index: AtomicU32,
    /// What it rings.
    trapped: AtomicPtr<Trapped>,
}

static MAPPINGS: [Mapping; MAX_MAPPINGS] = [const {
    Mapping {
        program: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        index: AtomicU32::new(0),
        trapped: AtomicPtr::new(std::ptr::null_mut()),
    }
}; MAX_MAPPINGS];

/// Entries of [`MAPPINGS`] from here on were never used.
static USED: AtomicUsize = AtomicUsize::new(0);

fn used() -> &'static [Mapping] {
    &MAPPINGS[..USED.load(Ordering::Acquire)]
}

/// The content of an entry.
#[derive(Clone, Copy)]
struct Watched {
    program: usize,
    bytes: usize,
    index: u32,
    trapped: &'static Trapped,
}

impl Mapping {
    /// Its content, if it is valid.
    fn read(&self) -> Option<Watched> {
        let bytes = self.bytes.load(Ordering::Acquire);
        let (program, index) = (self.program.load(Ordering::Relaxed), self.index.load(Ordering::Relaxed));
        // SAFETY: null, or what `add` got, which lives as long as the process.
        let trapped = unsafe { self.trapped.load(Ordering::Relaxed).as_ref() };
        // Still the same one.
        fence(Ordering::Acquire);
        let valid = bytes != 0 && self.bytes.load(Ordering::Relaxed) == bytes;
        trapped.filter(|_| valid).map(|trapped| Watched { program, bytes, index, trapped })
    }

    fn free(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.program.store(0, Ordering::Release);
    }
}

/// Watches the mapping of `bytes` bytes at `program`: pages from `index` on. Stores to them ring `trapped`.
pub(super) fn add(trapped: &'static Trapped, program: usize, bytes: usize, index: u32) -> Result<(), Errno> {
    let free = MAPPINGS
        .iter()
        .position(|entry| entry.program.compare_exchange(0, program, Ordering::AcqRel, Ordering::Relaxed).is_ok());
    let slot = free.ok_or(Errno::ENOMEM)?;
    let entry = &MAPPINGS[slot];
    entry.index.store(index, Ordering::Relaxed);
    entry.trapped.store(std::ptr::from_ref(trapped).cast_mut(), Ordering::Relaxed);
    entry.bytes.store(bytes, Ordering::Release);
    USED.fetch_max(slot + 1, Ordering::Release);
    Ok(())
}

/// Stops watching a range that is about to be unmapped: whole pages, as the kernel unmaps them.
pub(crate) fn unwatch(at: usize, len: usize) {
    let Some(end) = at.checked_add(len).and_then(|end| end.checked_next_multiple_of(UAR_PAGE_BYTES)) else { return };
    for entry in used() {
        let Some(Watched { program, bytes, index, trapped }) = entry.read() else { continue };
        let program_end = program + bytes;
        if program_end <= at || end <= program {
            continue;
        }
        // A table that is full is reported there; the stores are the program's faults then.
        if program < at {
            let _ = add(trapped, program, at - program, index);
        }
        if end < program_end {
            // There are fewer than 2^32 pages.
            let _ = add(trapped, end, program_end - end, index + ((end - program) / UAR_PAGE_BYTES) as u32);
        }
        entry.free();
    }
}

/// Whether the mapping at `program` is watched.
pub(crate) fn is_watched(program: usize) -> bool {
    find(program).is_some()
}

/// Stops watching all mappings of UAR page `index`, which is freed. This finds mappings that were unmapped without our
/// help.
pub(crate) fn forget(trapped: &Trapped, index: u32) {
    for entry in used() {
        let same = |found: Watched| std::ptr::eq(found.trapped, trapped) && found.index == index;
        if entry.read().is_some_and(same) {
            entry.free();
        }
    }
}

/// A watched page.
#[derive(Clone, Copy)]
pub(super) struct Page {
    /// Address of the program's mapping.
    program: usize,
    /// The device's number for it.
    index: u32,
    /// What it rings.
    trapped: &'static Trapped,
}

/// The watched page that `address` is in.
pub(super) fn find(address: usize) -> Option<Page> {
    used().iter().find_map(|entry| {
        let Watched { program, bytes, index, trapped } = entry.read()?;
        let at = address.checked_sub(program).filter(|&at| at < bytes)? / UAR_PAGE_BYTES;
        // As above.
        Some(Page { program: program + at * UAR_PAGE_BYTES, index: index + at as u32, trapped })
    })
}

impl Page {
    /// Whether stores to it are trapped.
    pub(super) fn traps(&self) -> bool {
        self.trapped.traps()
    }

    /// Whether this process is a child of the one that has the device.
    pub(super) fn is_parents(&self) -> bool {
        self.trapped.is_parents()
    }

    /// The device's number for it.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Whether it is the same page of the same device.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.index == other.index && std::ptr::eq(self.trapped, other.trapped)
    }

    /// Whether stores to it are put together to doorbells.
    pub(super) fn combines(&self) -> bool {
        self.trapped.combines()
    }

    /// Where in the page all that `store` stores is; `None` if some of it is elsewhere.
    pub(super) fn offset_of(&self, store: &Store) -> Option<usize> {
        let offset = store.address.checked_sub(self.program)?;
        (offset + store.len <= UAR_PAGE_BYTES).then_some(offset)
    }

    /// Hands a doorbell to the device.
    pub(super) fn ring(&self, offset: usize, stored: &[u8]) {
        self.trapped.ring(self.index, offset, stored);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softhca::notify::Notify;

    const BYTES: usize = UAR_PAGE_BYTES;

    #[test]
    fn what_stays_of_a_mapping_is_watched_under_its_numbers() {
        let trapped: &'static Trapped = Box::leak(Box::new(Trapped::new(Notify::new())));
        let at = 0x7000_0000_0000;
        add(trapped, at, 8 * BYTES, 100).expect("a free entry");
        let index = |page: usize| find(at + page * BYTES + 0x800).map(|page| page.index());
        assert_eq!([0, 7, 8].map(index), [Some(100), Some(107), None]);
        // A hole, of which the last page counts whole.
        unwatch(at + 3 * BYTES, BYTES + 1);
        assert_eq!([2, 3, 4, 5, 7].map(index), [Some(102), None, None, Some(105), Some(107)]);
        unwatch(at, BYTES);
        unwatch(at + 7 * BYTES, BYTES);
        assert_eq!([0, 1, 2, 6, 7].map(index), [None, Some(101), Some(102), Some(106), None]);
        unwatch(at - BYTES, 10 * BYTES);
        assert!((0..9).all(|page| index(page).is_none()));
        assert!(find(at - 1).is_none());
    }

    #[test]
    fn a_page_that_is_freed_is_forgotten() {
        let trapped: &'static Trapped = Box::leak(Box::new(Trapped::new(Notify::new())));
        let at = 0x7100_0000_0000;
        add(trapped, at, BYTES, 3).expect("a free entry");
        add(trapped, at + BYTES, BYTES, 4).expect("a free entry");
        forget(trapped, 3);
        assert!(!is_watched(at) && is_watched(at + BYTES));
        unwatch(at + BYTES, 1);
        assert!(!is_watched(at + BYTES));
    }
}
