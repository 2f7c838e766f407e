//! The machine's IP addresses, as its network interfaces have them.

use softhca_settings::{LocalAddress, MAX_LOCAL_ADDRESSES};
use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;

/// The interface of loopback addresses.
const LOOPBACK: &str = "lo";

/// The addresses for a device that reaches others by UDP: those wanted, or, if none is, all of the host that are not
/// loopback addresses. The order is that of Linux' GID tables: by interface, link-local addresses first.
pub(crate) fn for_udp(wanted: &[IpAddr]) -> io::Result<Vec<LocalAddress>> {
    let local = local()?;
    let bind = |ip: IpAddr, interface: &str| {
        let address = match ip {
            IpAddr::V6(v6) => SocketAddrV6::new(v6, 0, 0, index_of(interface)).into(),
            IpAddr::V4(_) => SocketAddr::new(ip, 0),
        };
        UdpSocket::bind(address)
    };
    if !wanted.is_empty() {
        return wanted
            .iter()
            .map(|&ip| {
                let known = local.iter().find(|address| address.ip == ip);
                // All of 127.0.0.0/8 is the loopback interface's.
                let address = known.cloned().unwrap_or_else(|| LocalAddress { interface: LOOPBACK.to_owned(), ip });
                bind(ip, &address.interface).map_err(|error| io::Error::new(error.kind(), format!("{ip}: {error}")))?;
                Ok(address)
            })
            .collect();
    }
    let mut interfaces: Vec<String> = local.iter().map(|address| address.interface.clone()).collect();
    interfaces.dedup();
    // An address that is new on its interface, and may still turn out to be another host's, cannot be bound.
    let usable = |address: &LocalAddress| !address.ip.is_loopback() && bind(address.ip, &address.interface).is_ok();
    let mut addresses: Vec<LocalAddress> = local.into_iter().filter(usable).collect();
    addresses.sort_by_key(|address| {
        let interface = interfaces.iter().position(|name| *name == address.interface);
        (interface, rank(address))
    });
    if addresses.is_empty() {
        let text = "the host has no address but loopback ones: --wire udp:127.0.0.1 takes one of these";
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, text));
    }
    Ok(addresses)
}

/// The place of an address among those of its interface.
fn rank(address: &LocalAddress) -> u32 {
    match address.ip {
        IpAddr::V6(ip) if ip.is_unicast_link_local() => 0,
        IpAddr::V4(_) => 1,
        IpAddr::V6(_) => 2,
    }
}

/// The addresses of an interface, in the order of Linux' GID tables.
pub(crate) fn of_interface(name: &str) -> io::Result<Vec<LocalAddress>> {
    let mut addresses: Vec<LocalAddress> = local()?.into_iter().filter(|address| address.interface == name).collect();
    if addresses.is_empty() {
        let text = format!("no interface {name} is up and has an IP address");
        return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, text));
    }
    addresses.sort_by_key(rank);
    Ok(addresses)
}

/// The interface by which the machine sends to `ip`: that of the route with the longest prefix, and of several the one
/// with the lowest metric. `None` without a route.
pub(crate) fn route_to(ip: Ipv4Addr) -> Option<String> {
    route_in(&std::fs::read_to_string("/proc/net/route").ok()?, ip)
}

/// The interface of the route to `ip` in a table of `/proc/net/route` (Linux `net/ipv4/fib_trie.c`,
/// `fib_route_seq_show`).
fn route_in(table: &str, ip: Ipv4Addr) -> Option<String> {
    /// `RTF_UP`, and `RTF_REJECT` of a route that refuses packets (`include/uapi/linux/route.h`).
    const UP: u32 = 0x0001;
    const REJECT: u32 = 0x0200;
    let routes = table.lines().skip(1).filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let &[interface, to, _, flags, _, _, metric, mask, ..] = columns.as_slice() else { return None };
        // Addresses are words in the machine's order that hold bytes in the network's.
        let [to, flags, mask] = [to, flags, mask].map(|word| u32::from_str_radix(word, 16).ok());
        let (mask, metric): (_, u32) = (mask?, metric.parse().ok()?);
        let fits = u32::from_ne_bytes(ip.octets()) & mask == to?;
        fits.then_some((mask.count_ones(), std::cmp::Reverse(metric), flags?, interface))
    });
    let (.., flags, interface) = routes.max_by_key(|&(prefix, metric, ..)| (prefix, metric))?;
    (flags & (UP | REJECT) == UP).then(|| interface.to_owned())
}

/// The MTU of an interface, in bytes. Asked of the kernel: sysfs may show the interfaces of another namespace.
pub(crate) fn mtu(interface: &str) -> io::Result<u32> {
    let request = ask(interface, libc::SIOCGIFMTU)?;
    // SAFETY: the call has filled the MTU in.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    Ok(u32::try_from(mtu).unwrap_or(0))
}

/// The Ethernet address of an interface.
pub(crate) fn mac(interface: &str) -> io::Result<[u8; 6]> {
    let request = ask(interface, libc::SIOCGIFHWADDR)?;
    // SAFETY: the call has filled the address in.
    let address = unsafe { request.ifr_ifru.ifru_hwaddr };
    if address.sa_family != libc::ARPHRD_ETHER {
        return Err(io::Error::new(io::ErrorKind::Unsupported, format!("{interface} is no Ethernet interface")));
    }
    let [a, b, c, d, e, f, ..] = address.sa_data;
    Ok([a, b, c, d, e, f].map(|byte| byte as u8))
}

/// Asks the kernel about an interface.
fn ask(interface: &str, question: libc::Ioctl) -> io::Result<libc::ifreq> {
    let socket =
        UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).or_else(|_| UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)))?;
    // SAFETY: zeros are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte of the name stays zero.
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: the request outlives the call, which fills it in.
    match unsafe { libc::ioctl(socket.as_raw_fd(), question, &mut request) } {
        0 => Ok(request),
        _ => Err(io::Error::last_os_error()),
    }
}

fn index_of(interface: &str) -> u32 {
    let Ok(name) = CString::new(interface) else { return 0 };
    // SAFETY: a string that ends with a zero byte.
    unsafe { libc::if_nametoindex(name.as_ptr()) }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that Linux 6.1 writes on a little-endian machine.
    #[cfg(target_endian = "little")]
    #[test]
    fn the_longest_prefix_and_then_the_lowest_metric_decide() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
            eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
            eth1\t00000000\t010300C0\t0003\t0\t0\t50\t00000000\t0\t0\t0\n\
            tap0\t00005F0A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n\
            *\t00025F0A\t00000000\t0201\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
        let found = |ip: [u8; 4]| route_in(table, ip.into());
        assert_eq!(found([10, 95, 0, 1]).as_deref(), Some("tap0"));
        assert_eq!(found([192, 0, 2, 9]).as_deref(), Some("eth1"));
        assert_eq!(found([10, 95, 2, 1]), None, "refused");
        let (headline, _) = table.split_once('\n').unwrap();
        assert_eq!(route_in(headline, Ipv4Addr::LOCALHOST), None);
    }
}
