//! Addresses of the communication manager: socket addresses as the program states them, service IDs, and the header by
//! which IP addresses travel in private data (IBTA annex A11).

use super::abi::{IN6_BYTES, STORAGE_BYTES, port_space};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// `AF_IB`, which libc does not know.
const AF_IB: u16 = 27;
/// Bytes of `struct sockaddr_in` and `struct sockaddr_ib`.
const IN_BYTES: usize = 16;
const IB_BYTES: usize = 48;
/// Where the GID lies in `struct sockaddr_ib`.
const IB_GID: std::ops::Range<usize> = 8..24;

/// A socket address of a family that the communication manager knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// IPv4 or IPv6.
    Ip(SocketAddr),
    /// A GID with a service ID.
    Ib([u8; IB_BYTES]),
}

/// The first `N` bytes from `at`; zeros where `bytes` ends.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|byte| bytes.get(at + byte).copied().unwrap_or(0))
}

impl Address {
    /// The address in `bytes`; `None` for an unknown family.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let port = u16::from_be_bytes(field(bytes, 2));
        match u16::from_ne_bytes(field(bytes, 0)) {
            family if i32::from(family) == libc::AF_INET => {
                Some(Self::Ip(SocketAddr::new(Ipv4Addr::from(field::<4>(bytes, 4)).into(), port)))
            }
            family if i32::from(family) == libc::AF_INET6 => {
                let ip = Ipv6Addr::from(field::<16>(bytes, 8));
                let [flow, scope] = [4, 24].map(|at| u32::from_ne_bytes(field(bytes, at)));
                Some(Self::Ip(SocketAddrV6::new(ip, port, flow, scope).into()))
            }
            AF_IB => Some(Self::Ib(field(bytes, 0))),
            _ => None,
        }
    }

    /// Bytes of its structure.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ip(SocketAddr::V4(_)) => IN_BYTES,
            Self::Ip(SocketAddr::V6(_)) => IN6_BYTES,
            Self::Ib(_) => IB_BYTES,
        }
    }

    /// Its structure.
    pub(super) fn to_storage(self) -> [u8; STORAGE_BYTES] {
        let mut bytes = [0; STORAGE_BYTES];
        match self {
            Self::Ip(SocketAddr::V4(address)) => {
                bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
                bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
                bytes[4..8].copy_from_slice(&address.ip().octets());
            }
            Self::Ip(SocketAddr::V6(address)) => {
                bytes[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
                bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
                bytes[4..8].copy_from_slice(&address.flowinfo().to_ne_bytes());
                bytes[8..24].copy_from_slice(&address.ip().octets());
                bytes[24..28].copy_from_slice(&address.scope_id().to_ne_bytes());
            }
            Self::Ib(address) => bytes[..IB_BYTES].copy_from_slice(&address),
        }
        bytes
    }

    /// Whether it names no address in particular ([`is_any`]).
    pub(super) fn is_any(&self) -> bool {
        match self {
            Self::Ip(address) => is_any(address.ip()),
            Self::Ib(address) => address[IB_GID] == [0; 16],
        }
    }
}

/// Whether `ip` belongs to no device in particular: zeros or a loopback address (`cma_any_addr` of the kernel's
/// `cma.c`).
pub(super) fn is_any(ip: IpAddr) -> bool {
    ip.is_unspecified() || ip.is_loopback()
}

/// The structure that stands for a GID in answers: `struct sockaddr_ib`.
pub(super) fn sockaddr_ib(gid: &[u8; 16], service_id: u64) -> [u8; STORAGE_BYTES] {
    let mut bytes = [0; STORAGE_BYTES];
    bytes[..2].copy_from_slice(&AF_IB.to_ne_bytes());
    // The default partition.
    bytes[2..4].copy_from_slice(&[0xff, 0xff]);
    bytes[IB_GID].copy_from_slice(gid);
    bytes[24..32].copy_from_slice(&service_id.to_be_bytes());
    bytes
}

/// Bytes of `struct sockaddr_ib`, as answers state them.
pub(super) const SOCKADDR_IB_BYTES: u16 = IB_BYTES as u16;

/// The service ID of a port in a port space (IBTA annex A11.2).
pub(super) fn service_id(space: u16, port: u16) -> u64 {
    u64::from(space) << 16 | u64::from(port)
}

/// Port space and port of a service ID; `None` if it has another kind.
pub(super) fn service(id: u64) -> Option<(u16, u16)> {
    let [zero @ .., a, b, c, d] = id.to_be_bytes();
    let space = u16::from_be_bytes([a, b]);
    let known = matches!(space, port_space::TCP | port_space::UDP | port_space::IPOIB | port_space::IB);
    (zero == [0; 4] && known).then_some((space, u16::from_be_bytes([c, d])))
}

/// Bytes of the header.
pub(super) const IP_HEADER_BYTES: usize = 36;

/// The header before the program's private data (IBTA annex A11.3): version 0, IP version, source port, source and
/// destination.
pub(super) fn ip_header(source: SocketAddr, destination: IpAddr) -> [u8; IP_HEADER_BYTES] {
    let mut bytes = [0; IP_HEADER_BYTES];
    let v4 = source.is_ipv4();
    bytes[1] = if v4 { 4 << 4 } else { 6 << 4 };
    bytes[2..4].copy_from_slice(&source.port().to_be_bytes());
    for (at, ip) in [(4, source.ip()), (20, destination)] {
        match ip {
            IpAddr::V4(ip) => bytes[at + 12..at + 16].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => bytes[at..at + 16].copy_from_slice(&ip.octets()),
        }
    }
    bytes
}

/// Source and destination of such a header; `None` if it is none.
pub(super) fn parse_ip_header(bytes: &[u8]) -> Option<(SocketAddr, IpAddr)> {
    let ip = |at: usize| match field::<2>(bytes, 0) {
        [0, version] if version >> 4 == 4 => Some(IpAddr::from(field::<4>(bytes, at + 12))),
        [0, version] if version >> 4 == 6 => Some(IpAddr::from(field::<16>(bytes, at))),
        _ => None,
    };
    Some((SocketAddr::new(ip(4)?, u16::from_be_bytes(field(bytes, 2))), ip(20)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_round_trip() {
        let all = ["192.0.2.7:7471", "[fe80::1%3]:20", "[::]:0", "0.0.0.0:0", "127.0.0.1:0", "127.1.2.3:0", "[::1]:0"];
        for text in all {
            let address = Address::Ip(text.parse().unwrap());
            assert_eq!(Address::parse(&address.to_storage()), Some(address));
            assert_eq!(address.is_any(), text.ends_with(":0"));
        }
        let ib = Address::parse(&sockaddr_ib(&[7; 16], 9)).unwrap();
        assert_eq!((ib.len(), ib.is_any()), (48, false));
        assert_eq!(Address::parse(&[1, 2, 3]), None);
    }

    #[test]
    fn the_header_for_ip_lies_as_the_annex_says() {
        let source: SocketAddr = "192.0.2.1:4660".parse().unwrap();
        let bytes = ip_header(source, "192.0.2.2".parse().unwrap());
        assert_eq!(bytes[..4], [0, 0x40, 0x12, 0x34]);
        assert_eq!((&bytes[16..20], &bytes[32..]), (&[192, 0, 2, 1][..], &[192, 0, 2, 2][..]));
        assert_eq!(parse_ip_header(&bytes), Some((source, "192.0.2.2".parse().unwrap())));
        let v6: SocketAddr = "[2001:db8::1]:9".parse().unwrap();
        assert_eq!(parse_ip_header(&ip_header(v6, v6.ip())), Some((v6, v6.ip())));
        assert_eq!(parse_ip_header(&[1, 0x40]), None);
        assert_eq!(parse_ip_header(&[0; 36]), None);
    }

    #[test]
    fn services_have_a_port_space() {
        assert_eq!(service_id(0x0106, 7471), 0x0106_1d2f);
        for space in [0x0002, 0x0106, 0x0111, 0x013f] {
            assert_eq!(service(service_id(space, 7471)), Some((space, 7471)));
        }
        assert_eq!(service(0x0107_1d2f), None);
        assert_eq!(service(0x1000_0000_0106_1d2f), None);
    }
}
