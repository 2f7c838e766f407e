//! Sets of capabilities beside the general ones.

use crate::cmd::InlineModeSource;
use crate::mailbox::structures;

structures! {
    /// RoCE.
    pub struct RoceCap: "roce_cap", 0x800 {
        roce_apm: 0x0, 1, bool;
        sw_r_roce_src_udp_port: 0x4, 1, bool;
        fl_rc_qp_when_roce_disabled: 0x5, 1, bool;
        fl_rc_qp_when_roce_enabled: 0x6, 1, bool;
        roce_cc_general: 0x7, 1, bool;
        qp_ooo_transmit_default: 0x8, 1, bool;
        qp_ts_format: 0x1e, 2, u8;
        l3_type: 0x8c, 4, u8;
        roce_version: 0x98, 8, u8;
        r_roce_dest_udp_port: 0xb0, 16, u16;
        r_roce_max_src_udp_port: 0xc0, 16, u16;
        r_roce_min_src_udp_port: 0xd0, 16, u16;
        roce_address_table_size: 0xf0, 16, u16;
    }

    /// Atomic operations.
    pub struct AtomicCaps: "atomic_caps", 0x800 {
        atomic_req_8b_endianness_mode: 0x40, 2, u8;
        supported_atomic_req_8b_endianness_mode_1: 0x46, 1, bool;
        atomic_operations: 0x90, 16, u16;
        atomic_size_qp: 0xb0, 16, u16;
        atomic_size_dc: 0xd0, 16, u16;
        fetch_add_pci_atomic: 0x280, 16, u16;
        swap_pci_atomic: 0x290, 16, u16;
        compare_swap_pci_atomic: 0x2a0, 16, u16;
    }

    /// Ethernet offloads.
    pub struct PerProtocolNetworkingOffloadCaps: "per_protocol_networking_offload_caps", 0x800 {
        csum_cap: 0x0, 1, bool;
        vlan_cap: 0x1, 1, bool;
        lro_cap: 0x2, 1, bool;
        lro_psh_flag: 0x3, 1, bool;
        lro_time_stamp: 0x4, 1, bool;
        lro_max_msg_sz_mode: 0x5, 2, u8;
        wqe_vlan_insert: 0x7, 1, bool;
        self_lb_en_modifiable: 0x8, 1, bool;
        self_lb_mc: 0x9, 1, bool;
        self_lb_uc: 0xa, 1, bool;
        max_lso_cap: 0xb, 5, u8;
        multi_pkt_send_wqe: 0x10, 2, u8;
        wqe_inline_mode: 0x12, 2, InlineModeSource;
        rss_ind_tbl_cap: 0x14, 4, u8;
        reg_umr_sq: 0x18, 1, bool;
        scatter_fcs: 0x19, 1, bool;
        enhanced_multi_pkt_send_wqe: 0x1a, 1, bool;
        tunnel_lso_const_out_ip_id: 0x1b, 1, bool;
        tunnel_lro_gre: 0x1c, 1, bool;
        tunnel_lro_vxlan: 0x1d, 1, bool;
        tunnel_stateless_gre: 0x1e, 1, bool;
        tunnel_stateless_vxlan: 0x1f, 1, bool;
        swp: 0x20, 1, bool;
        swp_csum: 0x21, 1, bool;
        swp_lso: 0x22, 1, bool;
        cqe_checksum_full: 0x23, 1, bool;
        tunnel_stateless_geneve_tx: 0x24, 1, bool;
        tunnel_stateless_mpls_over_udp: 0x25, 1, bool;
        tunnel_stateless_mpls_over_gre: 0x26, 1, bool;
        tunnel_stateless_vxlan_gpe: 0x27, 1, bool;
        tunnel_stateless_ipv4_over_vxlan: 0x28, 1, bool;
        tunnel_stateless_ip_over_ip: 0x29, 1, bool;
        insert_trailer: 0x2a, 1, bool;
        tunnel_stateless_gtp: 0x2b, 1, bool;
        tunnel_stateless_ip_over_ip_rx: 0x2c, 1, bool;
        tunnel_stateless_ip_over_ip_tx: 0x2d, 1, bool;
        tunnel_stateless_vxlan_gpe_nsh: 0x2e, 1, bool;
        max_vxlan_udp_ports: 0x30, 8, u8;
        swp_csum_l4_partial: 0x38, 1, bool;
        max_geneve_opt_len: 0x3e, 1, bool;
        tunnel_stateless_geneve_rx: 0x3f, 1, bool;
        lro_min_mss_size: 0x50, 16, u16;
    }
    bytes {
        lro_timer_supported_periods: 0x180, 16;
    }

    /// Operations that may page-fault, for one transport.
    pub struct OdpPerTransportServiceCap: "odp_per_transport_service_cap", 0x20 {
        send: 0x0, 1, bool;
        receive: 0x1, 1, bool;
        write: 0x2, 1, bool;
        read: 0x3, 1, bool;
        atomic: 0x4, 1, bool;
        srq_receive: 0x5, 1, bool;
    }

    /// On-demand paging.
    pub struct OdpCap: "odp_cap", 0x800 {
        sig: 0x40, 1, bool;
        mem_page_fault: 0x600, 1, bool;
    }
    bytes {
        memory_page_fault_scheme_cap: 0x200, 64;
    }
    parts {
        rc_odp_caps: 0x80, OdpPerTransportServiceCap;
        uc_odp_caps: 0xa0, OdpPerTransportServiceCap;
        ud_odp_caps: 0xc0, OdpPerTransportServiceCap;
        xrc_odp_caps: 0xe0, OdpPerTransportServiceCap;
        dc_odp_caps: 0x100, OdpPerTransportServiceCap;
    }

    /// Quality of service.
    pub struct QosCap: "qos_cap", 0x800 {
        packet_pacing: 0x0, 1, bool;
        esw_scheduling: 0x1, 1, bool;
        esw_bw_share: 0x2, 1, bool;
        esw_rate_limit: 0x3, 1, bool;
        packet_pacing_burst_bound: 0x5, 1, bool;
        packet_pacing_typical_size: 0x6, 1, bool;
        flow_meter_old: 0x7, 1, bool;
        nic_sq_scheduling: 0x8, 1, bool;
        nic_bw_share: 0x9, 1, bool;
        nic_rate_limit: 0xa, 1, bool;
        packet_pacing_uid: 0xb, 1, bool;
        log_esw_max_sched_depth: 0xc, 4, u8;
        log_max_flow_meter: 0x10, 8, u8;
        flow_meter_reg_id: 0x18, 8, u8;
        wqe_rate_pp: 0x20, 1, bool;
        nic_qp_scheduling: 0x21, 1, bool;
        packet_pacing_req_ud: 0x22, 1, bool;
        packet_pacing_req_uc: 0x23, 1, bool;
        flow_meter: 0x28, 1, bool;
        esw_cross_esw_sched: 0x29, 1, bool;
        log_max_qos_nic_queue_group: 0x2b, 5, u8;
        packet_pacing_max_rate: 0x40, 32, u32;
        packet_pacing_min_rate: 0x60, 32, u32;
        log_esw_max_rate_limit: 0x8b, 5, u8;
        packet_pacing_rate_table_size: 0x90, 16, u16;
        esw_element_type: 0xa0, 16, u16;
        esw_tsar_type: 0xb0, 16, u16;
        max_qos_para_vport: 0xd0, 16, u16;
        max_tsar_bw_share: 0xe0, 32, u32;
        nic_element_type: 0x100, 16, u16;
        nic_tsar_type: 0x110, 16, u16;
        log_meter_aso_granularity: 0x123, 5, u8;
        log_meter_aso_max_alloc: 0x12b, 5, u8;
        log_max_num_meter_aso: 0x133, 5, u8;
    }

    /// Encryption of memory.
    pub struct CryptoCaps: "crypto_caps", 0x800 {
        wrapped_crypto_operational: 0x0, 1, bool;
        wrapped_crypto_going_to_commissioning: 0x1, 1, bool;
        sw_wrapped_dek: 0x2, 1, bool;
        synchronize_dek: 0x3, 1, bool;
        int_kek_manual: 0x4, 1, bool;
        int_kek_auto: 0x5, 1, bool;
        sw_wrapped_dek_key_purpose: 0x13, 1, bool;
        wrapped_import_method: 0x18, 8, u8;
        log_dek_max_alloc: 0x23, 5, u8;
        log_max_num_deks: 0x2b, 5, u8;
        log_max_num_import_keks: 0x33, 5, u8;
        log_max_num_creds: 0x3b, 5, u8;
        failed_selftests: 0x40, 16, u16;
        num_nv_import_keks: 0x50, 8, u8;
        num_nv_credentials: 0x58, 8, u8;
        log_dek_granularity: 0x63, 5, u8;
        log_max_num_int_kek: 0x6b, 5, u8;
        sw_wrapped_dek_new: 0x70, 16, u16;
        crypto_mmo_qp: 0x100, 1, bool;
        crypto_aes_gcm_256_encrypt: 0x101, 1, bool;
        crypto_aes_gcm_128_encrypt: 0x102, 1, bool;
        crypto_aes_gcm_256_decrypt: 0x103, 1, bool;
        crypto_aes_gcm_128_decrypt: 0x104, 1, bool;
        gcm_auth_tag_128: 0x105, 1, bool;
        gcm_auth_tag_96: 0x106, 1, bool;
        log_crypto_mmo_max_size: 0x10a, 6, u8;
    }

    /// Memory of the device.
    pub struct DeviceMemCap: "device_mem_cap", 0x800 {
        memic: 0x0, 1, bool;
        log_min_memic_alloc_size: 0x2b, 5, u8;
        log_max_memic_addr_alignment: 0x38, 8, u8;
        memic_bar_start_addr: 0x40, 64, u64;
        memic_bar_size: 0x80, 32, u32;
        max_memic_size: 0xa0, 32, u32;
        steering_sw_icm_start_address: 0xc0, 64, u64;
        log_header_modify_sw_icm_size: 0x108, 8, u8;
        log_sw_icm_alloc_granularity: 0x112, 6, u8;
        log_steering_sw_icm_size: 0x118, 8, u8;
        log_indirect_encap_sw_icm_size: 0x120, 8, u8;
        log_header_modify_pattern_sw_icm_size: 0x138, 8, u8;
        header_modify_sw_icm_start_address: 0x140, 64, u64;
        header_modify_pattern_sw_icm_start_address: 0x1c0, 64, u64;
        memic_operations: 0x200, 32, u32;
        indirect_encap_sw_icm_start_address: 0x240, 64, u64;
        indirect_encap_icm_base: 0x280, 64, u64;
    }

    /// Events that may be subscribed, a bit each.
    pub struct DeviceEventCap: "device_event_cap", 0x200 {
    }
    bytes {
        user_affiliated_events: 0x0, 32;
        user_unaffiliated_events: 0x100, 32;
    }

    /// TLS.
    pub struct TlsCap: "tls_cap", 0x800 {
        tls_1_2_aes_gcm_128: 0x0, 1, bool;
        tls_1_3_aes_gcm_128: 0x1, 1, bool;
        tls_1_2_aes_gcm_256: 0x2, 1, bool;
        tls_1_3_aes_gcm_256: 0x3, 1, bool;
    }

    /// IPsec.
    pub struct IpsecCap: "ipsec_cap", 0x800 {
        ipsec_full_offload: 0x0, 1, bool;
        ipsec_crypto_offload: 0x1, 1, bool;
        ipsec_esn: 0x2, 1, bool;
        ipsec_crypto_esp_aes_gcm_256_encrypt: 0x3, 1, bool;
        ipsec_crypto_esp_aes_gcm_128_encrypt: 0x4, 1, bool;
        ipsec_crypto_esp_aes_gcm_256_decrypt: 0x5, 1, bool;
        ipsec_crypto_esp_aes_gcm_128_decrypt: 0x6, 1, bool;
        log_max_ipsec_offload: 0xb, 5, u8;
        min_log_ipsec_full_replay_window: 0x20, 8, u8;
        max_log_ipsec_full_replay_window: 0x28, 8, u8;
    }

    /// Splitting of headers and data with aggregation.
    pub struct ShampoCap: "shampo_cap", 0x800 {
        shampo_log_max_reservation_size: 0x3, 5, u8;
        shampo_log_min_reservation_size: 0xb, 5, u8;
        shampo_min_mss_size: 0x10, 16, u16;
        shampo_header_split: 0x20, 1, bool;
        shampo_header_split_data_merge: 0x21, 1, bool;
        shampo_log_max_headers_entry_size: 0x23, 5, u8;
    }

    /// Supported calculations.
    pub struct CalcOp: "calc_op", 0x20 {
        op_swap_endianness: 0x19, 1, bool;
        op_min: 0x1a, 1, bool;
        op_xor: 0x1b, 1, bool;
        op_or: 0x1c, 1, bool;
        op_and: 0x1d, 1, bool;
        op_max: 0x1e, 1, bool;
        op_add: 0x1f, 1, bool;
    }

    /// Calculations on vectors.
    pub struct VectorCalcCap: "vector_calc_cap", 0x7e0 {
        calc_matrix: 0x0, 1, bool;
        max_vec_count: 0x28, 8, u8;
        max_chunk_size: 0x3d, 3, u8;
    }
    parts {
        calc0: 0x40, CalcOp;
        calc1: 0x60, CalcOp;
        calc2: 0x80, CalcOp;
        calc3: 0xa0, CalcOp;
    }

    /// Emulation of virtio.
    pub struct VirtioEmulationCap: "virtio_emulation_cap", 0x800 {
        desc_tunnel_offload_type: 0x0, 1, bool;
        eth_frame_offload_type: 0x1, 1, bool;
        virtio_version_1_0: 0x2, 1, bool;
        device_features_bits_mask: 0x3, 13, u16;
        event_mode: 0x10, 8, u8;
        virtio_queue_type: 0x18, 8, u8;
        max_tunnel_desc: 0x20, 16, u16;
        log_doorbell_stride: 0x33, 5, u8;
        vnet_modify_ext: 0x38, 1, bool;
        virtio_net_q_addr_modify: 0x39, 1, bool;
        virtio_q_index_modify: 0x3a, 1, bool;
        log_doorbell_bar_size: 0x3b, 5, u8;
        doorbell_bar_offset: 0x40, 64, u64;
        max_emulated_devices: 0x80, 8, u8;
        max_num_virtio_queues: 0x88, 24, u32;
        desc_group_mkey_supported: 0xd3, 1, bool;
        freeze_to_rdy_supported: 0xd4, 1, bool;
        umem_1_buffer_param_a: 0x100, 32, u32;
        umem_1_buffer_param_b: 0x120, 32, u32;
        umem_2_buffer_param_a: 0x140, 32, u32;
        umem_2_buffer_param_b: 0x160, 32, u32;
        umem_3_buffer_param_a: 0x180, 32, u32;
        umem_3_buffer_param_b: 0x1a0, 32, u32;
    }
}
