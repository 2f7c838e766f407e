//! The headers that a WQE must give inline.

use super::layers::{be16, network_header};
use super::protocols::{
    ETHERNET_HEADER, IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, TCP, TCP_HEADER, UDP, UDP_HEADER, VLAN_TAG,
};
use crate::context::InlineHeaders;

/// Least bytes of a frame that are its L2 headers, whether it has a VLAN tag or not.
const L2_HEADERS: usize = ETHERNET_HEADER + VLAN_TAG;

/// Bytes of headers that must be inline, computed from the frame's first bytes. Where these do not show a header's
/// size, its smallest size counts. It is what Linux puts inline (`drivers/net/ethernet/mellanox/mlx5/core/en_tx.c`,
/// `mlx5e_calc_min_inline`).
pub(crate) fn least_inline(mode: InlineHeaders, first: &[u8]) -> usize {
    if mode == InlineHeaders::None {
        return 0;
    }
    let (at, ether_type) = network_header(first, 0);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet: 10.0.0.1:1 to 10.0.0.2:2, UDP, 3 bytes of payload.
    fn udp(tags: &[u8]) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        frame.extend(tags);
        frame.extend([0x08, 0x00]);
        frame.extend([0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 17, 0xee, 0xee, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, 1, 0, 2, 0, 11, 0xee, 0xee, 0x01, 0x02, 0x03]);
        frame
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
