//! The watched pages: a static table, since handlers read it.

use super::store::Store;
use super::trapped::Trapped;
use crate::process::Errno;
use softhca::uar::UAR_PAGE_BYTES;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Pages that can be watched at once.
const MAX_PAGES: usize = 1024;

/// A watched page.
pub(super) struct Page {
    /// Address of the program's mapping; 0 = free.
    program: AtomicUsize,
    /// The device's number for it.
    index: AtomicU32,
    /// What it rings.
    trapped: AtomicPtr<Trapped>,
}

static PAGES: [Page; MAX_PAGES] = [const {
    Page { program: AtomicUsize::new(0), index: AtomicU32::new(0), trapped: AtomicPtr::new(std::ptr::null_mut()) }
}; MAX_PAGES];

/// Entries of [`PAGES`] from here on were never used.
static PAGES_USED: AtomicUsize = AtomicUsize::new(0);

/// Watches the mapping at `program` of UAR page `index`: what is stored to it rings `trapped`.
pub(super) fn add(trapped: &'static Trapped, program: usize, index: u32) -> Result<(), Errno> {
    let free = PAGES
        .iter()
        .position(|page| page.program.compare_exchange(0, program, Ordering::AcqRel, Ordering::Relaxed).is_ok());
    let Some(slot) = free else {
        log::error!("strict mode watches {MAX_PAGES} UAR pages at most");
        return Err(Errno::ENOMEM);
    };
    let page = &PAGES[slot];
    page.index.store(index, Ordering::Relaxed);
    page.trapped.store(std::ptr::from_ref(trapped).cast_mut(), Ordering::Release);
    PAGES_USED.fetch_max(slot + 1, Ordering::Release);
    Ok(())
}

/// Stops watching what is about to be unmapped.
pub(crate) fn unwatch(at: usize, len: usize) {
    for page in &PAGES[..PAGES_USED.load(Ordering::Acquire)] {
        let program = page.program.load(Ordering::Acquire);
        if program != 0 && program >= at && program - at < len {
            page.program.store(0, Ordering::Release);
        }
    }
}

/// Whether the mapping at `program` is watched.
pub(crate) fn is_watched(program: usize) -> bool {
    find(program).is_some()
}

/// Stops watching all mappings of UAR page `index`, which is freed: what was unmapped without our help is found so.
pub(crate) fn forget(trapped: &Trapped, index: u32) {
    for page in &PAGES[..PAGES_USED.load(Ordering::Acquire)] {
        let same = std::ptr::eq(page.trapped.load(Ordering::Acquire), trapped);
        if same && page.index.load(Ordering::Relaxed) == index {
            page.program.store(0, Ordering::Release);
        }
    }
}

/// The watched page that `address` is in.
pub(super) fn find(address: usize) -> Option<&'static Page> {
    let page = address & !(UAR_PAGE_BYTES - 1);
    PAGES[..PAGES_USED.load(Ordering::Acquire)]
        .iter()
        .find(|entry| page != 0 && entry.program.load(Ordering::Acquire) == page)
}

impl Page {
    /// The device's number for it.
    pub(super) fn index(&self) -> u32 {
        self.index.load(Ordering::Relaxed)
    }

    /// Where in the page all that `store` stores is; `None` if some of it is elsewhere.
    pub(super) fn offset_of(&self, store: &Store) -> Option<usize> {
        let offset = store.address.checked_sub(self.program.load(Ordering::Acquire))?;
        (offset + store.len <= UAR_PAGE_BYTES).then_some(offset)
    }

    /// Hands a doorbell to the device.
    pub(super) fn ring(&self, offset: usize, stored: &[u8]) {
        // SAFETY: null, or what `add` got, which lives as long as the process.
        if let Some(trapped) = unsafe { self.trapped.load(Ordering::Acquire).as_ref() } {
            trapped.ring(self.index(), offset, stored);
        }
    }
}
