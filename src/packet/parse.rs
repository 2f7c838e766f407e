//! A received frame: where its headers end. It verifies no checksum, because the device has done so
//! ([`l4_ok`](crate::cq::CqeView::l4_ok)).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::error::PacketError;

/// EtherTypes (IEEE 802 numbers of IANA).
pub(super) const VLAN: u16 = 0x8100;
pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
/// IP protocols.
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;

/// The addresses and the payload of a UDP datagram or a TCP segment in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// From.
    pub source: SocketAddr,
    /// To.
    pub destination: SocketAddr,
    /// The IP protocol: 17 for UDP, 6 for TCP.
    pub protocol: u8,
    /// The bytes behind the headers, without the padding that fills a short frame.
    pub payload: &'a [u8],
}

/// Finds the payload of a frame, from the destination's MAC address on, with or without a VLAN tag. IPv4's and TCP's
/// options are skipped; IPv6's extension headers are not known.
///
/// ```
/// # use blueflame::packet::{self, Host, Packet, PacketError, Udp4};
/// # fn main() -> Result<(), PacketError> {
/// # let here = Host { mac: [2; 6], socket: "10.0.0.1:4000".parse().expect("an address") };
/// # let mut packet = Packet::<Udp4, 98>::new(&here, &Host::group("239.1.2.3:5001".parse().expect("an address"))?);
/// # packet.set_payload(b"a quote")?;
/// # let frame = packet.as_bytes();
/// let parsed = packet::parse(frame)?;
/// assert_eq!((parsed.payload, parsed.destination.port()), (&b"a quote"[..], 5001));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The frame has no such packet, a fragment of one, or lengths that contradict each other. No byte is trusted: a
/// hostile frame gives an error, never a panic.
pub fn parse(frame: &[u8]) -> Result<Parsed<'_>, PacketError> {
    let short = PacketError::Frame { bytes: frame.len(), least: 14 + 20 + 8, most: usize::MAX };
    let (head, mut rest) = frame.split_first_chunk::<14>().ok_or(short)?;
    let mut ether_type = u16::from_be_bytes([head[12], head[13]]);
    if ether_type == VLAN {
        let (tag, inner) = rest.split_first_chunk::<4>().ok_or(short)?;
        (ether_type, rest) = (u16::from_be_bytes([tag[2], tag[3]]), inner);
    }
    let (source, destination, protocol, transport) = match ether_type {
        IPV4 => ipv4(rest, short)?,
        IPV6 => ipv6(rest, short)?,
        found => return Err(PacketError::Header { field: "EtherType", found, expected: IPV4 }),
    };
    let ports = transport.first_chunk::<4>().ok_or(short)?;
    let [from, to] = [[ports[0], ports[1]], [ports[2], ports[3]]].map(u16::from_be_bytes);
    let payload = match protocol {
        UDP => {
            let header = transport.first_chunk::<8>().ok_or(short)?;
            let found = usize::from(u16::from_be_bytes([header[4], header[5]]));
            let most = transport.len();
            transport.get(8..found).ok_or(PacketError::Length { field: "UDP length", found, least: 8, most })?
        }
        TCP => {
            let header = transport.first_chunk::<20>().ok_or(short)?;
            let (found, most) = (usize::from(header[12] >> 4) * 4, transport.len());
            let payload = if found < 20 { None } else { transport.get(found..) };
            payload.ok_or(PacketError::Length { field: "TCP data offset in bytes", found, least: 20, most })?
        }
        found => {
            let expected = UDP.into();
            return Err(PacketError::Header { field: "IP protocol", found: found.into(), expected });
        }
    };
    let (source, destination) = (SocketAddr::new(source, from), SocketAddr::new(destination, to));
    Ok(Parsed { source, destination, protocol, payload })
}

type Ip<'a> = (IpAddr, IpAddr, u8, &'a [u8]);

fn ipv4(packet: &[u8], short: PacketError) -> Result<Ip<'_>, PacketError> {
    let header = packet.first_chunk::<20>().ok_or(short)?;
    let options = usize::from(header[0] & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header[0] >> 4 != 4 || options < 20 {
        let found = header[0].into();
        return Err(PacketError::Header { field: "IP version and header length", found, expected: 0x45 });
    }
    // More fragments, or an offset (RFC 791, section 3.1).
    if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
        return Err(PacketError::Fragment);
    }
    let most = packet.len();
    let wrong = PacketError::Length { field: "IPv4 total length", found: total, least: options, most };
    let address = |at: usize| IpAddr::from(Ipv4Addr::from([at, at + 1, at + 2, at + 3].map(|at| header[at])));
    Ok((address(12), address(16), header[9], packet.get(options..total).ok_or(wrong)?))
}

fn ipv6(packet: &[u8], short: PacketError) -> Result<Ip<'_>, PacketError> {
    let (header, rest) = packet.split_first_chunk::<40>().ok_or(short)?;
    if header[0] >> 4 != 6 {
        let found = header[0].into();
        return Err(PacketError::Header { field: "IP version and traffic class", found, expected: 0x60 });
    }
    let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let wrong = PacketError::Length { field: "IPv6 payload length", found: length, least: 8, most: rest.len() };
    let address = |at: usize| IpAddr::from(Ipv6Addr::from(core::array::from_fn::<u8, 16, _>(|n| header[at + n])));
    Ok((address(8), address(24), header[6], rest.get(..length).ok_or(wrong)?))
}
