//! Network headers: the GRH, and the IP and UDP headers that take its place in RoCE v2 (IBTA vol. 1, 8.3; annex A17.3).

use std::net::Ipv6Addr;

use super::dropped::Dropped;
use crate::config::GidType;
use crate::ethernet::sum::{add, fold};
use crate::ethernet::{IPV4_HEADER, IPV6_HEADER, UDP};
use crate::wire::frame::Grh;

/// UDP port of RoCE v2 (IANA, `roce`).
pub const PORT: u16 = 4791;
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;
/// The most bytes that network headers take.
pub(super) const MAX_BYTES: usize = IPV6_HEADER + UDP_HEADER;

/// Version 4 and a header of 5 words.
const FIRST_IPV4: u8 = 0x45;
const DO_NOT_FRAGMENT: u16 = 0x4000;
/// MORE_FRAGMENTS and the fragment's offset.
const FRAGMENT: u16 = 0x3fff;
/// The next header that says "IBA transport" (IBTA vol. 1, 8.3).
const NEXT_HEADER_IBA: u8 = 0x1b;
const FLOW_LABEL: u32 = 0xf_ffff;

/// An IP header or a GRH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// IPv4.
    V4([u8; IPV4_HEADER]),
    /// IPv6, or a GRH, which has its form.
    V6([u8; IPV6_HEADER]),
}

impl Header {
    /// The network header of a packet of `transport` bytes from BTH to ICRC.
    pub(crate) fn of(grh: &Grh, transport: usize) -> Self {
        match (grh.kind, ip4_addresses(grh)) {
            (GidType::RoceV2, Some(addresses)) => Self::V4(ip4(grh, UDP_HEADER + transport, addresses)),
            (GidType::RoceV2, None) => Self::V6(ip6(grh, UDP_HEADER + transport, UDP)),
            (GidType::RoceV1 | GidType::InfiniBand, _) => Self::V6(ip6(grh, transport, NEXT_HEADER_IBA)),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::V4(bytes) => bytes,
            Self::V6(bytes) => bytes,
        }
    }

    /// The header with ones in place of the fields that may change on the way.
    pub(super) fn masked(mut self) -> Self {
        match &mut self {
            Self::V4(bytes) => {
                // Type of service, time to live, checksum.
                for at in [1, 8, 10, 11] {
                    bytes[at] = 0xff;
                }
            }
            Self::V6(bytes) => {
                // Traffic class, flow label, hop limit.
                bytes[0] |= 0xf;
                for at in [1, 2, 3, 7] {
                    bytes[at] = 0xff;
                }
            }
        }
        self
    }
}

/// Bytes of the network headers of packets with this GRH: of RoCE v2, those of UDP included.
pub(super) fn bytes(grh: &Grh) -> usize {
    match grh.kind {
        GidType::InfiniBand | GidType::RoceV1 => IPV6_HEADER,
        GidType::RoceV2 if ip4_addresses(grh).is_some() => IPV4_HEADER + UDP_HEADER,
        GidType::RoceV2 => IPV6_HEADER + UDP_HEADER,
    }
}

/// Source and destination of a packet that has an IPv4 header, if it is RoCE v2's.
pub(crate) fn ip4_addresses(grh: &Grh) -> Option<[[u8; 4]; 2]> {
    let ip4 = |gid: [u8; 16]| Ipv6Addr::from(gid).to_ipv4_mapped().map(|ip| ip.octets());
    Some([ip4(grh.sgid)?, ip4(grh.dgid)?])
}

fn ip6(grh: &Grh, len: usize, next_header: u8) -> [u8; IPV6_HEADER] {
    let mut bytes = [0; IPV6_HEADER];
    let first = 6 << 28 | u32::from(grh.traffic_class) << 20 | (grh.flow_label & FLOW_LABEL);
    bytes[..4].copy_from_slice(&first.to_be_bytes());
    // No packet is longer than 4 KiB and its headers.
    bytes[4..6].copy_from_slice(&(len as u16).to_be_bytes());
    bytes[6] = next_header;
    bytes[7] = grh.hop_limit;
    bytes[8..24].copy_from_slice(&grh.sgid);
    bytes[24..].copy_from_slice(&grh.dgid);
    bytes
}

fn ip4(grh: &Grh, len: usize, [source, destination]: [[u8; 4]; 2]) -> [u8; IPV4_HEADER] {
    let mut bytes = [0; IPV4_HEADER];
    bytes[0] = FIRST_IPV4;
    bytes[1] = grh.traffic_class;
    bytes[2..4].copy_from_slice(&((IPV4_HEADER + len) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&DO_NOT_FRAGMENT.to_be_bytes());
    bytes[8] = grh.hop_limit;
    bytes[9] = UDP;
    bytes[12..16].copy_from_slice(&source);
    bytes[16..].copy_from_slice(&destination);
    let sum = fold(add(0, &bytes));
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// The UDP header of a packet of `transport` bytes from BTH to ICRC. It has no checksum (IBTA annex A17.3.1.2), and
/// counts with ones in its place.
pub(super) fn udp(source_port: u16, transport: usize, checksum: u16) -> [u8; UDP_HEADER] {
    let len = ((UDP_HEADER + transport) as u16).to_be_bytes();
    let ([s0, s1], [d0, d1], [c0, c1]) = (source_port.to_be_bytes(), PORT.to_be_bytes(), checksum.to_be_bytes());
    [s0, s1, d0, d1, len[0], len[1], c0, c1]
}

/// A network header that was read, and the bytes that it announces behind it.
pub(super) struct Read<'a> {
    pub(super) grh: Grh,
    pub(super) header: Header,
    /// IP protocol or next header.
    pub(super) protocol: u8,
    pub(super) rest: &'a [u8],
}

/// Reads an IPv4 header. Its packet may be followed by padding of the link.
pub(super) fn read_ip4(bytes: &[u8]) -> Result<Read<'_>, Dropped> {
    let header: [u8; IPV4_HEADER] = *bytes.first_chunk().ok_or(Dropped::Truncated { len: bytes.len() })?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    if header[0] >> 4 != 4 {
        return Err(Dropped::IpVersion(header[0] >> 4));
    }
    if header[0] != FIRST_IPV4 {
        return Err(Dropped::IpOptions(header[0] & 0xf));
    }
    if fold(add(0, &header)) != 0 {
        return Err(Dropped::HeaderChecksum(word(10)));
    }
    if word(6) & FRAGMENT != 0 {
        return Err(Dropped::Fragment(word(6)));
    }
    let announced = usize::from(word(2));
    let length = Dropped::Length { announced, there: bytes.len() };
    let rest = bytes.get(IPV4_HEADER..announced).ok_or(length)?;
    let mapped = |at: usize| {
        std::net::Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]).to_ipv6_mapped().octets()
    };
    let grh = Grh {
        kind: GidType::RoceV2,
        sgid: mapped(12),
        dgid: mapped(16),
        traffic_class: header[1],
        flow_label: 0,
        hop_limit: header[8],
        udp_sport: 0,
    };
    Ok(Read { grh, header: Header::V4(header), protocol: header[9], rest })
}

/// Reads an IPv6 header or a GRH, of a packet that travels as `kind`.
pub(super) fn read_ip6(kind: GidType, bytes: &[u8]) -> Result<Read<'_>, Dropped> {
    let header: [u8; IPV6_HEADER] = *bytes.first_chunk().ok_or(Dropped::Truncated { len: bytes.len() })?;
    let first = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
    if header[0] >> 4 != 6 {
        return Err(Dropped::IpVersion(header[0] >> 4));
    }
    let announced = IPV6_HEADER + usize::from(u16::from_be_bytes([header[4], header[5]]));
    let rest = bytes.get(IPV6_HEADER..announced).ok_or(Dropped::Length { announced, there: bytes.len() })?;
    let gid = |at: usize| std::array::from_fn(|byte| header[at + byte]);
    let grh = Grh {
        kind,
        sgid: gid(8),
        dgid: gid(24),
        traffic_class: (first >> 20) as u8,
        flow_label: first & FLOW_LABEL,
        hop_limit: header[7],
        udp_sport: 0,
    };
    if kind != GidType::RoceV2 && header[6] != NEXT_HEADER_IBA {
        return Err(Dropped::NextHeader(header[6]));
    }
    Ok(Read { grh, header: Header::V6(header), protocol: header[6], rest })
}

/// Splits a UDP header off; `None` if the datagram is for another port. The header counts with ones in place of its
/// checksum.
pub(super) fn read_udp(bytes: &[u8]) -> Result<([u8; UDP_HEADER], u16, &[u8]), Dropped> {
    let header: &[u8; UDP_HEADER] = bytes.first_chunk().ok_or(Dropped::Truncated { len: bytes.len() })?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let announced = usize::from(word(4));
    if announced != bytes.len() {
        return Err(Dropped::Length { announced, there: bytes.len() });
    }
    let [s0, s1, d0, d1, l0, l1, ..] = *header;
    Ok(([s0, s1, d0, d1, l0, l1, 0xff, 0xff], word(2), &bytes[UDP_HEADER..]))
}
