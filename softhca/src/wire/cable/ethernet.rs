//! Frames of RoCE v1 and v2 (IBTA annexes A16.3 and A17.3).

use super::crc::{ICRC, NO_LRH, check_invariant, invariant};
use super::dropped::Dropped;
use super::entropy;
use super::network::{self, Header, PORT, Read};
use crate::config::GidType;
use crate::ethernet::{ETHERNET_HEADER, IPV4, IPV6, SERVICE_VLAN, UDP, VLAN, VLAN_TAG};
use crate::wire::frame::{Frame, Macs, Route};

/// EtherType of RoCE v1 (IBTA annex A16.3).
const ROCE_V1: u16 = 0x8915;
/// First bit of the priority in a VLAN tag.
const PRIORITY_SHIFT: u32 = 13;
/// Bytes that the longest masked headers take.
const MASKED: usize = 8 + 40 + 8;

/// The frame of a packet whose route has a GRH, and whose length is checked.
pub(super) fn encode(frame: &Frame) -> Vec<u8> {
    let Frame { route: Route { macs, grh, .. }, packet, .. } = frame;
    let transport = packet.len() + ICRC;
    let mut bytes = Vec::with_capacity(ETHERNET_HEADER + network::MAX_BYTES + transport);
    let Some(grh) = grh else { return bytes };
    let header = Header::of(grh, transport);
    bytes.extend(macs.destination);
    bytes.extend(macs.source);
    let ether_type = match (grh.kind, &header) {
        (GidType::RoceV2, Header::V4(_)) => IPV4,
        (GidType::RoceV2, Header::V6(_)) => IPV6,
        (GidType::RoceV1 | GidType::InfiniBand, _) => ROCE_V1,
    };
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend(header.bytes());
    let mut masked = Vec::with_capacity(MASKED);
    masked.extend(NO_LRH);
    masked.extend(header.masked().bytes());
    if grh.kind == GidType::RoceV2 {
        let port = entropy::source_port(grh, packet);
        bytes.extend(network::udp(port, transport, 0));
        masked.extend(network::udp(port, transport, 0xffff));
    }
    bytes.extend(packet);
    bytes.extend(invariant(&masked, packet).to_le_bytes());
    bytes
}

/// The packet in a frame.
pub(super) fn decode(bytes: &[u8]) -> Result<Frame, Dropped> {
    let truncated = Dropped::Truncated { len: bytes.len() };
    let mac = |at: usize| bytes.get(at..at + 6)?.try_into().ok();
    let word = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let macs = Macs { destination: mac(0).ok_or(truncated)?, source: mac(6).ok_or(truncated)? };
    let (mut at, mut sl) = (ETHERNET_HEADER - 2, 0);
    let mut ether_type = word(at).ok_or(truncated)?;
    // A service provider's tag may be before a customer's.
    for tag in [SERVICE_VLAN, VLAN] {
        if ether_type == tag {
            sl = (word(at + 2).ok_or(truncated)? >> PRIORITY_SHIFT) as u8;
            at += VLAN_TAG;
            ether_type = word(at).ok_or(truncated)?;
        }
    }
    let rest = &bytes[at + 2..];
    let Read { grh, header, protocol, rest } = match ether_type {
        IPV4 => network::read_ip4(rest)?,
        IPV6 => network::read_ip6(GidType::RoceV2, rest)?,
        ROCE_V1 => network::read_ip6(GidType::RoceV1, rest)?,
        _ => return Err(Dropped::OtherProtocol { ether_type, protocol: 0, port: 0 }),
    };
    let mut masked = Vec::with_capacity(MASKED);
    masked.extend(NO_LRH);
    masked.extend(header.masked().bytes());
    let transport = if grh.kind == GidType::RoceV2 {
        if protocol != UDP {
            return Err(Dropped::OtherProtocol { ether_type, protocol, port: 0 });
        }
        let (udp, port, transport) = network::read_udp(rest)?;
        if port != PORT {
            return Err(Dropped::OtherProtocol { ether_type, protocol, port });
        }
        masked.extend(udp);
        transport
    } else {
        rest
    };
    let packet = check_invariant(&masked, transport)?.to_vec();
    Ok(Frame::new(Route { slid: 0, dlid: 0, sl, grh: Some(grh), macs }, packet))
}
