//! The machine's IP addresses, as its network interfaces have them.

use softhca_settings::{LocalAddress, MAX_LOCAL_ADDRESSES};
use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of all interfaces that are up, each once, in the system's order; of too many the first.
pub(crate) fn local() -> io::Result<Vec<LocalAddress>> {
    let mut list = std::ptr::null_mut();
    // SAFETY: `list` is a place for the result.
    if unsafe { libc::getifaddrs(&mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut addresses: Vec<LocalAddress> = Vec::new();
    let mut next = list;
    // SAFETY: null, or an entry of the list, which is freed below.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: an entry has the name of its interface, which ends with a zero byte.
        let interface = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        // SAFETY: the address of an entry, or null.
        let Some(ip) = (unsafe { ip_of(entry.ifa_addr) }) else { continue };
        let up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
        if up && addresses.len() < MAX_LOCAL_ADDRESSES && addresses.iter().all(|known| known.ip != ip) {
            addresses.push(LocalAddress { interface, ip });
        }
    }
    // SAFETY: the list from getifaddrs; nothing refers to it any more.
    unsafe { libc::freeifaddrs(list) };
    Ok(addresses)
}

/// The IP address in `address`, if it is one.
///
/// # Safety
/// Null, or a socket address as long as its family says.
unsafe fn ip_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: passed on to the caller.
    match i32::from(unsafe { address.as_ref() }?.sa_family) {
        libc::AF_INET => {
            // SAFETY: of this family, so as long.
            let address = unsafe { &*address.cast::<libc::sockaddr_in>() };
            Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: of this family, so as long.
            let address = unsafe { &*address.cast::<libc::sockaddr_in6>() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}
