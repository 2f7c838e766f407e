//! `read`, by which a program takes answers and events of commands, and management datagrams.
//!
//! It can be cancelled (`pthread_cancel`), and unwinds the stack then: it is `C-unwind`, and nothing on the stack has
//! to be dropped when libc is called.

use crate::device::{RecordFile, Taken};
use crate::process::{Errno, fds, real};
use crate::umad;
use libc::{c_int, c_void, size_t, ssize_t};

/// Reads a record or a datagram, or what libc reads.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn read(fd: c_int, data: *mut c_void, len: size_t) -> ssize_t {
    match Kind::of(fd) {
        // SAFETY: arguments are passed on from the caller.
        Some(kind) => unsafe { kind.read(fd, data as u64, len) },
        // SAFETY: arguments are passed on from the caller, to the function that they are for.
        None => unsafe { real::read(fd, data, len) },
    }
}

/// The form of `read` for a room that the compiler knows: `room` bytes.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __read_chk(fd: c_int, data: *mut c_void, len: size_t, room: size_t) -> ssize_t {
    match Kind::of(fd).filter(|_| len <= room) {
        // SAFETY: arguments are passed on from the caller.
        Some(kind) => unsafe { kind.read(fd, data as u64, len) },
        // SAFETY: arguments are passed on from the caller, to the function that they are for.
        None => unsafe { real::__read_chk(fd, data, len, room) },
    }
}

/// The kinds of files of ours that are read so. An eventfd counts the records or datagrams.
#[derive(Clone, Copy)]
enum Kind {
    Records,
    Datagrams,
}

impl Kind {
    fn of(fd: c_int) -> Option<Self> {
        let file = fds::get(fd)?.into_any();
        if file.is::<RecordFile>() {
            Some(Self::Records)
        } else if file.is::<umad::UmadFile>() {
            Some(Self::Datagrams)
        } else {
            None
        }
    }

    /// Reads the next record or datagram of `fd` to `len` bytes at `address`.
    ///
    /// # Safety
    /// `fd` is a descriptor of such a file, the program's.
    unsafe fn read(self, fd: c_int, address: u64, len: size_t) -> ssize_t {
        if let Err(error) = self.begin(fd, len) {
            error.set();
            return -1;
        }
        loop {
            let mut count = 0_u64;
            // SAFETY: eight bytes of a local variable. It blocks or not, and starts again after a signal or not, as the
            // descriptor and the program's handlers say.
            if unsafe { real::read(fd, (&raw mut count).cast(), size_of::<u64>()) } != size_of::<u64>() as ssize_t {
                return -1;
            }
            match self.take(fd, address, len) {
                // Far less than half of the memory.
                Ok(Taken::Bytes(bytes)) => return bytes as ssize_t,
                Ok(Taken::Nothing) => {}
                Err(error) => {
                    error.set();
                    return -1;
                }
            }
        }
    }

    fn begin(self, fd: c_int, len: size_t) -> Result<(), Errno> {
        match self {
            Self::Records => Ok(()),
            Self::Datagrams => umad::find(fd).ok_or(Errno::EBADF)?.may_read(len),
        }
    }

    fn take(self, fd: c_int, address: u64, len: size_t) -> Result<Taken, Errno> {
        // Somebody may have closed it meanwhile.
        match self {
            Self::Records => fds::get_as::<RecordFile>(fd).ok_or(Errno::EBADF)?.take(address, len),
            Self::Datagrams => umad::find(fd).ok_or(Errno::EBADF)?.take(address, len),
        }
    }
}
