//! The layers of a frame: its IP packet, and the IP packet inside of a tunnel. The device finds them by itself, or, in a
//! frame that leaves, by offsets that the WQE states.

use std::ops::Range;

use super::protocols::{
    ETHERNET_HEADER, GENEVE_PORT, GRE, IPV4, IPV4_HEADER, IPV4_IN_IP, IPV6, IPV6_HEADER, IPV6_IN_IP, SERVICE_VLAN, TCP,
    TRANSPARENT_ETHERNET, UDP, UDP_HEADER, VLAN, VLAN_TAG, VXLAN_PORT,
};

/// Bytes of the headers of VXLAN (RFC 7348, 5) and of Geneve without options (RFC 8926, 3.1).
const VXLAN_HEADER: usize = 8;
const GENEVE_HEADER: usize = 8;
/// Flag of VXLAN's header: it has a network identifier.
const VXLAN_HAS_IDENTIFIER: u8 = 0x08;

/// Where a WQE says that the headers of one layer are. Offsets are in bytes; 0 says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedLayer {
    /// The IP header.
    pub l3: usize,
    /// The TCP or UDP header.
    pub l4: usize,
    /// The IP header is IPv6's.
    pub ipv6: bool,
    /// The header behind it is UDP's.
    pub udp: bool,
}

/// Where a WQE says that the headers are ("software parser").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedHeaders {
    /// The headers of the frame's own packet.
    pub outer: StatedLayer,
    /// The headers of the packet inside of a tunnel.
    pub inner: StatedLayer,
}

/// The knowledge by which headers are found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parser<'a> {
    /// By the WQE.
    pub(crate) stated: StatedHeaders,
    /// UDP ports of VXLAN, besides the usual one.
    pub(crate) vxlan_ports: &'a [u16],
}

/// An IP packet in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) ipv6: bool,
    /// Offset of the header, of the bytes after it, and of the packet's end.
    pub(super) at: usize,
    pub(super) next: usize,
    pub(super) end: usize,
    /// Protocol of the bytes after the header.
    pub(super) protocol: u8,
    /// It is a part of a packet: it has no whole TCP or UDP packet, nor a tunnel.
    pub(super) fragment: bool,
    /// TCP or UDP, and the offset of its header.
    pub(super) l4: Option<(u8, usize)>,
}

/// The packets of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) outer: Option<Layer>,
    pub(super) inner: Option<Layer>,
}

/// Which bytes are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// A frame, whose packets end where their headers say.
    Frame,
    /// The headers of packets that have no length yet.
    Headers,
}

impl Parser<'_> {
    /// Finds the layers. Since ConnectX-5, the stated offsets count where the device does not reach a header by itself
    /// (DPDK `drivers/net/mlx5/mlx5_tx.h`, `txq_mbuf_to_swp`).
    pub(super) fn layers(&self, bytes: &[u8], extent: Extent) -> Layers {
        let StatedHeaders { outer, inner } = self.stated;
        let found = packet_in_frame(bytes, 0, extent);
        let outer = complete(found, outer, bytes, extent);
        let tunnelled = found.and_then(|layer| self.tunnelled(bytes, &layer));
        let tunnelled = tunnelled.and_then(|(at, protocol)| payload(bytes, at, protocol, extent));
        Layers { outer, inner: complete(tunnelled, inner, bytes, extent) }
    }

    /// The bytes inside of a frame's tunnel: where they begin and end, and their EtherType. `None` without a tunnel that
    /// the device knows.
    pub(super) fn inside(&self, frame: &[u8]) -> Option<(Range<usize>, u16)> {
        let outer = packet_in_frame(frame, 0, Extent::Frame)?;
        let (at, protocol) = self.tunnelled(frame, &outer)?;
        (at <= outer.end).then_some((at..outer.end, protocol))
    }

    /// Where the bytes inside of a tunnel that the device knows begin, and their EtherType. Linux' netdev asks for inner
    /// checksums of GRE, of IP in IP, and of VXLAN to a port that the device was told of
    /// (`drivers/net/ethernet/mellanox/mlx5/core/en_main.c`, `mlx5e_tunnel_features_check`); DPDK also of Geneve
    /// (`drivers/net/mlx5/mlx5_txq.c`, `mlx5_get_tx_port_offloads`).
    fn tunnelled(&self, bytes: &[u8], outer: &Layer) -> Option<(usize, u16)> {
        let at = outer.next;
        match outer.protocol {
            _ if outer.fragment => None,
            IPV4_IN_IP => Some((at, IPV4)),
            IPV6_IN_IP => Some((at, IPV6)),
            GRE => {
                // RFC 2784 and RFC 2890: flags of a checksum, a key and a sequence number, version 0.
                let flags = be16(bytes, at)?;
                if flags & !0xb000 != 0 {
                    return None;
                }
                let header = 4 + 4 * (flags & 0xb000).count_ones() as usize;
                Some((at + header, be16(bytes, at + 2)?))
            }
            UDP => {
                let header = at + UDP_HEADER;
                match be16(bytes, at + 2)? {
                    GENEVE_PORT => {
                        // Version 0, and the length of the options in units of four bytes.
                        let first = *bytes.get(header)?;
                        let options = usize::from(first & 0x3f) * 4;
                        let protocol = be16(bytes, header + 2).filter(|_| first >> 6 == 0)?;
                        Some((header + GENEVE_HEADER + options, protocol))
                    }
                    port if port == VXLAN_PORT || self.vxlan_ports.contains(&port) => {
                        let flags = *bytes.get(header)?;
                        let is_known = flags & VXLAN_HAS_IDENTIFIER != 0;
                        is_known.then_some((header + VXLAN_HEADER, TRANSPARENT_ETHERNET))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Adds stated headers where the device found none.
fn complete(found: Option<Layer>, stated: StatedLayer, bytes: &[u8], extent: Extent) -> Option<Layer> {
    let at_stated = || packet(bytes, stated.l3, stated.ipv6, extent).filter(|_| stated.l3 != 0);
    let layer = found.or_else(at_stated)?;
    let protocol = if stated.udp { UDP } else { TCP };
    let l4 = (stated.l4 >= layer.next && stated.l4 < layer.end && !layer.fragment).then_some((protocol, stated.l4));
    Some(Layer { l4: layer.l4.or(l4), ..layer })
}

/// The packet of the Ethernet frame at `base`.
fn packet_in_frame(bytes: &[u8], base: usize, extent: Extent) -> Option<Layer> {
    let (at, ether_type) = network_header(bytes, base);
    payload(bytes, at, ether_type?, extent)
}

/// The IP packet behind a protocol's number, perhaps in an Ethernet frame.
fn payload(bytes: &[u8], at: usize, protocol: u16, extent: Extent) -> Option<Layer> {
    match protocol {
        IPV4 => packet(bytes, at, false, extent),
        IPV6 => packet(bytes, at, true, extent),
        TRANSPARENT_ETHERNET => packet_in_frame(bytes, at, extent),
        _ => None,
    }
}

/// The IP packet at `at`; `None` if there is none, or it is not whole.
fn packet(bytes: &[u8], at: usize, ipv6: bool, extent: Extent) -> Option<Layer> {
    let ip = bytes.get(at..)?;
    let first = *ip.first()?;
    let (header, len, protocol, fragment) = if ipv6 {
        (IPV6_HEADER, IPV6_HEADER + usize::from(be16(ip, 4)?), *ip.get(6)?, false)
    } else {
        (usize::from(first & 0xf) * 4, usize::from(be16(ip, 2)?), *ip.get(9)?, be16(ip, 6)? & 0x3fff != 0)
    };
    let len = if extent == Extent::Headers { ip.len() } else { len };
    let version = if ipv6 { 6 } else { 4 };
    if first >> 4 != version || header < IPV4_HEADER || header > len || len > ip.len() {
        return None;
    }
    let next = at + header;
    let l4 = (matches!(protocol, TCP | UDP) && !fragment).then_some((protocol, next));
    Some(Layer { ipv6, at, next, end: at + len, protocol, fragment, l4 })
}

/// Where the network header of the frame at `base` begins, behind up to two VLAN tags, and the EtherType before it if
/// the frame has it.
pub(super) fn network_header(bytes: &[u8], base: usize) -> (usize, Option<u16>) {
    let mut at = base + ETHERNET_HEADER;
    for _ in 0..2 {
        if matches!(be16(bytes, at - 2), Some(VLAN | SERVICE_VLAN)) {
            at += VLAN_TAG;
        }
    }
    (at, be16(bytes, at - 2))
}

pub(super) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
pub(super) mod test_tunnels {
    use super::*;

    /// 14 bytes of an Ethernet header.
    pub(in crate::ethernet) fn ethernet(ether_type: u16) -> Vec<u8> {
        let mut header = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        header.extend(ether_type.to_be_bytes());
        header
    }

    /// An IPv4 or IPv6 packet, with a checksum to be filled in.
    pub(in crate::ethernet) fn ip(ipv6: bool, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let len = payload.len() as u16;
        let mut packet = if ipv6 {
            let [high, low] = len.to_be_bytes();
            [&[0x60, 0, 0, 0, high, low, protocol, 64][..], &[0x20; 16], &[0x30; 16]].concat()
        } else {
            let [high, low] = (20 + len).to_be_bytes();
            vec![0x45, 0, high, low, 0, 7, 0, 0, 64, protocol, 0xee, 0xee, 10, 0, 0, 1, 10, 0, 0, 2]
        };
        packet.extend(payload);
        packet
    }

    /// A UDP packet with a checksum to be filled in.
    pub(in crate::ethernet) fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet =
            [[0x30, 0x39], port.to_be_bytes(), (8 + payload.len() as u16).to_be_bytes(), [0xee; 2]].concat();
        packet.extend(payload);
        packet
    }

    /// A TCP packet of 20 bytes of header, with a checksum to be filled in.
    pub(in crate::ethernet) fn tcp(payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x12, 0x34, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0xee, 0xee, 0, 0];
        packet.extend(payload);
        packet
    }

    /// Tunnels that the device knows: their names, the bytes from the Ethernet header to the inner IP packet's, and
    /// whether they have an Ethernet header inside, by the outer protocol.
    pub(in crate::ethernet) fn tunnels(
        outer_ipv6: bool,
        inner_ipv6: bool,
        inner: &[u8],
    ) -> Vec<(&'static str, Vec<u8>)> {
        let ether_type = if inner_ipv6 { IPV6 } else { IPV4 };
        let [high, low] = ether_type.to_be_bytes();
        let frame = [ethernet(ether_type), inner.to_vec()].concat();
        let tagged = [ethernet(VLAN), vec![0, 5, high, low], inner.to_vec()].concat();
        let vxlan = |port, frame: &[u8]| (UDP, udp(port, &[&[8, 0, 0, 0, 0, 0, 9, 0], frame].concat()));
        let all = [
            ("VXLAN", vxlan(4789, &frame)),
            ("VXLAN with a tag inside", vxlan(4789, &tagged)),
            ("VXLAN on a port that was added", vxlan(8472, &frame)),
            ("Geneve of Ethernet", (UDP, udp(6081, &[&[0, 0, 0x65, 0x58, 0, 0, 9, 0], &frame[..]].concat()))),
            ("Geneve of IP, with options", {
                let header = [2, 0, high, low, 0, 0, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8];
                (UDP, udp(6081, &[&header, inner].concat()))
            }),
            ("GRE", (GRE, [&[0, 0, high, low], inner].concat())),
            ("GRE of Ethernet, with a key and a number", {
                (GRE, [&[0x30, 0, 0x65, 0x58, 0, 0, 0, 1, 0, 0, 0, 2], &frame[..]].concat())
            }),
            ("IP in IP", (if inner_ipv6 { IPV6_IN_IP } else { IPV4_IN_IP }, inner.to_vec())),
        ];
        let outer = ethernet(if outer_ipv6 { IPV6 } else { IPV4 });
        all.map(|(name, (protocol, bytes))| (name, [outer.clone(), ip(outer_ipv6, protocol, &bytes)].concat())).to_vec()
    }

    /// The parser of a device that knows one more port of VXLAN.
    pub(in crate::ethernet) fn parser() -> Parser<'static> {
        Parser { vxlan_ports: &[8472], ..Parser::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::test_tunnels::{ethernet, ip, parser, tcp, tunnels, udp};
    use super::*;
    use proptest::prelude::*;

    fn layers(parser: Parser<'_>, frame: &[u8]) -> Layers {
        parser.layers(frame, Extent::Frame)
    }

    #[test]
    fn packets_inside_of_tunnels_are_found() {
        for (outer_ipv6, inner_ipv6) in [(false, false), (false, true), (true, false), (true, true)] {
            let inner = ip(inner_ipv6, TCP, &tcp(b"an order"));
            for (name, frame) in tunnels(outer_ipv6, inner_ipv6, &inner) {
                let found = layers(parser(), &frame);
                let (outer, layer) = (found.outer.expect(name), found.inner.expect(name));
                assert_eq!((outer.ipv6, outer.at, outer.end), (outer_ipv6, 14, frame.len()), "{name}");
                assert_eq!((layer.ipv6, layer.at, layer.end), (inner_ipv6, frame.len() - inner.len(), frame.len()));
                assert_eq!(layer.l4, Some((TCP, layer.next)), "{name}");
                assert_eq!(outer.l4.is_some(), outer.protocol == UDP, "{name}");
                // As headers, whose lengths say nothing.
                let mut headers = frame[..frame.len() - 8].to_vec();
                headers[14 + 3] ^= 0x11;
                let found = parser().layers(&headers, Extent::Headers);
                assert_eq!(found.inner.map(|layer| (layer.at, layer.end)), Some((layer.at, headers.len())), "{name}");
            }
        }
    }

    #[test]
    fn unknown_tunnels_have_no_packets_inside() {
        let inner = ip(false, TCP, &tcp(b"an order"));
        let frame = [ethernet(IPV4), inner.clone()].concat();
        let of = |protocol, payload: Vec<u8>| [ethernet(IPV4), ip(false, protocol, &payload)].concat();
        for (name, frame) in [
            ("another port", of(UDP, udp(4790, &[&[8, 0, 0, 0, 0, 0, 9, 0], &frame[..]].concat()))),
            ("a port that was not added", of(UDP, udp(8472, &[&[8, 0, 0, 0, 0, 0, 9, 0], &frame[..]].concat()))),
            ("VXLAN without an identifier", of(UDP, udp(4789, &[&[0; 8], &frame[..]].concat()))),
            ("another version of Geneve", of(UDP, udp(6081, &[&[0x40, 0, 8, 0, 0, 0, 9, 0], &inner[..]].concat()))),
            ("another version of GRE", of(GRE, [&[0, 1, 8, 0], &inner[..]].concat())),
            ("MPLS over GRE", of(GRE, [&[0, 0, 0x88, 0x47], &inner[..]].concat())),
            ("a fragment", {
                let mut frame = of(IPV4_IN_IP, inner.clone());
                frame[20] = 0x20;
                frame
            }),
            ("no tunnel", frame.clone()),
        ] {
            let found = layers(Parser::default(), &frame);
            assert!(found.outer.is_some() && found.inner.is_none(), "{name}: {found:?}");
        }
    }

    #[test]
    fn stated_headers_count_where_the_device_finds_none() {
        // Ethernet, IPv6 with a header of options, UDP to port 1, 4 bytes, IPv4, UDP.
        let inner = ip(false, UDP, &udp(9, b"data"));
        let options = [17, 0, 1, 4, 0, 0, 0, 0];
        let payload = [&options[..], &udp(1, &[&[1, 2, 3, 4], &inner[..]].concat())].concat();
        let frame = [ethernet(IPV6), ip(true, 60, &payload)].concat();
        let stated = StatedHeaders {
            outer: StatedLayer { l3: 14, l4: 62, ipv6: true, udp: true },
            inner: StatedLayer { l3: 74, l4: 94, ipv6: false, udp: true },
        };
        assert_eq!(layers(Parser::default(), &frame).inner, None);
        assert_eq!(layers(Parser::default(), &frame).outer.map(|layer| layer.l4), Some(None));
        let found = layers(Parser { stated, ..Parser::default() }, &frame);
        assert_eq!(found.outer.map(|layer| (layer.at, layer.l4)), Some((14, Some((UDP, 62)))));
        assert_eq!(found.inner.map(|layer| (layer.at, layer.l4)), Some((74, Some((UDP, 94)))));
        // A header that is not there, of another version, or in front of its own IP header.
        for inner in [
            StatedLayer { l3: 76, ..stated.inner },
            StatedLayer { ipv6: true, ..stated.inner },
            StatedLayer { l3: 510, ..stated.inner },
        ] {
            assert_eq!(
                layers(Parser { stated: StatedHeaders { inner, ..stated }, ..Parser::default() }, &frame).inner,
                None
            );
        }
        let stated = StatedHeaders { inner: StatedLayer { l3: 74, l4: 80, ..stated.inner }, ..stated };
        let found = layers(Parser { stated, ..Parser::default() }, &frame);
        assert_eq!(found.inner.map(|layer| layer.l4), Some(Some((UDP, 94))), "the device's own");
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(
            mut bytes in prop::collection::vec(any::<u8>(), 0..120),
            at in any::<[u8; 4]>(), flags in any::<[bool; 4]>(), kind in 0..5usize,
        ) {
            if bytes.len() > 40 {
                bytes[12..15].copy_from_slice(&[[8, 0, 0x45], [0x86, 0xdd, 0x60], [0x81, 0, 0], [8, 0, 0x45], [8, 0, 0x45]][kind]);
                bytes[23] = [4, 41, 17, 47, 17][kind];
                bytes[36..38].copy_from_slice(&[[0x12, 0xb5], [0x17, 0xc1]][kind % 2]);
            }
            let layer = |l3: u8, l4: u8, ipv6, udp| StatedLayer { l3: usize::from(l3) * 2, l4: usize::from(l4) * 2, ipv6, udp };
            let stated = StatedHeaders {
                outer: layer(at[0], at[1], flags[0], flags[1]),
                inner: layer(at[2], at[3], flags[2], flags[3]),
            };
            for extent in [Extent::Frame, Extent::Headers] {
                let found = Parser { stated, vxlan_ports: &[] }.layers(&bytes, extent);
                for layer in [found.outer, found.inner].into_iter().flatten() {
                    prop_assert!(layer.at < layer.next && layer.next <= layer.end && layer.end <= bytes.len());
                    prop_assert!(layer.l4.is_none_or(|(_, at)| at >= layer.next && at <= layer.end));
                }
            }
        }
    }
}
