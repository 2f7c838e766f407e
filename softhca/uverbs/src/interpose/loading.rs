//! Libraries that the program loads with `RTLD_DEEPBIND`: it is as if the flag were not there. By the flag, the library
//! and all that it brings along would find the functions of libc before ours, and so no device.

use crate::process::real;
use libc::{RTLD_DEEPBIND, c_char, c_int, c_void};
use std::arch::naked_asm;
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

extern "C" fn next() -> *mut c_void {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    real::resolve(&NEXT, c"dlopen")
}

/// As libc does, but for the flag.
///
/// libc looks at its own return address: the caller's `RUNPATH`, `$ORIGIN` and namespace count (glibc
/// `dlfcn/dlopen.c`). So this ends with a jump to it, with the caller's stack.
///
/// # Safety
/// The conditions of libc's function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void {
    naked_asm!(
        "endbr64",
        "push rdi",
        "push rsi",
        // The stack is aligned to 16 bytes at a call.
        "sub rsp, 8",
        "call {next}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "and esi, {kept}",
        "jmp rax",
        next = sym next,
        kept = const !RTLD_DEEPBIND,
    )
}

/// As on x86-64.
///
/// # Safety
/// The conditions of libc's function.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void {
    naked_asm!(
        // bti c
        "hint #34",
        "stp x29, x30, [sp, #-32]!",
        "stp x0, x1, [sp, #16]",
        "bl {next}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "and w1, w1, #{kept}",
        "br x16",
        next = sym next,
        kept = const !RTLD_DEEPBIND as u32,
    )
}
