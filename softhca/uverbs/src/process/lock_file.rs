//! Files that are locked during the life of an owner: a process that dies releases them.

use super::Errno;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file of ours, for reading and writing; makes it if `create` says so and it is not there.
pub(crate) fn open(path: &Path, create: bool) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(create).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Locks a file, or fails at once, as `operation` says.
pub(crate) fn flock(file: &File, operation: i32) -> std::io::Result<()> {
    // SAFETY: a descriptor that is open.
    if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The file at `path`, locked until it is closed.
pub(crate) fn locked(path: &Path, operation: i32) -> Result<File, Errno> {
    let file = open(path, true).map_err(failed)?;
    flock(&file, operation).map_err(failed)?;
    Ok(file)
}

/// The error number of a failed call.
pub(crate) fn failed(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
