//! A thread that is stepped: its stores, one after the other, put together to doorbells.

use super::burst::{Burst, HALF_BYTES};
use super::store::{self, Registers, Store};
use super::watched::Page;
use std::cell::UnsafeCell;

/// Instructions after a store in which another store to the same register half still belongs to the same copy.
const TRAILING_STEPS: u32 = 64;
/// Bytes of a cache line, and the most that one instruction stores.
const LINE_BYTES: usize = 64;

/// A store that goes elsewhere: it is executed next.
pub(super) struct Redirected {
    page: Page,
    /// Where in the page it was to go.
    offset: usize,
    store: Store,
    /// The number added to the register.
    moved_by: usize,
}

/// Where a thread's stores go instead: as many bytes as one can have, at any offset from a line's beginning.
#[repr(align(64))]
struct Elsewhere(UnsafeCell<[u8; 2 * LINE_BYTES]>);

/// The unfinished work of a thread.
pub(super) struct Stepping {
    redirected: Option<Redirected>,
    /// A doorbell that is perhaps not complete, and its page.
    burst: Option<(Page, Burst)>,
    /// Instructions since the last store.
    trailing: u32,
    /// The thread traps after its next instruction.
    pub(super) is_stepped: bool,
    /// The address of that instruction.
    pub(super) next: usize,
    /// The trap flag was set by the program, or its debugger, already.
    pub(super) was_stepped: bool,
    /// Signals that were blocked before the doorbell's first store, as the kernel has them.
    pub(super) blocked: u64,
    elsewhere: Elsewhere,
}

thread_local! {
    pub(super) static STEPPING: UnsafeCell<Stepping> = const {
        UnsafeCell::new(Stepping {
            redirected: None,
            burst: None,
            trailing: 0,
            is_stepped: false,
            next: 0,
            was_stepped: false,
            blocked: 0,
            elsewhere: Elsewhere(UnsafeCell::new([0; 2 * LINE_BYTES])),
        })
    };
}

/// The state of the thread after the handler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// One instruction.
    Step,
    /// It goes on.
    Run,
}

impl Stepping {
    /// Has `store`, which was to go to `offset` of `page`, go elsewhere.
    pub(super) fn redirect(&mut self, page: Page, offset: usize, store: Store, registers: &mut Registers) {
        let elsewhere = self.elsewhere.0.get().expose_provenance();
        // As far from a line's beginning as in the page: some stores must be aligned.
        let moved_by = (elsewhere + offset % LINE_BYTES).wrapping_sub(store.address);
        registers[store.base] = registers[store.base].wrapping_add(moved_by as i64);
        self.redirected = Some(Redirected { page, offset, store, moved_by });
    }

    /// Sets the register right that a redirected store needed. The store, if there was one, whether executed or not.
    pub(super) fn restore(&mut self, registers: &mut Registers) -> Option<Redirected> {
        let redirected = self.redirected.take()?;
        let base = &mut registers[redirected.store.base];
        // Moved back by the same number: the instruction may have moved the register on.
        *base = base.wrapping_sub(redirected.moved_by as i64);
        Some(redirected)
    }

    /// The instruction after a fault or a step has been executed: takes the stored bytes.
    pub(super) fn collect(&mut self, registers: &mut Registers) {
        let Some(Redirected { page, offset, store, .. }) = self.restore(registers) else { return };
        let at = offset % LINE_BYTES;
        // SAFETY: the thread's own bytes; the store to them is complete, and there is no reference to them.
        let bytes = unsafe { self.elsewhere.0.get().read_volatile() };
        let stored = &bytes[at..at + store.len];
        self.trailing = 0;
        // The second piece is the part of an unaligned store in the next half.
        let (first, second) = stored.split_at(store.len.min(HALF_BYTES - offset % HALF_BYTES));
        for (offset, bytes) in [(offset, first), (offset + first.len(), second)] {
            if !bytes.is_empty() {
                self.stored(page, offset, bytes);
            }
        }
    }

    /// `bytes` were stored at `offset` of `page`, in one half.
    fn stored(&mut self, page: Page, offset: usize, bytes: &[u8]) {
        if !page.combines() {
            self.flush();
            return page.ring(offset, bytes);
        }
        if let Some((of, burst)) = &mut self.burst {
            if of.is(&page) && burst.add(offset, bytes) {
                return;
            }
        }
        self.flush();
        self.burst = Some((page, Burst::new(offset, bytes)));
    }

    /// Hands over the doorbell, as far as it got.
    pub(super) fn flush(&mut self) {
        if let Some((page, burst)) = self.burst.take() {
            for (offset, stored) in burst.runs() {
                page.ring(offset, stored);
            }
        }
    }

    /// The thread is about to execute the instruction at `address`.
    pub(super) fn advance(&mut self, address: usize) -> Next {
        self.trailing += 1;
        let complete = self.burst.as_ref().is_none_or(|(_, burst)| burst.is_complete());
        // SAFETY: the CPU has come to that instruction.
        if !complete && self.trailing < TRAILING_STEPS && !store::flushes_stores(&unsafe { store::decode(address) }) {
            return Next::Step;
        }
        Next::Run
    }
}
