//! Memory of another process.

use super::errno::Errno;
use super::fds::Own;
use super::user;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{pread, pwrite};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The memory that a process has now. Once the process ends or starts another program, each access is an error: a new
/// process may have the number, and a new program the addresses.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere(Arc<Memory>);

#[derive(Debug)]
struct Memory {
    /// Dropped first.
    _own: Own,
    /// The process's `/proc/PID/mem`, which stays that of the program that was there when it was opened.
    file: OwnedFd,
}

impl PartialEq for Elsewhere {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Elsewhere {
    /// That of process `pid`, if the kernel lets this process reach it.
    pub(crate) fn of(pid: libc::pid_t) -> Result<Self, Errno> {
        // Under an emulator of programs, the file has the emulator's addresses.
        if user::lacks_calls() {
            return Err(Errno::EOPNOTSUPP);
        }
        let file = open(format!("/proc/{pid}/mem"), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self(Arc::new(Memory { _own: Own::new(&file), file })))
    }

    /// Copies from address `addr` there.
    pub(crate) fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Errno> {
        let copied = pread(&self.0.file, &mut *out, addr).map_err(|_| Errno::EFAULT)?;
        if copied == out.len() { Ok(()) } else { Err(Errno::EFAULT) }
    }

    /// Copies to address `addr` there.
    pub(crate) fn write(&self, addr: u64, data: &[u8]) -> Result<(), Errno> {
        let copied = pwrite(&self.0.file, data, addr).map_err(|_| Errno::EFAULT)?;
        if copied == data.len() { Ok(()) } else { Err(Errno::EFAULT) }
    }
}
