//! The functions of libc by which a program talks to `/dev/infiniband/rdma_cm`.
//!
//! Those that can be cancelled (`pthread_cancel`) unwind the stack then: they are `C-unwind`, and nothing on the stack has
//! to be dropped when libc is called.

use super::Step;
use crate::fds;
use crate::interpose::real::resolve;
use libc::{c_int, c_void, size_t, ssize_t};
use std::sync::atomic::AtomicPtr;

/// libc's `write`.
///
/// # Safety
/// As for libc's function.
pub(super) unsafe extern "C-unwind" fn write(fd: c_int, data: *const c_void, len: size_t) -> ssize_t {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let next = resolve(&NEXT, c"write");
    // SAFETY: the function of this name, which has this type.
    let next: unsafe extern "C-unwind" fn(c_int, *const c_void, size_t) -> ssize_t =
        unsafe { std::mem::transmute(next) };
    // SAFETY: arguments are passed on from the caller.
    unsafe { next(fd, data, len) }
}

/// libc's `read`.
///
/// # Safety
/// As for libc's function.
unsafe extern "C-unwind" fn read(fd: c_int, data: *mut c_void, len: size_t) -> ssize_t {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let next = resolve(&NEXT, c"read");
    // SAFETY: the function of this name, which has this type.
    let next: unsafe extern "C-unwind" fn(c_int, *mut c_void, size_t) -> ssize_t = unsafe { std::mem::transmute(next) };
    // SAFETY: arguments are passed on from the caller.
    unsafe { next(fd, data, len) }
}

/// Our functions, under libc's names.
pub mod exported {
    use super::*;

    /// Runs a command of the communication manager, or writes.
    ///
    /// # Safety
    /// As for libc's function.
    #[cfg_attr(not(test), unsafe(no_mangle))]
    pub unsafe extern "C-unwind" fn write(fd: c_int, data: *const c_void, len: size_t) -> ssize_t {
        if !fds::is_ours(fd) {
            // SAFETY: arguments are passed on from the caller.
            return unsafe { super::write(fd, data, len) };
        }
        let mut step = super::super::command(fd, data as u64, len);
        loop {
            match step {
                // SAFETY: arguments are passed on from the caller.
                Step::NotOurs => return unsafe { super::write(fd, data, len) },
                // What a program writes is never longer than half of its memory.
                Step::Done => return len as ssize_t,
                Step::Failed(error) => {
                    error.set();
                    return -1;
                }
                Step::Wait => {
                    let mut count = 0_u64;
                    // SAFETY: eight bytes of a local variable. It blocks or not, and starts again after a signal or not,
                    // as the descriptor and the program's handlers say.
                    if unsafe { read(fd, (&raw mut count).cast(), 8) } != 8 {
                        return -1;
                    }
                    step = super::super::next_event(fd, data as u64);
                }
            }
        }
    }
}
