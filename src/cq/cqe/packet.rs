//! Fields of the completion of an Ethernet frame, for queues of raw packets and those of DevX.
use core::mem::offset_of;

use crate::cq::cqe::view::CqeView;
use crate::cq::layout::Cqe64;
use crate::cq::source::Source;

/// The layer 3 header of a packet (Linux `include/linux/mlx5/device.h`, `CQE_L3_HDR_TYPE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum L3Header {
    /// None that the device knows.
    None,
    /// IPv6.
    Ipv6,
    /// IPv4.
    Ipv4,
    /// The fourth value of the field, which has no meaning.
    Unknown,
}

/// The layer 4 header of a packet (Linux `include/linux/mlx5/device.h`, `CQE_L4_HDR_TYPE_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum L4Header {
    /// None that the device knows, or the packet is a fragment.
    None,
    /// TCP, without an acknowledgement.
    Tcp,
    /// UDP.
    Udp,
    /// TCP that acknowledges and has no data.
    TcpAckNoData,
    /// TCP that acknowledges, and has data.
    TcpAckAndData,
    /// Any other value, of 3 bits.
    Unknown(u8),
}

/// The hash by which a packet's receive queue was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RxHash {
    /// The hash.
    pub value: u32,
    /// The fields that the hash covers. Bits 3:2: 1 IPv4, 2 IPv6; bits 7:6: 1 TCP, 2 UDP, 3 the SPI of IPsec (Linux
    /// `include/linux/mlx5/device.h`, `CQE_RSS_HTYPE_IP` and `_L4`). Not 0.
    pub kind: u8,
}

/// TCP segments that the device merged into one frame. It leaves the headers as they were in the first segment; these
/// are the values to put into them (Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_lro_update_hdr`;
/// DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_lro_update_hdr`). Lengths and checksums are software's to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Merged {
    /// How many segments; 2 or more.
    pub segments: u8,
    /// Whether the TCP header gets PSH.
    pub push: bool,
    /// The time to live of IPv4, or the hop limit of IPv6.
    pub min_ttl: u8,
    /// The window of the TCP header, unscaled, if [`l4_header`](Verdicts::l4_header) acknowledges.
    pub window: u16,
    /// The acknowledgement number of the TCP header, if [`l4_header`](Verdicts::l4_header) acknowledges.
    pub ack: u32,
}

const TUNNELED: u8 = 1 << 0;
const OUTER_IPV6: u8 = 1 << 1;
/// `MLX5_CQE_LRO_PUSH_MASK` of DPDK's `mlx5_prm.h`; Linux `device.h`, `get_cqe_lro_tcppsh`.
const PUSH: u8 = 1 << 6;
const L2_OK: u8 = 1 << 0;
const L3_OK: u8 = 1 << 1;
const L4_OK: u8 = 1 << 2;
const VLAN_STRIPPED: u8 = 1 << 0;
const IP_OPTIONS: u8 = 1 << 1;
const IP_FRAGMENT: u8 = 1 << 7;

/// The IP header outside of a tunnel, by the byte of a CQE that tells of it.
#[inline]
pub(crate) const fn outside_of_tunnel(info: u8) -> Option<L3Header> {
    match (info & TUNNELED != 0, info & OUTER_IPV6 != 0) {
        (false, _) => None,
        (true, false) => Some(L3Header::Ipv4),
        (true, true) => Some(L3Header::Ipv6),
    }
}

impl<S: Source> CqeView<S> {
    /// The tag that a flow's rule gives its packets, 24 bits, in place of a queue pair's number
    /// (`ibv_wc_read_flow_tag`).
    #[doc(alias = "ibv_wc_read_flow_tag")]
    #[inline]
    pub fn flow_tag(&self) -> u32 {
        self.qpn().get()
    }

    /// The metadata that rules have given the frame in register B, which starts as 0 (DPDK
    /// `drivers/net/mlx5/mlx5_flow.c`, `flow_table_metadata` as `reg_b`; Linux
    /// `drivers/net/ethernet/mellanox/mlx5/core/en_rep.c` and `en/rep/tc.c`, `ft_metadata` as `reg_b`).
    #[doc(alias("ft_metadata", "flow_table_metadata"))]
    #[inline]
    pub fn flow_metadata(&self) -> u32 {
        self.source.be32(offset_of!(Cqe64, imm_inval_pkey))
    }

    /// The IP header outside of the frame's tunnel, [`Ipv4`](L3Header::Ipv4) or [`Ipv6`](L3Header::Ipv6); `None` without
    /// a tunnel. The [`verdicts`](Self::verdicts) of a frame with one are about the headers inside. Only receivers that
    /// were created for it look into tunnels (`into_tunnels` of raw packet queue pairs, of receivers of frames, and of
    /// TIRs by DevX: `MLX5DV_QP_CREATE_TUNNEL_OFFLOADS`, `tunneled_offload_en`).
    ///
    /// The layers that are ok have no fault inside. Linux takes this to hold outside as well
    /// (`drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_handle_csum`).
    #[doc(alias = "cqe_is_tunneled")]
    #[inline]
    pub fn tunnel(&self) -> Option<L3Header> {
        outside_of_tunnel(self.packet_info())
    }

    /// The byte that tells of a tunnel.
    #[inline(always)]
    pub(crate) fn packet_info(&self) -> u8 {
        self.source.u8(offset_of!(Cqe64, pkt_info))
    }

    /// The TCP segments that the device merged into this frame (large receive offload); `None` for a single packet.
    #[doc(alias("lro_num_seg", "get_cqe_lro_num_seg"))]
    #[inline]
    pub fn merged(&self) -> Option<Merged> {
        let segments = self.source.u8(offset_of!(Cqe64, srqn_uidx));
        (segments > 1).then(|| Merged {
            segments,
            push: self.source.u8(offset_of!(Cqe64, lro_tcppsh_abort_dupack)) & PUSH != 0,
            min_ttl: self.source.u8(offset_of!(Cqe64, lro_min_ttl)),
            window: self.source.be16(offset_of!(Cqe64, lro_tcp_win)),
            ack: self.source.be32(offset_of!(Cqe64, lro_ack_seq_num)),
        })
    }

    /// The VLAN tag that the device has taken out of the frame, if it has: priority, CFI and number
    /// (`ibv_wc_read_cvlan`).
    #[doc(alias = "ibv_wc_read_cvlan")]
    #[inline]
    pub fn vlan(&self) -> Option<u16> {
        let stripped = self.headers() & VLAN_STRIPPED != 0;
        stripped.then(|| self.source.be16(offset_of!(Cqe64, vlan_info)))
    }

    /// The hash that chose the packet's queue, if there was one.
    #[inline]
    pub fn rx_hash(&self) -> Option<RxHash> {
        let kind = self.source.u8(offset_of!(Cqe64, rx_hash_type));
        (kind != 0).then(|| RxHash { value: self.source.be32(offset_of!(Cqe64, rx_hash_result)), kind })
    }

    /// The sum of the 16-bit words of the packet from its IP header on, not complemented. The checksum of any protocol
    /// can be computed from it (Linux' `CHECKSUM_COMPLETE`), unless [it is of TCP data alone](Self::sums_tcp_data).
    #[inline]
    pub fn packet_sum(&self) -> u16 {
        self.source.be16(offset_of!(Cqe64, check_sum))
    }

    /// Whether [`Self::packet_sum`] is of the TCP data alone: the device merges such segments, and did not look whether
    /// there was a second one (`lro_num_seg` is not 0; DPDK `drivers/net/mlx5/mlx5_rx.c`, `mlx5_lro_update_tcp_hdr`;
    /// Linux `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_handle_csum`).
    #[inline]
    pub fn sums_tcp_data(&self) -> bool {
        self.source.u8(offset_of!(Cqe64, srqn_uidx)) != 0
    }

    /// The device's findings about the packet's headers, as a value that outlives the CQE.
    #[inline(always)]
    pub fn verdicts(&self) -> Verdicts {
        const { assert!(offset_of!(Cqe64, l4_hdr_type_etc) == offset_of!(Cqe64, hds_ip_ext) + 1) }
        Verdicts(self.source.be16(offset_of!(Cqe64, hds_ip_ext)))
    }

    /// [`Verdicts::l3_ok`].
    #[inline]
    pub fn l3_ok(&self) -> bool {
        self.verdicts().l3_ok()
    }

    /// [`Verdicts::l4_ok`].
    #[inline]
    pub fn l4_ok(&self) -> bool {
        self.verdicts().l4_ok()
    }

    /// [`Verdicts::checksum_ok`].
    #[doc(alias = "IBV_WC_IP_CSUM_OK")]
    #[inline]
    pub fn checksum_ok(&self) -> bool {
        self.verdicts().checksum_ok()
    }

    /// [`Verdicts::l3_header`].
    #[inline]
    pub fn l3_header(&self) -> L3Header {
        self.verdicts().l3_header()
    }

    /// [`Verdicts::l4_header`].
    #[inline]
    pub fn l4_header(&self) -> L4Header {
        self.verdicts().l4_header()
    }

    #[inline(always)]
    fn headers(&self) -> u8 {
        self.source.u8(offset_of!(Cqe64, l4_hdr_type_etc))
    }
}

/// The device's findings about a packet's headers: two bytes of its completion. One load reads them all; a view of the
/// completion loads each field from the queue's memory when you ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdicts(u16);

impl Verdicts {
    /// These verdicts with other kinds of headers: byte 29 of a CQE.
    #[inline(always)]
    pub(in crate::cq) const fn with_headers(self, headers: u8) -> Self {
        Self(self.0 & 0xff00 | headers as u16)
    }

    #[inline(always)]
    const fn ok(self) -> u8 {
        (self.0 >> 8) as u8
    }

    #[inline(always)]
    const fn headers(self) -> u8 {
        self.0 as u8
    }

    /// Whether the device has found the frame's layer 2 right (Linux `include/linux/mlx5/device.h`, `CQE_L2_OK`).
    #[inline]
    #[must_use]
    pub const fn l2_ok(self) -> bool {
        self.ok() & L2_OK != 0
    }

    /// Whether the device has looked at the checksum of layer 3 and found it right.
    #[inline]
    #[must_use]
    pub const fn l3_ok(self) -> bool {
        self.ok() & L3_OK != 0
    }

    /// Whether the device has looked at the checksum of layer 4 and found it right.
    #[inline]
    #[must_use]
    pub const fn l4_ok(self) -> bool {
        self.ok() & L4_OK != 0
    }

    /// Whether the device found the IPv4 and layer 4 checksums right (`IBV_WC_IP_CSUM_OK`; rdma-core
    /// `providers/mlx5/cq.c`, `get_csum_ok`).
    #[doc(alias = "IBV_WC_IP_CSUM_OK")]
    #[inline]
    #[must_use]
    pub const fn checksum_ok(self) -> bool {
        const BOTH: u8 = L3_OK | L4_OK;
        self.ok() & BOTH == BOTH && matches!(self.l3_header(), L3Header::Ipv4)
    }

    /// The packet's layer 3 header.
    #[inline]
    #[must_use]
    pub const fn l3_header(self) -> L3Header {
        match (self.headers() >> 2) & 3 {
            0 => L3Header::None,
            1 => L3Header::Ipv6,
            2 => L3Header::Ipv4,
            _ => L3Header::Unknown,
        }
    }

    /// Whether the IPv4 header has options, or extension headers follow the IPv6 header (DPDK
    /// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RX_IP_EXT_OPTS_PACKET`; VPP `src/plugins/rdma/rdma_mlx5dv.h`,
    /// `ip_ext_opts` of `foreach_cqe_rx_field`).
    #[inline]
    #[must_use]
    pub const fn has_ip_options(self) -> bool {
        self.headers() & IP_OPTIONS != 0
    }

    /// Whether the packet is a fragment of a larger one. The device has then looked at no layer 4 header (DPDK
    /// `drivers/common/mlx5/mlx5_prm.h`, `MLX5_CQE_RX_IP_FRAG_PACKET`; VPP `src/plugins/rdma/rdma_mlx5dv.h`,
    /// `ip_frag` of `foreach_cqe_rx_field`).
    #[inline]
    #[must_use]
    pub const fn is_fragment(self) -> bool {
        self.headers() & IP_FRAGMENT != 0
    }

    /// The packet's layer 4 header.
    #[inline]
    #[must_use]
    pub const fn l4_header(self) -> L4Header {
        match (self.headers() >> 4) & 7 {
            0 => L4Header::None,
            1 => L4Header::Tcp,
            2 => L4Header::Udp,
            3 => L4Header::TcpAckNoData,
            4 => L4Header::TcpAckAndData,
            other => L4Header::Unknown(other),
        }
    }
}
