//! XRC domains (`ib_uverbs_open_xrcd`). Some stand for files: who opens one by the same file, on the same device, gets the same.
//!
//! All processes of a fabric know which files have domains, as they would share a kernel: by a file in its directory, which
//! those lock that have the domain open. But each process has a device of its own, and so an SRQ of a process is out of reach
//! for targets of another: requests by which they are named are refused, as of SRQs that there are not.

use super::hca::Hca;
use crate::process::fds::Own;
use crate::process::lock_file::{failed, flock, locked, open};
use crate::process::{Errno, lock};
use softhca::device::Device;
use softhca::error::Object;
use softhca::firmware::DRIVER;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Its file is locked while somebody looks who has a domain, and takes or leaves it.
const TABLE: &str = "xrc-table";

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    /// What the descriptor is open for.
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
    inode: Option<Inode>,
    /// Targets of it, by QPN: how many have each open.
    pub(crate) targets: Mutex<HashMap<u32, u32>>,
    /// Among processes.
    _claim: Option<Claim>,
}

/// The domains of a device that stand for files, and how many have each open.
#[derive(Default)]
pub(crate) struct Domains(Mutex<Vec<(Arc<Domain>, u32)>>);

impl Hca {
    /// Opens the domain of `inode`, or makes one. `create` permits that, and `exclusive` permits nothing else.
    pub(crate) fn open_domain(
        &self,
        inode: Option<Inode>,
        (create, exclusive): (bool, bool),
    ) -> Result<Arc<Domain>, Errno> {
        let Some(inode) = inode else { return self.new_domain(None, None) };
        let mut domains = lock(&self.domains.0);
        if let Some((domain, opened)) = domains.iter_mut().find(|(domain, _)| domain.inode == Some(inode)) {
            if exclusive {
                return Err(Errno::EINVAL);
            }
            *opened += 1;
            return Ok(domain.clone());
        }
        // A sink shares nothing.
        let directory = (!self.settings.sink).then_some(&self.settings.fabric);
        let claim = directory.map(|directory| Claim::take(directory, self.index, inode, create, exclusive));
        if claim.is_none() && !create {
            return Err(Errno::EAGAIN);
        }
        let domain = self.new_domain(Some(inode), claim.transpose()?)?;
        domains.push((domain.clone(), 1));
        Ok(domain)
    }

    /// The driver's own, as in `mlx5_ib_alloc_xrcd`: commands of users cannot name it.
    fn new_domain(&self, inode: Option<Inode>, claim: Option<Claim>) -> Result<Arc<Domain>, Errno> {
        let number = self.create(DRIVER, Object::Xrcd, Device::alloc_xrcd)?;
        Ok(Arc::new(Domain { number, inode, targets: Mutex::default(), _claim: claim }))
    }

    /// Closes it. Whoever does so last has the device forget it, unless something belongs to it.
    pub(crate) fn close_domain(&self, domain: &Arc<Domain>) -> Result<(), Errno> {
        let mut domains = lock(&self.domains.0);
        let place = domains.iter().position(|(known, _)| Arc::ptr_eq(known, domain));
        if let Some((_, opened)) = place.and_then(|place| domains.get_mut(place))
            && *opened > 1
        {
            *opened -= 1;
            return Ok(());
        }
        self.destroy(Object::Xrcd, domain.number, |device| device.free_xrcd(domain.number))?;
        if let Some(place) = place {
            domains.remove(place);
        }
        Ok(())
    }
}

/// That this process has the domain of a file open, until dropped.
struct Claim {
    table: PathBuf,
    path: PathBuf,
    _own: Own,
    file: File,
    /// The process that opened it: a forked child must not give it up.
    pid: u32,
}

impl Claim {
    /// Claims the domain of `inode` on device `index`, if who has it, or nobody, permits it.
    fn take(directory: &Path, index: u32, inode: Inode, create: bool, exclusive: bool) -> Result<Self, Errno> {
        let table = directory.join(TABLE);
        let _table = locked(&table, libc::LOCK_EX)?;
        let path = directory.join(format!("xrc-{index}-{:x}-{:x}", inode.device, inode.number));
        let file = open(&path, true).map_err(failed)?;
        // What the dead have left is locked by nobody.
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
