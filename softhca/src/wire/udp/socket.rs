//! A UDP socket of RoCE v2: bound to one address of the host and the port of RoCE.
//!
//! Packets of the socket are never fragmented, and the socket is not connected. So Linux gives them the identification
//! 0 and the DF bit (`net/ipv4/ip_output.c`, `__ip_make_skb`; `include/net/ip.h`, `ip_select_ident_segs`), which the
//! invariant CRC covers. There is no UDP checksum (IBTA annex A17.3.1.2); over IPv6, a socket must ask to send and to
//! take such packets.

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use super::super::cable::{Datagram, ROCE_PORT};

/// Room for datagrams that wait in the kernel, in bytes. The kernel gives less if the administrator says so
/// (`net.core.rmem_max`).
const BUFFER: usize = 4 << 20;
/// Hop limit of datagrams to multicast groups, as Linux gives a RoCE v2 group (`drivers/infiniband/core/cma.c`,
/// `cma_iboe_join_multicast`: `IPV6_DEFAULT_HOPLIMIT`).
const GROUP_HOPS: u32 = 64;
/// Room for control messages: more than those that the socket asks for.
const CONTROL_WORDS: usize = 16;

/// An address of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpAddress {
    /// The address.
    pub ip: IpAddr,
    /// Index of its interface, which link-local addresses need; 0 for others.
    pub scope: u32,
}

impl From<IpAddr> for UdpAddress {
    fn from(ip: IpAddr) -> Self {
        Self { ip, scope: 0 }
    }
}

/// The socket.
#[derive(Debug)]
pub(super) struct Socket {
    fd: OwnedFd,
    address: UdpAddress,
}

/// A datagram that did not leave.
#[derive(Debug)]
pub(super) enum SendError {
    /// The socket has no room now.
    Full,
    /// It will never leave: no route, or too long for the interface.
    Lost(io::Error),
}

/// A datagram that has arrived.
#[derive(Debug)]
pub(super) enum Arrived {
    /// Its headers, and how many bytes of the buffer it fills.
    Whole(Datagram, usize),
    /// It is longer than the buffer: its length.
    TooLong(usize),
}

impl Socket {
    /// Binds the port of RoCE at `address`.
    pub(super) fn bind(address: UdpAddress) -> io::Result<Self> {
        let fd = open(address.ip)?;
        match address.ip {
            IpAddr::V4(ip) => {
                sockopt::set_ip_multicast_if(&fd, &ip)?;
                sockopt::set_ip_multicast_ttl(&fd, GROUP_HOPS)?;
            }
            IpAddr::V6(_) => {
                sockopt::set_ipv6_multicast_if(&fd, address.scope)?;
                sockopt::set_ipv6_multicast_hops(&fd, GROUP_HOPS)?;
            }
        }
        let socket = Self { fd, address };
        net::bind(&socket.fd, &socket.at(address.ip))?;
        Ok(socket)
    }

    /// Joins a multicast group with these addresses of the host, as far as they have its family, and binds its port of
    /// RoCE. Other sockets of the host may be in the group, too; each gets every datagram.
    pub(super) fn join(group: IpAddr, members: impl Iterator<Item = UdpAddress>) -> io::Result<Self> {
        let fd = open(group)?;
        sockopt::set_socket_reuseaddr(&fd, true)?;
        let members = members.filter(|member| member.ip.is_ipv4() == group.is_ipv4());
        let mut scope = 0;
        for member in members {
            match (group, member.ip) {
                (IpAddr::V4(group), IpAddr::V4(ip)) => sockopt::set_ip_add_membership(&fd, &group, &ip)?,
                (IpAddr::V6(group), _) => {
                    sockopt::set_ipv6_add_membership(&fd, &group, member.scope)?;
                    scope = member.scope;
                }
                _ => {}
            }
        }
        let socket = Self { fd, address: UdpAddress { ip: group, scope } };
        net::bind(&socket.fd, &socket.at(group))?;
        Ok(socket)
    }

    /// The address that it is bound to, with the index of its interface.
    pub(super) fn address(&self) -> UdpAddress {
        self.address
    }

    /// The address that it is bound to.
    pub(super) fn ip(&self) -> IpAddr {
        self.address.ip
    }

    /// Sends a datagram.
    pub(super) fn send(&self, bytes: &[u8], to: IpAddr, traffic_class: u8) -> Result<(), SendError> {
        let sent = if traffic_class == 0 {
            net::sendto(&self.fd, bytes, net::SendFlags::empty(), &self.at(to)).map_err(io::Error::from)
        } else {
            self.send_marked(bytes, to, traffic_class)
        };
        match sent {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(SendError::Full),
            // No buffer of the kernel's: a queue on the way is full.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Err(SendError::Full),
            Err(error) => Err(SendError::Lost(error)),
        }
    }

    /// Sends a datagram with a traffic class, which goes beside it.
    fn send_marked(&self, bytes: &[u8], to: IpAddr, traffic_class: u8) -> io::Result<usize> {
        let (byte, int) = ([traffic_class], i32::from(traffic_class).to_ne_bytes());
        let (level, kind, value) = match to {
            // A byte or an int (`net/ipv4/ip_sockglue.c`, `ip_cmsg_send`). A byte has no order, which qemu-user does not
            // translate.
            IpAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_TOS, &byte[..]),
            // An int (`net/ipv6/datagram.c`, `ip6_datagram_send_ctl`).
            IpAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &int[..]),
        };
        let (mut name, name_len) = raw_address(self.at(to));
        let mut piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = [0_u64; CONTROL_WORDS];
        // SAFETY: a header of zeros is valid. CMSG_SPACE computes a size, which `control` has, aligned for a header.
        // CMSG_FIRSTHDR is not null, since `msg_controllen` has room for a header, and for the value behind it. The
        // message is filled in before it is sent, and everything it names outlives the call.
        unsafe {
            let mut message: libc::msghdr = zeroed();
            message.msg_name = (&raw mut name).cast();
            message.msg_namelen = name_len;
            message.msg_iov = &mut piece;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(value.len() as u32) as usize;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = level;
            (*header).cmsg_type = kind;
            (*header).cmsg_len = libc::CMSG_LEN(value.len() as u32) as usize;
            libc::CMSG_DATA(header).copy_from_nonoverlapping(value.as_ptr(), value.len());
            sent(libc::sendmsg(self.fd.as_raw_fd(), &message, 0))
        }
    }

    /// The next datagram, which goes into `buffer`; `None` if none has arrived.
    pub(super) fn recv(&self, buffer: &mut [u8]) -> io::Result<Option<Arrived>> {
        let mut name = MaybeUninit::<libc::sockaddr_storage>::zeroed();
        let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = [0_u64; CONTROL_WORDS];
        // SAFETY: zeros are valid for a header.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_name = name.as_mut_ptr().cast();
        message.msg_namelen = size_of::<libc::sockaddr_storage>() as u32;
        message.msg_iov = &mut piece;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        // SAFETY: the header names a place for the address, the caller's buffer, and room for control messages, each
        // with its length. MSG_TRUNC has the call return the whole length of a datagram that does not fit.
        let received = sent(unsafe { libc::recvmsg(self.fd.as_raw_fd(), &mut message, libc::MSG_TRUNC) });
        let len = match received {
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        };
        if len > buffer.len() {
            return Ok(Some(Arrived::TooLong(len)));
        }
        // SAFETY: zeros, and then an address of the socket's family, which the kernel has written.
        let from = unsafe { name.assume_init() };
        let Some((source, source_port)) = ip_of(&from) else { return Ok(Some(Arrived::TooLong(len))) };
        // SAFETY: the kernel has filled the control messages in, in `control`, which is alive.
        let traffic_class = unsafe { traffic_class(&message) };
        Ok(Some(Arrived::Whole(Datagram { source, destination: self.address.ip, source_port, traffic_class }, len)))
    }

    /// The port of RoCE at `ip`.
    fn at(&self, ip: IpAddr) -> SocketAddr {
        match ip {
            IpAddr::V4(ip) => SocketAddrV4::new(ip, ROCE_PORT).into(),
            IpAddr::V6(ip) => SocketAddrV6::new(ip, ROCE_PORT, 0, self.address.scope).into(),
        }
    }
}

/// A socket of the family of `ip`, with the options of all sockets of the wire.
fn open(ip: IpAddr) -> io::Result<OwnedFd> {
    let family = if ip.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = net::socket_with(family, SocketType::DGRAM, flags, Some(net::ipproto::UDP))?;
    match ip {
        IpAddr::V4(_) => {
            sockopt::set_ip_mtu_discover(&fd, sockopt::Ipv4PathMtuDiscovery::DO)?;
            sockopt::set_ip_recvtos(&fd, true)?;
            set(&fd, libc::SOL_SOCKET, libc::SO_NO_CHECK)?;
        }
        IpAddr::V6(_) => {
            sockopt::set_ipv6_mtu_discover(&fd, sockopt::Ipv6PathMtuDiscovery::DO)?;
            sockopt::set_ipv6_recvtclass(&fd, true)?;
            set(&fd, libc::SOL_UDP, libc::UDP_NO_CHECK6_TX)?;
            set(&fd, libc::SOL_UDP, libc::UDP_NO_CHECK6_RX)?;
        }
    }
    sockopt::set_socket_recv_buffer_size(&fd, BUFFER)?;
    sockopt::set_socket_send_buffer_size(&fd, BUFFER)?;
    Ok(fd)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Switches an option on.
fn set(fd: &OwnedFd, level: i32, option: i32) -> io::Result<()> {
    let on = 1_i32;
    // SAFETY: the value is an int, and outlives the call.
    let done = unsafe {
        libc::setsockopt(fd.as_raw_fd(), level, option, (&raw const on).cast(), size_of::<i32>() as libc::socklen_t)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The number of bytes that a call has returned, or its error.
fn sent(len: isize) -> io::Result<usize> {
    usize::try_from(len).map_err(|_| io::Error::last_os_error())
}

/// A socket address as the kernel takes it, and its length.
fn raw_address(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: zeros are valid for every socket address.
    let mut storage: libc::sockaddr_storage = unsafe { zeroed() };
    let at = &raw mut storage;
    let len = match address {
        SocketAddr::V4(v4) => {
            // SAFETY: the storage is aligned for every socket address, and as long as the longest.
            let to = unsafe { &mut *at.cast::<libc::sockaddr_in>() };
            to.sin_family = libc::AF_INET as libc::sa_family_t;
            to.sin_port = v4.port().to_be();
            to.sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            // SAFETY: the storage is aligned for every socket address, and as long as the longest.
            let to = unsafe { &mut *at.cast::<libc::sockaddr_in6>() };
            to.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            to.sin6_port = v6.port().to_be();
            to.sin6_addr.s6_addr = v6.ip().octets();
            to.sin6_scope_id = v6.scope_id();
            size_of::<libc::sockaddr_in6>()
        }
    };
    (storage, len as libc::socklen_t)
}

/// The address and port in a socket address of IP.
fn ip_of(address: &libc::sockaddr_storage) -> Option<(IpAddr, u16)> {
    let at = (&raw const *address).cast::<u8>();
    match i32::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the storage is aligned for every socket address, and its family says that it is this one.
            let from = unsafe { &*at.cast::<libc::sockaddr_in>() };
            Some((IpAddr::from(from.sin_addr.s_addr.to_ne_bytes()), u16::from_be(from.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: the storage is aligned for every socket address, and its family says that it is this one.
            let from = unsafe { &*at.cast::<libc::sockaddr_in6>() };
            Some((Ipv6Addr::from(from.sin6_addr.s6_addr).into(), u16::from_be(from.sin6_port)))
        }
        _ => None,
    }
}

/// The traffic class in the control messages of a datagram; 0 if there is none.
///
/// # Safety
/// The kernel has filled `message` in, and its control messages are alive.
unsafe fn traffic_class(message: &libc::msghdr) -> u8 {
    // SAFETY: passed on to the caller.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: not null, so the kernel has written a header there, with as much data as it says.
        let (level, kind, data) =
            unsafe { ((*header).cmsg_level, (*header).cmsg_type, libc::CMSG_DATA(header).cast_const()) };
        match (level, kind) {
            // SAFETY: one byte (`net/ipv4/ip_sockglue.c`, `ip_cmsg_recv_tos`).
            (libc::IPPROTO_IP, libc::IP_TOS) => return unsafe { data.read() },
            // SAFETY: an int (`net/ipv6/datagram.c`, `ip6_datagram_recv_common_ctl`). It is a byte's value.
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => return unsafe { data.cast::<i32>().read_unaligned() as u8 },
            _ => {}
        }
        // SAFETY: a header of this message, which the kernel has filled in.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    0
}
