//! Sockets of the kernel's `NETLINK_RDMA`: opened, and sent to. The kernel delivers the answers.
//!
//! The functions that send can be cancelled (`pthread_cancel`), and unwind the stack then: they are `C-unwind`, and
//! nothing on the stack has to be dropped when libc is called.

use super::answer::answer;
use crate::launch::settings;
use crate::netlink;
use crate::process::{Errno, real, uncancelled};
use libc::{c_int, c_void, size_t, socklen_t, ssize_t};

/// Opens a socket of ours, or what libc opens.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    const NETLINK_RDMA: c_int = 20;
    if domain == libc::AF_NETLINK && protocol == NETLINK_RDMA && settings().is_some() {
        return answer(netlink::open(kind));
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::socket(domain, kind, protocol) }
}

/// The return value of a function that sends, for `result`.
pub(super) fn sent(result: Result<usize, Errno>) -> ssize_t {
    match result {
        // Far less than half of the memory.
        Ok(len) => len as ssize_t,
        Err(error) => {
            error.set();
            -1
        }
    }
}

/// Answers requests on a socket of ours, or sends.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn send(fd: c_int, data: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    if netlink::is_socket(fd) {
        return sent(uncancelled(|| netlink::answer(fd, &[(data as u64, len)])));
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::send(fd, data, len, flags) }
}

/// Answers requests on a socket of ours, or sends. Requests go to the kernel, so the address is ignored.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    data: *const c_void,
    len: size_t,
    flags: c_int,
    to: *const c_void,
    to_len: socklen_t,
) -> ssize_t {
    if netlink::is_socket(fd) {
        return sent(uncancelled(|| netlink::answer(fd, &[(data as u64, len)])));
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::sendto(fd, data, len, flags, to, to_len) }
}

/// Answers requests on a socket of ours, or sends.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const c_void, flags: c_int) -> ssize_t {
    if netlink::is_socket(fd) {
        return sent(uncancelled(|| netlink::pieces(message as u64).and_then(|pieces| netlink::answer(fd, &pieces))));
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::sendmsg(fd, message, flags) }
}
