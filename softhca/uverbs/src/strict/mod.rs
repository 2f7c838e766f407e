//! Strict mode: every store to a UAR page is trapped and looked at, so that only doorbells which were really rung
//! count.
//!
//! The program's mapping of a page permits nothing, ever. A store raises SIGSEGV, whose handler decodes the instruction
//! (`store`), changes the register that its address is relative to so that it stores to a few bytes of the thread's
//! own, and lets the CPU execute that one instruction (trap flag). SIGTRAP follows, whose handler sets the register
//! right and has what was stored. No page is opened, and threads share nothing while they store, so that no store can
//! hide another: neither one to the same page at the same time, nor one of a value that was there before.
//!
//! What was stored is put together to doorbells (`burst`) and handed to the device while the thread still stands in the
//! handler, so that ring and doorbell record are as they were at the store. An instruction that cannot be made to store
//! elsewhere, or that reads the page, is left out, and reported by its name.
//!
//! The CPU executes the store, so the values of its registers, of whatever width, are the CPU's business.
//!
//! The CPU's write-combining buffers would merge the stores of a BlueFlame copy, up to the fence that flushes them. So
//! the thread goes on step by step, until the copy is complete, a fence comes up, or a number of instructions have
//! passed without a store.
//!
//! This knows no device: a page rings what it was given ([`Trapped`]).
//!
//! Handlers take no lock of the program's and allocate nothing: the tables here are static. They work on stacks of our
//! own (`stack`), as the program's may be small. From a doorbell's first store until the device has it, and in the
//! handlers, no other signal is delivered to the thread. The program never blocks the signals, except in handlers of
//! its own for them, which cannot ring doorbells. (Where nothing is trapped it never blocks those of faults: so one
//! that somebody sends reaches a program that has meant to wait for it.) What programs install by system calls of their
//! own, past libc, takes the signals from us.
//!
//! `vfio` has its pages watched here, too, whatever the mode: they permit reading, and their stores reach the device
//! one by one. The child of a fork does not have the device: what it stores to a page of its parent's is a fault, and
//! the handler tells why. The same handlers end accesses to memory that the program has taken away
//! (`process::guarded`).

#[cfg(target_arch = "x86_64")]
mod burst;
#[cfg(target_arch = "x86_64")]
mod refused;
#[cfg(target_arch = "x86_64")]
mod signals;
#[cfg(target_arch = "x86_64")]
mod stack;
#[cfg(target_arch = "x86_64")]
mod stepping;
#[cfg(target_arch = "x86_64")]
mod store;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "nothing is trapped there"))]
mod trapped;
#[cfg(not(target_arch = "x86_64"))]
mod unsupported;
#[cfg(target_arch = "x86_64")]
mod watched;

pub(crate) use trapped::Trapped;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use unsupported::{
    exchange_action, forget, is_watched, know, take_over, take_refused, unwatch, watch, without_ours,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use {
    refused::take as take_refused,
    signals::{exchange_action, know, take_over, watch, without_ours},
    watched::{forget, is_watched, unwatch},
};
