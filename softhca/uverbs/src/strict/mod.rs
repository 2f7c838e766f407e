//! Strict mode: every store to a UAR page is trapped and looked at, so that only doorbells which were really rung count.
//!
//! The program's mapping of a page permits nothing. A store raises SIGSEGV, whose handler opens the page and lets the CPU
//! execute that one instruction (trap flag); SIGTRAP follows, whose handler closes the page, finds what was stored by
//! comparing the device's own mapping with the pattern that filled it, and restores the pattern. What was stored is put
//! together to doorbells ([`burst`]) and handed to the device while the thread still stands in the handler, so that ring
//! and doorbell record are as they were at the store.
//!
//! Instructions are not decoded, so the width of a store does not matter: a copy by stores of 16, 32 or 64 bytes is seen as
//! one of 8 bytes is. The direct store of MOVDIR64B is in the page before a handler looks, since an interrupted CPU writes
//! out what it was combining (Intel SDM vol. 3, 12.3.1); that one is argued, and the others are tried (`tests/verbs.rs`).
//!
//! The CPU's write-combining buffers would merge the stores of a BlueFlame copy, up to the fence that flushes them. So
//! the thread goes on step by step, until the copy is complete, a fence comes up, or [`TRAILING_STEPS`] instructions have
//! passed without a store.
//!
//! Threads take turns, a doorbell each: one that stores while another is in the middle of a copy waits in its handler, so
//! that the pieces of copies reach the device in the order in which they were stored. While a page is open for one thread,
//! another one's store to it does not trap. It is seen all the same when the page is closed, unless it is overwritten
//! within the microseconds in between.
//!
//! Handlers take no lock of the program's and allocate nothing: the tables here are static.

mod burst;
mod signals;

use crate::errno::Errno;
use crate::hca::Hca;
use crate::uar::PAGE_BYTES;
use burst::Burst;
pub(crate) use signals::exchange_action;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Instructions after a store in which another store to the same register half still belongs to the same copy.
const TRAILING_STEPS: u32 = 64;
/// Pages that can be watched at once.
const MAX_PAGES: usize = 1024;
/// Words of a page that are compared.
const WORDS: usize = PAGE_BYTES / 4;

/// A watched page.
struct Page {
    /// Address of the program's mapping; 0 = free.
    program: AtomicUsize,
    /// Address of the device's own mapping.
    own: AtomicUsize,
    /// The device's number for it.
    index: AtomicU32,
    /// The device; never freed, see [`Hca::get`].
    hca: AtomicPtr<Hca>,
}

static PAGES: [Page; MAX_PAGES] = [const {
    Page {
        program: AtomicUsize::new(0),
        own: AtomicUsize::new(0),
        index: AtomicU32::new(0),
        hca: AtomicPtr::new(std::ptr::null_mut()),
    }
}; MAX_PAGES];

/// Entries of [`PAGES`] from here on were never used.
static PAGES_USED: AtomicUsize = AtomicUsize::new(0);

/// Held from a doorbell's first store until the device has it, by one thread at a time.
static TURN: AtomicBool = AtomicBool::new(false);

/// The pattern in word `word` of a page: stored values are unlikely to be the same.
fn pattern(word: usize) -> u32 {
    (word as u32).wrapping_add(0x5bd1).wrapping_mul(0x9e37_79b1)
}

/// The word `word` of the page that the device has mapped at `own`.
///
/// # Safety
/// `own` is the address of a mapped page.
unsafe fn word_of<'a>(own: usize, word: usize) -> &'a AtomicU32 {
    let address = std::ptr::with_exposed_provenance_mut::<u32>(own).wrapping_add(word % WORDS);
    // SAFETY: inside of the page by the remainder, aligned since pages are; the mapping is there by the caller's
    // promise. All accesses are by single stores and loads of words or more.
    unsafe { AtomicU32::from_ptr(address) }
}

/// Watches the mapping at `program` of UAR page `index`, which permits nothing yet and which the device has mapped at
/// `own`.
pub(crate) fn watch(hca: &Arc<Hca>, program: usize, index: u32, own: usize) -> Result<(), Errno> {
    signals::take_over()?;
    for word in 0..WORDS {
        // SAFETY: the device's mapping of a page that is allocated.
        unsafe { word_of(own, word) }.store(pattern(word), Ordering::Relaxed);
    }
    let free = PAGES
        .iter()
        .position(|page| page.program.compare_exchange(0, program, Ordering::AcqRel, Ordering::Relaxed).is_ok());
    let Some(slot) = free else {
        log::error!("strict mode watches {MAX_PAGES} UAR pages at most");
        return Err(Errno::ENOMEM);
    };
    let page = &PAGES[slot];
    page.own.store(own, Ordering::Relaxed);
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
    /// Lets the program's stores through, or not.
    fn protect(&self, protection: i32) {
        let at = std::ptr::with_exposed_provenance_mut(self.program.load(Ordering::Acquire));
        // SAFETY: changes the protection of a mapping that `watch` was told of, between that of a UAR page and none.
        unsafe { libc::mprotect(at, PAGE_BYTES, protection) };
    }

    /// Hands a doorbell to the device.
    fn ring(&self, offset: usize, stored: &[u8]) {
        // SAFETY: null, or a device, which lives as long as the process.
        if let Some(hca) = unsafe { self.hca.load(Ordering::Acquire).as_ref() } {
            hca.ring(self.index.load(Ordering::Relaxed), offset, stored);
        }
    }
}

/// What a thread is in the middle of.
struct Stepping {
    /// The page that is open for it.
    open: Option<&'static Page>,
    /// A doorbell that is perhaps not complete, and its page.
    burst: Option<(&'static Page, Burst)>,
    /// Instructions since the last store.
    trailing: u32,
    /// The trap flag was set by the program, or its debugger, already.
    was_stepped: bool,
    /// Signals that were blocked before the doorbell's first store.
    blocked: libc::sigset_t,
}

thread_local! {
    static STEPPING: UnsafeCell<Stepping> = const {
        UnsafeCell::new(Stepping {
            open: None,
            burst: None,
            trailing: 0,
            was_stepped: false,
            // SAFETY: an array of integers, for which all zeros is valid.
            blocked: unsafe { std::mem::zeroed() },
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
    /// Whether the thread is in the middle of a doorbell, and has the [`TURN`].
    fn is_under_way(&self) -> bool {
        self.open.is_some() || self.burst.is_some()
    }

    /// Waits for the thread's turn.
    fn begin(&mut self) {
        while TURN.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // SAFETY: takes no arguments; allowed in signal handlers.
            unsafe { libc::sched_yield() };
        }
    }

    /// The doorbell is over: hands it over, and the turn to another thread.
    fn end(&mut self) {
        self.flush();
        TURN.store(false, Ordering::Release);
    }

    /// A store to `page` was refused: lets it through.
    fn open(&mut self, page: &'static Page) {
        page.protect(libc::PROT_READ | libc::PROT_WRITE);
        self.open = Some(page);
    }

    /// The store has been executed: takes what was stored.
    fn close(&mut self, page: &'static Page) {
        page.protect(libc::PROT_NONE);
        let own = page.own.load(Ordering::Relaxed);
        for word in 0..WORDS {
            // SAFETY: the device's mapping of a page: it lasts until the page is freed, which the program does after
            // it has unmapped its own and can store to it no more.
            let place = unsafe { word_of(own, word) };
            let found = place.load(Ordering::Acquire);
            if found != pattern(word) {
                place.store(pattern(word), Ordering::Relaxed);
                self.stored(page, word * 4, found.to_ne_bytes());
            }
        }
        self.open = None;
        self.trailing = 0;
    }

    /// Four bytes were stored at `offset` of `page`.
    fn stored(&mut self, page: &'static Page, offset: usize, bytes: [u8; 4]) {
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

    /// The thread is about to execute the instruction at `instruction`.
    fn advance(&mut self, instruction: usize) -> Next {
        self.trailing += 1;
        let complete = self.burst.as_ref().is_none_or(|(_, burst)| burst.is_complete());
        if !complete && self.trailing < TRAILING_STEPS && !flushes_stores(instruction) {
            return Next::Step;
        }
        Next::Run
    }
}

/// Whether the instruction at `address` makes the CPU write out its combined stores (or leaves the program): SFENCE,
/// MFENCE, anything with a LOCK prefix, SYSCALL.
fn flushes_stores(address: usize) -> bool {
    // SAFETY: the CPU is about to execute the instruction there, so its bytes can be read; a longer look is taken only
    // after the bytes before have shown that the instruction goes on.
    let byte = |at: usize| unsafe { std::ptr::with_exposed_provenance::<u8>(address + at).read_volatile() };
    match byte(0) {
        0xf0 => true,
        0x0f => match byte(1) {
            0x05 => true,
            0xae => matches!(byte(2), 0xf0 | 0xf8),
            _ => false,
        },
        _ => false,
    }
}
