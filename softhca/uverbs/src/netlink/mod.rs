//! The kernel's `NETLINK_RDMA`: the socket by which iproute2's `rdma` and libibverbs ask for devices.
//!
//! ```text
//!  program -- send --> `interpose` -- [message] -- [nldev]: facts as in sysfs, counts of resources
//!     ^                                                |
//!     '-- recvmsg, by the kernel -- NETLINK_USERSOCK <-'
//! ```
//!
//! The program's socket is a netlink socket of the kind by which programs of a machine talk to each other. So the
//! kernel answers all calls but those that send: `bind`, `getsockname`, `setsockopt`, `poll`, `recvmsg`. The answers
//! are there before the call that sends returns, as with Linux.

mod abi;
mod message;
mod nldev;

use crate::launch::settings;
use crate::process::fds::{OpenFile, Own};
use crate::process::{Errno, fds, real, user};
use libc::c_int;
use message::{Request, requests};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, getsockname, sendto, socket_with};
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;

/// Bytes of the longest data that a program can send: more than any request has.
const ROOM: usize = 1 << 16;

/// Entries of the longest list of pieces (`UIO_MAXIOV`).
const PIECES: usize = 1024;

/// A socket of the program's.
struct Socket;

impl OpenFile for Socket {
    fn close(self: Arc<Self>, _: RawFd) {}
}

/// Whether `fd` is such a socket.
pub(crate) fn is_socket(fd: RawFd) -> bool {
    fds::is_ours(fd) && fds::get_as::<Socket>(fd).is_some()
}

/// Opens a socket; `kind` is the argument of `socket`, with flags.
///
/// # Errors
/// That of a kernel without RDMA, if this one has no sockets of the kind needed: libibverbs looks into sysfs then.
pub(crate) fn open(kind: c_int) -> Result<RawFd, Errno> {
    // SAFETY: takes no pointers.
    let fd = unsafe { real::socket(libc::AF_NETLINK, kind, libc::NETLINK_USERSOCK) };
    if fd < 0 {
        let error = Errno::last();
        return Err(if error == Errno::EMFILE { error } else { Errno::EPROTONOSUPPORT });
    }
    fds::insert(fd, Arc::new(Socket)).inspect_err(|_| {
        // SAFETY: opened above, and nobody else knows of it.
        unsafe { real::close(fd) };
    })?;
    Ok(fd)
}

/// Answers the requests that the program sends on its socket `fd`. They are in `pieces`: addresses and bytes. Returns
/// the bytes of all.
pub(crate) fn answer(fd: RawFd, pieces: &[(u64, usize)]) -> Result<usize, Errno> {
    let len = pieces.iter().try_fold(0_usize, |sum, (_, len)| sum.checked_add(*len)).filter(|len| *len <= ROOM);
    let mut bytes = vec![0; len.ok_or(Errno(libc::EMSGSIZE))?];
    let mut rest = &mut bytes[..];
    for &(address, len) in pieces.iter().filter(|(_, len)| *len > 0) {
        let (piece, after) = rest.split_at_mut(len);
        user::read(address, piece)?;
        rest = after;
    }
    let settings = settings().ok_or(Errno::EPROTONOSUPPORT)?;
    let port = port_of(fd)?;
    let answers: Vec<_> = requests(&bytes).flat_map(|request| answers(&request, port, settings)).collect();
    if !answers.is_empty() {
        deliver(port, &answers)?;
    }
    Ok(bytes.len())
}

/// The pieces of the message of `sendmsg` at `address`.
pub(crate) fn pieces(address: u64) -> Result<Vec<(u64, usize)>, Errno> {
    // By words: name, its length, list of pieces, their number (`struct user_msghdr`).
    let words = |address: u64, count: usize| -> Result<Vec<u64>, Errno> {
        let mut bytes = vec![0; count * 8];
        user::read(address, &mut bytes)?;
        Ok(bytes.chunks_exact(8).filter_map(|word| word.try_into().ok()).map(u64::from_ne_bytes).collect())
    };
    let header = words(address, 4)?;
    let count = usize::try_from(header[3]).ok().filter(|count| *count <= PIECES).ok_or(Errno(libc::EMSGSIZE))?;
    let list = words(header[2], count * 2)?;
    // Lengths fit into the word of a 64-bit machine.
    Ok(list.chunks_exact(2).map(|piece| (piece[0], piece[1] as usize)).collect())
}

/// The messages that answer `request` of the socket at `port`.
fn answers(request: &Request<'_>, port: u32, settings: &softhca_settings::Settings) -> Vec<Vec<u8>> {
    let answered = if request.is_for_the_kernel() { nldev::answer(request, port, settings) } else { Ok(Vec::new()) };
    log::debug!("netlink command {:#x}: {:?}", request.kind, answered.as_ref().map(Vec::len));
    let is_dump = answered.is_ok() && request.is_dump();
    let (mut messages, error) = answered.map_or_else(|error| (Vec::new(), error.0), |messages| (messages, 0));
    if is_dump && request.is_for_the_kernel() {
        messages.push(message::done(request, port));
    } else if error != 0 || request.wants_ack() {
        messages.push(message::ack(request, port, error));
    }
    messages
}

/// The port of socket `fd`. Linux gives it one when it first sends, if it is not bound.
fn port_of(fd: RawFd) -> Result<u32, Errno> {
    // SAFETY: the program's call that we answer is about this descriptor, so it is open meanwhile.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    let own = || Ok(SocketAddrNetlink::try_from(getsockname(socket)?)?.pid());
    match own()? {
        0 => bind(socket, &SocketAddrNetlink::new(0, 0)).map_err(Errno::from).and_then(|()| own()),
        port => Ok(port),
    }
}

/// Sends each message to the socket at `port`, from a socket that has no other use.
fn deliver(port: u32, messages: &[Vec<u8>]) -> Result<(), Errno> {
    let protocol = Some(netlink::USERSOCK);
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
    let _own = Own::new(&socket);
    for message in messages {
        // A system call, which no cancellation of the thread ends. Linux waits for no program either that does not
        // read its answers.
        sendto(&socket, message, SendFlags::DONTWAIT, &SocketAddrNetlink::new(port, 0))?;
    }
    Ok(())
}
