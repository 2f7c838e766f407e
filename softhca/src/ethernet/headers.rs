//! The headers of a frame, or of the packet in its tunnel, as far as the device parses them: Ethernet, up to two VLAN
//! tags, IPv4 or IPv6 with its extension headers, TCP or UDP. Headers that are cut off or inconsistent count as not
//! there. A packet that says it is longer than its frame has headers, and is no packet without fault: rdma-core's tests
//! send such ones (`tests/utils.py`), and match them.

use super::layers::Parser;
use super::protocols::{
    AH, ESP, ETHERNET_HEADER, IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, SERVICE_VLAN, TCP, TRANSPARENT_ETHERNET, UDP, VLAN,
    VLAN_TAG,
};
use super::sum::{add, fold};

/// Most extension headers of IPv6 that are looked behind.
const MAX_EXTENSIONS: usize = 8;
/// IPv6 extension headers (RFC 8200, 4.1): hop-by-hop options, routing, fragment, destination options.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// A VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// EtherType: [`SERVICE_VLAN`] or that of customers' tags.
    pub(crate) ether_type: u16,
    /// Priority, drop eligibility, VLAN.
    pub(crate) control: u16,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ip {
    /// 4 or 6.
    pub(crate) version: u8,
    /// Offset of its header, and of its end.
    pub(crate) at: usize,
    pub(crate) end: usize,
    /// IPv4: 32-bit words of the header; 0 for IPv6.
    pub(crate) words: u8,
    /// DSCP and ECN.
    pub(crate) traffic_class: u8,
    /// Time to live, or hop limit.
    pub(crate) ttl: u8,
    /// Protocol behind the header and its extensions.
    pub(crate) protocol: u8,
    /// IPv4: its header has options. IPv6: extension headers follow it.
    pub(crate) options: bool,
    /// It is a part of a packet.
    pub(crate) fragment: bool,
    /// The frame ends before it does.
    pub(crate) truncated: bool,
    /// IPv6 only.
    pub(crate) flow_label: u32,
    /// An IPv4 address is in the last four bytes.
    pub(crate) source: [u8; 16],
    pub(crate) destination: [u8; 16],
    /// The header's checksum is right; IPv6 has none. `false` if the packet is truncated.
    pub(crate) checksum_ok: bool,
    /// Sum of all 16-bit words of the packet, not complemented.
    pub(crate) sum: u16,
}

/// The header behind the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum L4 {
    /// TCP.
    Tcp {
        /// Nine bits, FIN the lowest.
        flags: u16,
        /// Data follows the header.
        has_data: bool,
    },
    /// UDP.
    Udp,
}

/// Ports of TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Which of the two.
    pub(crate) l4: L4,
    /// Offset of its header.
    pub(crate) at: usize,
    /// Source and destination.
    pub(crate) source: u16,
    pub(crate) destination: u16,
    /// The checksum is right, or there is none (UDP).
    pub(crate) checksum_ok: bool,
}

/// The headers of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    pub(crate) destination: [u8; 6],
    pub(crate) source: [u8; 6],
    /// VLAN tags, the outer one first.
    pub(crate) tags: [Option<Tag>; 2],
    /// EtherType behind the tags.
    pub(crate) ether_type: u16,
    pub(crate) ip: Option<Ip>,
    /// TCP or UDP of a whole packet.
    pub(crate) ports: Option<Ports>,
    /// IPsec of a whole packet: security parameters index.
    pub(crate) security_index: Option<u32>,
}

impl Headers {
    /// A number that the frames between two stations have in common, as networks see it.
    pub(crate) fn flow(&self) -> u32 {
        u32::from(self.source[5] ^ self.destination[5])
    }

    /// The headers of `frame`; `None` if it is too short to have any.
    pub(crate) fn of(frame: &[u8]) -> Option<Self> {
        let mut at = ETHERNET_HEADER;
        let mut ether_type = be16(frame, at - 2)?;
        let mut tags = [None; 2];
        for tag in &mut tags {
            if let (VLAN | SERVICE_VLAN, Some(control), Some(next)) =
                (ether_type, be16(frame, at), be16(frame, at + VLAN_TAG - 2))
            {
                *tag = Some(Tag { ether_type, control });
                (at, ether_type) = (at + VLAN_TAG, next);
            }
        }
        let stations = (array(frame, 0)?, array(frame, 6)?);
        Some(Self::with_packet(frame, at, ether_type, Self { tags, ..Self::without_packet(stations) }))
    }

    /// The headers inside of the tunnel of `frame`, to which these belong. An IP packet without an Ethernet header inside
    /// counts as sent between the stations outside.
    pub(crate) fn inside(&self, frame: &[u8], vxlan_ports: &[u16]) -> Option<Self> {
        let (bytes, ether_type) = Parser { vxlan_ports, ..Parser::default() }.inside(frame)?;
        let outside = Self::without_packet((self.destination, self.source));
        let inside = &frame[bytes];
        match ether_type {
            TRANSPARENT_ETHERNET => Some(Self::of(inside).unwrap_or(outside)),
            _ => Some(Self::with_packet(inside, 0, ether_type, outside)),
        }
    }

    /// No packet between two stations.
    fn without_packet((destination, source): ([u8; 6], [u8; 6])) -> Self {
        Self { destination, source, tags: [None; 2], ether_type: 0, ip: None, ports: None, security_index: None }
    }

    /// These headers, with the packet at `at`.
    fn with_packet(frame: &[u8], at: usize, ether_type: u16, before: Self) -> Self {
        let found = match ether_type {
            IPV4 => ipv4(frame, at),
            IPV6 => ipv6(frame, at),
            _ => None,
        };
        let whole = found.filter(|(ip, _)| !ip.fragment);
        Self {
            ether_type,
            ip: found.map(|(ip, _)| ip),
            ports: whole.and_then(|(ip, next)| ports(frame, &ip, next)),
            security_index: whole.and_then(|(ip, next)| security_index(frame, &ip, next)),
            ..before
        }
    }

    /// The destination is a group of stations, or all.
    pub(crate) fn is_multicast(&self) -> bool {
        self.destination[0] & 1 != 0
    }

    /// The destination is all stations.
    pub(crate) fn is_broadcast(&self) -> bool {
        self.destination == [0xff; 6]
    }
}

/// The IPv4 header at `at`, and where it ends.
fn ipv4(frame: &[u8], at: usize) -> Option<(Ip, usize)> {
    let bytes = frame.get(at..)?;
    let words = bytes.first()? & 0xf;
    let (header, len) = (usize::from(words) * 4, usize::from(be16(bytes, 2)?));
    if bytes[0] >> 4 != 4 || header < IPV4_HEADER || header > len.min(bytes.len()) {
        return None;
    }
    let (truncated, len) = (len > bytes.len(), len.min(bytes.len()));
    let address = |at: usize| {
        let mut address = [0; 16];
        address[12..].copy_from_slice(&bytes[at..at + 4]);
        address
    };
    let ip = Ip {
        version: 4,
        at,
        end: at + len,
        words,
        traffic_class: bytes[1],
        ttl: bytes[8],
        protocol: bytes[9],
        options: header > IPV4_HEADER,
        fragment: be16(bytes, 6)? & 0x3fff != 0,
        truncated,
        flow_label: 0,
        source: address(12),
        destination: address(16),
        checksum_ok: !truncated && fold(add(0, &bytes[..header])) == 0,
        sum: !fold(add(0, &bytes[..len])),
    };
    Some((ip, at + header))
}

/// The IPv6 header at `at`, and where its extension headers end.
fn ipv6(frame: &[u8], at: usize) -> Option<(Ip, usize)> {
    let bytes = frame.get(at..)?;
    let len = IPV6_HEADER + usize::from(be16(bytes, 4)?);
    if bytes[0] >> 4 != 6 || bytes.len() < IPV6_HEADER {
        return None;
    }
    let (truncated, len) = (len > bytes.len(), len.min(bytes.len()));
    let bytes = &bytes[..len];
    let (mut next, mut protocol, mut fragment) = (IPV6_HEADER, bytes[6], false);
    for _ in 0..MAX_EXTENSIONS {
        let (following, header) = match (protocol, bytes.get(next), bytes.get(next + 1)) {
            (HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS, Some(&following), Some(&units)) => {
                (following, usize::from(units) * 8 + 8)
            }
            (FRAGMENT, Some(&following), Some(_)) => {
                fragment = true;
                (following, 8)
            }
            _ => break,
        };
        if next + header > len {
            break;
        }
        (protocol, next) = (following, next + header);
    }
    let ip = Ip {
        version: 6,
        at,
        end: at + len,
        words: 0,
        traffic_class: (be16(bytes, 0)? >> 4) as u8,
        ttl: bytes[7],
        protocol,
        options: next > IPV6_HEADER,
        fragment,
        truncated,
        flow_label: u32::from(bytes[1] & 0xf) << 16 | u32::from(be16(bytes, 2)?),
        source: array(bytes, 8)?,
        destination: array(bytes, 24)?,
        checksum_ok: !truncated,
        sum: !fold(add(0, bytes)),
    };
    Some((ip, at + next))
}

/// TCP or UDP at `at`.
fn ports(frame: &[u8], ip: &Ip, at: usize) -> Option<Ports> {
    let segment = frame.get(at..ip.end)?;
    let (source, destination) = (be16(segment, 0)?, be16(segment, 2)?);
    let l4 = match ip.protocol {
        TCP => {
            let offset_flags = be16(segment, 12)?;
            let header = usize::from(offset_flags >> 12) * 4;
            L4::Tcp { flags: offset_flags & 0x1ff, has_data: segment.len() > header }
        }
        UDP => L4::Udp,
        _ => return None,
    };
    let checksum = be16(segment, if l4 == L4::Udp { 6 } else { 16 })?;
    let pseudo = segment.len() as u64 + u64::from(ip.protocol);
    let sum = add(add(add(pseudo, &ip.source), &ip.destination), segment);
    let checksum_ok = !ip.truncated && (fold(sum) == 0 || l4 == L4::Udp && checksum == 0);
    Some(Ports { l4, at, source, destination, checksum_ok })
}

/// The security parameters index of IPsec at `at`: ESP's begins with it, AH's header has it in its second word (RFC
/// 4303, 4302).
fn security_index(frame: &[u8], ip: &Ip, at: usize) -> Option<u32> {
    let header = frame.get(at..ip.end)?;
    let within = match ip.protocol {
        ESP => 0,
        AH => 4,
        _ => return None,
    };
    array(header, within).map(u32::from_be_bytes)
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::super::checksums::{Checksums, fill_checksums};
    use super::super::layers::test_tunnels::{ethernet, ip, tcp, tunnels, udp};
    use super::*;
    use proptest::prelude::*;

    fn frame(tags: &[u8], ether_type: [u8; 2], packet: &[u8]) -> Vec<u8> {
        let mut frame = [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1], tags, &ether_type, packet].concat();
        fill_checksums(&mut frame, Checksums { l3: true, l4: true, ..Checksums::default() }, Parser::default());
        frame
    }

    fn ipv4_tcp(flags: u8, data: usize) -> Vec<u8> {
        let len = 40 + data as u8;
        let mut packet = vec![0x45, 0xb9, 0, len, 0, 0, 0x40, 0, 63, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([0x12, 0x34, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x51, flags, 1, 0, 0, 0, 0, 0]);
        packet.resize(usize::from(len), 0x77);
        packet
    }

    /// Each tunnel that the device knows, in both versions of IP outside and inside. A frame without one has nothing
    /// inside, and what is no packet leaves the tunnel empty.
    #[test]
    fn headers_inside_of_tunnels() {
        for (outer_ipv6, inner_ipv6) in [(false, false), (false, true), (true, false), (true, true)] {
            let inner = ip(inner_ipv6, 6, &tcp(b"an order"));
            for (name, mut frame) in tunnels(outer_ipv6, inner_ipv6, &inner) {
                let parser = Parser { vxlan_ports: &[8472], ..Parser::default() };
                let all = Checksums { l3: true, l4: true, inner_l3: true, inner_l4: true };
                fill_checksums(&mut frame, all, parser);
                // Bytes behind the packet, such as the padding of a short frame.
                frame.extend([0xee; 5]);
                let outside = Headers::of(&frame).expect("headers");
                assert_eq!(outside.ip.expect("IP").version == 6, outer_ipv6, "{name}");
                let inside = outside.inside(&frame, &[8472]).expect(name);
                let (ip, ports) = (inside.ip.expect(name), inside.ports.expect(name));
                assert_eq!((ip.version == 6, ip.checksum_ok), (inner_ipv6, true), "{name}");
                assert_eq!((ports.source, ports.destination, ports.checksum_ok), (0x1234, 80, true), "{name}");
                assert_eq!(inside.inside(&frame[14..], &[8472]), None, "{name}");
                let end = frame.len() - 6;
                frame[end] ^= 1;
                let damaged = outside.inside(&frame, &[8472]).expect(name);
                assert!(!damaged.ports.expect(name).checksum_ok, "{name}");
                if name == "VXLAN on a port that was added" {
                    assert_eq!(outside.inside(&frame, &[]), None);
                }
            }
        }
        let arp = [&[8, 0, 0, 0, 0, 0, 9, 0][..], &ethernet(0x0806), &[0; 28]].concat();
        let cut = [8, 0, 0, 0, 0, 0, 9, 0, 2, 0, 0];
        for inner in [&arp[..], &cut, &cut[..8]] {
            let frame = [ethernet(IPV4), ip(false, UDP, &udp(4789, inner))].concat();
            let inside = Headers::of(&frame).expect("headers").inside(&frame, &[]).expect("VXLAN");
            assert_eq!((inside.ip, inside.ports), (None, None));
        }
        let plain = [ethernet(IPV4), ip(false, 6, &tcp(b""))].concat();
        assert_eq!(Headers::of(&plain).expect("headers").inside(&plain, &[]), None);
    }

    #[test]
    fn ipv4_behind_tags() {
        for tags in [&[][..], &[0x81, 0, 0xa0, 5], &[0x88, 0xa8, 0, 6, 0x81, 0, 0, 5]] {
            let mut bytes = frame(tags, [8, 0], &ipv4_tcp(0x12, 3));
            bytes.extend([0xee; 9]);
            let headers = Headers::of(&bytes).expect("headers");
            let ip = headers.ip.expect("IP");
            let at = 14 + tags.len();
            assert_eq!((ip.version, ip.at, ip.end, ip.words), (4, at, at + 43, 5));
            assert_eq!((ip.traffic_class, ip.ttl, ip.protocol, ip.fragment), (0xb9, 63, 6, false));
            assert_eq!((ip.source[12..].to_vec(), ip.destination[15]), (vec![10, 0, 0, 1], 2));
            assert!(ip.checksum_ok && !ip.options);
            let ports = headers.ports.expect("TCP");
            assert_eq!((ports.source, ports.destination, ports.checksum_ok), (0x1234, 80, true));
            assert_eq!(ports.l4, L4::Tcp { flags: 0x112, has_data: true });
            let count = headers.tags.iter().flatten().count();
            assert_eq!(count, tags.len() / 4);
            assert_eq!(headers.tags[0].map(|tag| tag.control), [None, Some(0xa005), Some(6)][count]);
            // A bit that flips anywhere in the segment, and in the header.
            bytes[at + 41] ^= 1;
            assert!(!Headers::of(&bytes).unwrap().ports.unwrap().checksum_ok);
            bytes[at + 8] ^= 1;
            assert!(!Headers::of(&bytes).unwrap().ip.unwrap().checksum_ok);
        }
    }

    #[test]
    fn ipv6_is_looked_through() {
        let packet = |extensions: &[u8], first: u8| {
            let udp = [0, 1, 0, 2, 0, 11, 0, 0, 1, 2, 3];
            let len = (extensions.len() + udp.len()) as u8;
            let mut packet = vec![0x6a, 0xb1, 0x23, 0x45, 0, len, first, 9];
            packet.extend([0x20; 16]);
            packet.extend([0x30; 16]);
            packet.extend(extensions);
            packet.extend(udp);
            packet
        };
        let plain = Headers::of(&frame(&[], [0x86, 0xdd], &packet(&[], 17))).expect("headers");
        let ip = plain.ip.expect("IP");
        assert_eq!((ip.version, ip.traffic_class, ip.flow_label, ip.ttl), (6, 0xab, 0x1_2345, 9));
        assert!(plain.ports.expect("UDP").checksum_ok && !ip.options);
        let options = [17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let found = Headers::of(&frame(&[], [0x86, 0xdd], &packet(&options, 60))).expect("headers");
        assert_eq!((found.ip.unwrap().protocol, found.ports.unwrap().destination), (17, 2));
        assert!(found.ip.unwrap().options);
        let part = [17, 0, 0, 1, 0, 0, 0, 1];
        let found = Headers::of(&frame(&[], [0x86, 0xdd], &packet(&part, 44))).expect("headers");
        assert_eq!((found.ip.unwrap().fragment, found.ports), (true, None));
    }

    #[test]
    fn a_packet_longer_than_its_frame_has_headers_and_is_not_right() {
        for ipv6 in [false, true] {
            let mut packet = if ipv6 { vec![0x60, 0, 0, 0, 0, 8, 17, 9] } else { ipv4_tcp(0x10, 0)[..20].to_vec() };
            if ipv6 {
                packet.extend([[0x20; 16], [0x30; 16]].concat());
            } else {
                (packet[3], packet[9]) = (28, 17);
            }
            packet.extend([0, 1, 0, 2, 0, 8, 0, 0]);
            let mut bytes = frame(&[], if ipv6 { [0x86, 0xdd] } else { [8, 0] }, &packet);
            let whole = Headers::of(&bytes).expect("headers");
            assert!(whole.ip.unwrap().checksum_ok && whole.ports.unwrap().checksum_ok);
            let length = if ipv6 { 14 + 5 } else { 14 + 3 };
            bytes[length] += 1;
            if !ipv6 {
                fill_checksums(&mut bytes, Checksums { l3: true, ..Checksums::default() }, Parser::default());
            }
            let found = Headers::of(&bytes).expect("headers");
            let (ip, ports) = (found.ip.expect("IP"), found.ports.expect("UDP"));
            assert_eq!((ip.end, ip.protocol, ports.source, ports.destination), (bytes.len(), 17, 1, 2));
            assert!(ip.truncated && !ip.checksum_ok && !ports.checksum_ok);
        }
    }

    #[test]
    fn ipsec_says_its_index() {
        let packet = |protocol: u8, part: u8| {
            let mut packet = vec![0x45, 0, 0, 28, 0, 0, part, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            packet.extend([1, 2, 3, 4, 5, 6, 7, 8]);
            Headers::of(&frame(&[], [8, 0], &packet)).expect("headers").security_index
        };
        assert_eq!(packet(50, 0), Some(0x0102_0304), "ESP");
        assert_eq!(packet(51, 0), Some(0x0506_0708), "AH");
        assert_eq!((packet(52, 0), packet(50, 0x20)), (None, None), "another protocol; a part of a packet");
        let short = [0x45, 0, 0, 23, 0, 0, 0, 0, 64, 50, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4];
        assert_eq!(Headers::of(&frame(&[], [8, 0], &short)).expect("headers").security_index, None);
    }

    #[test]
    fn udp_without_a_checksum_is_as_it_must_be() {
        let packet = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 8, 0, 0];
        let mut bytes = frame(&[], [8, 0], &packet);
        bytes[40..42].fill(0);
        assert!(Headers::of(&bytes).unwrap().ports.unwrap().checksum_ok);
        bytes[41] = 1;
        assert!(!Headers::of(&bytes).unwrap().ports.unwrap().checksum_ok);
    }

    #[test]
    fn the_sum_is_over_the_packet_alone() {
        let mut bytes = frame(&[0x81, 0, 0, 5], [8, 0], &ipv4_tcp(0x10, 0));
        let sum = Headers::of(&bytes).unwrap().ip.unwrap().sum;
        let by_hand = bytes[18..].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
        assert_eq!(u32::from(sum), by_hand % 0xffff);
        bytes.extend([9; 20]);
        assert_eq!(Headers::of(&bytes).unwrap().ip.unwrap().sum, sum);
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..120), kind in 0..4usize) {
            if let Some(ether_type) = bytes.get_mut(12..14) {
                ether_type.copy_from_slice(&[[8, 0], [0x86, 0xdd], [0x81, 0], [0x88, 0xa8]][kind]);
            }
            if let (Some(byte), true) = (bytes.get_mut(14), kind < 2) {
                *byte = [0x45, 0x60][kind];
            }
            if let Some(ip) = Headers::of(&bytes).and_then(|found| found.ip) {
                prop_assert!(ip.at < ip.end && ip.end <= bytes.len());
            }
        }
    }
}
