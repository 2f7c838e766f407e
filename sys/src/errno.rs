//! The C library's `errno`, as functions set it whose library is missing.

use core::ffi::c_int;

/// Null, with `errno` = `ENOSYS`: what a function returns whose library is missing.
pub(crate) fn absent<T>() -> *mut T {
    set_errno(libc::ENOSYS);
    core::ptr::null_mut()
}

/// -1, with `errno` = `ENOSYS`.
pub(crate) fn failed() -> c_int {
    set_errno(libc::ENOSYS);
    -1
}

/// Sets the C library's `errno`.
pub(crate) fn set_errno(errno: c_int) {
    // SAFETY: the C library's per-thread errno is always there to be written.
    unsafe { *libc::__errno_location() = errno };
}
