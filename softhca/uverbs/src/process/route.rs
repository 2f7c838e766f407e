//! The host's network: its interfaces, and its routes to other hosts.

use super::Errno;
use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// The index of a network interface; 0 if there is none of this name.
pub(crate) fn interface_index(name: &str) -> u32 {
    let Ok(name) = CString::new(name) else { return 0 };
    // SAFETY: a string that ends with a zero byte.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}

/// Checks that `ip` is on one of the host's networks: no router leads to it. `ENETUNREACH` otherwise. IPv6 addresses
/// behind a router pass, too: Linux has the option for IPv4 alone.
pub(crate) fn check_neighbour(ip: IpAddr) -> Result<(), Errno> {
    let any = if ip.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let failed = |error: std::io::Error| Errno(error.raw_os_error().unwrap_or(libc::ENETUNREACH));
    let socket = UdpSocket::bind((any, 0)).map_err(failed)?;
    let on = 1_i32;
    let (fd, len) = (socket.as_raw_fd(), size_of::<i32>() as libc::socklen_t);
    // SAFETY: the value is an int, and outlives the call.
    if unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_DONTROUTE, (&raw const on).cast(), len) } != 0 {
        return Err(Errno::last());
    }
    socket.connect((ip, DISCARD)).map_err(failed)
}

/// The port of "discard": any that is not 0 serves.
const DISCARD: u16 = 9;

/// The host's address from which packets to `ip` leave. Nothing is sent.
pub(crate) fn source_of(ip: IpAddr) -> Result<IpAddr, Errno> {
    let any = if ip.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let found = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((ip, DISCARD))?;
        socket.local_addr()
    });
    found.map(|address| address.ip()).map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EHOSTUNREACH)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_packets_leave_from_loopback() {
        assert_eq!(source_of(Ipv4Addr::new(127, 0, 0, 7).into()), Ok(Ipv4Addr::LOCALHOST.into()));
        assert_ne!(interface_index("lo"), 0);
        assert_eq!(interface_index("no such interface"), 0);
    }
}
