//! Checksums that the device fills in, and the headers that a WQE must give inline.

use super::protocols::{ETHERNET_HEADER, IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, SERVICE_VLAN, TCP, UDP, VLAN, VLAN_TAG};
use super::sum::{add, fold};
use crate::context::InlineHeaders;

/// Least bytes of a frame that are its L2 headers, whether it has a VLAN tag or not.
const L2_HEADERS: usize = ETHERNET_HEADER + VLAN_TAG;
/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;
/// Bytes of a TCP header without options.
const TCP_HEADER: usize = 20;

/// Checksums that the device is to put into an Ethernet frame (`cs_flags`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksums {
    /// That of the IPv4 header (`MLX5_ETH_WQE_L3_CSUM`).
    pub l3: bool,
    /// That of TCP or UDP (`MLX5_ETH_WQE_L4_CSUM`).
    pub l4: bool,
}

/// Where in a frame its IP packet is, as far as the device parses frames.
pub(super) struct Ip {
    /// Offset of the header.
    pub(super) at: usize,
    pub(super) ether_type: u16,
    /// Offset of the bytes after the header; their protocol.
    pub(super) next: usize,
    pub(super) protocol: u8,
    /// Offset of the packet's end.
    end: usize,
    /// It is a fragment: no checksum of a whole TCP or UDP packet goes into it.
    fragment: bool,
}

/// Fills in the checksums asked for, over whatever stood in their places: IPv4 header, TCP and UDP over IPv4 and over
/// IPv6 without extension headers, behind up to two VLAN tags. A frame that is something else stays as it is.
pub(crate) fn fill_checksums(frame: &mut [u8], wanted: Checksums) {
    let Some(ip) = find_ip(frame) else { return };
    if wanted.l3 && ip.ether_type == IPV4 {
        put(frame, ip.at + 10, 0);
        let sum = fold(add(0, &frame[ip.at..ip.next]));
        put(frame, ip.at + 10, sum);
    }
    let (header, place) = match ip.protocol {
        TCP => (TCP_HEADER, ip.next + 16),
        UDP => (UDP_HEADER, ip.next + 6),
        _ => return,
    };
    if !wanted.l4 || ip.fragment || ip.end - ip.next < header {
        return;
    }
    put(frame, place, 0);
    let addresses = if ip.ether_type == IPV4 { ip.at + 12..ip.at + 20 } else { ip.at + 8..ip.at + 40 };
    let pseudo = (ip.end - ip.next) as u64 + u64::from(ip.protocol);
    let sum = fold(add(add(pseudo, &frame[addresses]), &frame[ip.next..ip.end]));
    // 0 would say that a UDP packet has no checksum (RFC 768); all ones are the same number.
    put(frame, place, if ip.protocol == UDP && sum == 0 { 0xffff } else { sum });
}

/// Bytes of headers that must be inline, computed from the frame's first bytes. Where these do not show a header's
/// size, its smallest size counts. It is what Linux puts inline (`drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`,
/// `mlx5e_calc_min_inline`).
pub(crate) fn least_inline(mode: InlineHeaders, first: &[u8]) -> usize {
    if mode == InlineHeaders::None {
        return 0;
    }
    let (at, ether_type) = network_header(first);
    let l2 = at.max(L2_HEADERS);
    let words_of_four = |at: usize, shift: u8, least: usize| {
        first.get(at).map_or(least, |byte| usize::from(byte >> shift & 0xf) * 4).max(least)
    };
    let (ip, protocol) = match ether_type {
        _ if mode == InlineHeaders::L2 => return l2,
        Some(IPV4) => {
            let fragment = be16(first, at + 6).is_some_and(|word| word & 0x1fff != 0);
            (at + words_of_four(at, 0, IPV4_HEADER), first.get(at + 9).filter(|_| !fragment))
        }
        Some(IPV6) => (at + IPV6_HEADER, first.get(at + 6)),
        _ => return l2,
    };
    match protocol {
        Some(&UDP) if mode == InlineHeaders::TcpUdp => ip + UDP_HEADER,
        Some(&TCP) if mode == InlineHeaders::TcpUdp => ip + words_of_four(ip + 12, 4, TCP_HEADER),
        _ => ip,
    }
}

/// Where a frame's network header begins, behind up to two VLAN tags, and the EtherType before it if the frame has it.
fn network_header(frame: &[u8]) -> (usize, Option<u16>) {
    let mut at = ETHERNET_HEADER;
    for _ in 0..2 {
        if matches!(be16(frame, at - 2), Some(VLAN | SERVICE_VLAN)) {
            at += VLAN_TAG;
        }
    }
    (at, be16(frame, at - 2))
}

/// The headers of a TCP or UDP packet whose headers end where `first` ends; lengths in the headers do not matter.
pub(super) fn find_headers(first: &[u8]) -> Option<Ip> {
    let (at, ether_type) = network_header(first);
    let ether_type = ether_type?;
    let ip = first.get(at..)?;
    let (header, protocol, fragment) = match ether_type {
        IPV4 => (usize::from(ip.first()? & 0xf) * 4, *ip.get(9)?, be16(ip, 6)? & 0x3fff != 0),
        IPV6 => (IPV6_HEADER, *ip.get(6)?, false),
        _ => return None,
    };
    let next = at + header;
    let end = match protocol {
        UDP => next + UDP_HEADER,
        TCP => next + (usize::from(first.get(next + 12)? >> 4) * 4).max(TCP_HEADER),
        _ => return None,
    };
    let whole = header >= IPV4_HEADER && !fragment && end == first.len();
    whole.then_some(Ip { at, ether_type, next, protocol, end, fragment })
}

/// Finds the IP packet; `None` if there is none, or it is not whole.
fn find_ip(frame: &[u8]) -> Option<Ip> {
    let (at, ether_type) = network_header(frame);
    let ether_type = ether_type?;
    let ip = frame.get(at..)?;
    let (header, len, protocol, fragment) = match ether_type {
        IPV4 => {
            let header = usize::from(ip.first()? & 0xf) * 4;
            (header, usize::from(be16(ip, 2)?), *ip.get(9)?, be16(ip, 6)? & 0x3fff != 0)
        }
        IPV6 => (IPV6_HEADER, IPV6_HEADER + usize::from(be16(ip, 4)?), *ip.get(6)?, false),
        _ => return None,
    };
    let whole = header >= IPV4_HEADER && header <= len && len <= ip.len();
    whole.then_some(Ip { at, ether_type, next: at + header, protocol, end: at + len, fragment })
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Checksums = Checksums { l3: true, l4: true };

    /// A packet that is small enough to add up by hand: 10.0.0.1:1 to 10.0.0.2:2, UDP, 3 bytes of payload.
    fn udp(tags: &[u8]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        frame.extend(tags);
        frame.extend([0x08, 0x00]);
        frame.extend([0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0xee, 0xee, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, 1, 0, 2, 0, 11, 0xee, 0xee, 0x01, 0x02, 0x03]);
        frame
    }

    #[test]
    fn checksums_are_those_of_the_rfcs() {
        for tags in [&[][..], &[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 6, 0x81, 0, 0, 5]] {
            let (mut frame, at) = (udp(tags), 14 + tags.len());
            fill_checksums(&mut frame, BOTH);
            // 4500 + 001f + 0000 + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0002 = d933; its complement.
            assert_eq!(frame[at + 10..at + 12], [0x26, 0xcc]);
            // Pseudo header 0a00 0001 0a00 0002 0011 000b, then 0001 0002 000b 0102 0300: 182f; its complement.
            assert_eq!(frame[at + 26..at + 28], [0xe7, 0xd0]);
            // Bytes after the packet are padding.
            frame.extend([0x77; 20]);
            let before = frame.clone();
            fill_checksums(&mut frame, BOTH);
            assert_eq!(frame, before);
        }
    }

    #[test]
    fn only_what_is_asked_for_is_filled_in() {
        let before = udp(&[]);
        for (l3, l4) in [(false, false), (true, false), (false, true)] {
            let mut frame = before.clone();
            fill_checksums(&mut frame, Checksums { l3, l4 });
            assert_eq!((frame[24..26] != before[24..26], frame[40..42] != before[40..42]), (l3, l4));
        }
    }

    #[test]
    fn tcp_over_ipv6_has_its_pseudo_header() {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64]);
        frame.extend([0x20; 16]);
        frame.extend([0x30; 16]);
        frame.extend([0; 20]);
        fill_checksums(&mut frame, BOTH);
        // 8 * 2020 + 8 * 3030 + 20 + 6 = 2829a, folded 829c; its complement.
        assert_eq!(frame[14 + 40 + 16..][..2], [0x7d, 0x63]);
    }

    #[test]
    fn what_is_not_understood_stays_as_it_is() {
        let cut = |len: usize| udp(&[])[..len].to_vec();
        let with = |at: usize, value: u8| {
            let mut frame = udp(&[]);
            frame[at] = value;
            frame
        };
        let frames = [cut(14), cut(20), cut(40), with(12, 0x09), with(14, 0x44), with(14, 0x4f), with(17, 200)];
        for before in frames {
            let mut frame = before.clone();
            fill_checksums(&mut frame, BOTH);
            assert_eq!(frame, before);
        }
        // A fragment, and a protocol without a checksum that the device knows: the header's alone.
        for mut frame in [with(20, 0x20), with(23, 1)] {
            fill_checksums(&mut frame, BOTH);
            assert_ne!(frame[24..26], [0xee; 2]);
            assert_eq!(frame[40..42], [0xee; 2]);
        }
    }

    #[test]
    fn inline_headers_end_where_the_packets_do() {
        use InlineHeaders::{Ip, L2, None, TcpUdp};
        let tag = [0x81, 0, 0, 5];
        let tags = [0x88, 0xa8, 0, 6, 0x81, 0, 0, 5];
        let tcp = {
            let mut frame = udp(&[]);
            frame[14 + 9] = 6;
            // A data offset of 8 words.
            frame[34 + 12 - 2..].fill(0x80);
            frame.resize(80, 0x80);
            frame
        };
        let mut ipv6 = vec![0; 12];
        ipv6.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 17, 64]);
        ipv6.resize(80, 0);
        let mut options = udp(&[]);
        options[14] = 0x47;
        let mut fragment = udp(&[]);
        fragment[14 + 7] = 1;
        let mut arp = udp(&[]);
        arp[13] = 6;
        for (frame, least) in [
            (udp(&[]), [0, 18, 34, 42]),
            (udp(&tag), [0, 18, 38, 46]),
            (udp(&tags), [0, 22, 42, 50]),
            (tcp, [0, 18, 34, 34 + 32]),
            (ipv6, [0, 18, 54, 62]),
            (options, [0, 18, 42, 50]),
            (fragment, [0, 18, 34, 34]),
            (arp, [0, 18, 18, 18]),
        ] {
            for (mode, least) in [None, L2, Ip, TcpUdp].into_iter().zip(least) {
                assert_eq!(least_inline(mode, &frame), least, "{mode:?} of {frame:02x?}");
                // The inline part alone, however short, decides whether it is enough.
                for inline in 0..frame.len() {
                    assert_eq!(inline >= least_inline(mode, &frame[..inline]), inline >= least, "{mode:?}, {inline}");
                }
            }
        }
    }
}
