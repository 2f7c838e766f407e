//! `write`, by which a program talks to `/dev/infiniband/rdma_cm`, sends management datagrams, or sends on a socket.
//!
//! It can be cancelled (`pthread_cancel`), and unwinds the stack then: it is `C-unwind`, and nothing on the stack has
//! to be dropped when libc is called.

use super::sockets::sent;
use crate::netlink;
use crate::process::{fds, real, uncancelled};
use crate::rdma_cm::{self, Step};
use crate::umad;
use libc::{c_int, c_void, size_t, ssize_t};

/// Runs a command of the communication manager, answers a request by netlink, sends a management datagram, or writes.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn write(fd: c_int, data: *const c_void, len: size_t) -> ssize_t {
    if !fds::is_ours(fd) {
        // SAFETY: arguments are passed on from the caller.
        return unsafe { real::write(fd, data, len) };
    }
    if netlink::is_socket(fd) {
        return sent(uncancelled(|| netlink::answer(fd, &[(data as u64, len)])));
    }
    if let Some(file) = umad::find(fd) {
        return sent(uncancelled(|| file.write(data as u64, len)));
    }
    let mut step = uncancelled(|| rdma_cm::command(fd, data as u64, len));
    loop {
        match step {
            // SAFETY: arguments are passed on from the caller.
            Step::NotOurs => return unsafe { real::write(fd, data, len) },
            // A program never writes more than half of its memory.
            Step::Done => return len as ssize_t,
            Step::Failed(error) => {
                error.set();
                return -1;
            }
            Step::Wait => {
                let mut count = 0_u64;
                // SAFETY: eight bytes of a local variable. It blocks or not, and starts again after a signal or not,
                // as the descriptor and the program's handlers say.
                if unsafe { real::read(fd, (&raw mut count).cast(), 8) } != 8 {
                    return -1;
                }
                step = uncancelled(|| rdma_cm::next_event(fd, data as u64));
            }
        }
    }
}
