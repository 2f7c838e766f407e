//! Sleeping until a file descriptor is ready.

use core::ffi::c_short;
use core::time::Duration;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use super::CallError;

/// Sleeps until `fd` is readable, for `timeout` at most (zero: not at all; rounded up to milliseconds). Says whether it
/// is.
pub(super) fn readable(fd: BorrowedFd<'_>, timeout: Duration) -> Result<bool, CallError> {
    ready(fd, libc::POLLIN, timeout)
}

/// Like [`readable`], for other events of `poll(2)`.
pub(super) fn ready(fd: BorrowedFd<'_>, events: c_short, timeout: Duration) -> Result<bool, CallError> {
    let deadline = Instant::now().checked_add(timeout);
    loop {
        let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
        let millis = left.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(core::ffi::c_int::MAX);
        let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
        // SAFETY: one structure of ours, and a descriptor that is open.
        match unsafe { libc::poll(&raw mut poll, 1, millis) } {
            // The longest `poll` takes is less than a month.
            0 if millis == core::ffi::c_int::MAX => {}
            0 => return Ok(false),
            1.. => return Ok(true),
            _ => match CallError::last("poll") {
                // A signal came first.
                error if error.errno == libc::EINTR => {}
                error => return Err(error),
            },
        }
    }
}
