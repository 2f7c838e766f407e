//! Which file a descriptor is open for.

use super::real;
use std::os::fd::RawFd;

/// The identity of a file: its file system, and its number there.
pub(crate) type Identity = (u64, u64);

/// The file of `fd`.
pub(crate) fn identity(fd: RawFd) -> Option<Identity> {
    // SAFETY: plain data, for which all zeros is valid.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in a local.
    let known = unsafe { real::fstat(fd, (&raw mut status).cast()) } == 0;
    known.then_some((status.st_dev, status.st_ino))
}
