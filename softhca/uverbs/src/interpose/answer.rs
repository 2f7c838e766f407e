//! How our answers look like libc's.

use crate::process::{Errno, uncancelled};
use libc::{c_int, c_void, mode_t};

/// The return value of libc's functions for `result`.
pub(super) fn answer(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|error| {
        error.set();
        -1
    })
}

/// The return value of libc's functions for the result of `run`, which may call the kernel. If the result is no error,
/// `errno` stays as it was, as with the kernel's own calls.
pub(super) fn answer_of(run: impl FnOnce() -> Result<c_int, Errno>) -> c_int {
    let before = Errno::last();
    let result = uncancelled(run);
    if result.is_ok() {
        before.set();
    }
    answer(result)
}

/// A character device that everybody may read and write.
const MODE: mode_t = libc::S_IFCHR | 0o666;

/// Makes `status`, of the stand-in or of an open file, that of the device with this number.
///
/// # Safety
/// `status` is valid to write, as a `struct stat` of this machine's, which has 64 bits: then there is only one.
pub(super) unsafe fn describe((major, minor): (u32, u32), status: *mut c_void) {
    let status = status.cast::<libc::stat>();
    // SAFETY: the caller promises that `status` can be written as a `struct stat`.
    unsafe {
        (*status).st_mode = MODE;
        (*status).st_rdev = libc::makedev(major, minor);
        (*status).st_size = 0;
    }
}

/// [Describes](describe) a device file in a `struct statx`.
///
/// # Safety
/// `status` is valid to write, as a `struct statx`.
pub(super) unsafe fn describe_extended((major, minor): (u32, u32), status: *mut c_void) {
    let status = status.cast::<libc::statx>();
    // SAFETY: the caller promises that `status` can be written as a `struct statx`.
    unsafe {
        (*status).stx_mode = MODE as u16;
        (*status).stx_rdev_major = major;
        (*status).stx_rdev_minor = minor;
        (*status).stx_size = 0;
    }
}
