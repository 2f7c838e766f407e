//! `pread` and `pwrite`, by which a program reaches the configuration space of a function, and its registers.
//!
//! They can be cancelled (`pthread_cancel`), and unwind the stack then: they are `C-unwind`, and nothing on the stack
//! has to be dropped when libc is called.

use crate::process::{Errno, fds, real};
use crate::vfio::{File, Opened};
use libc::{c_int, c_void, off_t, size_t, ssize_t};

fn is_function(fd: c_int) -> bool {
    fds::is_ours(fd) && fds::get_as::<File>(fd).is_some_and(|file| file.device().is_some())
}

/// The return value of the call if `run` does it for the function of `fd`.
fn with(fd: c_int, at: off_t, run: impl FnOnce(&Opened, u64) -> Result<usize, Errno>) -> ssize_t {
    let file = fds::get_as::<File>(fd).ok_or(Errno::EBADF);
    let at = u64::try_from(at).map_err(|_| Errno::EINVAL);
    let done = file.and_then(|file| run(file.device().ok_or(Errno::EINVAL)?, at?));
    done.map_or_else(
        |error| {
            error.set();
            -1
        },
        // A call moves less than 2^31 bytes.
        |bytes| bytes as ssize_t,
    )
}

/// Declares functions that read at a position.
macro_rules! preads {
    ($($name:ident($($room:ident: $room_ty:ty)?);)*) => {
        $(
            /// Reads from a function of ours, or what libc reads.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn $name(
                fd: c_int, data: *mut c_void, len: size_t, at: off_t $(, $room: $room_ty)?
            ) -> ssize_t {
                let fits = true $(&& len <= $room)?;
                if fits && is_function(fd) {
                    return with(fd, at, |opened, at| opened.read(data as u64, len, at));
                }
                // SAFETY: arguments are passed on from the caller.
                unsafe { real::$name(fd, data, len, at $(, $room)?) }
            }
        )*
    };
}

preads! {
    pread();
    pread64();
    __pread_chk(room: size_t);
    __pread64_chk(room: size_t);
}

/// Declares functions that write at a position.
macro_rules! pwrites {
    ($($name:ident;)*) => {
        $(
            /// Writes to a function of ours, or what libc writes to.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C-unwind" fn $name(fd: c_int, data: *const c_void, len: size_t, at: off_t) -> ssize_t {
                if is_function(fd) {
                    return with(fd, at, |opened, at| opened.write(data as u64, len, at));
                }
                // SAFETY: arguments are passed on from the caller.
                unsafe { real::$name(fd, data, len, at) }
            }
        )*
    };
}

pwrites! {
    pwrite;
    pwrite64;
}
