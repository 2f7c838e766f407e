//! Checksums that the device fills in.

use super::layers::{Extent, Layer, Parser};
use super::protocols::{TCP, TCP_HEADER, UDP, UDP_HEADER};
use super::sum::{add, fold};

/// Checksums that the device is to put into an Ethernet frame (`cs_flags`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksums {
    /// That of the IPv4 header (`MLX5_ETH_WQE_L3_CSUM`).
    pub l3: bool,
    /// That of TCP or UDP (`MLX5_ETH_WQE_L4_CSUM`).
    pub l4: bool,
    /// That of the IPv4 header inside of a tunnel (`MLX5_ETH_WQE_L3_INNER_CSUM`).
    pub inner_l3: bool,
    /// That of TCP or UDP inside of a tunnel (`MLX5_ETH_WQE_L4_INNER_CSUM`).
    pub inner_l4: bool,
}

/// Fills in the checksums asked for, over whatever stood in their places: IPv4 header, TCP and UDP over IPv4 and over
/// IPv6, outside and inside of a tunnel, as far as `parser` finds them. A frame that is something else stays as it is.
pub(crate) fn fill_checksums(frame: &mut [u8], wanted: Checksums, parser: Parser<'_>) {
    let layers = parser.layers(frame, Extent::Frame);
    // The inner layer goes first, because an outer checksum covers the inner ones.
    for (layer, l3, l4) in [(layers.inner, wanted.inner_l3, wanted.inner_l4), (layers.outer, wanted.l3, wanted.l4)] {
        if let Some(layer) = layer {
            fill(frame, &layer, l3, l4);
        }
    }
}

/// Fills in the checksums of one packet.
pub(super) fn fill(frame: &mut [u8], ip: &Layer, l3: bool, l4: bool) {
    if l3 && !ip.ipv6 {
        put(frame, ip.at + 10, 0);
        let sum = fold(add(0, &frame[ip.at..ip.next]));
        put(frame, ip.at + 10, sum);
    }
    let Some((protocol, at)) = ip.l4.filter(|_| l4) else { return };
    let (header, place) = match protocol {
        TCP => (TCP_HEADER, at + 16),
        _ => (UDP_HEADER, at + 6),
    };
    if ip.end - at < header {
        return;
    }
    put(frame, place, 0);
    let addresses = if ip.ipv6 { ip.at + 8..ip.at + 40 } else { ip.at + 12..ip.at + 20 };
    let pseudo = (ip.end - at) as u64 + u64::from(protocol);
    let sum = fold(add(add(pseudo, &frame[addresses]), &frame[at..ip.end]));
    // 0 would say that a UDP packet has no checksum (RFC 768); all ones are the same number.
    put(frame, place, if protocol == UDP && sum == 0 { 0xffff } else { sum });
}

/// Stores a number.
pub(super) fn put(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::headers::Headers;
    use super::super::layers::test_tunnels::{ethernet, ip, parser, tcp, tunnels, udp as datagram};
    use super::super::layers::{StatedHeaders, StatedLayer};
    use super::super::protocols::{IPV4, IPV6};
    use super::*;

    const BOTH: Checksums = Checksums { l3: true, l4: true, inner_l3: false, inner_l4: false };

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
            fill_checksums(&mut frame, BOTH, Parser::default());
            // 4500 + 001f + 0000 + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0002 = d933; its complement.
            assert_eq!(frame[at + 10..at + 12], [0x26, 0xcc]);
            // Pseudo header 0a00 0001 0a00 0002 0011 000b, then 0001 0002 000b 0102 0300: 182f; its complement.
            assert_eq!(frame[at + 26..at + 28], [0xe7, 0xd0]);
            // Bytes after the packet are padding.
            frame.extend([0x77; 20]);
            let before = frame.clone();
            fill_checksums(&mut frame, BOTH, Parser::default());
            assert_eq!(frame, before);
        }
    }

    #[test]
    fn only_what_is_asked_for_is_filled_in() {
        let before = udp(&[]);
        for (l3, l4) in [(false, false), (true, false), (false, true)] {
            let mut frame = before.clone();
            fill_checksums(&mut frame, Checksums { l3, l4, ..Checksums::default() }, Parser::default());
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
        fill_checksums(&mut frame, BOTH, Parser::default());
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
            fill_checksums(&mut frame, BOTH, Parser::default());
            assert_eq!(frame, before);
        }
        // A fragment, and a protocol without a checksum that the device knows: the header's alone.
        for mut frame in [with(20, 0x20), with(23, 1)] {
            fill_checksums(&mut frame, BOTH, Parser::default());
            assert_ne!(frame[24..26], [0xee; 2]);
            assert_eq!(frame[40..42], [0xee; 2]);
        }
    }

    /// The packet at `at`, as a frame of its own: the device's other parser says whether its checksums are right.
    fn verdicts(frame: &[u8], at: usize, ipv6: bool) -> (bool, bool) {
        let alone = [ethernet(if ipv6 { IPV6 } else { IPV4 }), frame[at..].to_vec()].concat();
        let found = Headers::of(&alone).expect("headers");
        (found.ip.expect("IP").checksum_ok, found.ports.expect("ports").checksum_ok)
    }

    #[test]
    fn checksums_inside_of_tunnels_are_those_asked_for() {
        for (outer_ipv6, inner_ipv6) in [(false, false), (false, true), (true, false), (true, true)] {
            for l4 in [tcp(b"an order"), datagram(7, b"a tick")] {
                let protocol = if l4.len() == 28 { TCP } else { UDP };
                let inner = ip(inner_ipv6, protocol, &l4);
                for (name, before) in tunnels(outer_ipv6, inner_ipv6, &inner) {
                    let at = before.len() - inner.len();
                    for flags in 0..16_u8 {
                        let [l3, l4, inner_l3, inner_l4] = [1, 2, 4, 8].map(|flag| flags & flag != 0);
                        let mut frame = before.clone();
                        fill_checksums(&mut frame, Checksums { l3, l4, inner_l3, inner_l4 }, parser());
                        let (found_l3, found_l4) = verdicts(&frame, at, inner_ipv6);
                        assert_eq!((found_l3, found_l4), (inner_l3 || inner_ipv6, inner_l4), "{name}, {flags:#x}");
                        let outer = Headers::of(&frame).expect("headers");
                        assert_eq!(outer.ip.expect("IP").checksum_ok, l3 || outer_ipv6, "{name}, {flags:#x}");
                        if let Some(ports) = outer.ports {
                            assert_eq!(ports.checksum_ok, l4, "{name}, {flags:#x}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn stated_headers_of_unknown_tunnels_have_their_checksums() {
        let inner = ip(false, TCP, &tcp(b"an order"));
        // Ethernet, IPv6, UDP to a port that is nobody's, 6 bytes, the packet.
        let before = [ethernet(IPV6), ip(true, UDP, &datagram(4000, &[&[9; 6], &inner[..]].concat()))].concat();
        let stated = StatedHeaders {
            outer: StatedLayer { l3: 14, l4: 54, ipv6: true, udp: true },
            inner: StatedLayer { l3: 68, l4: 88, ipv6: false, udp: false },
        };
        let wanted = Checksums { inner_l3: true, inner_l4: true, l4: true, ..Checksums::default() };
        let mut frame = before.clone();
        fill_checksums(&mut frame, wanted, Parser::default());
        assert_eq!(verdicts(&frame, 68, false), (false, false), "nothing was found");
        fill_checksums(&mut frame, wanted, Parser { stated, ..Parser::default() });
        assert_eq!(verdicts(&frame, 68, false), (true, true));
        assert!(Headers::of(&frame).expect("headers").ports.expect("UDP").checksum_ok);
    }
}
