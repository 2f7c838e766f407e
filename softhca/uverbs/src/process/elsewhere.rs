//! Memory of another process.

use super::errno::Errno;
use super::fds::Own;
use super::{real, user};
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
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
        let path = CString::new(format!("/proc/{pid}/mem")).map_err(|_| Errno::EINVAL)?;
        // SAFETY: a string that ends with a zero byte.
        let fd = unsafe { real::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC, 0) };
        if fd < 0 {
            return Err(Errno::last());
        }
        // SAFETY: a descriptor that the call has just made.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self(Arc::new(Memory { _own: Own::new(&file), file })))
    }

    /// Copies from address `addr` there.
    pub(crate) fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Errno> {
        let at = libc::off64_t::try_from(addr).map_err(|_| Errno::EFAULT)?;
        // SAFETY: `out` is borrowed mutably.
        let copied = unsafe { real::pread64(self.0.file.as_raw_fd(), out.as_mut_ptr().cast(), out.len(), at) };
        user::whole(copied, out.len())
    }

    /// Copies to address `addr` there.
    pub(crate) fn write(&self, addr: u64, data: &[u8]) -> Result<(), Errno> {
        let at = libc::off64_t::try_from(addr).map_err(|_| Errno::EFAULT)?;
        // SAFETY: the kernel only reads `data`, and changes no memory of this process.
        let copied = unsafe { real::pwrite64(self.0.file.as_raw_fd(), data.as_ptr().cast(), data.len(), at) };
        user::whole(copied, data.len())
    }
}
