//! Fields of a frame's headers that rules read and write, with the checksums over them.
//!
//! A written field changes the checksum of IPv4's header, and TCP's or UDP's, and the device corrects these. Linux counts
//! on these three and no others (`drivers/net/ethernet/mellanox/mlx5/core/en_tc.c`, `csum_offload_supported`), also for a
//! changed TTL (commit 4ff725e1d4ad). The device corrects by the difference (RFC 1624), so a wrong checksum stays wrong.
//! No public source says how a NIC treats a wrong one.

use super::headers::{Headers, L4};
use super::protocols::{ETHERNET_HEADER, VLAN_TAG};
use super::sum::{add, fold};
use std::ops::Range;

/// A header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// Both addresses.
    Stations,
    /// The first VLAN tag's control information.
    FirstTag,
    /// The EtherType behind all tags.
    EtherType,
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
    /// TCP of a whole packet.
    Tcp,
    /// UDP of a whole packet.
    Udp,
}

/// Up to 32 bits in a row of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub(crate) header: Header,
    /// First bit, from the header's start.
    pub(crate) at: usize,
    pub(crate) width: u8,
}

/// The bytes of an IPv4 header, and of an IPv6 header, that hold the addresses. TCP and UDP have them in their checksums.
const IPV4_ADDRESSES: Range<usize> = 12..20;
const IPV6_ADDRESSES: Range<usize> = 8..40;
/// Where checksums are in the headers of IPv4, TCP and UDP.
const IPV4_CHECKSUM: usize = 10;
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;

impl Bits {
    /// Whether a frame has the header.
    pub(crate) fn is_in(&self, headers: &Headers) -> bool {
        self.start(headers).is_some()
    }

    /// The value in a frame; `None` without the header.
    pub(crate) fn read(&self, frame: &[u8], headers: &Headers) -> Option<u32> {
        let (bytes, shift) = self.place(self.start(headers)?);
        Some((number(&frame[bytes]) >> shift) as u32 & self.mask())
    }

    /// Puts a value into a frame that has the header.
    pub(crate) fn write(&self, frame: &mut [u8], headers: &Headers, value: u32) {
        let Some(start) = self.start(headers) else { return };
        let (bytes, shift) = self.place(start);
        let before = number(&frame[bytes.clone()]);
        let mask = u64::from(self.mask()) << shift;
        let after = before & !mask | u64::from(value) << shift & mask;
        let octets = after.to_be_bytes();
        // The words that a checksum adds up begin at even offsets of a header.
        let within = (bytes.start - start) & !1..(bytes.end - start).next_multiple_of(2);
        let words = start + within.start..start + within.end;
        let old = add(0, &frame[words.clone()]);
        frame[bytes.clone()].copy_from_slice(&octets[octets.len() - bytes.len()..]);
        let new = add(0, &frame[words]);
        for at in self.checksums(headers, &within).into_iter().flatten() {
            correct(frame, at, old, new);
        }
    }

    /// Where the header begins.
    fn start(&self, headers: &Headers) -> Option<usize> {
        let ip = |version| headers.ip.filter(|ip| ip.version == version).map(|ip| ip.at);
        let l4 = |tcp| headers.ports.filter(|ports| (ports.l4 != L4::Udp) == tcp).map(|ports| ports.at);
        match self.header {
            Header::Stations => Some(0),
            Header::FirstTag => headers.tags[0].map(|_| ETHERNET_HEADER),
            Header::EtherType => Some(ETHERNET_HEADER - 2 + VLAN_TAG * headers.tags.iter().flatten().count()),
            Header::Ipv4 => ip(4),
            Header::Ipv6 => ip(6),
            Header::Tcp => l4(true),
            Header::Udp => l4(false),
        }
    }

    /// The bytes that hold the bits of a header at `start`, and how many bits of them follow.
    fn place(&self, start: usize) -> (Range<usize>, usize) {
        let end = self.at + usize::from(self.width);
        (start + self.at / 8..start + end.div_ceil(8), end.next_multiple_of(8) - end)
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// Where the checksums are that cover these bytes of the header: IPv4's, and that of the packet's TCP or UDP.
    fn checksums(&self, headers: &Headers, within: &Range<usize>) -> [Option<(usize, bool)>; 2] {
        let l4 = headers.ports.map(|ports| match ports.l4 {
            L4::Tcp { .. } => (ports.at + TCP_CHECKSUM, false),
            L4::Udp => (ports.at + UDP_CHECKSUM, true),
        });
        let addresses = |all: Range<usize>| l4.filter(|_| all.contains(&within.start));
        match self.header {
            Header::Stations | Header::FirstTag | Header::EtherType => [None; 2],
            Header::Ipv4 => [headers.ip.map(|ip| (ip.at + IPV4_CHECKSUM, false)), addresses(IPV4_ADDRESSES)],
            Header::Ipv6 => [None, addresses(IPV6_ADDRESSES)],
            Header::Tcp | Header::Udp => [None, l4],
        }
    }
}

/// Corrects the checksum at `at` for words whose sum has changed (RFC 1624, 3). A UDP packet with 0 has no checksum (RFC
/// 768), and stays without one.
fn correct(frame: &mut [u8], (at, udp): (usize, bool), old: u64, new: u64) {
    let place = &mut frame[at..at + 2];
    let before = number(place) as u16;
    if udp && before == 0 {
        return;
    }
    let checksum = fold(u64::from(!before) + u64::from(fold(old)) + new);
    place.copy_from_slice(&if udp && checksum == 0 { 0xffff } else { checksum }.to_be_bytes());
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::super::checksums::{Checksums, fill_checksums};
    use super::super::layers::Parser;
    use super::super::layers::test_tunnels::{ethernet, ip, tcp, udp};
    use super::super::protocols::{IPV4, IPV6, TCP, UDP};
    use super::*;
    use proptest::prelude::*;

    const ALL: Checksums = Checksums { l3: true, l4: true, inner_l3: false, inner_l4: false };

    fn frame(tags: &[u8], ipv6: bool, protocol: u8) -> Vec<u8> {
        let l4 = if protocol == TCP { tcp(b"an order") } else { udp(9, b"a tick") };
        let mut frame = ethernet(if ipv6 { IPV6 } else { IPV4 });
        frame.splice(12..12, tags.iter().copied());
        frame.extend(ip(ipv6, protocol, &l4));
        fill_checksums(&mut frame, ALL, Parser::default());
        frame
    }

    fn write(frame: &mut [u8], header: Header, at: usize, width: u8, value: u32) {
        let headers = Headers::of(frame).expect("headers");
        Bits { header, at, width }.write(frame, &headers, value);
    }

    #[test]
    fn a_checksum_changes_as_the_words_do() {
        // 10.0.0.1:1 to 10.0.0.2:2, UDP, 3 bytes: checksums by hand in `checksums.rs`.
        let mut bytes = ethernet(IPV4);
        bytes.extend([0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0x26, 0xcc, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0, 1, 0, 2, 0, 11, 0xe7, 0xd0, 0x01, 0x02, 0x03]);
        write(&mut bytes, Header::Ipv4, 128, 32, 0xc0a8_0102);
        assert_eq!(bytes[30..34], [192, 168, 1, 2]);
        // d933 less 0a00 and 0002, with c0a8 and 0102: 190db, folded 90dc, and its complement.
        assert_eq!(bytes[24..26], [0x6f, 0x23]);
        // 182f less 0a00 and 0002, with c0a8 and 0102: cfd7; its complement.
        assert_eq!(bytes[40..42], [0x30, 0x28]);
        write(&mut bytes, Header::Ipv4, 64, 8, 63);
        // One less in the high byte: the complement has one more.
        assert_eq!((bytes[22], &bytes[24..26], &bytes[40..42]), (63, &[0x70, 0x23][..], &[0x30, 0x28][..]));
    }

    #[test]
    fn only_the_bits_of_a_field_change() {
        let mut bytes = frame(&[0x81, 0, 0xef, 0xff], true, TCP);
        let before = bytes.clone();
        write(&mut bytes, Header::FirstTag, 4, 12, 0x123);
        assert_eq!(bytes[14..16], [0xe1, 0x23]);
        // DSCP and ECN of IPv6 lie across its first two bytes.
        write(&mut bytes, Header::Ipv6, 4, 6, 0x2e);
        assert_eq!(bytes[18..22], [0x6b, 0x80, 0, 0]);
        write(&mut bytes, Header::Ipv6, 10, 2, 3);
        assert_eq!(bytes[18..22], [0x6b, 0xb0, 0, 0]);
        // Nine flags of TCP; the offset of data before them stays.
        let flags = 18 + 40 + 12;
        write(&mut bytes, Header::Tcp, 103, 9, 0x102);
        assert_eq!(bytes[flags..flags + 2], [0x51, 0x02]);
        write(&mut bytes, Header::EtherType, 0, 16, 0x88b5);
        assert_eq!(bytes[16..18], [0x88, 0xb5]);
        write(&mut bytes, Header::Stations, 48, 32, 0x0102_0304);
        write(&mut bytes, Header::Stations, 80, 16, 0x0506);
        assert_eq!(bytes[..12], [2, 0, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6]);
        assert_eq!(bytes.len(), before.len());
    }

    #[test]
    fn headers_that_are_not_there_are_not_written() {
        let before = frame(&[], false, UDP);
        let headers = Headers::of(&before).expect("headers");
        for header in [Header::FirstTag, Header::Ipv6, Header::Tcp] {
            let (mut bytes, bits) = (before.clone(), Bits { header, at: 0, width: 8 });
            bits.write(&mut bytes, &headers, 0xff);
            assert_eq!((bits.is_in(&headers), bits.read(&bytes, &headers), &bytes), (false, None, &before));
        }
        // A part of a packet has no TCP or UDP, and no checksum of it is touched.
        let mut part = before.clone();
        part[20] = 0x20;
        fill_checksums(&mut part, Checksums { l3: true, ..Checksums::default() }, Parser::default());
        let l4 = part[34..].to_vec();
        write(&mut part, Header::Ipv4, 96, 32, 0x0102_0304);
        assert_eq!((&part[26..30], &part[34..]), (&[1, 2, 3, 4][..], &l4[..]));
        assert!(Headers::of(&part).unwrap().ip.unwrap().checksum_ok);
    }

    #[test]
    fn udp_without_a_checksum_stays_without() {
        let mut bytes = frame(&[], false, UDP);
        bytes[40..42].fill(0);
        write(&mut bytes, Header::Udp, 16, 16, 53);
        assert_eq!((&bytes[36..38], &bytes[40..42]), (&[0, 53][..], &[0, 0][..]));
    }

    proptest! {
        /// After any write, the checksums are those that `fill_checksums` makes, and the field has the written value.
        #[test]
        fn checksums_are_those_of_the_whole_packet(
            ipv6: bool, is_tcp: bool, field in 0..9usize, value: u32, wrong in any::<bool>()
        ) {
            let l4 = if is_tcp { Header::Tcp } else { Header::Udp };
            let (header, at, width) = match (field, ipv6) {
                (0, false) => (Header::Ipv4, 96, 32),
                (1, false) => (Header::Ipv4, 128, 32),
                (2, false) => (Header::Ipv4, 64, 8),
                (3, false) => (Header::Ipv4, 8, 6),
                (0..=3, true) => (Header::Ipv6, 64 + 32 * (2 * field), 32),
                (4, true) => (Header::Ipv6, 56, 8),
                (5, _) => (l4, 0, 16),
                (6, _) if is_tcp => (l4, 32, 32),
                (7, _) if is_tcp => (l4, 103, 9),
                _ => (l4, 16, 16),
            };
            let protocol = if is_tcp { TCP } else { UDP };
            let mut bytes = frame(&[], ipv6, protocol);
            let place = if ipv6 { 14 + 40 } else { 14 + 20 } + if is_tcp { 16 } else { 6 };
            if wrong {
                bytes[place] ^= 0x40;
            }
            let headers = Headers::of(&bytes).unwrap();
            let bits = Bits { header, at, width };
            bits.write(&mut bytes, &headers, value);
            prop_assert_eq!(bits.read(&bytes, &headers), Some(value & u32::MAX >> (32 - width)));
            let found = Headers::of(&bytes).unwrap();
            prop_assert_eq!((found.ip.unwrap().checksum_ok, found.ports.unwrap().checksum_ok), (true, !wrong));
            if !wrong {
                let mut again = bytes.clone();
                fill_checksums(&mut again, ALL, Parser::default());
                prop_assert_eq!(bytes, again);
            }
        }
    }
}
