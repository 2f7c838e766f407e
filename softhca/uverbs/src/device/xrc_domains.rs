//! XRC domains (`ib_uverbs_open_xrcd`). Some stand for files: who opens one by the same file, on the same device, gets
//! the same.
//!
//! All processes of a fabric know which files have domains, as if they shared a kernel. For each domain there is a file
//! in the fabric's directory, locked by the processes that have the domain open. But each process has its own device,
//! so targets do not reach an SRQ of another process. They refuse requests that name one, as for an SRQ that does not
//! exist.

use crate::process::Errno;
use crate::process::fds::Own;
use crate::process::lock_file::{failed, flock, locked, open};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Its file is locked while a process looks for a domain's owners, and takes or leaves the domain.
const TABLE: &str = "xrc-table";

/// A file, under any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    /// The file of the descriptor.
    pub(crate) fn of(fd: i32) -> Result<Self, Errno> {
        // SAFETY: plain data, for which all zeros is valid.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the call fills in a local.
        if unsafe { libc::fstat(fd, &mut status) } != 0 {
            return Err(Errno::EBADF);
        }
        Ok(Self { device: status.st_dev, number: status.st_ino })
    }
}

/// An XRC domain.
pub(crate) struct Domain {
    /// The device's number for it.
    pub(crate) number: u32,
    pub(super) inode: Option<Inode>,
    /// Targets of it, by QPN: how many have each open.
    pub(crate) targets: Mutex<HashMap<u32, u32>>,
    /// Among processes.
    pub(super) _claim: Option<Claim>,
}

/// The domains of a device that stand for files, and how many have each open.
#[derive(Default)]
pub(crate) struct Domains(pub(super) Mutex<Vec<(Arc<Domain>, u32)>>);

/// That this process has the domain of a file open, until dropped.
pub(super) struct Claim {
    table: PathBuf,
    path: PathBuf,
    _own: Own,
    file: File,
    /// The process that opened it: a forked child must not give it up.
    pid: u32,
}

impl Claim {
    /// Claims the domain of `inode` on device `index`, if its present owners permit it.
    pub(super) fn take(
        directory: &Path,
        index: u32,
        inode: Inode,
        create: bool,
        exclusive: bool,
    ) -> Result<Self, Errno> {
        let table = directory.join(TABLE);
        let _table = locked(&table, libc::LOCK_EX)?;
        let path = directory.join(format!("xrc-{index}-{:x}-{:x}", inode.device, inode.number));
        let file = open(&path, true).map_err(failed)?;
        // No process holds the lock of a file that a dead process has left.
        let is_new = flock(&file, libc::LOCK_EX | libc::LOCK_NB).is_ok();
        let refusal = match is_new {
            true if !create => Some(Errno::EAGAIN),
            false if exclusive => Some(Errno::EINVAL),
            _ => None,
        };
        if let Some(refusal) = refusal {
            if is_new {
                // Best effort: what stays says nothing.
                let _ = std::fs::remove_file(&path);
            }
            return Err(refusal);
        }
        flock(&file, libc::LOCK_SH | libc::LOCK_NB).map_err(failed)?;
        Ok(Self { table, path, _own: Own::new(&file), file, pid: std::process::id() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            return;
        }
        let Ok(_table) = locked(&self.table, libc::LOCK_EX) else { return };
        if flock(&self.file, libc::LOCK_EX | libc::LOCK_NB).is_ok() {
            // Best effort, as above.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(directory: &Path, number: u64, create: bool, exclusive: bool) -> Result<Claim, Errno> {
        Claim::take(directory, 0, Inode { device: 1, number }, create, exclusive)
    }

    #[test]
    fn domains_of_files_are_made_once() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        assert_eq!(take(at, 7, false, false).err(), Some(Errno::EAGAIN));
        let first = take(at, 7, true, true).unwrap();
        assert_eq!(take(at, 7, true, true).err(), Some(Errno::EINVAL));
        let second = take(at, 7, false, false).unwrap();
        assert!(
            take(at, 8, false, false).is_err()
                && Claim::take(at, 1, Inode { device: 1, number: 7 }, false, false).is_err()
        );
        drop(first);
        assert_eq!(take(at, 7, true, true).err(), Some(Errno::EINVAL), "the second has it");
        drop(second);
        assert_eq!(take(at, 7, false, false).err(), Some(Errno::EAGAIN));
        let left: Vec<_> = std::fs::read_dir(at).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, [TABLE]);
    }

    #[test]
    fn files_of_the_dead_say_nothing() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("xrc-0-1-7"), "").unwrap();
        assert_eq!(take(directory.path(), 7, false, false).err(), Some(Errno::EAGAIN));
        assert!(take(directory.path(), 7, true, true).is_ok());
    }

    #[test]
    fn a_file_is_known_by_what_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let again = File::open(file.path()).unwrap();
        let [one, two] = [file.as_file(), &again].map(|file| Inode::of(std::os::fd::AsRawFd::as_raw_fd(file)));
        assert_eq!(one.unwrap(), two.unwrap());
        assert_eq!(Inode::of(-2), Err(Errno::EBADF));
    }
}
