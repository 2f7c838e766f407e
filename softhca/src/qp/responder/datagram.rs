//! UD: receiving datagrams (IBTA vol. 1, 9.8.3 and 11.4.2.1). Sending is [`crate::qp::requester::request`]'s, as for
//! any packet.

use super::Fatal;
use super::receives::{Message, Receives};
use crate::config::GidType;
use crate::cq::{ReceiveKind, Source};
use crate::packet::{Packet, Tail};
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;
use crate::wire::cable::network::{Header, ip4_addresses};
use crate::wire::{Grh, Route};

/// Bytes that every datagram's receive buffer begins with, for a GRH.
const GRH_BYTES: usize = 40;

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
        resources.count_at(qp.attr.port.unwrap_or(0), |counters| &mut counters.bad_qkeys);
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
    let header = Header::of(grh, 12 + 8 + payload_len.next_multiple_of(4) + 4);
    let mut bytes = [0; GRH_BYTES];
    let start = GRH_BYTES - header.bytes().len();
    bytes[start..].copy_from_slice(header.bytes());
    bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grh_is_laid_out_as_the_specification_says() {
        let kind = GidType::RoceV1;
        let grh = Grh {
            kind,
            sgid: [1; 16],
            dgid: [2; 16],
            traffic_class: 0xab,
            flow_label: 0xc_def0,
            hop_limit: 64,
            udp_sport: 0,
        };
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
        let grh = Grh { kind, sgid: ip6, dgid: ip6, traffic_class: 0, flow_label: 0, hop_limit: 64, udp_sport: 0 };
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
