//! RoCE v2 as a UDP socket sees it: the payload of a datagram, and the part of its headers that a socket tells.
//!
//! The invariant CRC covers headers that the host's IP stack makes. A sender knows all of them: the stack gives packets
//! of a socket that never fragments the identification 0 and the DF bit. A receiver does not see the identification.
//! Hardware and Linux' own RoCE count it up, so the receiver computes it from the CRC ([`super::identification`]).

use std::net::{IpAddr, Ipv6Addr};

use super::crc::{ICRC, NO_LRH, check_invariant, check_transport, invariant};
use super::dropped::Dropped;
use super::identification;
use super::network::{self, Header};
use crate::config::GidType;
use crate::ethernet::IPV4_HEADER;
use crate::wire::frame::{Frame, Grh, Macs, Route};

/// Byte behind the identification of an IPv4 header.
const BEHIND_IDENTIFICATION: usize = 6;

/// The part of a datagram's headers that its receiver is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Address of the sender.
    pub source: IpAddr,
    /// Address of the receiver, of the same family.
    pub destination: IpAddr,
    /// UDP port of the sender.
    pub source_port: u16,
    /// Type of service, or traffic class: 6 bits of DSCP and 2 of ECN.
    pub traffic_class: u8,
}

/// The IP address that a GID of RoCE v2 is.
#[must_use]
pub fn ip_of(gid: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(gid).to_canonical()
}

/// The GID of an IP address: IPv4 addresses are mapped (IBTA annex A17.4.1.1).
#[must_use]
pub fn gid_of(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// The payload of the datagram that carries a packet from UDP port `source_port`: the packet and its invariant CRC.
///
/// # Errors
/// [`Dropped::Transport`] if the packet has no length that a port can send. [`Dropped::OtherProtocol`] if its route is
/// not one of RoCE v2.
pub fn encode_datagram(frame: &Frame, source_port: u16) -> Result<Vec<u8>, Dropped> {
    check_transport(&frame.packet)?;
    let roce_v2 = frame.route.grh.as_ref().filter(|grh| grh.kind == GidType::RoceV2);
    let grh = roce_v2.ok_or(Dropped::OtherProtocol { ether_type: 0, protocol: 0, port: 0 })?;
    let crc = invariant(&masked(grh, source_port, frame.packet.len() + ICRC), &frame.packet);
    let mut bytes = Vec::with_capacity(frame.packet.len() + ICRC);
    bytes.extend(&frame.packet);
    bytes.extend(crc.to_le_bytes());
    Ok(bytes)
}

/// The packet in the payload of a datagram, which may be anything. The hop limit of its route is 0: nothing reads it.
///
/// Over IPv4 the CRC is right if any identification makes it so. Bytes that changed on the way pass this check with a
/// probability of 2^-16, where a port that sees the header has 2^-32.
///
/// # Errors
/// [`Dropped`]: the first check that failed.
pub fn decode_datagram(header: &Datagram, bytes: &[u8]) -> Result<Frame, Dropped> {
    let grh = Grh {
        kind: GidType::RoceV2,
        sgid: gid_of(header.source),
        dgid: gid_of(header.destination),
        traffic_class: header.traffic_class,
        flow_label: 0,
        hop_limit: 0,
        udp_sport: 0,
    };
    let masked = masked(&grh, header.source_port, bytes.len());
    let packet = match check_invariant(&masked, bytes) {
        Err(Dropped::InvariantCrc { found, expected }) if network::ip4_addresses(&grh).is_some() => {
            let before = NO_LRH.len() + BEHIND_IDENTIFICATION;
            let behind = masked.len() + bytes.len() - ICRC - before;
            identification::of(found ^ expected, behind).ok_or(Dropped::InvariantCrc { found, expected })?;
            bytes[..bytes.len() - ICRC].to_vec()
        }
        checked => checked?.to_vec(),
    };
    Ok(Frame::new(Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() }, packet))
}

/// The headers before a packet of `transport` bytes from BTH to ICRC, as its CRC counts them.
fn masked(grh: &Grh, source_port: u16, transport: usize) -> Vec<u8> {
    let header = Header::of(grh, transport).masked();
    let mut masked = Vec::with_capacity(NO_LRH.len() + IPV4_HEADER + network::MAX_BYTES);
    masked.extend(NO_LRH);
    masked.extend(header.bytes());
    masked.extend(network::udp(source_port, transport, 0xffff));
    masked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LinkLayer;
    use crate::wire::cable::{decode, encode, tests::ip4_frame};

    /// The headers that a socket tells of a frame without VLAN tag, over IPv4, and its payload.
    fn received(frame: &[u8]) -> (Datagram, &[u8]) {
        let ip = |at: usize| IpAddr::from([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
        let source_port = u16::from_be_bytes([frame[34], frame[35]]);
        let header = Datagram { source: ip(26), destination: ip(30), source_port, traffic_class: frame[15] };
        (header, &frame[42..])
    }

    #[test]
    fn a_payload_is_that_of_the_frame() {
        let frame = encode(&ip4_frame()).unwrap();
        let (header, payload) = received(&frame);
        assert_eq!(encode_datagram(&ip4_frame(), header.source_port).unwrap(), payload);
        let found = decode_datagram(&header, payload).unwrap();
        let grh = ip4_frame().route.grh.map(|grh| Grh { hop_limit: 0, ..grh });
        assert_eq!((found.packet, found.route.grh), (ip4_frame().packet, grh));
    }

    #[test]
    fn other_ports_and_addresses_are_noticed() {
        let frame = encode(&ip4_frame()).unwrap();
        let (header, payload) = received(&frame);
        for wrong in [
            Datagram { source_port: header.source_port ^ 1, ..header },
            Datagram { source: header.destination, ..header },
        ] {
            assert!(matches!(decode_datagram(&wrong, payload), Err(Dropped::InvariantCrc { .. })), "{wrong:?}");
        }
        // Routers change the traffic class.
        assert!(decode_datagram(&Datagram { traffic_class: 3, ..header }, payload).is_ok());
    }

    #[test]
    fn any_identification_is_accepted_and_no_other_change() {
        for identification in [1_u16, 0x0100, 0x718c, 0xffff] {
            let mut frame = encode(&ip4_frame()).unwrap();
            frame[18..20].copy_from_slice(&identification.to_be_bytes());
            let (crc, at) = (frame_crc(&frame), frame.len() - ICRC);
            frame[at..].copy_from_slice(&crc.to_le_bytes());
            // A port, which sees the identification, takes the frame.
            frame[24..26].fill(0);
            let sum = crate::ethernet::sum::fold(crate::ethernet::sum::add(0, &frame[14..34]));
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
            assert!(decode(LinkLayer::Ethernet, &frame).is_ok());
            let (header, payload) = received(&frame);
            assert_eq!(decode_datagram(&header, payload).unwrap().packet, ip4_frame().packet);
            // Without DF, which every sender sets.
            frame[20] = 0;
            let crc = frame_crc(&frame);
            frame[at..].copy_from_slice(&crc.to_le_bytes());
            let (header, payload) = received(&frame);
            assert!(matches!(decode_datagram(&header, payload), Err(Dropped::InvariantCrc { .. })));
        }
        let mut refused = 0;
        for bit in 0..8 * 16 {
            let frame = encode(&ip4_frame()).unwrap();
            let (header, payload) = received(&frame);
            let mut payload = payload.to_vec();
            payload[bit / 8] ^= 1 << (bit % 8);
            refused += usize::from(decode_datagram(&header, &payload).is_err());
        }
        // All but the byte of FECN and BECN, which may change.
        assert_eq!(refused, 8 * 15);
    }

    /// The CRC of a frame, over its own headers.
    fn frame_crc(frame: &[u8]) -> u32 {
        let mut masked = NO_LRH.to_vec();
        masked.extend(&frame[14..42]);
        for at in [1, 8, 10, 11, 26, 27] {
            masked[NO_LRH.len() + at] = 0xff;
        }
        invariant(&masked, &frame[42..frame.len() - ICRC])
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let (header, _) = received(&encode(&ip4_frame()).unwrap().clone());
        let v6 = Datagram { source: Ipv6Addr::LOCALHOST.into(), destination: Ipv6Addr::LOCALHOST.into(), ..header };
        for len in (0..40).chain([70_000]) {
            for header in [header, v6] {
                assert!(decode_datagram(&header, &vec![0x5a; len]).is_err());
            }
        }
    }
}
