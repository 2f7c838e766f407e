//! The UDP source port of RoCE v2, which routers spread flows by.
//!
//! A ConnectX sends from the port that its driver gives it. So does this device, if a command gives a connection a port.
//! Connections of verbs and datagrams have no port from a command. Theirs is made as Linux' driver makes it
//! (`include/rdma/ib_verbs.h`, `rdma_get_udp_sport`; `drivers/infiniband/hw/mlx5/ah.c`, `create_ib_ah`): of the flow
//! label, if there is one. Else a connection's port is made of both QPNs, and a datagram has the lowest port. A packet of
//! a connection names only one QPN, which stands for both here.

use crate::context::Transport;
use crate::packet::{Opcode, Packet};
use crate::wire::frame::{Grh, Route};

/// The ports begin here (Linux `IB_ROCE_UDP_ENCAP_VALID_PORT_MIN`).
const FIRST_PORT: u16 = 0xc000;
/// Bits of a flow label.
const LABEL: u64 = 0xf_ffff;
/// Low bits of a flow label: 2^14 values, one per port.
const LOG_PORTS: u32 = 14;

/// A number that packets of one flow have in common, as networks see it.
pub(crate) fn flow(route: &Route, packet: &[u8]) -> u32 {
    route.grh.map_or(0, |grh| source_port(&grh, packet)).into()
}

/// The source port of a packet with this route header.
pub(super) fn source_port(grh: &Grh, packet: &[u8]) -> u16 {
    let flow_label = grh.flow_label;
    if grh.udp_sport != 0 {
        return grh.udp_sport;
    }
    if flow_label != 0 {
        return of_label(flow_label);
    }
    let datagram = packet.first().and_then(|&code| Opcode::new(code)).is_some_and(|o| o.transport() == Transport::Ud);
    match Packet::dest_qp(packet) {
        Some(qpn) if !datagram => of_label(label_of(qpn, qpn)),
        _ => FIRST_PORT,
    }
}

/// As `rdma_flow_label_to_udp_sport`.
fn of_label(label: u32) -> u16 {
    let low = label & ((1 << LOG_PORTS) - 1);
    let high = (label & LABEL as u32) >> LOG_PORTS;
    FIRST_PORT | (low ^ high) as u16
}

/// As `rdma_calc_flow_label`.
fn label_of(local: u32, remote: u32) -> u32 {
    let mut product = u64::from(local) * u64::from(remote);
    product ^= product >> 20;
    product ^= product >> 40;
    (product & LABEL) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GidType;

    #[test]
    fn labels_give_linux_ports() {
        // Each value by hand from the two functions of Linux.
        assert_eq!(of_label(0x12345), 0xc000 | (0x2345 ^ 0x4));
        assert_eq!(of_label(0xf_ffff), 0xc000 | (0x3fff ^ 0x3f));
        assert_eq!(label_of(0x123, 0x456), 0x4_edc2);
        assert_eq!(label_of(0xff_ffff, 0xff_ffff), (0xffff_fe00_0001_u64 ^ 0xfff_ffe0 ^ 0xff) as u32 & 0xf_ffff);
    }

    #[test]
    fn datagrams_have_the_lowest_port() {
        let packet = |code: u8| [code, 0, 0, 0, 0, 0, 1, 0x23, 0, 0, 0, 0];
        let port = |flow_label, code| source_port(&Grh { flow_label, ..grh(0) }, &packet(code));
        assert_eq!(port(0, 0x64), 0xc000);
        assert_eq!(port(0, 0x04), of_label(0x123 * 0x123));
        assert_eq!(port(0x12345, 0x64), of_label(0x12345));
    }

    #[test]
    fn a_port_that_is_given_comes_first() {
        assert_eq!(source_port(&Grh { flow_label: 0x12345, ..grh(55555) }, &[0x04]), 55555);
    }

    fn grh(udp_sport: u16) -> Grh {
        let kind = GidType::RoceV2;
        Grh { kind, sgid: [0; 16], dgid: [0; 16], traffic_class: 0, flow_label: 0, hop_limit: 0, udp_sport }
    }
}
