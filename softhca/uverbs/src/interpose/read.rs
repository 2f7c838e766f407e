//! `read`, by which a program takes answers and events of commands.
//!
//! It can be cancelled (`pthread_cancel`), and unwinds the stack then: it is `C-unwind`, and nothing on the stack has
//! to be dropped when libc is called.

use crate::device::{RecordFile, Taken};
use crate::process::{Errno, fds, real};
use libc::{c_int, c_void, size_t, ssize_t};

/// Reads a record, or what libc reads.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn read(fd: c_int, data: *mut c_void, len: size_t) -> ssize_t {
    // SAFETY: arguments are passed on from the caller.
    unsafe { if is_record_file(fd) { read_record(fd, data as u64, len) } else { real::read(fd, data, len) } }
}

/// The form of `read` for a room that the compiler knows: `room` bytes.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn __read_chk(fd: c_int, data: *mut c_void, len: size_t, room: size_t) -> ssize_t {
    // SAFETY: arguments are passed on from the caller.
    unsafe {
        if len <= room && is_record_file(fd) {
            read_record(fd, data as u64, len)
        } else {
            real::__read_chk(fd, data, len, room)
        }
    }
}

fn is_record_file(fd: c_int) -> bool {
    fds::is_ours(fd) && fds::get_as::<RecordFile>(fd).is_some()
}

/// Reads the next record of `fd` to `len` bytes at `address`.
///
/// # Safety
/// `fd` is a descriptor of a record file, the program's.
unsafe fn read_record(fd: c_int, address: u64, len: size_t) -> ssize_t {
    loop {
        let mut count = 0_u64;
        // SAFETY: eight bytes of a local variable. It blocks or not, and starts again after a signal or not, as the
        // descriptor and the program's handlers say.
        if unsafe { real::read(fd, (&raw mut count).cast(), size_of::<u64>()) } != size_of::<u64>() as ssize_t {
            return -1;
        }
        match take(fd, address, len) {
            // A record has at most 64 KiB.
            Ok(Taken::Bytes(bytes)) => return bytes as ssize_t,
            Ok(Taken::Nothing) => {}
            Err(error) => {
                error.set();
                return -1;
            }
        }
    }
}

fn take(fd: c_int, address: u64, len: size_t) -> Result<Taken, Errno> {
    // Somebody may have closed it meanwhile.
    let file = fds::get_as::<RecordFile>(fd).ok_or(Errno::EBADF)?;
    file.take(address, len)
}
