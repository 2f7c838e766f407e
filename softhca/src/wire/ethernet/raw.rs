//! Packet sockets (packet(7)): frames of an interface, beside the kernel's own stack.
//!
//! The kernel's stack gets the packets of RoCE, too, and refuses them with ICMP messages unless a program has UDP port
//! 4791. Nobody reads these messages.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::super::watcher::Watcher;
use super::link::{Arrived, Full, Link, sent};
use super::tap::put_name;
use crate::ethernet::{ETHERNET_HEADER, MAX_FRAME, VLAN, VLAN_TAG};

/// All protocols, in the order of the network.
const ALL: u16 = (libc::ETH_P_ALL as u16).to_be();
/// Bytes of the two addresses, which a tag follows.
const ADDRESSES: usize = ETHERNET_HEADER - 2;
/// Room for control messages.
const CONTROL_WORDS: usize = 16;

/// A packet socket, bound to an interface.
pub(super) struct Raw {
    socket: OwnedFd,
}

impl Raw {
    /// Takes all frames of the interface `name` that others send.
    pub(super) fn open(name: &str) -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // Without a protocol: nothing arrives before the socket is bound.
        // SAFETY: a plain call.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else's.
        let raw = Self { socket: unsafe { OwnedFd::from_raw_fd(fd) } };
        // SAFETY: zeros are a valid request.
        let mut request: libc::ifreq = unsafe { zeroed() };
        put_name(&mut request.ifr_name, name)?;
        // SAFETY: the request outlives the call, which fills it in.
        check(unsafe { libc::ioctl(fd, libc::SIOCGIFINDEX, &mut request) })?;
        // SAFETY: the call has filled the index in.
        let index = unsafe { request.ifr_ifru.ifru_ifindex };
        let member = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_ALLMULTI as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        raw.set(libc::PACKET_ADD_MEMBERSHIP, &member)?;
        raw.set(libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        raw.set(libc::PACKET_AUXDATA, &1_i32)?;
        // SAFETY: zeros are a valid address.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ALL;
        address.sll_ifindex = index;
        let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address is one of packet sockets, as long as it says.
        check(unsafe { libc::bind(fd, (&raw const address).cast(), len) })?;
        Ok(raw)
    }

    /// Sets an option of packet sockets.
    fn set<T>(&self, option: libc::c_int, value: &T) -> io::Result<()> {
        let (fd, at, len) = (self.socket.as_raw_fd(), (&raw const *value).cast(), size_of::<T>());
        // SAFETY: the value is of the option's type, and outlives the call.
        check(unsafe { libc::setsockopt(fd, libc::SOL_PACKET, option, at, len as libc::socklen_t) })
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl Link for Raw {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.socket.as_fd()]
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Full> {
        sent(rustix::net::send(&self.socket, frame, rustix::net::SendFlags::empty()))
    }

    /// The kernel takes the outer VLAN tag out of a frame, and tells it beside the frame: it is put back.
    fn recv(&mut self, _: &Watcher, frame: &mut Vec<u8>) -> Arrived {
        frame.resize(MAX_FRAME + VLAN_TAG, 0);
        let mut piece = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
        let mut control = [0_u64; CONTROL_WORDS];
        // SAFETY: zeros are a valid header.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &mut piece;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        // SAFETY: the header names the frame's buffer and room for control messages, each with its length.
        let len = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &mut message, 0) };
        let Ok(len) = usize::try_from(len) else { return Arrived::Nothing };
        frame.truncate(len);
        // SAFETY: the kernel has filled the control messages in, in `control`, which is alive.
        let tag = unsafe { tag(&message) };
        if let Some(tag) = tag.filter(|_| len >= ADDRESSES) {
            frame.splice(ADDRESSES..ADDRESSES, tag);
        }
        Arrived::Frame
    }
}

/// The VLAN tag in the control messages of a frame, as it was in the frame.
///
/// # Safety
/// The kernel has filled `message` in, and its control messages are alive.
unsafe fn tag(message: &libc::msghdr) -> Option<[u8; VLAN_TAG]> {
    // SAFETY: passed on to the caller.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    if (header.cmsg_level, header.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // SAFETY: a message of this kind has this structure behind its header (`tpacket_auxdata`).
    let auxiliary = unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() };
    if auxiliary.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let has_protocol = auxiliary.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let protocol = if has_protocol { auxiliary.tp_vlan_tpid } else { VLAN };
    let ([p0, p1], [t0, t1]) = (protocol.to_be_bytes(), auxiliary.tp_vlan_tci.to_be_bytes());
    Some([p0, p1, t0, t1])
}
