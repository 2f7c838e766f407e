//! Strict mode: every store to a UAR page is trapped and looked at, so that only doorbells which were really rung
//! count.
//!
//! The program's mapping of a page permits nothing, ever. A store raises SIGSEGV. Its handler decodes the instruction
//! (`store`), and changes the register that the address is relative to: the instruction now stores to a few bytes of
//! the thread's own. The CPU executes that one instruction (trap flag), and SIGTRAP follows. Its handler restores the
//! register and has the stored bytes. No page is opened, and threads share nothing while they store. So no store can hide
//! another: neither a store to the same page at the same time, nor a store of the present value.
//!
//! The stored bytes are put together to doorbells (`burst`). The device gets them while the thread is still in the
//! handler, so ring and doorbell record are as they were at the store. An instruction that cannot be made to store
//! elsewhere, or that reads the page, is left out, and reported by its name.
//!
//! The CPU executes the store, so the values of its registers, of whatever width, are the CPU's business.
//!
//! The CPU's write-combining buffers would merge the stores of a BlueFlame copy, up to the fence that flushes them. So
//! the thread goes on step by step, until the copy is complete, a fence comes up, or a number of instructions have
//! passed without a store.
//!
//! This module knows no device: each page has its own receiver of doorbells ([`Trapped`]).
//!
//! Other CPUs lack this mode. AArch64 gives programs no trap flag: only a debugger makes a thread execute one
//! instruction. Here the handler would have to execute the store itself, with the registers of the signal frame: each
//! form of STR, STP and ST1, from general and vector registers. It would have to do the same with every instruction up
//! to the barrier, or look for the barrier in advance. That is a second and larger decoder, without an emulator's tests.
//!
//! Handlers take no lock of the program's and allocate nothing: the tables here are static. They work on stacks of our
//! own (`stack`), as the program's may be small. The thread gets no other signal in the handlers, nor between a
//! doorbell's first store and the device's taking it. The program never blocks the signals, except in handlers of
//! its own for them, which cannot ring doorbells. (If nothing is trapped, it never blocks signals of faults. So one
//! that a process sends reaches a program that waits for it.) Handlers that programs install by their own system calls,
//! past libc, take the signals from us.
//!
//! `vfio` also has its pages watched here, in any mode: they permit reading, and their stores reach the device one by
//! one. The child of a fork does not have the device: its store to a page of its parent is a fault, and the handler
//! reports why. These handlers also end accesses to memory that the program has unmapped (`process::guarded`).

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
pub(crate) use unsupported::{exchange_action, forget, is_watched, know, take_refused, unwatch, watch, without_ours};
#[cfg(target_arch = "x86_64")]
pub(crate) use {
    refused::take as take_refused,
    signals::{exchange_action, know, take_over, watch, without_ours},
    watched::{forget, is_watched, unwatch},
};
