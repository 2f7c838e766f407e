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

/// A locked file. It is unlocked when this is dropped.
pub(crate) struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing does not unlock a file that a child of a fork still has open.
        // The call fails for no descriptor that is open.
        let _ = flock(&self.0, libc::LOCK_UN);
    }
}

/// The file at `path`, locked.
pub(crate) fn locked(path: &Path, operation: i32) -> Result<Locked, Errno> {
    let file = open(path, true).map_err(failed)?;
    flock(&file, operation).map_err(failed)?;
    Ok(Locked(file))
}

/// The error number of a failed call.
pub(crate) fn failed(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::is_repeated_alone;

    #[test]
    fn a_child_of_a_fork_keeps_no_lock() {
        if is_repeated_alone("process::lock_file::tests::a_child_of_a_fork_keeps_no_lock") {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        let held = locked(&path, libc::LOCK_EX).unwrap();
        // SAFETY: the child waits for a signal, and does nothing else.
        let child = unsafe { libc::fork() };
        if child == 0 {
            loop {
                // SAFETY: a plain call.
                unsafe { libc::pause() };
            }
        }
        assert!(child > 0);
        drop(held);
        let again = flock(&open(&path, false).unwrap(), libc::LOCK_EX | libc::LOCK_NB);
        // SAFETY: a child of this process, which nobody has waited for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        again.expect("nobody has the lock");
    }
}
