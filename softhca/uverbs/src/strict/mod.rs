//! Strict mode: every store to a UAR page is trapped and looked at, so that only doorbells which were really rung count.
//!
//! The program's mapping of a page permits nothing, ever. A store raises SIGSEGV, whose handler decodes the instruction
//! ([`store`]), changes the register that its address is relative to so that it stores to a few bytes of the thread's own,
//! and lets the CPU execute that one instruction (trap flag). SIGTRAP follows, whose handler sets the register right and
//! has what was stored. No page is opened, and threads share nothing while they store, so that no store can hide another:
//! neither one to the same page at the same time, nor one of a value that was there before.
//!
//! What was stored is put together to doorbells ([`burst`]) and handed to the device while the thread still stands in the
//! handler, so that ring and doorbell record are as they were at the store. An instruction that cannot be made to store
//! elsewhere, or that reads the page, is left out, and reported by its name.
//!
//! The CPU executes the store, so the values of its registers, of whatever width, are the CPU's business.
//!
//! The CPU's write-combining buffers would merge the stores of a BlueFlame copy, up to the fence that flushes them. So
//! the thread goes on step by step, until the copy is complete, a fence comes up, or [`TRAILING_STEPS`] instructions have
//! passed without a store.
//!
//! Handlers take no lock of the program's and allocate nothing: the tables here are static. From a doorbell's first store
//! until the device has it, and in the handlers, no other signal is delivered to the thread. The program never blocks the
//! two signals, except in handlers of its own for them, which cannot ring doorbells.

mod burst;
mod refused;
mod signals;
mod store;

use crate::errno::Errno;
use crate::hca::Hca;
use crate::uar::PAGE_BYTES;
use burst::{Burst, HALF_BYTES};
pub(crate) use refused::take as take_refused;
pub(crate) use signals::{exchange_action, without_ours};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use store::{Registers, Store};

/// Instructions after a store in which another store to the same register half still belongs to the same copy.
const TRAILING_STEPS: u32 = 64;
/// Pages that can be watched at once.
const MAX_PAGES: usize = 1024;
/// Bytes of a cache line, and the most that one instruction stores.
const LINE_BYTES: usize = 64;

/// A watched page.
struct Page {
    /// Address of the program's mapping; 0 = free.
    program: AtomicUsize,
    /// The device's number for it.
    index: AtomicU32,
    /// The device; never freed, see [`Hca::get`].
    hca: AtomicPtr<Hca>,
}

static PAGES: [Page; MAX_PAGES] = [const {
    Page { program: AtomicUsize::new(0), index: AtomicU32::new(0), hca: AtomicPtr::new(std::ptr::null_mut()) }
}; MAX_PAGES];

/// Entries of [`PAGES`] from here on were never used.
static PAGES_USED: AtomicUsize = AtomicUsize::new(0);

/// Watches the mapping at `program` of UAR page `index`, which permits nothing from now on.
pub(crate) fn watch(hca: &Arc<Hca>, program: usize, index: u32) -> Result<(), Errno> {
    signals::take_over()?;
    let free = PAGES
        .iter()
        .position(|page| page.program.compare_exchange(0, program, Ordering::AcqRel, Ordering::Relaxed).is_ok());
    let Some(slot) = free else {
        log::error!("strict mode watches {MAX_PAGES} UAR pages at most");
        return Err(Errno::ENOMEM);
    };
    let page = &PAGES[slot];
    page.index.store(index, Ordering::Relaxed);
    page.hca.store(Arc::as_ptr(hca).cast_mut(), Ordering::Release);
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
pub(crate) fn forget(hca: &Hca, index: u32) {
    for page in &PAGES[..PAGES_USED.load(Ordering::Acquire)] {
        let same = std::ptr::eq(page.hca.load(Ordering::Acquire), hca) && page.index.load(Ordering::Relaxed) == index;
        if same {
            page.program.store(0, Ordering::Release);
        }
    }
}

/// The watched page that `address` is in.
fn find(address: usize) -> Option<&'static Page> {
    let page = address & !(PAGE_BYTES - 1);
    PAGES[..PAGES_USED.load(Ordering::Acquire)]
        .iter()
        .find(|entry| page != 0 && entry.program.load(Ordering::Acquire) == page)
}

impl Page {
    /// Where in the page all that `store` stores is; `None` if some of it is elsewhere.
    fn offset_of(&self, store: &Store) -> Option<usize> {
        let offset = store.address.checked_sub(self.program.load(Ordering::Acquire))?;
        (offset + store.len <= PAGE_BYTES).then_some(offset)
    }

    /// Hands a doorbell to the device.
    fn ring(&self, offset: usize, stored: &[u8]) {
        // SAFETY: null, or a device, which lives as long as the process.
        if let Some(hca) = unsafe { self.hca.load(Ordering::Acquire).as_ref() } {
            hca.ring(self.index.load(Ordering::Relaxed), offset, stored);
        }
    }
}

/// A store that goes elsewhere: it is executed next.
struct Redirected {
    page: &'static Page,
    /// Where in the page it was to go.
    offset: usize,
    store: Store,
    /// What was added to the register.
    moved_by: usize,
}

/// Where a thread's stores go instead: as many bytes as one can have, at any offset from a line's beginning.
#[repr(align(64))]
struct Elsewhere(UnsafeCell<[u8; 2 * LINE_BYTES]>);

/// What a thread is in the middle of.
struct Stepping {
    redirected: Option<Redirected>,
    /// A doorbell that is perhaps not complete, and its page.
    burst: Option<(&'static Page, Burst)>,
    /// Instructions since the last store.
    trailing: u32,
    /// The thread traps after its next instruction.
    is_stepped: bool,
    /// The trap flag was set by the program, or its debugger, already.
    was_stepped: bool,
    /// Signals that were blocked before the doorbell's first store, as the kernel has them.
    blocked: u64,
    elsewhere: Elsewhere,
}

thread_local! {
    static STEPPING: UnsafeCell<Stepping> = const {
        UnsafeCell::new(Stepping {
            redirected: None,
            burst: None,
            trailing: 0,
            is_stepped: false,
            was_stepped: false,
            blocked: 0,
            elsewhere: Elsewhere(UnsafeCell::new([0; 2 * LINE_BYTES])),
        })
    };
}

/// What is to happen to the thread after the handler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// One instruction.
    Step,
    /// It goes on.
    Run,
}

impl Stepping {
    /// Has `store`, which was to go to `offset` of `page`, go elsewhere.
    fn redirect(&mut self, page: &'static Page, offset: usize, store: Store, registers: &mut Registers) {
        let elsewhere = self.elsewhere.0.get().expose_provenance();
        // As far from a line's beginning as in the page: some stores must be aligned.
        let moved_by = (elsewhere + offset % LINE_BYTES).wrapping_sub(store.address);
        registers[store.base] = registers[store.base].wrapping_add(moved_by as i64);
        self.redirected = Some(Redirected { page, offset, store, moved_by });
    }

    /// Sets the register right that a redirected store needed. The store, if there was one, whether executed or not.
    fn restore(&mut self, registers: &mut Registers) -> Option<Redirected> {
        let redirected = self.redirected.take()?;
        let base = &mut registers[redirected.store.base];
        // By as much as it was changed: the instruction may have moved it on.
        *base = base.wrapping_sub(redirected.moved_by as i64);
        Some(redirected)
    }

    /// The instruction after a fault or a step has been executed: takes what was stored.
    fn collect(&mut self, registers: &mut Registers) {
        let Some(Redirected { page, offset, store, .. }) = self.restore(registers) else { return };
        let at = offset % LINE_BYTES;
        // SAFETY: the thread's own bytes; the store to them is complete, and there is no reference to them.
        let bytes = unsafe { self.elsewhere.0.get().read_volatile() };
        let stored = &bytes[at..at + store.len];
        self.trailing = 0;
        // The second piece is what a store that is not aligned has in the next half.
        let (first, second) = stored.split_at(store.len.min(HALF_BYTES - offset % HALF_BYTES));
        for (offset, bytes) in [(offset, first), (offset + first.len(), second)] {
            if !bytes.is_empty() {
                self.stored(page, offset, bytes);
            }
        }
    }

    /// `bytes` were stored at `offset` of `page`, in one half.
    fn stored(&mut self, page: &'static Page, offset: usize, bytes: &[u8]) {
        if let Some((of, burst)) = &mut self.burst
            && std::ptr::eq(*of, page)
            && burst.add(offset, bytes)
        {
            return;
        }
        self.flush();
        self.burst = Some((page, Burst::new(offset, bytes)));
    }

    /// Hands over the doorbell, as far as it got.
    fn flush(&mut self) {
        if let Some((page, burst)) = self.burst.take() {
            for (offset, stored) in burst.runs() {
                page.ring(offset, stored);
            }
        }
    }

    /// The thread is about to execute the instruction at `address`.
    fn advance(&mut self, address: usize) -> Next {
        self.trailing += 1;
        let complete = self.burst.as_ref().is_none_or(|(_, burst)| burst.is_complete());
        // SAFETY: the CPU has come to that instruction.
        if !complete && self.trailing < TRAILING_STEPS && !store::flushes_stores(&unsafe { store::decode(address) }) {
            return Next::Step;
        }
        Next::Run
    }
}
