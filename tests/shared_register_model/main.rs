//! The shared register under a model checker: every schedule, with up to three preemptions, of two threads on it.
//!
//! The files of `src/db` are compiled unchanged, in a crate in which loom's atomics and cells replace those of `core`.
//! The barriers and stores of `arch` there model CPUs with write-combining buffers: a doorbell stays in the buffer of
//! the CPU that stored it until that CPU flushes it. On every schedule, doorbells reach the device in the order in
//! which they were stored, none stays behind, the halves alternate over all threads, and no thread reaches the register
//! without the lock. With each fault of `fault.rs`, a schedule breaks one of these rules.
//!
//! Schedules of threads on one register belong here. Threads on a device belong in `tests/loopback`.
//!
//! Not under the address sanitizer: a schedule that breaks a rule ends in a panic, and its memory is leaked.

#![cfg(target_arch = "x86_64")]
extern crate self as core;

mod arch;
mod cell;
mod fault;
mod sync;
mod types;

// The parts of it that need no model.
pub(crate) use std::{error, fmt, marker, ops, ptr};

mod hint {
    pub(crate) use loom::hint::spin_loop;
}

#[path = "../../src/sealed.rs"]
#[allow(unreachable_pub, reason = "the model does not use all that these files have")]
mod sealed;

#[path = "../../src/setup.rs"]
#[allow(dead_code, unreachable_pub, reason = "the model does not use all that this file has")]
mod setup;

#[path = "../../src/db"]
#[allow(dead_code, unreachable_pub, reason = "the model does not use all that these files have")]
mod db {
    pub(crate) mod mode;
    pub(crate) mod register;
    pub(crate) mod shared;
}

use std::cell::Cell;
use std::panic::catch_unwind;
use std::ptr::NonNull;

use db::register::{Half, Register, RegisterParts, Stored};
use db::shared::SharedRegister;
use fault::Fault;
use loom::sync::Arc;

const HALF: usize = 256;
const DOORBELLS: u64 = 4;

thread_local! {
    /// Doorbells stored so far: the number of the next one.
    static STORED: Cell<u64> = const { Cell::new(0) };
}

/// Runs every schedule of two threads that ring twice each, by `store`, with the doorbell's number.
fn every_schedule(store: fn(Half<'_>, u64) -> Stored) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        arch::power_cycle();
        STORED.set(0);
        // Where no device is, and nothing is stored to: stores are the model's.
        let reg = NonNull::new(std::ptr::without_provenance_mut(4 * HALF)).unwrap();
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
            // A CPU sends a doorbell at some time: without a flush, the order alone is at stake.
            if fault::is(Fault::Flush) {
                arch::mmio_wc_start();
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
    // SAFETY: the model's device does nothing, and the halves have 256 bytes.
    every_schedule(|half, n| unsafe { half.copy(&[n; 8]) });
}

/// Some schedule breaks a rule with the fault.
fn breaks(fault: Fault) {
    fault::make(Some(fault));
    let held = catch_unwind(doorbells_of_a_shared_register_keep_their_order).is_ok();
    fault::make(None);
    assert!(!held, "{fault:?} breaks no rule");
}

#[test]
fn the_flush_is_needed() {
    breaks(Fault::Flush);
}

#[test]
fn the_lock_is_needed() {
    breaks(Fault::Lock);
}

#[test]
fn the_order_of_the_lock_is_needed() {
    breaks(Fault::Order);
}
