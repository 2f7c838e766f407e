//! Match fields of flow rules.

use crate::mailbox::structures;

structures! {
    /// Ethernet, IP, TCP and UDP.
    pub struct FteMatchSetLyr24: "fte_match_set_lyr_2_4", 0x200 {
        smac_47_16: 0x0, 32, u32;
        smac_15_0: 0x20, 16, u16;
        ethertype: 0x30, 16, u16;
        dmac_47_16: 0x40, 32, u32;
        dmac_15_0: 0x60, 16, u16;
        first_prio: 0x70, 3, u8;
        first_cfi: 0x73, 1, bool;
        first_vid: 0x74, 12, u16;
        ip_protocol: 0x80, 8, u8;
        ip_dscp: 0x88, 6, u8;
        ip_ecn: 0x8e, 2, u8;
        cvlan_tag: 0x90, 1, bool;
        svlan_tag: 0x91, 1, bool;
        frag: 0x92, 1, bool;
        ip_version: 0x93, 4, u8;
        tcp_flags: 0x97, 9, u16;
        tcp_sport: 0xa0, 16, u16;
        tcp_dport: 0xb0, 16, u16;
        l4_type: 0xc0, 2, u8;
        l4_type_ext: 0xc2, 4, u8;
        ipv4_ihl: 0xd0, 4, u8;
        l3_ok: 0xd4, 1, bool;
        l4_ok: 0xd5, 1, bool;
        ipv4_checksum_ok: 0xd6, 1, bool;
        l4_checksum_ok: 0xd7, 1, bool;
        ttl_hoplimit: 0xd8, 8, u8;
        udp_sport: 0xe0, 16, u16;
        udp_dport: 0xf0, 16, u16;
    }
    bytes {
        src_ipv4_src_ipv6: 0x100, 16;
        dst_ipv4_dst_ipv6: 0x180, 16;
    }

    /// More of a packet: source, tunnels, BTH.
    pub struct FteMatchSetMisc: "fte_match_set_misc", 0x200 {
        gre_c_present: 0x0, 1, bool;
        gre_k_present: 0x2, 1, bool;
        gre_s_present: 0x3, 1, bool;
        source_vhca_port: 0x4, 4, u8;
        source_sqn: 0x8, 24, u32;
        source_eswitch_owner_vhca_id: 0x20, 16, u16;
        source_port: 0x30, 16, u16;
        outer_second_prio: 0x40, 3, u8;
        outer_second_cfi: 0x43, 1, bool;
        outer_second_vid: 0x44, 12, u16;
        inner_second_prio: 0x50, 3, u8;
        inner_second_cfi: 0x53, 1, bool;
        inner_second_vid: 0x54, 12, u16;
        outer_second_cvlan_tag: 0x60, 1, bool;
        inner_second_cvlan_tag: 0x61, 1, bool;
        outer_second_svlan_tag: 0x62, 1, bool;
        inner_second_svlan_tag: 0x63, 1, bool;
        gre_protocol: 0x70, 16, u16;
        gre_key: 0x80, 32, u32;
        vxlan_vni: 0xa0, 24, u32;
        bth_opcode: 0xb8, 8, u8;
        geneve_vni: 0xc0, 24, u32;
        lag_rx_port_affinity: 0xd8, 4, u8;
        geneve_tlv_option_0_exist: 0xde, 1, bool;
        geneve_oam: 0xdf, 1, bool;
        outer_ipv6_flow_label: 0xec, 20, u32;
        inner_ipv6_flow_label: 0x10c, 20, u32;
        geneve_opt_len: 0x12a, 6, u8;
        geneve_protocol_type: 0x130, 16, u16;
        bth_dst_qp: 0x148, 24, u32;
        inner_esp_spi: 0x160, 32, u32;
        outer_esp_spi: 0x180, 32, u32;
    }

    /// MPLS.
    pub struct FteMatchMpls: "fte_match_mpls", 0x20 {
        mpls_label: 0x0, 20, u32;
        mpls_exp: 0x14, 3, u8;
        mpls_s_bos: 0x17, 1, bool;
        mpls_ttl: 0x18, 8, u8;
    }

    /// MPLS and registers.
    pub struct FteMatchSetMisc2: "fte_match_set_misc2", 0x200 {
        metadata_reg_c_7: 0x80, 32, u32;
        metadata_reg_c_6: 0xa0, 32, u32;
        metadata_reg_c_5: 0xc0, 32, u32;
        metadata_reg_c_4: 0xe0, 32, u32;
        metadata_reg_c_3: 0x100, 32, u32;
        metadata_reg_c_2: 0x120, 32, u32;
        metadata_reg_c_1: 0x140, 32, u32;
        metadata_reg_c_0: 0x160, 32, u32;
        metadata_reg_a: 0x180, 32, u32;
        psp_syndrome: 0x1a0, 8, u8;
        macsec_syndrome: 0x1a8, 8, u8;
        ipsec_syndrome: 0x1b0, 8, u8;
        ipsec_next_header: 0x1b8, 8, u8;
    }
    parts {
        outer_first_mpls: 0x0, FteMatchMpls;
        inner_first_mpls: 0x20, FteMatchMpls;
        outer_first_mpls_over_gre: 0x40, FteMatchMpls;
        outer_first_mpls_over_udp: 0x60, FteMatchMpls;
    }

    /// TCP numbers, VXLAN-GPE, ICMP, GTP-U.
    pub struct FteMatchSetMisc3: "fte_match_set_misc3", 0x200 {
        inner_tcp_seq_num: 0x0, 32, u32;
        outer_tcp_seq_num: 0x20, 32, u32;
        inner_tcp_ack_num: 0x40, 32, u32;
        outer_tcp_ack_num: 0x60, 32, u32;
        outer_vxlan_gpe_vni: 0x88, 24, u32;
        outer_vxlan_gpe_next_protocol: 0xa0, 8, u8;
        outer_vxlan_gpe_flags: 0xa8, 8, u8;
        icmp_header_data: 0xc0, 32, u32;
        icmpv6_header_data: 0xe0, 32, u32;
        icmp_type: 0x100, 8, u8;
        icmp_code: 0x108, 8, u8;
        icmpv6_type: 0x110, 8, u8;
        icmpv6_code: 0x118, 8, u8;
        geneve_tlv_option_0_data: 0x120, 32, u32;
        gtpu_teid: 0x140, 32, u32;
        gtpu_msg_type: 0x160, 8, u8;
        gtpu_msg_flags: 0x168, 8, u8;
        gtpu_dw_2: 0x180, 32, u32;
        gtpu_first_ext_dw_0: 0x1a0, 32, u32;
        gtpu_dw_0: 0x1c0, 32, u32;
    }

    /// Fields that a program samples.
    pub struct FteMatchSetMisc4: "fte_match_set_misc4", 0x200 {
        prog_sample_field_value_0: 0x0, 32, u32;
        prog_sample_field_id_0: 0x20, 32, u32;
        prog_sample_field_value_1: 0x40, 32, u32;
        prog_sample_field_id_1: 0x60, 32, u32;
        prog_sample_field_value_2: 0x80, 32, u32;
        prog_sample_field_id_2: 0xa0, 32, u32;
        prog_sample_field_value_3: 0xc0, 32, u32;
        prog_sample_field_id_3: 0xe0, 32, u32;
        prog_sample_field_value_4: 0x100, 32, u32;
        prog_sample_field_id_4: 0x120, 32, u32;
        prog_sample_field_value_5: 0x140, 32, u32;
        prog_sample_field_id_5: 0x160, 32, u32;
        prog_sample_field_value_6: 0x180, 32, u32;
        prog_sample_field_id_6: 0x1a0, 32, u32;
        prog_sample_field_value_7: 0x1c0, 32, u32;
        prog_sample_field_id_7: 0x1e0, 32, u32;
    }

    /// MACsec, tunnels, more registers.
    pub struct FteMatchSetMisc5: "fte_match_set_misc5", 0x200 {
        macsec_tag_0: 0x0, 32, u32;
        macsec_tag_1: 0x20, 32, u32;
        macsec_tag_2: 0x40, 32, u32;
        macsec_tag_3: 0x60, 32, u32;
        tunnel_header_0: 0x80, 32, u32;
        tunnel_header_1: 0xa0, 32, u32;
        tunnel_header_2: 0xc0, 32, u32;
        tunnel_header_3: 0xe0, 32, u32;
        metadata_reg_c_8: 0x180, 32, u32;
        metadata_reg_c_9: 0x1a0, 32, u32;
        metadata_reg_c_10: 0x1c0, 32, u32;
        metadata_reg_c_11: 0x1e0, 32, u32;
    }

    /// All match fields: a mask in a group, a value in a rule.
    pub struct FteMatchParam: "fte_match_param", 0x1000 {
    }
    parts {
        outer_headers: 0x0, FteMatchSetLyr24;
        misc_parameters: 0x200, FteMatchSetMisc;
        inner_headers: 0x400, FteMatchSetLyr24;
        misc_parameters_2: 0x600, FteMatchSetMisc2;
        misc_parameters_3: 0x800, FteMatchSetMisc3;
        misc_parameters_4: 0xa00, FteMatchSetMisc4;
        misc_parameters_5: 0xc00, FteMatchSetMisc5;
    }
}
