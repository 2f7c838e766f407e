//! A device's features for Ethernet frames, as a kernel driver reports them, from the firmware's capabilities. For
//! these and other figures, this file computes as Linux does (`drivers/infiniband/hw/mlx5/main.c`,
//! `mlx5_ib_query_device`).

use crate::abi::mailbox::{Field, fields};
use crate::abi::mlx5::{MULTI_PACKET_ALLOWED, MULTI_PACKET_ENHANCED, rx_hash};

fields! {
    PORT_TYPE: 0x1b6, 2 = "cmd_hca_cap.port_type";
    NIC_FLOW_TABLE: 0x1a6, 1 = "cmd_hca_cap.nic_flow_table";
    ETH_NET_OFFLOADS: 0x21c, 1 = "cmd_hca_cap.eth_net_offloads";
    STRIDING_RQ: 0x201, 1 = "cmd_hca_cap.striding_rq";
    EXT_STRIDE_NUM_RANGE: 0x3a0, 1 = "cmd_hca_cap.ext_stride_num_range";
    LOG_MAX_RQ: 0x363, 5 = "cmd_hca_cap.log_max_rq";
    LOG_MAX_RQT: 0x38b, 5 = "cmd_hca_cap.log_max_rqt";
    LOG_MAX_RQT_SIZE: 0x393, 5 = "cmd_hca_cap.log_max_rqt_size";
    LOG_MAX_WQ_SZ: 0x3db, 5 = "cmd_hca_cap.log_max_wq_sz";
    CSUM_CAP: 0x0, 1 = "per_protocol_networking_offload_caps.csum_cap";
    VLAN_CAP: 0x1, 1 = "per_protocol_networking_offload_caps.vlan_cap";
    MAX_LSO_CAP: 0xb, 5 = "per_protocol_networking_offload_caps.max_lso_cap";
    MULTI_PKT_SEND_WQE: 0x10, 2 = "per_protocol_networking_offload_caps.multi_pkt_send_wqe";
    ENHANCED_MULTI_PKT_SEND_WQE: 0x1a, 1 = "per_protocol_networking_offload_caps.enhanced_multi_pkt_send_wqe";
    TUNNEL_STATELESS_GRE: 0x1e, 1 = "per_protocol_networking_offload_caps.tunnel_stateless_gre";
    TUNNEL_STATELESS_VXLAN: 0x1f, 1 = "per_protocol_networking_offload_caps.tunnel_stateless_vxlan";
    SWP: 0x20, 1 = "per_protocol_networking_offload_caps.swp";
    SWP_CSUM: 0x21, 1 = "per_protocol_networking_offload_caps.swp_csum";
    SWP_LSO: 0x22, 1 = "per_protocol_networking_offload_caps.swp_lso";
    TUNNEL_STATELESS_GENEVE_RX: 0x3f, 1 = "per_protocol_networking_offload_caps.tunnel_stateless_geneve_rx";
    // These are about tables for received frames.
    FT_SUPPORT: 0x200, 1 = "flow_table_nic_cap.flow_table_properties_nic_receive.ft_support";
    LOG_MAX_FT_SIZE: 0x222, 6 = "flow_table_nic_cap.flow_table_properties_nic_receive.log_max_ft_size";
    MAX_ACTIONS_RECEIVED: 0x230, 8 = "flow_table_nic_cap.flow_table_properties_nic_receive.max_modify_header_actions";
    MAX_ACTIONS_SENT: 0x830, 8 = "flow_table_nic_cap.flow_table_properties_nic_transmit.max_modify_header_actions";
    // Of tables for copies of frames.
    SNIFFER_SHARES_TIR: 0x2, 1 = "flow_table_nic_cap.allow_sniffer_and_nic_rx_shared_tir";
    SNIFFS_RECEIVED: 0x600, 1 = "flow_table_nic_cap.flow_table_properties_nic_receive_sniffer.ft_support";
    SNIFFS_SENT: 0xc00, 1 = "flow_table_nic_cap.flow_table_properties_nic_transmit_sniffer.ft_support";
}
/// `MLX5_CAP_PORT_TYPE_ETH`.
const ETHERNET: u64 = 1;

/// `enum mlx5_ib_sw_parsing_offloads`.
const SW_PARSING: u32 = 1 << 0;
const SW_PARSING_CSUM: u32 = 1 << 1;
const SW_PARSING_LSO: u32 = 1 << 2;
/// `enum mlx5_ib_tunnel_offloads`.
const TUNNEL_VXLAN: u32 = 1 << 0;
const TUNNEL_GRE: u32 = 1 << 1;
const TUNNEL_GENEVE: u32 = 1 << 2;

/// `enum ib_device_cap_flags`.
const FLAG_RAW_IP_CSUM: u32 = 1 << 26;
const FLAG_MANAGED_FLOW_STEERING: u32 = 1 << 29;
/// `enum ib_uverbs_raw_packet_caps`.
const RAW_CVLAN_STRIPPING: u32 = 1;
const RAW_IP_CSUM: u32 = 1 << 2;
/// `IBV_QPT_RAW_PACKET`, as a bit.
const RAW_PACKET: u32 = 1 << 8;
/// log2 of the bytes of a stride (Linux `include/linux/mlx5/device.h`, `MLX5_MIN_SINGLE_STRIDE_LOG_NUM_BYTES` and
/// others), and of the strides of a WQE: at least, the same with `ext_stride_num_range`, at most.
const STRIDE_BYTES: [u32; 2] = [6, 13];
const STRIDES: [u32; 3] = [9, 3, 16];
/// The flags that Linux sets for every device with Ethernet offloads, even if it cannot hash headers inside tunnels.
const HASHED: u64 = rx_hash::SRC_IPV4
    | rx_hash::DST_IPV4
    | rx_hash::SRC_IPV6
    | rx_hash::DST_IPV6
    | rx_hash::SRC_PORT_TCP
    | rx_hash::DST_PORT_TCP
    | rx_hash::SRC_PORT_UDP
    | rx_hash::DST_PORT_UDP
    | rx_hash::INNER;

/// A device's features for frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameAttributes {
    /// Of `device_cap_flags`.
    pub(crate) cap_flags: u32,
    pub(crate) raw_packet_caps: u32,
    /// `struct mlx5_ib_tso_caps`: most bytes, and kinds of QPs.
    pub(crate) tso_caps: [u32; 2],
    /// `struct mlx5_ib_rss_caps`: fields, and function.
    pub(crate) hash_caps: [u64; 2],
    /// `enum mlx5_ib_mpw_caps`: which WQEs of several frames there are.
    pub(crate) multi_packet_wqes: u32,
    /// `struct mlx5_ib_sw_parsing_caps`: offloads, and kinds of QPs.
    pub(crate) sw_parsing_caps: [u32; 2],
    /// `enum mlx5_ib_tunnel_offloads`.
    pub(crate) tunnel_offloads: u32,
    /// `struct mlx5_ib_striding_rq_caps`: least and most bytes of a stride, and strides, as log2; kinds of QPs.
    pub(crate) striding_rq_caps: [u32; 6],
    /// `struct ib_uverbs_rss_caps`: kinds of QPs, tables, and entries of one.
    pub(crate) rss_caps: [u32; 4],
    pub(crate) max_wq_type_rq: u32,
    /// log2 of the entries of the longest table of work queues, and of the WQEs of the longest one.
    pub(crate) log_max_table_size: u32,
    pub(crate) log_max_wq_size: u32,
    /// log2 of the rules of the largest flow table.
    pub(crate) log_max_flow_table: u32,
    /// Most actions of one list that modifies headers: of received frames, and of sent ones.
    pub(crate) max_modify_actions: [u32; 2],
    /// Whether flows can have copies of all frames.
    pub(crate) sniffs: bool,
}

impl FrameAttributes {
    /// Computes them from the general capabilities, and from the Ethernet offload and flow table capabilities, if any.
    pub(super) fn of(general: &[u8], offloads: Option<&[u8]>, flow_tables: Option<&[u8]>) -> Self {
        let log = |field: Field| 1_u32.checked_shl(field.get32(general)).unwrap_or(0);
        let mut found = Self {
            log_max_table_size: LOG_MAX_RQT_SIZE.get32(general),
            log_max_wq_size: LOG_MAX_WQ_SZ.get32(general),
            ..Self::default()
        };
        if let Some(offloads) = offloads.filter(|_| ETH_NET_OFFLOADS.get(general) != 0) {
            if CSUM_CAP.get(offloads) != 0 {
                found.cap_flags |= FLAG_RAW_IP_CSUM;
                found.raw_packet_caps |= RAW_IP_CSUM;
            }
            if VLAN_CAP.get(offloads) != 0 {
                found.raw_packet_caps |= RAW_CVLAN_STRIPPING;
            }
            let max_tso = MAX_LSO_CAP.get32(offloads);
            if max_tso != 0 {
                found.tso_caps = [1 << max_tso, RAW_PACKET];
            }
            found.hash_caps = [HASHED, rx_hash::TOEPLITZ.into()];
            for (field, flag) in
                [(MULTI_PKT_SEND_WQE, MULTI_PACKET_ALLOWED), (ENHANCED_MULTI_PKT_SEND_WQE, MULTI_PACKET_ENHANCED)]
            {
                found.multi_packet_wqes |= if field.get(offloads) != 0 { flag } else { 0 };
            }
            let has = |field: Field, flag: u32| if field.get(offloads) != 0 { flag } else { 0 };
            if SWP.get(offloads) != 0 {
                let more = has(SWP_CSUM, SW_PARSING_CSUM) | has(SWP_LSO, SW_PARSING_LSO);
                found.sw_parsing_caps = [SW_PARSING | more, RAW_PACKET];
            }
            found.tunnel_offloads = has(TUNNEL_STATELESS_VXLAN, TUNNEL_VXLAN)
                | has(TUNNEL_STATELESS_GRE, TUNNEL_GRE)
                | has(TUNNEL_STATELESS_GENEVE_RX, TUNNEL_GENEVE);
        }
        if PORT_TYPE.get(general) == ETHERNET {
            found.rss_caps = [RAW_PACKET, log(LOG_MAX_RQT), log(LOG_MAX_RQT_SIZE), 0];
            found.max_wq_type_rq = log(LOG_MAX_RQ);
            if STRIDING_RQ.get(general) != 0 {
                let ([least, most], [usual, extended, longest]) = (STRIDE_BYTES, STRIDES);
                let shortest = if EXT_STRIDE_NUM_RANGE.get(general) != 0 { extended } else { usual };
                found.striding_rq_caps = [least, most, shortest, longest, RAW_PACKET, 0];
            }
        }
        if let Some(tables) = flow_tables.filter(|tables| NIC_FLOW_TABLE.get(general) & FT_SUPPORT.get(tables) != 0) {
            found.cap_flags |= FLAG_MANAGED_FLOW_STEERING;
            found.log_max_flow_table = LOG_MAX_FT_SIZE.get32(tables);
            found.max_modify_actions = [MAX_ACTIONS_RECEIVED, MAX_ACTIONS_SENT].map(|field| field.get32(tables));
            found.sniffs =
                [SNIFFER_SHARES_TIR, SNIFFS_RECEIVED, SNIFFS_SENT].iter().all(|field| field.get(tables) != 0);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_that_linux_shows() {
        let (mut general, mut offloads, mut tables) = (vec![0; 0x100], vec![0; 0x100], vec![0; 0x1000]);
        for (field, value) in [
            (PORT_TYPE, ETHERNET),
            (NIC_FLOW_TABLE, 1),
            (ETH_NET_OFFLOADS, 1),
            (LOG_MAX_RQ, 13),
            (LOG_MAX_RQT, 16),
            (LOG_MAX_RQT_SIZE, 11),
        ] {
            field.set(&mut general, value);
        }
        for (field, value) in [(CSUM_CAP, 1), (VLAN_CAP, 1), (MAX_LSO_CAP, 18)] {
            field.set(&mut offloads, value);
        }
        FT_SUPPORT.set(&mut tables, 1);
        // As ibv_devinfo showed them in a guest whose kernel, Linux 6.12.107, drove the device.
        let found = FrameAttributes::of(&general, Some(&offloads), Some(&tables));
        assert_eq!((found.cap_flags, found.raw_packet_caps), (0x2400_0000, 5));
        assert_eq!((found.tso_caps, found.hash_caps), ([262_144, 256], [0x8000_00ff, 1]));
        assert_eq!((found.rss_caps, found.max_wq_type_rq), ([256, 65536, 2048, 0], 8192));
        // `get_flow_table`: a table of each direction, and their TIRs.
        let mut sniffs = |field: Field| {
            field.set(&mut tables, 1);
            FrameAttributes::of(&general, None, Some(&tables)).sniffs
        };
        assert_eq!([SNIFFS_RECEIVED, SNIFFS_SENT, SNIFFER_SHARES_TIR].map(&mut sniffs), [false, false, true]);
        // `MLX5_IB_ALLOW_MPW`, `MLX5_IB_SUPPORT_EMPW`.
        assert_eq!(found.multi_packet_wqes, 0);
        for (allowed, enhanced, flags) in [(1, 0, 2), (0, 1, 4), (1, 1, 6)] {
            MULTI_PKT_SEND_WQE.set(&mut offloads, allowed);
            ENHANCED_MULTI_PKT_SEND_WQE.set(&mut offloads, enhanced);
            assert_eq!(FrameAttributes::of(&general, Some(&offloads), None).multi_packet_wqes, flags);
        }
        // `mlx5_ib_query_device`: nothing without a software parser; tunnels one by one.
        assert_eq!((found.sw_parsing_caps, found.tunnel_offloads), ([0; 2], 0));
        for (field, caps) in [(SWP_CSUM, [0, 0]), (SWP, [3, 256]), (SWP_LSO, [7, 256])] {
            field.set(&mut offloads, 1);
            assert_eq!(FrameAttributes::of(&general, Some(&offloads), None).sw_parsing_caps, caps);
        }
        for (field, tunnels) in
            [(TUNNEL_STATELESS_VXLAN, 1), (TUNNEL_STATELESS_GRE, 3), (TUNNEL_STATELESS_GENEVE_RX, 7)]
        {
            field.set(&mut offloads, 1);
            assert_eq!(FrameAttributes::of(&general, Some(&offloads), None).tunnel_offloads, tunnels);
        }
        // `mlx5_ib_query_device`: 2^9 strides at least, or 2^3.
        assert_eq!(found.striding_rq_caps, [0; 6]);
        STRIDING_RQ.set(&mut general, 1);
        for (extended, shortest) in [(0, 9), (1, 3)] {
            EXT_STRIDE_NUM_RANGE.set(&mut general, extended);
            assert_eq!(FrameAttributes::of(&general, None, None).striding_rq_caps, [6, 13, shortest, 16, 256, 0]);
        }
        // An InfiniBand device has none of it.
        PORT_TYPE.set(&mut general, 0);
        assert_eq!(FrameAttributes::of(&general, None, None).rss_caps, [0; 4]);
    }
}
