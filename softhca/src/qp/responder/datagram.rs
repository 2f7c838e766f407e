//! UD: receiving datagrams (IBTA vol. 1, 9.8.3 and 11.4.2.1). Sending is [`crate::qp::requester::request`]'s, as for any packet.

use super::Fatal;
use super::receives::{Message, Receives};
use crate::config::GidType;
use crate::cq::{ReceiveKind, Source};
use crate::packet::{Packet, Tail};
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;
use crate::wire::{Grh, Route};
use std::net::Ipv6Addr;

/// Bytes that every datagram's receive buffer begins with, for a GRH.
const GRH_BYTES: usize = 40;

/// IP version 6 in the GRH's first four bits, and the next header "IBA transport" (IBTA vol. 1, 8.3).
const GRH_IP_VERSION: u32 = 6;
const GRH_NEXT_HEADER: u8 = 0x1b;
/// UDP, in IP headers; and the bytes of its header.
const NEXT_HEADER_UDP: u8 = 17;
const UDP_HEADER_BYTES: usize = 8;
/// Bytes of an IPv4 header with no options.
const IP4_HEADER_BYTES: usize = 20;

/// Takes a datagram. A datagram that does not fit the QP is dropped; only a bad receive WQE stops the QP.
pub(in crate::qp) fn receive(
    qp: &QpCore,
    receives: &mut Receives,
    resources: &mut Resources,
    route: &Route,
    packet: &Packet<'_>,
) -> Result<(), Fatal> {
    let Some(deth) = packet.headers.deth else { return Ok(()) };
    if Some(deth.qkey) != qp.attr.qkey {
        log::debug!("QP {:#x}: datagram with another Q_Key {:#x} dropped", qp.qpn, deth.qkey);
        return Ok(());
    }
    let byte_cnt = GRH_BYTES + packet.payload.len();
    let taken = receives.take(qp, resources).and_then(|taken| {
        if !taken {
            resources.count_out_of_buffer(qp.counter);
        }
        if !taken || receives.capacity() < byte_cnt as u64 || packet.payload.len() > qp.mtu as usize {
            return Ok(false);
        }
        if let Some(grh) = &route.grh {
            let len = packet.payload.len();
            receives.put(qp, resources, 0, &network_header(grh, len), false)?;
        }
        receives.put(qp, resources, GRH_BYTES as u64, packet.payload, false)?;
        receives.check_end(qp, resources, byte_cnt as u64)?;
        Ok(true)
    });
    match taken {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(failure) => {
            receives.fail(qp, resources, failure);
            return Err(Fatal);
        }
    }
    let lid = qp.port(resources).map_or(0, |port| port.lid);
    let has_imm = packet.headers.bth.opcode.tail() == Tail::Immediate;
    receives.complete(
        qp,
        resources,
        Message {
            kind: if has_imm { ReceiveKind::SendImm } else { ReceiveKind::Send },
            byte_cnt: byte_cnt as u32,
            imm: packet.headers.imm.map_or(0, |imm| imm.0),
            solicited: packet.headers.bth.solicited,
            source: Some(Source {
                slid: route.slid,
                src_qpn: deth.src_qp,
                sl: route.grh.as_ref().and_then(roce_packet_type).unwrap_or(route.sl),
                dlid_path_bits: (route.dlid ^ lid) as u8 & 0x7f,
                grh: route.grh.is_some(),
                pkey_index: pkey_of_cqe(qp, packet.headers.bth.pkey),
            }),
        },
    );
    Ok(())
}

/// The P_Key field of a CQE: the index of the packet's P_Key in the port's table. QP 1 takes packets of all
/// partitions, so its CQEs carry the P_Key itself (Linux `handle_responder` looks it up).
fn pkey_of_cqe(qp: &QpCore, pkey: u16) -> u16 {
    if qp.context.privileges.is_qp1 { pkey } else { qp.attr.pkey_index.unwrap_or(0) }
}

/// The network header of a packet, in its form in memory. It is a GRH, or the IP header that takes its place in RoCE
/// v2. An IPv4 header is in the last 20 bytes (IBTA annex A17.4.5.2).
fn network_header(grh: &Grh, payload_len: usize) -> [u8; GRH_BYTES] {
    // From BTH to the end of the invariant CRC: BTH 12, DETH 8, payload with its padding, CRC 4.
    let transport_len = 12 + 8 + payload_len.next_multiple_of(4) + 4;
    if grh.kind != GidType::RoceV2 {
        return ip6_header(grh, transport_len, GRH_NEXT_HEADER);
    }
    let len = UDP_HEADER_BYTES + transport_len;
    match ip4_addresses(grh) {
        Some([source, destination]) => ip4_header(grh, len, source, destination),
        None => ip6_header(grh, len, NEXT_HEADER_UDP),
    }
}

/// Source and destination of a packet that has an IPv4 header, if it is RoCE v2's.
fn ip4_addresses(grh: &Grh) -> Option<[[u8; 4]; 2]> {
    let ip4 = |gid: [u8; 16]| Ipv6Addr::from(gid).to_ipv4_mapped().map(|ip| ip.octets());
    Some([ip4(grh.sgid)?, ip4(grh.dgid)?])
}

/// The field of a CQE that holds the service level on InfiniBand; Ethernet has no service level. Bit 3 is set if there
/// is a UDP header, bits 2:0 are the kind of the network header (`MLX5_CQE_ROCE_L3_HEADER_TYPE_*`, which Linux'
/// `handle_responder` reads; UCX's `uct_ud_iface_check_grh` needs them to find the addresses).
fn roce_packet_type(grh: &Grh) -> Option<u8> {
    const UDP: u8 = 1 << 3;
    const HEADER_GRH: u8 = 0;
    const HEADER_IP6: u8 = 1;
    const HEADER_IP4: u8 = 2;
    match grh.kind {
        GidType::InfiniBand => None,
        GidType::RoceV1 => Some(HEADER_GRH),
        GidType::RoceV2 if ip4_addresses(grh).is_some() => Some(UDP | HEADER_IP4),
        GidType::RoceV2 => Some(UDP | HEADER_IP6),
    }
}

/// A GRH has the form of an IPv6 header.
fn ip6_header(grh: &Grh, len: usize, next_header: u8) -> [u8; GRH_BYTES] {
    let mut bytes = [0; GRH_BYTES];
    let first = GRH_IP_VERSION << 28 | u32::from(grh.traffic_class) << 20 | (grh.flow_label & 0x000f_ffff);
    bytes[..4].copy_from_slice(&first.to_be_bytes());
    // No packet is longer than 4 KiB and its headers.
    bytes[4..6].copy_from_slice(&(len as u16).to_be_bytes());
    bytes[6] = next_header;
    bytes[7] = grh.hop_limit;
    bytes[8..24].copy_from_slice(&grh.sgid);
    bytes[24..].copy_from_slice(&grh.dgid);
    bytes
}

fn ip4_header(grh: &Grh, len: usize, source: [u8; 4], destination: [u8; 4]) -> [u8; GRH_BYTES] {
    const DO_NOT_FRAGMENT: u8 = 0x40;
    let mut header = [0; IP4_HEADER_BYTES];
    header[0] = 4 << 4 | (IP4_HEADER_BYTES / 4) as u8;
    header[1] = grh.traffic_class;
    header[2..4].copy_from_slice(&((IP4_HEADER_BYTES + len) as u16).to_be_bytes());
    header[6] = DO_NOT_FRAGMENT;
    header[8] = grh.hop_limit;
    header[9] = NEXT_HEADER_UDP;
    header[12..16].copy_from_slice(&source);
    header[16..].copy_from_slice(&destination);
    let sum = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u32>();
    // Ten words: the carries fit after one addition, and the carry of that after another.
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    let mut bytes = [0; GRH_BYTES];
    bytes[GRH_BYTES - IP4_HEADER_BYTES..].copy_from_slice(&header);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grh_is_laid_out_as_the_specification_says() {
        let kind = GidType::RoceV1;
        let grh = Grh { kind, sgid: [1; 16], dgid: [2; 16], traffic_class: 0xab, flow_label: 0xc_def0, hop_limit: 64 };
        assert_eq!(roce_packet_type(&grh), Some(0));
        assert_eq!(roce_packet_type(&Grh { kind: GidType::InfiniBand, ..grh }), None);
        let bytes = network_header(&grh, 5);
        assert_eq!(bytes[..8], [0x6a, 0xbc, 0xde, 0xf0, 0, 32, 0x1b, 64]);
        assert_eq!((bytes[8], bytes[23], bytes[24], bytes[39]), (1, 1, 2, 2));
    }

    #[test]
    fn roce_v2_has_ip_headers() {
        let ip6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
        let kind = GidType::RoceV2;
        let grh = Grh { kind, sgid: ip6, dgid: ip6, traffic_class: 0, flow_label: 0, hop_limit: 64 };
        assert_eq!(roce_packet_type(&grh), Some(0x9));
        assert_eq!(network_header(&grh, 5)[..8], [0x60, 0, 0, 0, 0, 40, 17, 64]);
        let ip4 = |last| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, last];
        let grh = Grh { sgid: ip4(1), dgid: ip4(2), traffic_class: 0x60, ..grh };
        // The checksum by hand: 4560 + 003c + 4000 + 4011 + c000 + 0201 + c000 + 0202 = 249b0, so 49b2, inverted.
        let expected = [0x45, 0x60, 0, 60, 0, 0, 0x40, 0, 64, 17, 0xb6, 0x4d, 192, 0, 2, 1, 192, 0, 2, 2];
        assert_eq!(network_header(&grh, 5)[20..], expected);
        assert_eq!(roce_packet_type(&grh), Some(0xa));
    }
}
