//! The headers of a packet of the IB transport, from the cable: RoCE v1 and v2, InfiniBand (IBTA vol. 1, chapters 7 to
//! 9, annexes A16 and A17).

use super::file::{Captured, Link};
use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv6Addr};

/// EtherTypes, protocols and ports.
const VLANS: [u16; 2] = [0x8100, 0x88a8];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ROCE_V1: u16 = 0x8915;
const UDP: u8 = 17;
const ROCE_PORT: u16 = 4791;
/// Next header of a GRH before the transport.
const TRANSPORT: u8 = 0x1b;
/// Bytes of headers and CRCs.
const GRH: usize = 40;
const LRH: usize = 8;
const BTH: usize = 12;
const ICRC: usize = 4;
const VCRC: usize = 2;
/// An Endace record's header, and the type of one with a packet of InfiniBand.
const ERF: usize = 16;
const ERF_INFINIBAND: u8 = 21;

/// The address of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Address {
    /// Of RoCE v2: IPv4 or IPv6.
    Ip(IpAddr),
    /// Of RoCE v1: a GID.
    Gid(Ipv6Addr),
    /// Of InfiniBand.
    Lid(u16),
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(ip) => ip.fmt(f),
            Self::Gid(gid) => write!(f, "GID {gid}"),
            Self::Lid(lid) => write!(f, "LID {lid:#x}"),
        }
    }
}

/// A packet of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) from: Address,
    pub(super) to: Address,
    /// A router has marked it: congestion.
    pub(super) is_marked: bool,
    pub(super) opcode: u8,
    /// Destination.
    pub(super) qpn: u32,
    pub(super) psn: u32,
    pub(super) asks_for_acknowledgement: bool,
    /// Behind the BTH, up to the invariant CRC.
    pub(super) rest: &'a [u8],
    pub(super) padding: usize,
    /// `None` if the headers before the BTH are unknown.
    pub(super) is_crc_right: Option<bool>,
}

/// The packet in captured bytes; `None` if there is none of the transport.
pub(super) fn packet<'a>(captured: &Captured<'a>) -> Option<Packet<'a>> {
    match captured.link {
        Link::Ethernet => ethernet(captured.bytes),
        Link::InfiniBand => infiniband(captured.bytes),
        Link::Erf => {
            let is_infiniband = captured.bytes.get(8)? & 0x7f == ERF_INFINIBAND;
            is_infiniband.then(|| infiniband(captured.bytes.get(ERF..)?)).flatten()
        }
        Link::Other => None,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn ethernet(frame: &[u8]) -> Option<Packet<'_>> {
    let mut at = 12;
    while VLANS.contains(&word(frame, at)?) {
        at += 4;
    }
    let rest = frame.get(at + 2..)?;
    match word(frame, at)? {
        IPV4 => ipv4(rest),
        IPV6 => {
            let header: &[u8; GRH] = rest.first_chunk()?;
            let datagram = rest.get(GRH..GRH + usize::from(word(rest, 4)?)).filter(|_| header[6] == UDP)?;
            let [from, to] = gids(header).map(|gid| Address::Ip(gid.into()));
            roce_v2(datagram, masked_ipv6(header), (from, to), class_of(header))
        }
        ROCE_V1 => {
            let header: &[u8; GRH] = rest.first_chunk()?;
            let packet = rest.get(GRH..GRH + usize::from(word(rest, 4)?)).filter(|_| header[6] == TRANSPORT)?;
            let [from, to] = gids(header).map(Address::Gid);
            transport(packet, Some(&[&[0xff; LRH][..], &masked_ipv6(header)].concat()), (from, to), 0)
        }
        _ => None,
    }
}

fn ipv4(rest: &[u8]) -> Option<Packet<'_>> {
    let len = usize::from(rest.first()? & 0xf) * 4;
    let header = rest.get(..len).filter(|header| header.len() >= 20 && header[0] >> 4 == 4 && header[9] == UDP)?;
    let datagram = rest.get(len..usize::from(word(rest, 2)?))?;
    let mut masked = header.to_vec();
    // Type of service, time to live, checksum.
    for at in [1, 8, 10, 11] {
        masked[at] = 0xff;
    }
    let ip = |at: usize| Address::Ip(IpAddr::from([header[at], header[at + 1], header[at + 2], header[at + 3]]));
    roce_v2(datagram, masked, (ip(12), ip(16)), header[1])
}

/// A packet in a UDP datagram, behind an IP header with ones in place of the fields that change.
fn roce_v2(datagram: &[u8], mut masked: Vec<u8>, ends: (Address, Address), class: u8) -> Option<Packet<'_>> {
    const HEADER: usize = 8;
    let header = datagram.get(..HEADER).filter(|_| word(datagram, 2) == Some(ROCE_PORT))?;
    masked.splice(0..0, [0xff; LRH]);
    masked.extend(&header[..6]);
    masked.extend([0xff; 2]);
    transport(&datagram[HEADER..], Some(&masked), ends, class)
}

fn infiniband(bytes: &[u8]) -> Option<Packet<'_>> {
    let (before, _) = bytes.split_at_checked(bytes.len().checked_sub(VCRC)?)?;
    let lrh: &[u8; LRH] = before.first_chunk()?;
    let ends = (Address::Lid(word(lrh, 6)?), Address::Lid(word(lrh, 2)?));
    // The virtual lane, and the reserved bits of the packet length.
    let mut masked = lrh.to_vec();
    masked[0] |= 0xf0;
    match lrh[1] & 3 {
        2 => transport(&before[LRH..], Some(&masked), ends, 0),
        3 => {
            let header: &[u8; GRH] = before[LRH..].first_chunk()?;
            masked.extend(masked_ipv6(header));
            transport(&before[LRH + GRH..], Some(&masked), ends, 0)
        }
        _ => None,
    }
}

/// Source and destination of an IPv6 header or a GRH.
fn gids(header: &[u8; GRH]) -> [Ipv6Addr; 2] {
    [8, 24].map(|at| Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|byte| header[at + byte])))
}

fn class_of(header: &[u8; GRH]) -> u8 {
    header[0] << 4 | header[1] >> 4
}

/// With ones in place of traffic class, flow label and hop limit.
fn masked_ipv6(header: &[u8; GRH]) -> Vec<u8> {
    let mut masked = header.to_vec();
    masked[0] |= 0xf;
    for at in [1, 2, 3, 7] {
        masked[at] = 0xff;
    }
    masked
}

/// A packet from its BTH to its invariant CRC.
fn transport<'a>(
    packet: &'a [u8],
    masked: Option<&[u8]>,
    (from, to): (Address, Address),
    class: u8,
) -> Option<Packet<'a>> {
    let (body, crc) = packet.split_last_chunk::<ICRC>()?;
    let bth: &[u8; BTH] = body.first_chunk()?;
    let number = |at: usize| u32::from_be_bytes([0, bth[at], bth[at + 1], bth[at + 2]]);
    let is_crc_right =
        masked.map(|masked| crc32([masked, &body[..4], &[0xff], &body[5..]]) == u32::from_le_bytes(*crc));
    Some(Packet {
        from,
        to,
        is_marked: class & 3 == 3,
        opcode: bth[0],
        qpn: number(5),
        psn: number(9),
        asks_for_acknowledgement: bth[8] & 0x80 != 0,
        rest: &body[BTH..],
        padding: usize::from(bth[1] >> 4 & 3),
        is_crc_right,
    })
}

/// Ethernet's CRC over pieces of a packet.
fn crc32<const N: usize>(pieces: [&[u8]; N]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |crc: u32, _| if crc & 1 != 0 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
    let bytes = pieces.into_iter().flatten();
    !bytes.fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    fn of(link: Link, bytes: &[u8]) -> Option<Packet<'_>> {
        packet(&Captured { time: 0, link, is_outbound: false, bytes, comment: None })
    }

    /// Packets of others: an acknowledgement in Wireshark's sample capture `infiniband.pcap`; a notification that was
    /// captured on a ConnectX-4 Lx (scapy's unit tests); a SEND by scapy over IPv6, with flow label and padding.
    #[test]
    fn packets_of_others_are_read_and_their_crcs_are_right() {
        let ack = hex("0002000400070001 1140ffff0087040800d40a55 1f000001 a8035550 3081");
        let found = of(Link::InfiniBand, &ack).unwrap();
        assert_eq!((found.from, found.to), (Address::Lid(1), Address::Lid(4)));
        assert_eq!((found.opcode, found.qpn, found.psn, found.rest[0]), (0x11, 0x870408, 0xd40a55, 0x1f));
        assert_eq!(found.is_crc_right, Some(true));
        let record = [&[0; 8][..], &[21, 4, 0, 0, 0, 0, 0, 0], &ack].concat();
        assert_eq!(of(Link::Erf, &record), Some(found));
        let notification =
            hex("e41d2dab2bc2 7cfe90643b32 0800 45c2003c718c4000401191610a0011010a001201 000012b700280000
            8100ffff4000011800000000 00000000000000000000000000000000 82fd002a");
        let found = of(Link::Ethernet, &notification).unwrap();
        assert_eq!((found.opcode, found.qpn, found.is_crc_right), (0x81, 0x118, Some(true)));
        assert_eq!(found.from, Address::Ip([10, 0, 17, 1].into()));
        let send = hex("020000000002 020000000001 86dd 6621234500201111 20010db8000000000000000000000001
            20010db8000000000000000000000002 c12312b700200000 0470ffff8012345680abcdef 68656c6c6f000000 a9cabf72");
        let found = of(Link::Ethernet, &send).unwrap();
        assert_eq!((found.qpn, found.psn, found.padding, found.is_crc_right), (0x123456, 0xabcdef, 3, Some(true)));
        assert!(found.asks_for_acknowledgement && !found.is_marked);
        let mut damaged = send.clone();
        damaged[80] ^= 1;
        assert_eq!(of(Link::Ethernet, &damaged).unwrap().is_crc_right, Some(false));
        for bytes in [&ack, &notification, &send] {
            for len in 0..bytes.len() {
                for link in [Link::Ethernet, Link::InfiniBand, Link::Erf, Link::Other] {
                    let _ = of(link, &bytes[..len]);
                }
            }
        }
    }
}
