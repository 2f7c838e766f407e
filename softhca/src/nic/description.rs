//! The description of a frame's headers in its CQE.

use crate::cq::FrameInfo;
use crate::ethernet::{Headers, L4};

/// `hds_ip_ext` of a CQE: layers without fault (Linux `include/linux/mlx5/device.h`, `CQE_L2_OK` and others).
mod layer {
    pub(super) const L2_OK: u8 = 1 << 0;
    pub(super) const L3_OK: u8 = 1 << 1;
    pub(super) const L4_OK: u8 = 1 << 2;
}

/// `l4_l3_hdr_type` of a CQE: bit 0 a tag was taken out, bit 1 options of IPv4 or extension headers of IPv6, bits 3:2 the
/// version of IP, bits 6:4 the protocol behind it, bit 7 a fragment (Linux `device.h`, `CQE_L4_HDR_TYPE_*`; DPDK
/// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RX_*`; VPP `src/plugins/rdma/rdma_mlx5dv.h`, `foreach_cqe_rx_field`).
pub(super) mod header {
    pub(in crate::nic) const VLAN: u8 = 1 << 0;
    pub(super) const OPTIONS: u8 = 1 << 1;
    pub(super) const IPV6: u8 = 1 << 2;
    pub(super) const IPV4: u8 = 2 << 2;
    pub(super) const TCP: u8 = 1 << 4;
    pub(super) const UDP: u8 = 2 << 4;
    pub(super) const TCP_ACK: u8 = 3 << 4;
    pub(super) const TCP_ACK_DATA: u8 = 4 << 4;
    pub(super) const FRAGMENT: u8 = 1 << 7;
}

/// First byte of a CQE, `pkt_info`: the frame has a tunnel, whose outer packet is IPv6 (Linux `device.h`,
/// `cqe_is_tunneled`; DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RX_TUNNEL_PACKET`, `MLX5_CQE_RX_OUTER_PACKET`).
mod tunnel {
    pub(super) const TUNNELED: u8 = 1 << 0;
    pub(super) const OUTER_IPV6: u8 = 1 << 1;
}

/// ACK among the flags of TCP.
const TCP_FLAG_ACK: u16 = 1 << 4;

/// The description of the headers of a frame, and of those inside of its tunnel.
///
/// With a tunnel, the kinds of headers are those inside (DPDK `drivers/net/mlx5/mlx5_rxtx.c`, `mlx5_set_ptype_table`). A
/// layer is without fault only if it is so inside and outside: Linux then looks at no checksum of either
/// (`drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_handle_csum`, where `csum_level` is 1). The sum begins at
/// the outer packet, since Linux hands the whole frame on with it. No source says which bits are set if only one of the
/// two packets has a fault.
pub(super) fn describe(headers: &Headers, inside: Option<&Headers>) -> FrameInfo {
    let outside = packet(headers);
    let Some(inside) = inside.map(packet) else { return outside };
    let mut layers_ok = inside.layers_ok & (outside.layers_ok | layer::L4_OK);
    if headers.ports.is_some() {
        layers_ok &= outside.layers_ok;
    }
    let is_ipv6 = headers.ip.is_some_and(|ip| ip.version == 6);
    let tunnel = tunnel::TUNNELED | if is_ipv6 { tunnel::OUTER_IPV6 } else { 0 };
    FrameInfo { layers_ok, headers: inside.headers, tunnel, ..outside }
}

/// The description of one packet.
fn packet(headers: &Headers) -> FrameInfo {
    let mut info = FrameInfo { layers_ok: layer::L2_OK, ..FrameInfo::default() };
    if let Some(ip) = &headers.ip {
        info.sum = ip.sum;
        info.headers = if ip.version == 6 { header::IPV6 } else { header::IPV4 };
        info.headers |= if ip.options { header::OPTIONS } else { 0 };
        info.headers |= if ip.fragment { header::FRAGMENT } else { 0 };
        info.layers_ok |= if ip.checksum_ok { layer::L3_OK } else { 0 };
    }
    if let Some(ports) = &headers.ports {
        info.headers |= match ports.l4 {
            L4::Udp => header::UDP,
            L4::Tcp { flags, .. } if flags & TCP_FLAG_ACK == 0 => header::TCP,
            L4::Tcp { has_data: false, .. } => header::TCP_ACK,
            L4::Tcp { has_data: true, .. } => header::TCP_ACK_DATA,
        };
        info.layers_ok |= if ports.checksum_ok { layer::L4_OK } else { 0 };
    }
    info
}
