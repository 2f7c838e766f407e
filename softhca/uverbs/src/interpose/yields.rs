//! Yields of the CPU: a step of the devices, and libc's yield.
//!
//! A program that reads its completion queues or its messages by itself calls no function of libibverbs meanwhile. But
//! after some looks it often yields.

use super::polls;
use crate::device::Polled;
use crate::process::real;
use libc::{c_int, c_void};
use softhca::notify::LONGEST_BETWEEN_LOOKS;
use std::arch::naked_asm;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

unsafe extern "C" {
    /// Where this object begins and ends in memory: from the linker.
    static __ehdr_start: u8;
    static _end: u8;
}

/// Yields the CPU as libc does, after a step of each device.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn sched_yield() -> c_int {
    naked_asm!("endbr64", "mov rdi, [rsp]", "jmp {yields}", yields = sym yields)
}

/// As on x86-64.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn sched_yield() -> c_int {
    // bti c
    naked_asm!("hint #34", "mov x0, x30", "b {yields}", yields = sym yields)
}

/// Yields for the function that will return to `caller`.
extern "C" fn yields(caller: usize) -> c_int {
    // This object yields, too, while it waits for a lock.
    let own = (&raw const __ehdr_start).addr()..(&raw const _end).addr();
    if !own.contains(&caller) {
        // Between two yields of a loop there may be hundreds of looks.
        Polled::all_yielded().for_each(|device| polls::stepped(device, LONGEST_BETWEEN_LOOKS));
    }
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let next = real::resolve(&NEXT, c"sched_yield");
    // SAFETY: libc's function of this name has this type.
    let next: extern "C" fn() -> c_int = unsafe { std::mem::transmute(next) };
    next()
}
