//! Cutting one large TCP or UDP packet up into frames (TSO). Each frame has the headers of the packet, and of a tunnel
//! around it. The fields that differ are filled in as Linux' own segmentation does it (`net/ipv4/tcp_offload.c`,
//! `net/ipv4/udp_offload.c`).
//!
//! The UDP length of the packet itself stays. Drivers set it to the length of one frame: Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/en_accel/en_accel.h`, `mlx5e_udp_gso_handle_tx_skb`; since commit
//! 88a95781332d, the network stack. They give the device whole frames only.

use super::checksums::{fill, put};
use super::layers::{Extent, Layer, Parser};
use super::protocols::{GRE, IPV6_HEADER, TCP, TCP_HEADER, UDP, UDP_HEADER};
use std::ops::Range;

/// Most bytes of the payload of one large packet, as log2.
pub(crate) const LOG_MAX_LARGE: u8 = 18;
/// Most frames that it is cut up into.
pub(crate) const MAX_SEGMENTS: usize = 4096;

/// Flags of TCP that only the last segment has, and only the first (RFC 9293, 3.1; RFC 3168, 6.1.2).
const FIN: u8 = 1 << 0;
const PSH: u8 = 1 << 3;
const CWR: u8 = 1 << 7;

/// The bytes of a large packet's payload, which has `bytes` in all, in the frame with this index: `mss` of them, or the
/// rest. `None` if there is no such frame.
pub(crate) fn segment(bytes: usize, mss: usize, index: usize) -> Option<Range<usize>> {
    let start = index.checked_mul(mss)?;
    // A packet without payload is one frame.
    (index == 0 || start < bytes).then(|| start..bytes.min(start + mss))
}

/// How a large packet becomes frames.
#[derive(Debug)]
pub(crate) struct Segmentation<'a> {
    headers: &'a [u8],
    /// Bytes of the payload, and those in a frame.
    bytes: usize,
    mss: usize,
    outer: Option<Layer>,
    packet: Layer,
    /// The outer UDP checksum of a tunnel is asked for; the tunnel's other checksums change with the lengths, and are
    /// always right.
    outer_l4: bool,
}

impl<'a> Segmentation<'a> {
    /// The segmentation of `bytes` bytes behind `headers`, up to `mss` of them in each frame. `outer_l4`: the outer UDP
    /// checksum of a tunnel is asked for. `None` if the headers do not end exactly with a TCP or UDP header, if they
    /// have no room for a tunnel's UDP header, or if there would be too many frames.
    pub(crate) fn new(headers: &'a [u8], bytes: usize, mss: usize, outer_l4: bool, parser: Parser<'_>) -> Option<Self> {
        let layers = parser.layers(headers, Extent::Headers);
        let (outer, packet) = match (layers.outer, layers.inner) {
            (Some(outer), Some(inner)) => (Some(outer), inner),
            (outer, inner) => (None, outer.or(inner)?),
        };
        let (protocol, l4) = packet.l4?;
        let end = match protocol {
            TCP => l4 + (usize::from(headers.get(l4 + 12)? >> 4) * 4).max(TCP_HEADER),
            _ => l4 + UDP_HEADER,
        };
        // The checksum of a GRE header covers the payload; no driver asks the device for it.
        let summed =
            |tunnel: &Layer| tunnel.protocol == GRE && headers.get(tunnel.next).is_some_and(|&flags| flags >> 7 != 0);
        // A WQE may state that UDP begins where the headers have no room for it.
        let cut_off =
            |tunnel: &Layer| tunnel.l4.is_some_and(|(kind, at)| kind == UDP && at + UDP_HEADER > headers.len());
        if end != headers.len()
            || segment(bytes, mss, MAX_SEGMENTS).is_some()
            || outer.as_ref().is_some_and(|tunnel| summed(tunnel) || cut_off(tunnel))
        {
            return None;
        }
        Some(Self { headers, bytes, mss, outer, packet, outer_l4 })
    }

    /// The frame with this index, which `fill` gives its [part](segment) of the payload. `None` if there is no such
    /// frame, or it would be too long for its headers.
    pub(crate) fn frame<E>(
        &self,
        index: usize,
        fill: impl FnOnce(usize, &mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Vec<u8>>, E> {
        let Some(part) = segment(self.bytes, self.mss, index) else { return Ok(None) };
        let mut frame = self.headers.to_vec();
        frame.resize(self.headers.len() + part.len(), 0);
        fill(part.start, &mut frame[self.headers.len()..])?;
        Ok(self.finish(&mut frame, index, part).map(|()| frame))
    }

    /// Fills in the fields of the frame that differ from those of others.
    fn finish(&self, frame: &mut [u8], index: usize, part: Range<usize>) -> Option<()> {
        if let Some((TCP, l4)) = self.packet.l4 {
            let sequence = u32::from_be_bytes(self.headers[l4 + 4..l4 + 8].try_into().ok()?);
            frame[l4 + 4..l4 + 8].copy_from_slice(&sequence.wrapping_add(part.start as u32).to_be_bytes());
            let flags = &mut frame[l4 + 13];
            *flags &= if part.end < self.bytes { !(FIN | PSH) } else { 0xff };
            *flags &= if index > 0 { !CWR } else { 0xff };
        }
        finish(frame, &self.packet, index, true)?;
        let Some(outer) = &self.outer else { return Some(()) };
        if let Some((UDP, at)) = outer.l4 {
            put(frame, at + 4, u16::try_from(frame.len() - at).ok()?);
        }
        finish(frame, outer, index, self.outer_l4)
    }
}

/// Fills in the length of an IP packet of the frame with this index, its IPv4 identification and its checksums: no
/// checksum of before is right.
fn finish(frame: &mut [u8], packet: &Layer, index: usize, l4: bool) -> Option<()> {
    let end = frame.len();
    if packet.ipv6 {
        put(frame, packet.at + 4, u16::try_from(end - packet.at - IPV6_HEADER).ok()?);
    } else {
        put(frame, packet.at + 2, u16::try_from(end - packet.at).ok()?);
        let id = u16::from_be_bytes([frame[packet.at + 4], frame[packet.at + 5]]);
        put(frame, packet.at + 4, id.wrapping_add(index as u16));
    }
    fill(frame, &Layer { end, ..*packet }, true, l4);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::headers::{Headers, L4};
    use super::super::layers::test_tunnels::{ethernet, ip, parser, tcp, tunnels, udp};
    use super::super::layers::{StatedHeaders, StatedLayer};
    use super::super::protocols::{IPV4, IPV6};
    use super::*;
    use proptest::prelude::*;

    /// A large packet, with the fields that the tests choose.
    #[derive(Clone, Copy)]
    enum Packet {
        Tcp { flags: u8 },
        Udp { length: u16 },
    }

    /// All frames.
    fn segments(
        headers: &[u8],
        payload: &[u8],
        mss: usize,
        outer_l4: bool,
        parser: Parser<'_>,
    ) -> Option<Vec<Vec<u8>>> {
        let segmentation = Segmentation::new(headers, payload.len(), mss, outer_l4, parser)?;
        let count = payload.len().div_ceil(mss.max(1)).max(1);
        let frame = |index| {
            let fill = |start: usize, out: &mut [u8]| {
                payload.get(start..start + out.len()).map(|part| out.copy_from_slice(part)).ok_or(())
            };
            segmentation.frame(index, fill).expect("the payload has all parts")
        };
        assert_eq!(frame(count), None, "no more");
        (0..count).map(frame).collect()
    }

    fn cut(headers: &[u8], payload: &[u8], mss: usize) -> Option<Vec<Vec<u8>>> {
        segments(headers, payload, mss, false, Parser::default())
    }

    /// Headers of a packet whose IP lengths say nothing, as Linux gives them: 10.0.0.1 to 10.0.0.2, or the like of IPv6.
    fn headers(tag: bool, ipv6: bool, l4: Packet) -> Vec<u8> {
        let mut headers = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        if tag {
            headers.extend([0x81, 0, 0, 5]);
        }
        let protocol = if matches!(l4, Packet::Tcp { .. }) { 6 } else { 17 };
        if ipv6 {
            headers.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, protocol, 64]);
            headers.extend([[0x20; 16], [0x30; 16]].concat());
        } else {
            headers.extend([8, 0, 0x45, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        }
        headers.extend([0x12, 0x34, 0, 80]);
        match l4 {
            Packet::Tcp { flags } => {
                headers.extend([0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 2, 0x80, flags, 1, 0, 0, 0, 0, 0]);
                headers.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
            }
            Packet::Udp { length } => headers.extend([length.to_be_bytes(), [0; 2]].concat()),
        }
        headers
    }

    #[test]
    fn what_differs_between_segments_is_filled_in() {
        let headers = headers(false, false, Packet::Tcp { flags: FIN | PSH | CWR | 0x10 });
        let payload: Vec<u8> = (0..250).collect();
        let frames = cut(&headers, &payload, 100).expect("segments");
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [166, 166, 116]);
        assert_eq!(
            frames.iter().map(|frame| frame[16..20].to_vec()).collect::<Vec<_>>(),
            [[0, 152, 0xff, 0xff], [0, 152, 0, 0], [0, 102, 0, 1]]
        );
        let sequences: Vec<_> =
            frames.iter().map(|frame| u32::from_be_bytes(frame[38..42].try_into().unwrap())).collect();
        assert_eq!(sequences, [0xffff_fff0, 0x54, 0xb8]);
        assert_eq!(frames.iter().map(|frame| frame[47]).collect::<Vec<_>>(), [CWR | 0x10, 0x10, FIN | PSH | 0x10]);
    }

    /// The device keeps any UDP length that the driver has set, for frames of any length.
    #[test]
    fn the_udp_length_of_datagrams_stays() {
        let frames = cut(&headers(false, true, Packet::Udp { length: 0x1234 }), &[7; 25], 10).expect("segments");
        let lengths: Vec<_> = frames.iter().map(|frame| (frame[19], frame[58..60].to_vec())).collect();
        assert_eq!(lengths, [18, 18, 13].map(|ip| (ip, vec![0x12, 0x34])));
    }

    #[test]
    fn what_cannot_be_cut_up_is_refused() {
        let whole = headers(false, false, Packet::Tcp { flags: 0x10 });
        assert_eq!(cut(&whole[..whole.len() - 1], &[0; 10], 5), None);
        assert_eq!(cut(&[&whole[..], &[0]].concat(), &[0; 10], 5), None);
        let mut icmp = whole.clone();
        icmp[23] = 1;
        assert_eq!(cut(&icmp, &[0; 10], 5), None);
        let mut fragment = whole.clone();
        fragment[20] = 0x20;
        assert_eq!(cut(&fragment, &[0; 10], 5), None);
        assert_eq!(cut(&whole, &vec![0; MAX_SEGMENTS + 1], 1), None);
        assert_eq!(cut(&whole, &[], 5).map(|frames| frames.len()), Some(1));
    }

    /// Frame by frame: both layers have right lengths and checksums, and the payload is whole.
    #[test]
    fn packets_in_tunnels_are_cut_up_with_their_tunnel() {
        let payload: Vec<u8> = (0..300).map(|n| n as u8).collect();
        for (outer_ipv6, inner_ipv6) in [(false, false), (false, true), (true, false), (true, true)] {
            let datagram = udp(7, &[0; 100])[..UDP_HEADER].to_vec();
            for (l4, protocol) in [(tcp(&[]), TCP), (datagram, UDP)] {
                let inner = ip(inner_ipv6, protocol, &l4);
                for (name, headers) in tunnels(outer_ipv6, inner_ipv6, &inner) {
                    for outer_l4 in [false, true] {
                        let frames = segments(&headers, &payload, 100, outer_l4, parser()).expect(name);
                        let mut found = Vec::new();
                        for (index, frame) in frames.iter().enumerate() {
                            let outer = Headers::of(frame).expect(name);
                            let ip = outer.ip.expect(name);
                            assert!(ip.checksum_ok && ip.end == frame.len(), "{name}");
                            if let Some(ports) = outer.ports {
                                // 0xeeee was there, which is left alone.
                                assert_eq!(ports.checksum_ok, outer_l4, "{name}");
                            }
                            let at = headers.len() - inner.len();
                            let alone = [ethernet(if inner_ipv6 { IPV6 } else { IPV4 }), frame[at..].to_vec()].concat();
                            let inside = Headers::of(&alone).expect(name);
                            let (packet, ports) = (inside.ip.expect(name), inside.ports.expect(name));
                            assert!(packet.checksum_ok && ports.checksum_ok && packet.end == alone.len(), "{name}");
                            if !outer_ipv6 {
                                assert_eq!(frame[18..20], [0, 7 + index as u8], "{name}");
                            }
                            found.extend(&frame[headers.len()..]);
                        }
                        assert_eq!((frames.len(), found), (3, payload.clone()), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn stated_headers_are_cut_up() {
        let inner = ip(true, TCP, &tcp(&[]));
        let headers = [ethernet(IPV4), ip(false, UDP, &udp(4000, &[&[9; 6], &inner[..]].concat()))].concat();
        let stated = StatedHeaders {
            outer: StatedLayer { l3: 14, l4: 34, ipv6: false, udp: true },
            inner: StatedLayer { l3: 48, l4: 88, ipv6: true, udp: false },
        };
        assert_eq!(cut(&headers, &[0; 100], 50), None);
        let frames = segments(&headers, &[1; 100], 50, true, Parser { stated, ..Parser::default() }).expect("segments");
        for (frame, sequence) in frames.iter().zip([1, 51]) {
            assert!(Headers::of(frame).expect("headers").ports.expect("UDP").checksum_ok);
            let inside = Headers::of(&[ethernet(IPV6), frame[48..].to_vec()].concat()).expect("headers");
            assert!(inside.ports.expect("TCP").checksum_ok);
            assert_eq!(frame[92..96], [0, 0, 0, sequence]);
        }
    }

    #[test]
    fn a_summed_gre_header_is_not_cut_up() {
        let inner = ip(false, TCP, &tcp(&[]));
        let headers = |flags: u8, rest: &[u8]| {
            [ethernet(IPV4), ip(false, GRE, &[&[flags, 0, 8, 0], rest, &inner[..]].concat())].concat()
        };
        assert!(cut(&headers(0, &[]), &[0; 10], 5).is_some());
        assert_eq!(cut(&headers(0x80, &[1, 2, 3, 4]), &[0; 10], 5), None);
    }

    proptest! {
        #[test]
        fn segments_are_whole_packets_that_make_up_the_payload(
            (tag, ipv6, tcp) in any::<(bool, bool, bool)>(), payload in prop::collection::vec(any::<u8>(), 1..5000), mss in 2..1500usize,
        ) {
            let l4 = if tcp { Packet::Tcp { flags: 0x18 } } else { Packet::Udp { length: mss as u16 + 8 } };
            let headers = headers(tag, ipv6, l4);
            let mut payload = payload;
            if !tcp {
                payload.resize(payload.len().next_multiple_of(mss), 0);
            }
            let frames = cut(&headers, &payload, mss).expect("segments");
            let mut found = Vec::<u8>::new();
            for frame in &frames {
                let parsed = Headers::of(frame).expect("headers");
                let (ip, ports) = (parsed.ip.expect("IP"), parsed.ports.expect("ports"));
                prop_assert!(ip.checksum_ok && ports.checksum_ok && ip.end == frame.len());
                prop_assert_eq!(matches!(ports.l4, L4::Tcp { .. }), tcp);
                prop_assert!(frame.len() <= headers.len() + mss);
                found.extend(&frame[headers.len()..]);
            }
            prop_assert_eq!(found, payload);
        }

        #[test]
        fn no_headers_do_harm(headers in prop::collection::vec(any::<u8>(), 0..100), len in 0..3000usize, mss in 0..2000usize) {
            let _ = cut(&headers, &vec![0; len], mss);
        }

        #[test]
        fn no_stated_headers_do_harm(
            (outer_ipv6, inner_ipv6, is_tcp, outer_l4) in any::<(bool, bool, bool, bool)>(), tunnel in 0..8usize,
            at in any::<[u8; 4]>(), flags in any::<[bool; 4]>(), len in 0..20usize,
        ) {
            let (l4, protocol) = if is_tcp { (tcp(&[]), TCP) } else { (udp(7, &[]), UDP) };
            let (_, headers) = tunnels(outer_ipv6, inner_ipv6, &ip(inner_ipv6, protocol, &l4)).swap_remove(tunnel);
            // The numbers of bytes that lie in the headers, and a few more.
            let offset = |at: u8| usize::from(at) % (headers.len() + 10);
            let layer = |l3, l4, ipv6, udp| StatedLayer { l3: offset(l3), l4: offset(l4), ipv6, udp };
            let stated = StatedHeaders {
                outer: layer(at[0], at[1], flags[0], flags[1]),
                inner: layer(at[2], at[3], flags[2], flags[3]),
            };
            let parser = Parser { stated, ..Parser::default() };
            let frames = segments(&headers, &vec![0; len], 7, outer_l4, parser);
            for (index, frame) in frames.into_iter().flatten().enumerate() {
                prop_assert_eq!(frame.len(), headers.len() + (len - index * 7).min(7));
            }
        }
    }
}
