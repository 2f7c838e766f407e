//! Capabilities of flow tables.

use crate::mailbox::structures;

structures! {
    /// Headers that may be matched.
    pub struct FlowTableFieldsSupported: "flow_table_fields_supported", 0x80 {
        outer_dmac: 0x0, 1, bool;
        outer_smac: 0x1, 1, bool;
        outer_ether_type: 0x2, 1, bool;
        outer_ip_version: 0x3, 1, bool;
        outer_first_prio: 0x4, 1, bool;
        outer_first_cfi: 0x5, 1, bool;
        outer_first_vid: 0x6, 1, bool;
        outer_ipv4_ttl: 0x7, 1, bool;
        outer_second_prio: 0x8, 1, bool;
        outer_second_cfi: 0x9, 1, bool;
        outer_second_vid: 0xa, 1, bool;
        outer_ipv6_flow_label: 0xb, 1, bool;
        outer_sip: 0xc, 1, bool;
        outer_dip: 0xd, 1, bool;
        outer_frag: 0xe, 1, bool;
        outer_ip_protocol: 0xf, 1, bool;
        outer_ip_ecn: 0x10, 1, bool;
        outer_ip_dscp: 0x11, 1, bool;
        outer_udp_sport: 0x12, 1, bool;
        outer_udp_dport: 0x13, 1, bool;
        outer_tcp_sport: 0x14, 1, bool;
        outer_tcp_dport: 0x15, 1, bool;
        outer_tcp_flags: 0x16, 1, bool;
        outer_gre_protocol: 0x17, 1, bool;
        outer_gre_key: 0x18, 1, bool;
        outer_vxlan_vni: 0x19, 1, bool;
        outer_geneve_vni: 0x1a, 1, bool;
        outer_geneve_oam: 0x1b, 1, bool;
        outer_geneve_protocol_type: 0x1c, 1, bool;
        outer_geneve_opt_len: 0x1d, 1, bool;
        source_vhca_port: 0x1e, 1, bool;
        source_eswitch_port: 0x1f, 1, bool;
        inner_dmac: 0x20, 1, bool;
        inner_smac: 0x21, 1, bool;
        inner_ether_type: 0x22, 1, bool;
        inner_ip_version: 0x23, 1, bool;
        inner_first_prio: 0x24, 1, bool;
        inner_first_cfi: 0x25, 1, bool;
        inner_first_vid: 0x26, 1, bool;
        inner_ipv4_ttl: 0x27, 1, bool;
        inner_second_prio: 0x28, 1, bool;
        inner_second_cfi: 0x29, 1, bool;
        inner_second_vid: 0x2a, 1, bool;
        inner_ipv6_flow_label: 0x2b, 1, bool;
        inner_sip: 0x2c, 1, bool;
        inner_dip: 0x2d, 1, bool;
        inner_frag: 0x2e, 1, bool;
        inner_ip_protocol: 0x2f, 1, bool;
        inner_ip_ecn: 0x30, 1, bool;
        inner_ip_dscp: 0x31, 1, bool;
        inner_udp_sport: 0x32, 1, bool;
        inner_udp_dport: 0x33, 1, bool;
        inner_tcp_sport: 0x34, 1, bool;
        inner_tcp_dport: 0x35, 1, bool;
        inner_tcp_flags: 0x36, 1, bool;
        metadata_reg_b: 0x3e, 1, bool;
        metadata_reg_a: 0x3f, 1, bool;
        geneve_tlv_option_0_data: 0x40, 1, bool;
        geneve_tlv_option_0_exist: 0x41, 1, bool;
        outer_first_mpls_over_udp: 0x45, 4, u8;
        outer_first_mpls_over_gre: 0x49, 4, u8;
        inner_first_mpls: 0x4d, 4, u8;
        outer_first_mpls: 0x51, 4, u8;
        outer_emd_tag: 0x55, 1, bool;
        inner_esp_spi: 0x56, 1, bool;
        outer_esp_spi: 0x57, 1, bool;
        inner_ipv6_hop_limit: 0x58, 1, bool;
        outer_ipv6_hop_limit: 0x59, 1, bool;
        bth_dst_qp: 0x5a, 1, bool;
        inner_first_svlan: 0x5b, 1, bool;
        inner_second_svlan: 0x5c, 1, bool;
        outer_first_svlan: 0x5d, 1, bool;
        outer_second_svlan: 0x5e, 1, bool;
        source_sqn: 0x5f, 1, bool;
        metadata_reg_c_7: 0x78, 1, bool;
        metadata_reg_c_6: 0x79, 1, bool;
        metadata_reg_c_5: 0x7a, 1, bool;
        metadata_reg_c_4: 0x7b, 1, bool;
        metadata_reg_c_3: 0x7c, 1, bool;
        metadata_reg_c_2: 0x7d, 1, bool;
        metadata_reg_c_1: 0x7e, 1, bool;
        metadata_reg_c_0: 0x7f, 1, bool;
    }

    /// Headers that may be matched, continued.
    pub struct FlowTableFieldsSupported2: "flow_table_fields_supported_2", 0x80 {
        inner_l4_type_ext: 0x0, 1, bool;
        outer_l4_type_ext: 0x1, 1, bool;
        inner_l4_type: 0x2, 1, bool;
        outer_l4_type: 0x3, 1, bool;
        bth_opcode: 0xe, 1, bool;
        tunnel_header_2_3: 0xf, 1, bool;
        tunnel_header_0_1: 0x10, 1, bool;
        inner_l3_ok: 0x17, 1, bool;
        inner_l4_ok: 0x18, 1, bool;
        outer_l3_ok: 0x19, 1, bool;
        outer_l4_ok: 0x1a, 1, bool;
        psp_header: 0x1b, 1, bool;
        inner_ipv4_checksum_ok: 0x1c, 1, bool;
        inner_l4_checksum_ok: 0x1d, 1, bool;
        outer_ipv4_checksum_ok: 0x1e, 1, bool;
        outer_l4_checksum_ok: 0x1f, 1, bool;
        ipsec_next_header: 0x2f, 1, bool;
    }

    /// Header fields that rules may modify.
    pub struct HeaderModifyCapProperties: "header_modify_cap_properties", 0x400 {
    }
    bytes {
        copy_action_field_support: 0x200, 32;
    }
    parts {
        set_action_field_support: 0x0, FlowTableFieldsSupported;
        add_action_field_support: 0x100, FlowTableFieldsSupported;
    }

    /// Capabilities of flow tables of one kind.
    pub struct FlowTablePropLayout: "flow_table_prop_layout", 0x200 {
        ft_support: 0x0, 1, bool;
        flow_tag: 0x1, 1, bool;
        flow_counter: 0x2, 1, bool;
        flow_modify_en: 0x3, 1, bool;
        modify_root: 0x4, 1, bool;
        identified_miss_table_mode: 0x5, 1, bool;
        flow_table_modify: 0x6, 1, bool;
        reformat: 0x7, 1, bool;
        decap: 0x8, 1, bool;
        reset_root_to_default: 0x9, 1, bool;
        pop_vlan: 0xa, 1, bool;
        push_vlan: 0xb, 1, bool;
        fpga_vendor_acceleration: 0xc, 1, bool;
        pop_vlan_2: 0xd, 1, bool;
        push_vlan_2: 0xe, 1, bool;
        reformat_and_vlan_action: 0xf, 1, bool;
        modify_and_vlan_action: 0x10, 1, bool;
        sw_owner: 0x11, 1, bool;
        reformat_l3_tunnel_to_l2: 0x12, 1, bool;
        reformat_l2_to_l3_tunnel: 0x13, 1, bool;
        reformat_and_modify_action: 0x14, 1, bool;
        ignore_flow_level: 0x15, 1, bool;
        table_miss_action_domain: 0x17, 1, bool;
        termination_table: 0x18, 1, bool;
        reformat_and_fwd_to_table: 0x19, 1, bool;
        forward_vhca_rx: 0x1a, 1, bool;
        ipsec_encrypt: 0x1c, 1, bool;
        ipsec_decrypt: 0x1d, 1, bool;
        sw_owner_v2: 0x1e, 1, bool;
        termination_table_raw_traffic: 0x20, 1, bool;
        log_max_ft_size: 0x22, 6, u8;
        log_max_modify_header_context: 0x28, 8, u8;
        max_modify_header_actions: 0x30, 8, u8;
        max_ft_level: 0x38, 8, u8;
        reformat_add_esp_trasport: 0x40, 1, bool;
        reformat_l2_to_l3_esp_tunnel: 0x41, 1, bool;
        reformat_add_esp_transport_over_udp: 0x42, 1, bool;
        reformat_del_esp_trasport: 0x43, 1, bool;
        reformat_l3_esp_tunnel_to_l2: 0x44, 1, bool;
        reformat_del_esp_transport_over_udp: 0x45, 1, bool;
        execute_aso: 0x46, 1, bool;
        log_max_ft_sampler_num: 0x48, 8, u8;
        metadata_reg_b_width: 0x50, 8, u8;
        metadata_reg_a_width: 0x58, 8, u8;
        reformat_l2_to_l3_psp_tunnel: 0x60, 1, bool;
        reformat_l3_psp_tunnel_to_l2: 0x61, 1, bool;
        reformat_insert: 0x62, 1, bool;
        reformat_remove: 0x63, 1, bool;
        macsec_encrypt: 0x64, 1, bool;
        macsec_decrypt: 0x65, 1, bool;
        psp_encrypt: 0x66, 1, bool;
        psp_decrypt: 0x67, 1, bool;
        reformat_add_macsec: 0x68, 1, bool;
        reformat_remove_macsec: 0x69, 1, bool;
        reparse: 0x6a, 1, bool;
        cross_vhca_object: 0x6c, 1, bool;
        reformat_l2_to_l3_audp_tunnel: 0x6d, 1, bool;
        reformat_l3_audp_tunnel_to_l2: 0x6e, 1, bool;
        ignore_flow_level_rtc_valid: 0x6f, 1, bool;
        log_max_ft_num: 0x78, 8, u8;
        log_max_flow_counter: 0x90, 8, u8;
        log_max_destination: 0x98, 8, u8;
        log_max_flow: 0xb8, 8, u8;
    }
    parts {
        ft_field_support: 0x100, FlowTableFieldsSupported;
        ft_field_bitmask_support: 0x180, FlowTableFieldsSupported;
    }

    /// Flow tables.
    pub struct FlowTableNicCap: "flow_table_nic_cap", 0x8000 {
        nic_rx_multi_path_tirs: 0x0, 1, bool;
        nic_rx_multi_path_tirs_fts: 0x1, 1, bool;
        allow_sniffer_and_nic_rx_shared_tir: 0x2, 1, bool;
        nic_rx_flow_tag_multipath_en: 0x4, 1, bool;
        sw_owner_reformat_supported: 0x7, 1, bool;
        nic_receive_max_steering_depth: 0x18, 8, u8;
        encap_general_header: 0x20, 1, bool;
        log_max_packet_reformat_context: 0x2b, 5, u8;
        max_encap_header_size: 0x36, 10, u16;
        sw_steering_nic_rx_action_drop_icm_address: 0x2000, 64, u64;
        sw_steering_nic_tx_action_drop_icm_address: 0x2040, 64, u64;
        sw_steering_nic_tx_action_allow_icm_address: 0x2080, 64, u64;
    }
    parts {
        flow_table_properties_nic_receive: 0x200, FlowTablePropLayout;
        flow_table_properties_nic_receive_rdma: 0x400, FlowTablePropLayout;
        flow_table_properties_nic_receive_sniffer: 0x600, FlowTablePropLayout;
        flow_table_properties_nic_transmit: 0x800, FlowTablePropLayout;
        flow_table_properties_nic_transmit_rdma: 0xa00, FlowTablePropLayout;
        flow_table_properties_nic_transmit_sniffer: 0xc00, FlowTablePropLayout;
        header_modify_nic_receive: 0x1000, HeaderModifyCapProperties;
        ft_field_support_2_nic_receive: 0x1400, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_receive: 0x1480, FlowTableFieldsSupported2;
        ft_field_support_2_nic_receive_rdma: 0x1500, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_receive_rdma: 0x1580, FlowTableFieldsSupported2;
        ft_field_support_2_nic_receive_sniffer: 0x1600, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_receive_sniffer: 0x1680, FlowTableFieldsSupported2;
        ft_field_support_2_nic_transmit: 0x1700, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_transmit: 0x1780, FlowTableFieldsSupported2;
        ft_field_support_2_nic_transmit_rdma: 0x1800, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_transmit_rdma: 0x1880, FlowTableFieldsSupported2;
        ft_field_support_2_nic_transmit_sniffer: 0x1900, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_transmit_sniffer: 0x1980, FlowTableFieldsSupported2;
        header_modify_nic_transmit: 0x1c00, HeaderModifyCapProperties;
    }
}
