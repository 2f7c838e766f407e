//! The shared register under a model checker: every schedule of two threads on it.
//!
//! The files of `src/db` are compiled unchanged, in a crate in which loom's atomics and cells replace those of `core`.
//! The barriers and stores of `arch` there are those of CPUs with write-combining buffers: a doorbell stays in the
//! buffer of the CPU that stored it until that CPU flushes it. On every schedule, doorbells reach the device in the
//! order in which they were stored, none stays behind, the halves alternate over all threads, and no thread reaches the
//! register without the lock.
//!
//! Schedules of threads on one register belong here. Threads on a device belong in `tests/loopback`.

#![cfg(target_arch = "x86_64")]
extern crate self as core;

// What of it needs no model.
pub(crate) use std::{error, fmt, marker, ops, ptr};

mod hint {
    pub(crate) use loom::hint::spin_loop;
}

loom::lazy_static! {
    static ref TICK: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
}

/// A point at which the other thread may go on: loom has them before operations on its own types only, and of these
/// only where what another thread does matters to them, as here.
fn others_may_run() {
    TICK.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
}

mod sync {
    pub(crate) mod atomic {
        pub(crate) use loom::sync::atomic::Ordering;

        #[derive(Debug)]
        pub(crate) struct AtomicBool(loom::sync::atomic::AtomicBool);

        impl AtomicBool {
            pub(crate) fn new(value: bool) -> Self {
                Self(loom::sync::atomic::AtomicBool::new(value))
            }

            pub(crate) fn load(&self, order: Ordering) -> bool {
                self.0.load(order)
            }

            pub(crate) fn store(&self, value: bool, order: Ordering) {
                self.0.store(value, order);
                crate::others_may_run();
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                old: bool,
                new: bool,
                yes: Ordering,
                no: Ordering,
            ) -> Result<bool, bool> {
                self.0.compare_exchange_weak(old, new, yes, no)
            }
        }
    }
}

mod cell {
    /// A cell that sees who reaches it without being ordered after the last one who did.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T> {
        accesses: loom::cell::UnsafeCell<()>,
        value: std::cell::UnsafeCell<T>,
    }

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self { accesses: loom::cell::UnsafeCell::new(()), value: std::cell::UnsafeCell::new(value) }
        }

        pub(crate) fn get(&self) -> *mut T {
            self.accesses.with_mut(|_| ());
            self.value.get()
        }
    }
}

mod types {
    pub(crate) const WQEBB_BYTES: usize = 64;
}

/// CPUs with write-combining buffers, and a device.
mod arch {
    use std::cell::RefCell;

    /// A doorbell: the half's address, and its word.
    pub(crate) type Rung = (usize, u64);

    thread_local! {
        /// What each CPU has stored and not flushed. (The model's threads are one of the system's.)
        static BUFFERS: RefCell<[Vec<Rung>; 3]> = const { RefCell::new([Vec::new(), Vec::new(), Vec::new()]) };
        /// The device's view.
        static SEEN: RefCell<Vec<Rung>> = const { RefCell::new(Vec::new()) };
    }

    loom::thread_local! {
        static CPU: std::cell::Cell<usize> = std::cell::Cell::new(0);
    }

    pub(crate) fn run_on(cpu: usize) {
        CPU.with(|own| own.set(cpu));
    }

    /// The device's view, before anything happens.
    pub(crate) fn power_cycle() -> Vec<Rung> {
        BUFFERS.with_borrow_mut(|buffers| buffers.iter_mut().for_each(Vec::clear));
        SEEN.take()
    }

    pub(crate) fn buffered() -> usize {
        BUFFERS.with_borrow(|buffers| buffers.iter().map(Vec::len).sum())
    }

    fn drain() {
        crate::others_may_run();
        let rung = BUFFERS.with_borrow_mut(|buffers| std::mem::take(&mut buffers[CPU.with(std::cell::Cell::get)]));
        SEEN.with_borrow_mut(|seen| seen.extend(rung));
    }

    pub(crate) fn mmio_flush_writes() {
        drain();
    }

    pub(crate) fn mmio_wc_start() {
        drain();
    }

    pub(crate) fn mmio_wc_hint() {}

    /// # Safety
    /// That of the crate's function: the place may be written. This one writes nothing.
    pub(crate) unsafe fn mmio_write64(half: *mut u64, word: u64) {
        crate::others_may_run();
        BUFFERS.with_borrow_mut(|buffers| buffers[CPU.with(std::cell::Cell::get)].push((half.addr(), word)));
    }

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Wide;

    pub(crate) mod copy {
        use super::Wide;

        pub(crate) trait BlockCopy: Copy + std::fmt::Debug + Send + Sync + 'static {
            /// # Safety
            /// As for [`mmio_write64`](super::mmio_write64), as below.
            unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]);
            /// # Safety
            /// As above.
            unsafe fn copy_wide(self, dst: *mut u64, block: [Wide; 4]);
            /// # Safety
            /// As above.
            unsafe fn copy_wqebb(self, dst: *mut u64, wqebb: *const u64);
        }

        /// One store in the model, of the first word.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct Block;
        pub(crate) type DefaultCopy = Block;
        pub(crate) type DefaultSharedCopy = Block;

        impl BlockCopy for Block {
            unsafe fn copy(self, dst: *mut u64, words: &[u64; 8]) {
                // SAFETY: the caller's.
                unsafe { super::mmio_write64(dst, words[0]) }
            }

            unsafe fn copy_wide(self, _: *mut u64, _: [Wide; 4]) {
                unreachable!("the model copies words");
            }

            unsafe fn copy_wqebb(self, _: *mut u64, _: *const u64) {
                unreachable!("the model copies words");
            }
        }
    }
}

#[path = "../../src/db"]
#[allow(dead_code, unreachable_pub, reason = "the model does not use all that these files have")]
mod db {
    pub(crate) mod mode;
    pub(crate) mod parts;
    pub(crate) mod register;
    pub(crate) mod shared;

    pub(crate) mod sealed {
        pub(crate) trait Sealed {}
    }
}

use std::cell::Cell;
use std::ptr::NonNull;

use db::parts::RegisterParts;
use db::register::{Half, Register, Stored};
use db::shared::SharedRegister;
use loom::sync::Arc;

const HALF: usize = 256;
const DOORBELLS: u64 = 4;

thread_local! {
    /// Doorbells stored so far: the number of the next one.
    static STORED: Cell<u64> = const { Cell::new(0) };
}

/// Runs every schedule of two threads that ring twice each, by `store`, with the doorbell's number.
fn every_schedule<S: Stored + 'static>(store: fn(Half<'_>, u64) -> S) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        arch::power_cycle();
        STORED.set(0);
        // Where no device is, and nothing is stored to: stores are the model's.
        let reg = NonNull::without_provenance((4 * HALF).try_into().unwrap());
        let parts = RegisterParts { reg, size: HALF as u32 };
        // SAFETY: stores are the model's, none is made.
        let register = Arc::new(unsafe { SharedRegister::from_parts(parts) }.expect("aligned"));
        let other = Arc::clone(&register);
        let ring_twice = move |cpu, register: Arc<SharedRegister>| {
            arch::run_on(cpu);
            for _ in 0..DOORBELLS / 2 {
                (&*register).ring_doorbell(|half| {
                    STORED.set(STORED.get() + 1);
                    store(half, STORED.get())
                });
            }
        };
        let thread = loom::thread::spawn(move || ring_twice(1, other));
        ring_twice(2, register);
        thread.join().unwrap();
        assert_eq!(arch::buffered(), 0, "doorbells that nothing flushes");
        let expected = (1..=DOORBELLS).map(|n| (4 * HALF + (n as usize + 1) % 2 * HALF, n));
        assert!(arch::power_cycle().into_iter().eq(expected), "out of order, or at the same half");
    });
}

#[test]
fn doorbells_of_a_shared_register_keep_their_order() {
    // SAFETY: the model's device does nothing.
    every_schedule(|half, n| unsafe { half.write(n) });
}

#[test]
fn copies_to_a_shared_register_keep_their_order() {
    // SAFETY: as above, and the halves have 256 bytes.
    every_schedule(|half, n| unsafe { half.copy(&[n; 8]) });
}
