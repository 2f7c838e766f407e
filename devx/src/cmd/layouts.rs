//! The structures of mailboxes. Made of the tables of `devx/prm` by `devx/tests/layouts.rs`; not written by hand.

use super::*;
use crate::mailbox::structures;

structures! {
    /// Allocates a protection domain.
    pub struct AllocPdIn: "alloc_pd_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocPdIn`].
    pub struct AllocPdOut: "alloc_pd_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        pd: 0x48, 24, Pdn;
    }

    /// Allocates a transport domain.
    pub struct AllocTransportDomainIn: "alloc_transport_domain_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocTransportDomainIn`].
    pub struct AllocTransportDomainOut: "alloc_transport_domain_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        transport_domain: 0x48, 24, Tdn;
    }

    /// Allocates an XRC domain.
    pub struct AllocXrcdIn: "alloc_xrcd_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocXrcdIn`].
    pub struct AllocXrcdOut: "alloc_xrcd_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        xrcd: 0x48, 24, Xrcdn;
    }

    /// Allocates a doorbell page. `mlx5dv_devx_alloc_uar` makes the kernel do this, and also maps the page.
    pub struct AllocUarIn: "alloc_uar_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocUarIn`].
    pub struct AllocUarOut: "alloc_uar_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        uar: 0x48, 24, UarPage;
    }

    /// Context of a memory key.
    pub struct Mkc: "mkc", 0x200 {
        free: 0x1, 1, bool;
        access_mode_4_2: 0x3, 3, u8;
        relaxed_ordering_write: 0xd, 1, bool;
        small_fence_on_rdma_read_response: 0xf, 1, bool;
        umr_en: 0x10, 1, bool;
        a: 0x11, 1, bool;
        rw: 0x12, 1, bool;
        rr: 0x13, 1, bool;
        lw: 0x14, 1, bool;
        lr: 0x15, 1, bool;
        access_mode_1_0: 0x16, 2, u8;
        ma_translation_mode: 0x1a, 2, u8;
        qpn: 0x20, 24, Qpn;
        mkey_7_0: 0x38, 8, u8;
        length64: 0x60, 1, bool;
        bsf_en: 0x61, 1, bool;
        sync_umr: 0x62, 1, bool;
        expected_sigerr_count: 0x65, 1, bool;
        en_rinval: 0x67, 1, bool;
        pd: 0x68, 24, Pdn;
        start_addr: 0x80, 64, u64;
        len: 0xc0, 64, u64;
        bsf_octword_size: 0x100, 32, u32;
        crossing_target_vhca_id: 0x180, 16, u16;
        translations_octword_size: 0x1a0, 32, u32;
        relaxed_ordering_read: 0x1d9, 1, bool;
        log_page_size: 0x1da, 6, u8;
        pcie_tph_en: 0x1e5, 1, bool;
        pcie_tph_ph: 0x1e6, 2, u8;
        pcie_tph_steering_tag_index: 0x1e8, 8, u8;
        crypto_en: 0x1e3, 2, u8;
        alter_pd_to_vhca_id: 0x6, 1, bool;
        crossed_side_mkey: 0x7, 1, bool;
        order_read_after_write: 0x1d6, 2, u8;
    }

    /// An entry of an indirect key: bytes of another key.
    pub struct Klm: "klm", 0x80 {
        byte_count: 0x0, 32, u32;
        mkey: 0x20, 32, u32;
        address: 0x40, 64, u64;
    }

    /// A page.
    pub struct Mtt: "mtt", 0x40 {
        ptag_63_32: 0x0, 32, u32;
        ptag_31_8: 0x20, 24, u32;
        wr_en: 0x3e, 1, bool;
        rd_en: 0x3f, 1, bool;
    }

    /// Creates a memory key.
    pub struct CreateMkeyIn: "create_mkey_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        pg_access: 0x60, 1, bool;
        mkey_umem_valid: 0x61, 1, bool;
        data_direct: 0x62, 1, bool;
        translations_octword_actual_size: 0x300, 32, u32;
        input_mkey_index: 0x48, 24, u32;
        function_id: 0x70, 16, u16;
        mkey_umem_id: 0x320, 32, UmemId;
        mkey_umem_offset: 0x340, 64, u64;
    }
    parts {
        memory_key_mkey_entry: 0x80, Mkc;
    }

    /// Answer to [`CreateMkeyIn`].
    pub struct CreateMkeyOut: "create_mkey_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        mkey_index: 0x48, 24, u32;
    }

    /// Queries a memory key.
    pub struct QueryMkeyIn: "query_mkey_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        mkey_index: 0x48, 24, u32;
        pg_access: 0x60, 1, bool;
    }

    /// Answer to [`QueryMkeyIn`].
    pub struct QueryMkeyOut: "query_mkey_out", 0x980 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    bytes {
        bsf0_klm0_pas_mtt0_1: 0x880, 16;
        bsf1_klm1_pas_mtt2_3: 0x900, 16;
    }
    parts {
        memory_key_mkey_entry: 0x80, Mkc;
    }

    /// Context of a completion queue.
    pub struct Cqc: "cqc", 0x200 {
        status: 0x0, 4, CqStatus;
        dbr_umem_valid: 0x6, 1, bool;
        apu_cq: 0x7, 1, bool;
        cqe_sz: 0x8, 3, CqeSize;
        cc: 0xb, 1, bool;
        scqe_break_moderation_en: 0xd, 1, bool;
        oi: 0xe, 1, bool;
        cq_period_mode: 0xf, 2, u8;
        cqe_comp_en: 0x11, 1, bool;
        mini_cqe_res_format: 0x12, 2, u8;
        st: 0x14, 4, CqState;
        cqe_compression_layout: 0x1e, 2, u8;
        page_offset: 0x54, 6, u8;
        log_cq_size: 0x63, 5, u8;
        uar_page: 0x68, 24, UarPage;
        cq_period: 0x84, 12, u16;
        cq_max_count: 0x90, 16, u16;
        c_eqn_or_apu_element: 0xa0, 32, u32;
        log_page_size: 0xc3, 5, u8;
        last_notified_index: 0x108, 24, u32;
        last_solicit_index: 0x128, 24, u32;
        consumer_counter: 0x148, 24, u32;
        producer_counter: 0x168, 24, u32;
        dbr_addr: 0x1c0, 64, u64;
        as_notify: 0x4, 1, bool;
        initiator_src_dct: 0x5, 1, bool;
        dbr_umem_id: 0x20, 32, UmemId;
        mini_cqe_res_format_ext: 0x5c, 2, u8;
        cq_timestamp_format: 0x5e, 2, u8;
        local_partition_id: 0x180, 12, u16;
        process_id: 0x18c, 20, u32;
        always_armed_cq: 0x18, 1, bool;
        ext_element_type: 0x19, 3, u8;
    }

    /// Creates a completion queue.
    pub struct CreateCqIn: "create_cq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        cq_umem_valid: 0x2e0, 1, bool;
        cq_umem_offset: 0x280, 64, u64;
        cq_umem_id: 0x2c0, 32, UmemId;
    }
    parts {
        cq_context: 0x80, Cqc;
    }

    /// Answer to [`CreateCqIn`].
    pub struct CreateCqOut: "create_cq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        cqn: 0x48, 24, Cqn;
    }

    /// Changes moderation, size or event queue of a completion queue.
    pub struct ModifyCqIn: "modify_cq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        cqn: 0x48, 24, Cqn;
        modify_field_select_resize_field_select: 0x60, 32, u32;
        cq_umem_valid: 0x2e0, 1, bool;
    }
    parts {
        cq_context: 0x80, Cqc;
    }

    /// Answer to [`ModifyCqIn`].
    pub struct ModifyCqOut: "modify_cq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a completion queue.
    pub struct QueryCqIn: "query_cq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        cqn: 0x48, 24, Cqn;
    }

    /// Answer to [`QueryCqIn`].
    pub struct QueryCqOut: "query_cq_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        cq_context: 0x80, Cqc;
    }

    /// The path to a peer.
    pub struct Ads: "ads", 0x160 {
        fl: 0x0, 1, bool;
        free_ar: 0x1, 1, bool;
        pkey_index: 0x10, 16, u16;
        plane_index: 0x20, 8, u8;
        grh: 0x28, 1, bool;
        mlid: 0x29, 7, u8;
        rlid: 0x30, 16, u16;
        ack_timeout: 0x40, 5, u8;
        src_addr_index: 0x48, 8, u8;
        stat_rate: 0x54, 4, u8;
        hop_limit: 0x58, 8, u8;
        tclass: 0x64, 8, u8;
        flow_label: 0x6c, 20, u32;
        f_dscp: 0x104, 1, bool;
        f_ecn: 0x105, 1, bool;
        f_eth_prio: 0x107, 1, bool;
        ecn: 0x108, 2, u8;
        dscp: 0x10a, 6, u8;
        udp_sport: 0x110, 16, u16;
        dei_cfi: 0x120, 1, bool;
        eth_prio: 0x121, 3, u8;
        sl: 0x124, 4, u8;
        vhca_port_num: 0x128, 8, u8;
        rmac_47_32: 0x130, 16, u16;
        rmac_31_0: 0x140, 32, u32;
        log_rtm: 0x50, 4, u8;
    }
    bytes {
        rgid_rip: 0x80, 16;
    }

    /// Context of a queue pair.
    pub struct Qpc: "qpc", 0x740 {
        state: 0x0, 4, QpcState;
        lag_tx_port_affinity: 0x4, 4, u8;
        st: 0x8, 8, ServiceType;
        isolate_vl_tc: 0x12, 1, bool;
        pm_state: 0x13, 2, PathMigration;
        req_e2e_credit_mode: 0x16, 2, u8;
        offload_type: 0x18, 4, u8;
        end_padding_mode: 0x1c, 2, u8;
        wq_signature: 0x20, 1, bool;
        block_lb_mc: 0x21, 1, bool;
        atomic_like_write_en: 0x22, 1, bool;
        latency_sensitive: 0x23, 1, bool;
        drain_sigerr: 0x25, 1, bool;
        dp_ordering_force: 0x27, 1, bool;
        pd: 0x28, 24, Pdn;
        mtu: 0x40, 3, PathMtu;
        log_msg_max: 0x43, 5, u8;
        log_rq_size: 0x49, 4, u8;
        log_rq_stride: 0x4d, 3, u8;
        no_sq: 0x50, 1, bool;
        log_sq_size: 0x51, 4, u8;
        retry_mode: 0x56, 2, u8;
        ts_format: 0x58, 2, TimestampFormat;
        rlky: 0x5b, 1, bool;
        ulp_stateless_offload_mode: 0x5c, 4, u8;
        counter_set_id: 0x60, 8, u8;
        uar_page: 0x68, 24, UarPage;
        user_index: 0x88, 24, u32;
        log_page_size: 0xa3, 5, u8;
        remote_qpn: 0xa8, 24, Qpn;
        log_ack_req_freq: 0x380, 4, u8;
        log_sra_max: 0x388, 3, u8;
        retry_count: 0x38d, 3, u8;
        rnr_retry: 0x390, 3, u8;
        fre: 0x394, 1, bool;
        cur_rnr_retry: 0x395, 3, u8;
        cur_retry_count: 0x398, 3, u8;
        packet_pacing_rate_limit_index: 0x3b0, 16, u16;
        next_send_psn: 0x3c8, 24, Psn;
        log_num_dci_stream_channels: 0x3e3, 5, u8;
        cqn_snd: 0x3e8, 24, Cqn;
        log_num_dci_errored_streams: 0x403, 5, u8;
        deth_sqpn: 0x408, 24, u32;
        last_acked_psn: 0x448, 24, Psn;
        ssn: 0x468, 24, u32;
        log_rra_max: 0x488, 3, u8;
        atomic_mode: 0x48c, 4, u8;
        rre: 0x490, 1, bool;
        rwe: 0x491, 1, bool;
        rae: 0x492, 1, bool;
        page_offset: 0x494, 6, u8;
        dp_ordering_1: 0x49c, 1, bool;
        cd_slave_receive: 0x49d, 1, bool;
        cd_slave_send: 0x49e, 1, bool;
        cd_master: 0x49f, 1, bool;
        min_rnr_nak: 0x4a3, 5, u8;
        next_rcv_psn: 0x4a8, 24, Psn;
        xrcd: 0x4c8, 24, Xrcdn;
        cqn_rcv: 0x4e8, 24, Cqn;
        dbr_addr: 0x500, 64, u64;
        q_key: 0x540, 32, u32;
        rq_type: 0x565, 3, RqType;
        srqn_rmpn_xrqn: 0x568, 24, Srqn;
        rmsn: 0x588, 24, u32;
        hw_sq_wqebb_counter: 0x5a0, 16, u16;
        sw_sq_wqebb_counter: 0x5b0, 16, u16;
        hw_rq_counter: 0x5c0, 32, u32;
        sw_rq_counter: 0x5e0, 32, u32;
        cgs: 0x62f, 1, bool;
        cs_req: 0x630, 8, u8;
        cs_res: 0x638, 8, u8;
        dc_access_key: 0x640, 64, u64;
        dbr_umem_valid: 0x683, 1, bool;
        data_in_order: 0x5a, 1, bool;
        dbr_umem_id: 0x720, 32, UmemId;
        rdma_wr_disabled: 0x15, 1, bool;
        dp_ordering_0: 0x26, 1, bool;
        send_dbr_mode: 0x80, 2, SendDbrMode;
        full_handshake: 0x83, 1, bool;
        cnak_reverse_sl: 0x84, 4, u8;
    }
    parts {
        primary_address_path: 0xc0, Ads;
        secondary_address_path: 0x220, Ads;
    }

    /// Fields that follow the context in some commands.
    pub struct QpcExt: "qpc_ext", 0x600 {
        mmo: 0x2, 1, bool;
        dci_stream_channel_id: 0x10, 16, u16;
        qos_queue_group_id_requester: 0x20, 32, u32;
        qos_queue_group_id_responder: 0x40, 32, u32;
        delay_drop_en: 0x0, 1, bool;
        vl15: 0x1, 1, bool;
    }

    /// Creates a queue pair.
    pub struct CreateQpIn: "create_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpc_ext: 0x40, 1, bool;
        input_qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
        wq_umem_offset: 0x800, 64, u64;
        wq_umem_id: 0x840, 32, UmemId;
        wq_umem_valid: 0x860, 1, bool;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`CreateQpIn`].
    pub struct CreateQpOut: "create_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        qpn: 0x48, 24, Qpn;
        ece: 0x60, 32, u32;
    }

    /// Takes a queue pair from RESET to INIT.
    pub struct Rst2initQpIn: "rst2init_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Rst2initQpIn`].
    pub struct Rst2initQpOut: "rst2init_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        ece: 0x60, 32, u32;
    }

    /// Changes a queue pair in INIT.
    pub struct Init2initQpIn: "init2init_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
        qpc_ext: 0x40, 1, bool;
        opt_param_mask_95_32: 0x840, 64, u64;
        vhca_tunnel_id: 0x20, 16, u16;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Init2initQpIn`].
    pub struct Init2initQpOut: "init2init_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        ece: 0x60, 32, u32;
    }

    /// Takes a queue pair from INIT to RTR.
    pub struct Init2rtrQpIn: "init2rtr_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Init2rtrQpIn`].
    pub struct Init2rtrQpOut: "init2rtr_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        ece: 0x60, 32, u32;
    }

    /// Takes a queue pair from RTR to RTS.
    pub struct Rtr2rtsQpIn: "rtr2rts_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Rtr2rtsQpIn`].
    pub struct Rtr2rtsQpOut: "rtr2rts_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        ece: 0x60, 32, u32;
    }

    /// Changes a queue pair in RTS.
    pub struct Rts2rtsQpIn: "rts2rts_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
        qpc_ext: 0x40, 1, bool;
        opt_param_mask_95_32: 0x840, 64, u64;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Rts2rtsQpIn`].
    pub struct Rts2rtsQpOut: "rts2rts_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        ece: 0x60, 32, u32;
    }

    /// Takes a queue pair from SQER to RTS.
    pub struct Sqerr2rtsQpIn: "sqerr2rts_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Sqerr2rtsQpIn`].
    pub struct Sqerr2rtsQpOut: "sqerr2rts_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Takes a queue pair from RTS to SQD: its send queue finishes the requests that it has begun, then stops.
    ///
    /// For drivers only: Linux refuses this command and [`Sqd2rtsQpIn`] from user space
    /// (`drivers/infiniband/hw/mlx5/devx.c`, `devx_is_obj_modify_cmd`; `EINVAL`). Queue pairs of this crate therefore
    /// have no methods for them.
    pub struct Rts2sqdQpIn: "rts2sqd_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Rts2sqdQpIn`].
    pub struct Rts2sqdQpOut: "rts2sqd_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Takes a queue pair from SQD to RTS. For drivers only, like [`Rts2sqdQpIn`].
    pub struct Sqd2rtsQpIn: "sqd2rts_qp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Answer to [`Sqd2rtsQpIn`].
    pub struct Sqd2rtsQpOut: "sqd2rts_qp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Takes a queue pair to the error state.
    pub struct Qp2ErrIn: "qp_2err_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
    }

    /// Answer to [`Qp2ErrIn`].
    pub struct Qp2ErrOut: "qp_2err_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Takes a queue pair to RESET.
    pub struct Qp2RstIn: "qp_2rst_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        qpn: 0x48, 24, Qpn;
    }

    /// Answer to [`Qp2RstIn`].
    pub struct Qp2RstOut: "qp_2rst_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a queue pair.
    pub struct QueryQpIn: "query_qp_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        qpc_ext: 0x40, 1, bool;
        qpn: 0x48, 24, Qpn;
    }

    /// Answer to [`QueryQpIn`].
    pub struct QueryQpOut: "query_qp_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
    }
    parts {
        qpc: 0xc0, Qpc;
    }

    /// Context of a shared receive queue.
    pub struct Srqc: "srqc", 0x200 {
        state: 0x0, 4, u8;
        log_srq_size: 0x4, 4, u8;
        wq_signature: 0x20, 1, bool;
        cont_srq: 0x21, 1, bool;
        rlky: 0x23, 1, bool;
        log_rq_stride: 0x25, 3, u8;
        xrcd: 0x28, 24, Xrcdn;
        page_offset: 0x40, 6, u8;
        cqn: 0x48, 24, Cqn;
        log_page_size: 0x82, 6, u8;
        pd: 0xc8, 24, Pdn;
        lwm: 0xe0, 16, u16;
        wqe_cnt: 0xf0, 16, u16;
        dbr_addr: 0x140, 64, u64;
    }

    /// Context of an XRC shared receive queue.
    pub struct XrcSrqc: "xrc_srqc", 0x200 {
        state: 0x0, 4, u8;
        log_xrc_srq_size: 0x4, 4, u8;
        wq_signature: 0x20, 1, bool;
        cont_srq: 0x21, 1, bool;
        rlky: 0x23, 1, bool;
        basic_cyclic_rcv_wqe: 0x24, 1, bool;
        log_rq_stride: 0x25, 3, u8;
        xrcd: 0x28, 24, Xrcdn;
        page_offset: 0x40, 6, u8;
        dbr_umem_valid: 0x47, 1, bool;
        cqn: 0x48, 24, Cqn;
        user_index_equal_xrc_srqn: 0x80, 1, bool;
        log_page_size: 0x82, 6, u8;
        user_index: 0x88, 24, u32;
        pd: 0xc8, 24, Pdn;
        lwm: 0xe0, 16, u16;
        wqe_cnt: 0xf0, 16, u16;
        db_record_addr_h: 0x140, 32, u32;
        db_record_addr_l: 0x160, 30, u32;
    }

    /// Context of a receive memory pool.
    pub struct Rmpc: "rmpc", 0x780 {
        state: 0x8, 4, RmpState;
        basic_cyclic_rcv_wqe: 0x20, 1, bool;
    }
    parts {
        wq: 0x180, Wq;
    }

    /// Which fields of a pool to change.
    pub struct RmpBitmask: "rmp_bitmask", 0x40 {
        lwm: 0x3f, 1, bool;
    }

    /// Tag matching.
    pub struct TagMatchingTopologyContext: "tag_matching_topology_context", 0x80 {
        log_matching_list_sz: 0x0, 4, u8;
        append_next_index: 0x10, 16, u16;
        sw_phase_cnt: 0x20, 16, u16;
        hw_phase_cnt: 0x30, 16, u16;
    }

    /// Context of an extended shared receive queue.
    pub struct Xrqc: "xrqc", 0xa00 {
        state: 0x0, 4, u8;
        rlkey: 0x4, 1, bool;
        topology: 0x14, 4, u8;
        offload: 0x1c, 4, u8;
        user_index: 0x28, 24, u32;
        cqn: 0x48, 24, Cqn;
        dc: 0x7f, 1, bool;
    }
    parts {
        tag_matching_topology_context: 0x100, TagMatchingTopologyContext;
        wq: 0x400, Wq;
    }

    /// Creates a shared receive queue.
    ///
    /// For drivers only. The command takes addresses of pages, which no program knows, and has no field for registered
    /// memory (UMEM). Programs make receive memory pools instead ([`CreateRmpIn`]).
    pub struct CreateSrqIn: "create_srq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        srq_context_entry: 0x80, Srqc;
    }

    /// Answer to [`CreateSrqIn`].
    pub struct CreateSrqOut: "create_srq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        srqn: 0x48, 24, Srqn;
    }

    /// Queries a shared receive queue.
    pub struct QuerySrqIn: "query_srq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        srqn: 0x48, 24, Srqn;
    }

    /// Answer to [`QuerySrqIn`].
    pub struct QuerySrqOut: "query_srq_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        srq_context_entry: 0x80, Srqc;
    }

    /// Requests an event when few receives are left in a basic shared receive queue or a pool.
    pub struct ArmRqIn: "arm_rq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        srq_number: 0x48, 24, u32;
        lwm: 0x70, 16, u16;
    }

    /// Answer to [`ArmRqIn`].
    pub struct ArmRqOut: "arm_rq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Creates an XRC shared receive queue.
    ///
    /// The queue can lie in registered memory (UMEM), but no public header gives the place of the UMEM's number and
    /// offset. The crate therefore has no builder for it.
    pub struct CreateXrcSrqIn: "create_xrc_srq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        xrc_srq_umem_valid: 0x2e0, 1, bool;
    }
    parts {
        xrc_srq_context_entry: 0x80, XrcSrqc;
    }

    /// Answer to [`CreateXrcSrqIn`].
    pub struct CreateXrcSrqOut: "create_xrc_srq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        xrc_srqn: 0x48, 24, Srqn;
    }

    /// Queries an XRC shared receive queue.
    pub struct QueryXrcSrqIn: "query_xrc_srq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        xrc_srqn: 0x48, 24, Srqn;
    }

    /// Answer to [`QueryXrcSrqIn`].
    pub struct QueryXrcSrqOut: "query_xrc_srq_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        xrc_srq_context_entry: 0x80, XrcSrqc;
    }

    /// Requests an event when few receives are left.
    pub struct ArmXrcSrqIn: "arm_xrc_srq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        xrc_srqn: 0x48, 24, Srqn;
        lwm: 0x70, 16, u16;
    }

    /// Answer to [`ArmXrcSrqIn`].
    pub struct ArmXrcSrqOut: "arm_xrc_srq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Creates a receive memory pool.
    pub struct CreateRmpIn: "create_rmp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        ctx: 0x100, Rmpc;
    }

    /// Answer to [`CreateRmpIn`].
    pub struct CreateRmpOut: "create_rmp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        rmpn: 0x48, 24, Rmpn;
    }

    /// Changes a receive memory pool.
    pub struct ModifyRmpIn: "modify_rmp_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        rmp_state: 0x40, 4, RmpState;
        rmpn: 0x48, 24, Rmpn;
    }
    parts {
        bitmask: 0x80, RmpBitmask;
        ctx: 0x100, Rmpc;
    }

    /// Answer to [`ModifyRmpIn`].
    pub struct ModifyRmpOut: "modify_rmp_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a receive memory pool.
    pub struct QueryRmpIn: "query_rmp_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        rmpn: 0x48, 24, Rmpn;
    }

    /// Answer to [`QueryRmpIn`].
    pub struct QueryRmpOut: "query_rmp_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        rmp_context: 0x100, Rmpc;
    }

    /// Creates an extended shared receive queue.
    pub struct CreateXrqIn: "create_xrq_in", 0xa80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        xrq_context: 0x80, Xrqc;
    }

    /// Answer to [`CreateXrqIn`].
    pub struct CreateXrqOut: "create_xrq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        xrqn: 0x48, 24, Xrqn;
    }

    /// Queries an extended shared receive queue.
    pub struct QueryXrqIn: "query_xrq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        xrqn: 0x48, 24, Xrqn;
    }

    /// Answer to [`QueryXrqIn`].
    pub struct QueryXrqOut: "query_xrq_out", 0xa80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        xrq_context: 0x80, Xrqc;
    }

    /// Requests an event when few receives are left.
    pub struct ArmXrqIn: "arm_xrq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        xrqn: 0x48, 24, Xrqn;
        lwm: 0x70, 16, u16;
    }

    /// Answer to [`ArmXrqIn`].
    pub struct ArmXrqOut: "arm_xrq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Context of a target.
    pub struct Dctc: "dctc", 0x200 {
        state: 0x4, 4, u8;
        dp_ordering_force: 0x27, 1, bool;
        user_index: 0x28, 24, u32;
        cqn: 0x48, 24, Cqn;
        counter_set_id: 0x60, 8, u8;
        atomic_mode: 0x68, 4, u8;
        rre: 0x6c, 1, bool;
        rwe: 0x6d, 1, bool;
        rae: 0x6e, 1, bool;
        atomic_like_write_en: 0x6f, 1, bool;
        latency_sensitive: 0x70, 1, bool;
        rlky: 0x71, 1, bool;
        free_ar: 0x72, 1, bool;
        dp_ordering_1: 0x74, 1, bool;
        cs_res: 0x88, 8, u8;
        min_rnr_nak: 0x93, 5, u8;
        srqn_xrqn: 0xa8, 24, u32;
        pd: 0xc8, 24, Pdn;
        tclass: 0xe0, 8, u8;
        flow_label: 0xec, 20, u32;
        dc_access_key: 0x100, 64, u64;
        mtu: 0x145, 3, u8;
        port: 0x148, 8, u8;
        pkey_index: 0x150, 16, u16;
        my_addr_index: 0x168, 8, u8;
        hop_limit: 0x178, 8, u8;
        dc_access_key_violation_count: 0x180, 32, u32;
        dei_cfi: 0x1b4, 1, bool;
        eth_prio: 0x1b5, 3, u8;
        ecn: 0x1b8, 2, u8;
        dscp: 0x1ba, 6, u8;
        ece: 0x1e0, 32, u32;
        data_in_order: 0x1d, 1, bool;
        offload_type: 0x18, 4, u8;
        dp_ordering_0: 0x73, 1, bool;
    }

    /// Creates a target.
    pub struct CreateDctIn: "create_dct_in", 0x400 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        dct_context_entry: 0x80, Dctc;
    }

    /// Answer to [`CreateDctIn`].
    pub struct CreateDctOut: "create_dct_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        dctn: 0x48, 24, Dctn;
        ece: 0x60, 32, u32;
    }

    /// Queries a target.
    pub struct QueryDctIn: "query_dct_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        dctn: 0x48, 24, Dctn;
    }

    /// Answer to [`QueryDctIn`].
    pub struct QueryDctOut: "query_dct_out", 0x400 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        dct_context_entry: 0x80, Dctc;
    }

    /// Work queue.
    pub struct Wq: "wq", 0x600 {
        wq_type: 0x0, 4, WqType;
        wq_signature: 0x4, 1, bool;
        end_padding_mode: 0x5, 2, u8;
        cd_slave: 0x7, 1, bool;
        hds_skip_first_sge: 0x20, 1, bool;
        log2_hds_buf_size: 0x21, 3, u8;
        page_offset: 0x2b, 5, u8;
        lwm: 0x30, 16, u16;
        pd: 0x48, 24, Pdn;
        uar_page: 0x68, 24, UarPage;
        dbr_addr: 0x80, 64, u64;
        hw_counter: 0xc0, 32, u32;
        sw_counter: 0xe0, 32, u32;
        log_wq_stride: 0x10c, 4, u8;
        log_wq_pg_sz: 0x113, 5, u8;
        log_wq_sz: 0x11b, 5, u8;
        dbr_umem_valid: 0x120, 1, bool;
        wq_umem_valid: 0x121, 1, bool;
        log_hairpin_num_packets: 0x123, 5, u8;
        log_hairpin_data_sz: 0x12b, 5, u8;
        log_wqe_num_of_strides: 0x134, 4, u8;
        two_byte_shift_en: 0x138, 1, bool;
        log_wqe_stride_size: 0x13d, 3, u8;
        dbr_umem_id: 0x140, 32, UmemId;
        wq_umem_id: 0x160, 32, UmemId;
        wq_umem_offset: 0x180, 64, u64;
        headers_mkey: 0x1c0, 32, u32;
        shampo_enable: 0x1e0, 1, bool;
        shampo_mode: 0x1e2, 2, u8;
        log_reservation_size: 0x1e5, 3, u8;
        log_max_num_of_packets_per_reservation: 0x1ed, 3, u8;
        log_headers_entry_size: 0x1f6, 2, u8;
        log_headers_buffer_entry_num: 0x1fc, 4, u8;
    }

    /// Context of a transport interface of sends.
    pub struct Tisc: "tisc", 0x500 {
        strict_lag_tx_port_affinity: 0x0, 1, bool;
        tls_en: 0x1, 1, bool;
        lag_tx_port_affinity: 0x4, 4, u8;
        prio: 0xc, 4, u8;
        transport_domain: 0x128, 24, Tdn;
        underlay_qpn: 0x148, 24, u32;
        pd: 0x168, 24, Pdn;
    }

    /// Which fields of the interface to change.
    pub struct ModifyTisBitmask: "modify_tis_bitmask", 0x40 {
        lag_tx_port_affinity: 0x3d, 1, bool;
        strict_lag_tx_port_affinity: 0x3e, 1, bool;
        prio: 0x3f, 1, bool;
    }

    /// Context of a table of receive queues.
    pub struct Rqtc: "rqtc", 0x780 {
        list_q_type: 0xa5, 3, u8;
        rqt_max_size: 0xb0, 16, u16;
        rq_vhca_id_format: 0xc0, 1, bool;
        rqt_actual_size: 0xd0, 16, u16;
    }

    /// Which fields of the table to change.
    pub struct RqtBitmask: "rqt_bitmask", 0x40 {
        rqn_list: 0x3f, 1, bool;
    }

    /// A receive queue in a table.
    pub struct RqNum: "rq_num", 0x20 {
        rq_num: 0x8, 24, Rqn;
    }

    /// Which packet fields are hashed.
    pub struct RxHashFieldSelect: "rx_hash_field_select", 0x20 {
        l3_prot_type: 0x0, 1, bool;
        l4_prot_type: 0x1, 1, bool;
        selected_fields: 0x2, 30, u32;
    }

    /// Context of a transport interface of receives.
    pub struct Tirc: "tirc", 0x780 {
        disp_type: 0x20, 4, TirDispatch;
        tls_en: 0x24, 1, bool;
        lro_timeout_period_usecs: 0x84, 16, u16;
        packet_merge_mask: 0x94, 4, u8;
        lro_max_ip_payload_size: 0x98, 8, u8;
        inline_rqn: 0xe8, 24, Rqn;
        rx_hash_symmetric: 0x100, 1, bool;
        tunneled_offload_en: 0x102, 1, bool;
        indirect_table: 0x108, 24, Rqtn;
        rx_hash_fn: 0x120, 4, RxHashFunction;
        self_lb_block: 0x126, 2, u8;
        transport_domain: 0x128, 24, Tdn;
    }
    bytes {
        rx_hash_toeplitz_key: 0x140, 40;
    }
    parts {
        rx_hash_field_selector_outer: 0x280, RxHashFieldSelect;
        rx_hash_field_selector_inner: 0x2a0, RxHashFieldSelect;
    }

    /// Which fields of the interface to change.
    pub struct ModifyTirBitmask: "modify_tir_bitmask", 0x40 {
        self_lb_en: 0x3b, 1, bool;
        hash: 0x3d, 1, bool;
        packet_merge: 0x3f, 1, bool;
    }

    /// Creates a transport interface of sends.
    pub struct CreateTisIn: "create_tis_in", 0x600 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        ctx: 0x100, Tisc;
    }

    /// Answer to [`CreateTisIn`].
    pub struct CreateTisOut: "create_tis_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        tisn: 0x48, 24, Tisn;
    }

    /// Changes a transport interface of sends.
    pub struct ModifyTisIn: "modify_tis_in", 0x600 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        tisn: 0x48, 24, Tisn;
    }
    parts {
        bitmask: 0x80, ModifyTisBitmask;
        ctx: 0x100, Tisc;
    }

    /// Answer to [`ModifyTisIn`].
    pub struct ModifyTisOut: "modify_tis_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a transport interface of sends.
    pub struct QueryTisIn: "query_tis_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        tisn: 0x48, 24, Tisn;
    }

    /// Answer to [`QueryTisIn`].
    pub struct QueryTisOut: "query_tis_out", 0x580 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        tis_context: 0x80, Tisc;
    }

    /// Creates a table of receive queues; their numbers follow.
    pub struct CreateRqtIn: "create_rqt_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        rqt_context: 0x100, Rqtc;
    }

    /// Answer to [`CreateRqtIn`].
    pub struct CreateRqtOut: "create_rqt_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        rqtn: 0x48, 24, Rqtn;
    }

    /// Changes a table of receive queues; their numbers follow.
    pub struct ModifyRqtIn: "modify_rqt_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        rqtn: 0x48, 24, Rqtn;
    }
    parts {
        bitmask: 0x80, RqtBitmask;
        ctx: 0x100, Rqtc;
    }

    /// Answer to [`ModifyRqtIn`].
    pub struct ModifyRqtOut: "modify_rqt_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a table of receive queues.
    pub struct QueryRqtIn: "query_rqt_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        rqtn: 0x48, 24, Rqtn;
    }

    /// Answer to [`QueryRqtIn`].
    pub struct QueryRqtOut: "query_rqt_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        rqt_context: 0x100, Rqtc;
    }

    /// Creates a transport interface of receives.
    pub struct CreateTirIn: "create_tir_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        ctx: 0x100, Tirc;
    }

    /// Answer to [`CreateTirIn`].
    pub struct CreateTirOut: "create_tir_out", 0x80 {
        status: 0x0, 8, Status;
        icm_address_63_40: 0x8, 24, u32;
        syndrome: 0x20, 32, u32;
        icm_address_39_32: 0x40, 8, u8;
        tirn: 0x48, 24, Tirn;
        icm_address_31_0: 0x60, 32, u32;
    }

    /// Changes a transport interface of receives.
    pub struct ModifyTirIn: "modify_tir_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        tirn: 0x48, 24, Tirn;
    }
    parts {
        bitmask: 0x80, ModifyTirBitmask;
        ctx: 0x100, Tirc;
    }

    /// Answer to [`ModifyTirIn`].
    pub struct ModifyTirOut: "modify_tir_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a transport interface of receives.
    pub struct QueryTirIn: "query_tir_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        tirn: 0x48, 24, Tirn;
    }

    /// Answer to [`QueryTirIn`].
    pub struct QueryTirOut: "query_tir_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        tir_context: 0x100, Tirc;
    }

    /// Context of a send queue.
    pub struct Sqc: "sqc", 0x780 {
        rlky: 0x0, 1, bool;
        cd_master: 0x1, 1, bool;
        fre: 0x2, 1, bool;
        flush_in_error_en: 0x3, 1, bool;
        allow_multi_pkt_send_wqe: 0x4, 1, bool;
        min_wqe_inline_mode: 0x5, 3, MinInlineMode;
        state: 0x8, 4, QueueState;
        reg_umr: 0xc, 1, bool;
        allow_swp: 0xd, 1, bool;
        hairpin: 0xe, 1, bool;
        non_wire: 0xf, 1, bool;
        ts_format: 0x1a, 2, TimestampFormat;
        user_index: 0x28, 24, u32;
        cqn: 0x48, 24, Cqn;
        hairpin_peer_rq: 0x68, 24, u32;
        hairpin_peer_vhca: 0x90, 16, u16;
        ts_cqe_to_dest_cqn: 0xc8, 24, u32;
        packet_pacing_rate_limit_index: 0xf0, 16, u16;
        tis_lst_sz: 0x100, 16, u16;
        qos_queue_group_id: 0x110, 16, u16;
        tis_num_0: 0x168, 24, Tisn;
        static_sq_wq: 0x10, 1, bool;
        hairpin_wq_buffer_type: 0x15, 3, u8;
    }
    parts {
        wq: 0x180, Wq;
    }

    /// Context of a receive queue.
    pub struct Rqc: "rqc", 0x780 {
        rlky: 0x0, 1, bool;
        delay_drop_en: 0x1, 1, bool;
        scatter_fcs: 0x2, 1, bool;
        vsd: 0x3, 1, bool;
        mem_rq_type: 0x4, 4, MemRqType;
        state: 0x8, 4, QueueState;
        flush_in_error_en: 0xd, 1, bool;
        hairpin: 0xe, 1, bool;
        ts_format: 0x1a, 2, TimestampFormat;
        user_index: 0x28, 24, u32;
        cqn: 0x48, 24, Cqn;
        counter_set_id: 0x60, 8, u8;
        rmpn: 0x88, 24, Rmpn;
        hairpin_peer_sq: 0xa8, 24, u32;
        hairpin_peer_vhca: 0xd0, 16, u16;
        shampo_no_match_alignment_granularity: 0x126, 2, u8;
        shampo_match_criteria_type: 0x12e, 2, u8;
        reservation_timeout: 0x130, 16, u16;
        hairpin_data_buffer_type: 0x15, 3, u8;
    }
    parts {
        wq: 0x180, Wq;
    }

    /// Creates a send queue.
    pub struct CreateSqIn: "create_sq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        ctx: 0x100, Sqc;
    }

    /// Answer to [`CreateSqIn`].
    pub struct CreateSqOut: "create_sq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        sqn: 0x48, 24, Sqn;
    }

    /// Changes state or rate of a send queue.
    pub struct ModifySqIn: "modify_sq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        sq_state: 0x40, 4, QueueState;
        sqn: 0x48, 24, Sqn;
        modify_bitmask: 0x80, 64, u64;
    }
    parts {
        ctx: 0x100, Sqc;
    }

    /// Answer to [`ModifySqIn`].
    pub struct ModifySqOut: "modify_sq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a send queue.
    pub struct QuerySqIn: "query_sq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        sqn: 0x48, 24, Sqn;
    }

    /// Answer to [`QuerySqIn`].
    pub struct QuerySqOut: "query_sq_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        sq_context: 0x100, Sqc;
    }

    /// Creates a receive queue.
    pub struct CreateRqIn: "create_rq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }
    parts {
        ctx: 0x100, Rqc;
    }

    /// Answer to [`CreateRqIn`].
    pub struct CreateRqOut: "create_rq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        rqn: 0x48, 24, Rqn;
    }

    /// Changes the state of a receive queue.
    pub struct ModifyRqIn: "modify_rq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        rq_state: 0x40, 4, QueueState;
        rqn: 0x48, 24, Rqn;
        modify_bitmask: 0x80, 64, u64;
    }
    parts {
        ctx: 0x100, Rqc;
    }

    /// Answer to [`ModifyRqIn`].
    pub struct ModifyRqOut: "modify_rq_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a receive queue.
    pub struct QueryRqIn: "query_rq_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        rqn: 0x48, 24, Rqn;
    }

    /// Answer to [`QueryRqIn`].
    pub struct QueryRqOut: "query_rq_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        rq_context: 0x100, Rqc;
    }

    /// Context of a flow table.
    pub struct FlowTableContext: "flow_table_context", 0x140 {
        reformat_en: 0x0, 1, bool;
        decap_en: 0x1, 1, bool;
        sw_owner: 0x2, 1, bool;
        termination_table: 0x3, 1, bool;
        table_miss_action: 0x4, 4, u8;
        level: 0x8, 8, u8;
        rtc_valid: 0x10, 1, bool;
        log_size: 0x18, 8, u8;
        table_miss_id: 0x28, 24, u32;
        lag_master_next_table_id: 0x48, 24, u32;
        sw_owner_icm_root_1: 0xc0, 64, u64;
        sw_owner_icm_root_0: 0x100, 64, u64;
    }

    /// A VLAN tag that a rule pushes.
    pub struct Vlan: "vlan", 0x20 {
        ethtype: 0x0, 16, u16;
        prio: 0x10, 3, u8;
        cfi: 0x13, 1, bool;
        vid: 0x14, 12, u16;
    }

    /// Execution of an object by a rule.
    pub struct ExecuteAso: "execute_aso", 0x40 {
        valid: 0x0, 1, bool;
        aso_object_id: 0x8, 24, u32;
        exe_aso_ctrl: 0x20, 32, u32;
    }

    /// Context of a rule.
    pub struct FlowContext: "flow_context", 0x1800 {
        group_id: 0x20, 32, u32;
        flow_tag: 0x48, 24, u32;
        action: 0x70, 16, u16;
        extended_destination: 0x80, 1, bool;
        uplink_hairpin_en: 0x81, 1, bool;
        flow_source: 0x82, 2, u8;
        encrypt_decrypt_type: 0x84, 4, u8;
        destination_list_size: 0x88, 24, u32;
        flow_counter_list_size: 0xa8, 24, u32;
        packet_reformat_id: 0xc0, 32, u32;
        modify_header_id: 0xe0, 32, u32;
        encrypt_decrypt_obj_id: 0x120, 32, u32;
    }
    parts {
        push_vlan: 0x0, Vlan;
        push_vlan_2: 0x100, Vlan;
        match_value: 0x200, FteMatchParam;
    }
    arrays {
        execute_aso: 0x1200, 4, ExecuteAso;
    }

    /// Where a rule sends packets.
    pub struct DestFormatStruct: "dest_format_struct", 0x40 {
        destination_type: 0x0, 8, DestinationType;
        destination_id: 0x8, 24, u32;
        destination_eswitch_owner_vhca_id_valid: 0x20, 1, bool;
        packet_reformat: 0x21, 1, bool;
        destination_table_type: 0x28, 8, u8;
        destination_eswitch_owner_vhca_id: 0x30, 16, u16;
    }

    /// A counter of a rule.
    pub struct FlowCounterList: "flow_counter_list", 0x40 {
        flow_counter_id: 0x0, 32, u32;
    }

    /// Creates a flow table.
    pub struct CreateFlowTableIn: "create_flow_table_in", 0x200 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        other_eswitch: 0x41, 1, bool;
        vport_number: 0x50, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        eswitch_owner_vhca_id: 0x90, 16, u16;
    }
    parts {
        flow_table_context: 0xc0, FlowTableContext;
    }

    /// Answer to [`CreateFlowTableIn`].
    pub struct CreateFlowTableOut: "create_flow_table_out", 0x80 {
        status: 0x0, 8, Status;
        icm_address_63_40: 0x8, 24, u32;
        syndrome: 0x20, 32, u32;
        icm_address_39_32: 0x40, 8, u8;
        table_id: 0x48, 24, u32;
        icm_address_31_0: 0x60, 32, u32;
    }

    /// Queries a flow table.
    pub struct QueryFlowTableIn: "query_flow_table_in", 0x200 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        table_id: 0xa8, 24, u32;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        other_vport: 0x40, 1, bool;
        vport_number: 0x50, 16, u16;
    }

    /// Answer to [`QueryFlowTableIn`].
    pub struct QueryFlowTableOut: "query_flow_table_out", 0x200 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        flow_table_context: 0xc0, FlowTableContext;
    }

    /// Changes the destination of misses.
    pub struct ModifyFlowTableIn: "modify_flow_table_in", 0x200 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        other_eswitch: 0x41, 1, bool;
        vport_number: 0x50, 16, u16;
        modify_field_select: 0x70, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        eswitch_owner_vhca_id: 0x90, 16, u16;
        table_id: 0xa8, 24, u32;
        uid: 0x10, 16, u16;
    }
    parts {
        flow_table_context: 0xc0, FlowTableContext;
    }

    /// Answer to [`ModifyFlowTableIn`].
    pub struct ModifyFlowTableOut: "modify_flow_table_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Creates a group of rules with one mask.
    pub struct CreateFlowGroupIn: "create_flow_group_in", 0x2000 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        other_eswitch: 0x41, 1, bool;
        vport_number: 0x50, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        group_type: 0x8c, 4, u8;
        eswitch_owner_vhca_id: 0x90, 16, u16;
        table_id: 0xa8, 24, u32;
        source_eswitch_owner_vhca_id_valid: 0xc0, 1, bool;
        start_flow_index: 0xe0, 32, u32;
        end_flow_index: 0x120, 32, u32;
        match_definer_id: 0x150, 16, u16;
        match_criteria_enable: 0x1f8, 8, u8;
    }
    parts {
        match_criteria: 0x200, FteMatchParam;
    }

    /// Answer to [`CreateFlowGroupIn`].
    pub struct CreateFlowGroupOut: "create_flow_group_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        group_id: 0x48, 24, u32;
    }

    /// Queries a group.
    pub struct QueryFlowGroupIn: "query_flow_group_in", 0x200 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        table_id: 0xa8, 24, u32;
        group_id: 0xc0, 32, u32;
    }

    /// Answer to [`QueryFlowGroupIn`].
    pub struct QueryFlowGroupOut: "query_flow_group_out", 0x2000 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        start_flow_index: 0xe0, 32, u32;
        end_flow_index: 0x120, 32, u32;
        match_criteria_enable: 0x1f8, 8, u8;
    }
    parts {
        match_criteria: 0x200, FteMatchParam;
    }

    /// Creates a rule, or changes it if `op_mod` is 1. The rule's destinations follow, then its counters.
    pub struct SetFteIn: "set_fte_in", 0x1a00 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        other_eswitch: 0x41, 1, bool;
        vport_number: 0x50, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        eswitch_owner_vhca_id: 0x90, 16, u16;
        table_id: 0xa8, 24, u32;
        ignore_flow_level: 0xc0, 1, bool;
        modify_enable_mask: 0xd8, 8, u8;
        flow_index: 0x100, 32, u32;
    }
    parts {
        flow_context: 0x200, FlowContext;
    }

    /// Answer to [`SetFteIn`].
    pub struct SetFteOut: "set_fte_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Queries a rule.
    pub struct QueryFteIn: "query_fte_in", 0x200 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        table_id: 0xa8, 24, u32;
        flow_index: 0x100, 32, u32;
    }

    /// Answer to [`QueryFteIn`].
    pub struct QueryFteOut: "query_fte_out", 0x1a00 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        flow_context: 0x200, FlowContext;
    }

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
        ttl_hoplimit: 0xd8, 8, u8;
        udp_sport: 0xe0, 16, u16;
        udp_dport: 0xf0, 16, u16;
        l3_ok: 0xd4, 1, bool;
        l4_ok: 0xd5, 1, bool;
        ipv4_checksum_ok: 0xd6, 1, bool;
        l4_checksum_ok: 0xd7, 1, bool;
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
        geneve_tlv_option_0_exist: 0xde, 1, bool;
        geneve_oam: 0xdf, 1, bool;
        outer_ipv6_flow_label: 0xec, 20, u32;
        inner_ipv6_flow_label: 0x10c, 20, u32;
        geneve_opt_len: 0x12a, 6, u8;
        geneve_protocol_type: 0x130, 16, u16;
        bth_dst_qp: 0x148, 24, u32;
        inner_esp_spi: 0x160, 32, u32;
        outer_esp_spi: 0x180, 32, u32;
        lag_rx_port_affinity: 0xd8, 4, u8;
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

    /// A counter of a flow.
    pub struct TrafficCounter: "traffic_counter", 0x80 {
        packets: 0x0, 64, u64;
        octets: 0x40, 64, u64;
    }

    /// Allocates a set of counters of queues.
    pub struct AllocQCounterIn: "alloc_q_counter_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`AllocQCounterIn`].
    pub struct AllocQCounterOut: "alloc_q_counter_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        counter_set_id: 0x58, 8, u8;
    }

    /// Queries a set of counters of queues.
    pub struct QueryQCounterIn: "query_q_counter_in", 0x100 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        vport_number: 0x50, 16, u16;
        clear: 0xc0, 1, bool;
        aggregate: 0xc1, 1, bool;
        counter_set_id: 0xf8, 8, u8;
        uid: 0x10, 16, u16;
    }

    /// Answer to [`QueryQCounterIn`].
    pub struct QueryQCounterOut: "query_q_counter_out", 0x800 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        rx_write_requests: 0x80, 32, u32;
        rx_read_requests: 0xc0, 32, u32;
        rx_atomic_requests: 0x100, 32, u32;
        rx_dct_connect: 0x140, 32, u32;
        out_of_buffer: 0x180, 32, u32;
        out_of_sequence: 0x1c0, 32, u32;
        duplicate_request: 0x200, 32, u32;
        rnr_nak_retry_err: 0x240, 32, u32;
        packet_seq_err: 0x280, 32, u32;
        implied_nak_seq_err: 0x2c0, 32, u32;
        local_ack_timeout_err: 0x300, 32, u32;
        req_rnr_retries_exceeded: 0x380, 32, u32;
        resp_local_length_error: 0x3c0, 32, u32;
        req_local_length_error: 0x3e0, 32, u32;
        resp_local_qp_error: 0x400, 32, u32;
        local_operation_error: 0x420, 32, u32;
        resp_local_protection: 0x440, 32, u32;
        req_local_protection: 0x460, 32, u32;
        resp_cqe_error: 0x480, 32, u32;
        req_cqe_error: 0x4a0, 32, u32;
        req_mw_binding: 0x4c0, 32, u32;
        req_bad_response: 0x4e0, 32, u32;
        req_remote_invalid_request: 0x500, 32, u32;
        resp_remote_invalid_request: 0x520, 32, u32;
        req_remote_access_errors: 0x540, 32, u32;
        resp_remote_access_errors: 0x560, 32, u32;
        req_remote_operation_errors: 0x580, 32, u32;
        req_transport_retries_exceeded: 0x5a0, 32, u32;
        cq_overflow: 0x5c0, 32, u32;
        resp_cqe_flush_error: 0x5e0, 32, u32;
        req_cqe_flush_error: 0x600, 32, u32;
        roce_adp_retrans: 0x640, 32, u32;
        roce_adp_retrans_to: 0x660, 32, u32;
        roce_slow_restart: 0x680, 32, u32;
        roce_slow_restart_cnps: 0x6a0, 32, u32;
        roce_slow_restart_trans: 0x6c0, 32, u32;
    }

    /// An action that puts a number into bits of a field. A length of 0 means 32 bits.
    pub struct SetActionIn: "set_action_in", 0x40 {
        action_type: 0x0, 4, u8;
        field: 0x4, 12, HeaderField;
        offset: 0x13, 5, u8;
        length: 0x1b, 5, u8;
        data: 0x20, 32, u32;
    }

    /// An action that copies bits of a field. A length of 0 means 32 bits.
    pub struct CopyActionIn: "copy_action_in", 0x40 {
        action_type: 0x0, 4, u8;
        src_field: 0x4, 12, HeaderField;
        src_offset: 0x13, 5, u8;
        length: 0x1b, 5, u8;
        dst_field: 0x24, 12, HeaderField;
        dst_offset: 0x33, 5, u8;
    }

    /// Makes a list of actions on headers. The actions follow.
    pub struct AllocModifyHeaderContextIn: "alloc_modify_header_context_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        table_type: 0x60, 8, FlowTableType;
        num_of_actions: 0x78, 8, u8;
    }

    /// Answer to [`AllocModifyHeaderContextIn`].
    pub struct AllocModifyHeaderContextOut: "alloc_modify_header_context_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        modify_header_id: 0x40, 32, u32;
    }

    /// Allocates counters of flows.
    pub struct AllocFlowCounterIn: "alloc_flow_counter_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        flow_counter_bulk_log_size: 0x73, 5, u8;
        flow_counter_bulk: 0x78, 8, u8;
        uid: 0x10, 16, u16;
        pd: 0x48, 24, Pdn;
    }

    /// Answer to [`AllocFlowCounterIn`].
    pub struct AllocFlowCounterOut: "alloc_flow_counter_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        flow_counter_id: 0x40, 32, u32;
    }

    /// Queries counters of flows, which follow the answer.
    pub struct QueryFlowCounterIn: "query_flow_counter_in", 0x100 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        clear: 0xc0, 1, bool;
        num_of_counters: 0xd0, 16, u16;
        flow_counter_id: 0xe0, 32, u32;
        mkey: 0x60, 32, u32;
        address: 0x80, 64, u64;
        dump_to_memory: 0xc1, 1, bool;
    }

    /// Answer to [`QueryFlowCounterIn`].
    pub struct QueryFlowCounterOut: "query_flow_counter_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// Creates up to four signature values.
    pub struct CreatePsvIn: "create_psv_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        num_psv: 0x40, 4, u8;
        pd: 0x48, 24, Pdn;
    }

    /// Answer to [`CreatePsvIn`].
    pub struct CreatePsvOut: "create_psv_out", 0x100 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        psv0_index: 0x88, 24, u32;
        psv1_index: 0xa8, 24, u32;
        psv2_index: 0xc8, 24, u32;
        psv3_index: 0xe8, 24, u32;
    }

    /// Creates a general object; its body follows.
    pub struct CreateGeneralObjectIn: "general_obj_in_cmd_hdr", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        obj_type: 0x30, 16, ObjectType;
        obj_id: 0x40, 32, u32;
        log_obj_range: 0x63, 5, u8;
        alias_object: 0x60, 1, bool;
    }

    /// Changes a general object; its body follows.
    pub struct ModifyGeneralObjectIn: "general_obj_in_cmd_hdr", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        obj_type: 0x30, 16, ObjectType;
        obj_id: 0x40, 32, u32;
        log_obj_range: 0x63, 5, u8;
        alias_object: 0x60, 1, bool;
    }

    /// Queries a general object.
    pub struct QueryGeneralObjectIn: "general_obj_in_cmd_hdr", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        obj_type: 0x30, 16, ObjectType;
        obj_id: 0x40, 32, u32;
        log_obj_range: 0x63, 5, u8;
        alias_object: 0x60, 1, bool;
    }

    /// The header that each answer begins with.
    pub struct GeneralObjOutCmdHdr: "general_obj_out_cmd_hdr", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        obj_id: 0x40, 32, u32;
    }

    /// A key of encryption, as long as libmlx5's (rdma-core `providers/mlx5/mlx5_ifc.h`). In Linux' header, a key that
    /// software has wrapped follows.
    pub struct EncryptionKeyObj: "encryption_key_obj", 0x800 {
        modify_field_select: 0x0, 64, u64;
        state: 0x40, 8, u8;
        sw_wrapped: 0x48, 1, bool;
        key_size: 0x54, 4, u8;
        key_purpose: 0x5c, 4, u8;
        pd: 0x68, 24, Pdn;
        opaque: 0x180, 64, u64;
        has_keytag: 0x58, 1, bool;
    }
    bytes {
        key: 0x200, 128;
    }

    /// A layout of matching.
    pub struct MatchDefiner: "match_definer", 0x400 {
        modify_field_select: 0x0, 64, u64;
        format_id: 0x90, 16, u16;
        format_select_dw3: 0x100, 8, u8;
        format_select_dw2: 0x108, 8, u8;
        format_select_dw1: 0x110, 8, u8;
        format_select_dw0: 0x118, 8, u8;
        format_select_dw7: 0x120, 8, u8;
        format_select_dw6: 0x128, 8, u8;
        format_select_dw5: 0x130, 8, u8;
        format_select_dw4: 0x138, 8, u8;
        format_select_dw8: 0x158, 8, u8;
        format_select_byte3: 0x180, 8, u8;
        format_select_byte2: 0x188, 8, u8;
        format_select_byte1: 0x190, 8, u8;
        format_select_byte0: 0x198, 8, u8;
        format_select_byte7: 0x1a0, 8, u8;
        format_select_byte6: 0x1a8, 8, u8;
        format_select_byte5: 0x1b0, 8, u8;
        format_select_byte4: 0x1b8, 8, u8;
    }
    bytes {
        match_mask: 0x200, 64;
    }

    /// Arguments of header modification.
    pub struct ModifyHeaderArg: "modify_header_arg", 0xa0 {
        access_pd: 0x88, 24, u32;
    }

    /// Reserved numbers of queue pairs.
    pub struct ReservedQpn: "reserved_qpn", 0x80 {
    }

    /// Rates of a meter.
    pub struct FlowMeterParameters: "flow_meter_parameters", 0x100 {
        valid: 0x0, 1, bool;
        bucket_overflow: 0x1, 1, bool;
        start_color: 0x2, 2, u8;
        both_buckets_on_green: 0x4, 1, bool;
        meter_mode: 0x6, 2, u8;
        cbs_exponent: 0x43, 5, u8;
        cbs_mantissa: 0x48, 8, u8;
        cir_exponent: 0x53, 5, u8;
        cir_mantissa: 0x58, 8, u8;
        ebs_exponent: 0x83, 5, u8;
        ebs_mantissa: 0x88, 8, u8;
        eir_exponent: 0x93, 5, u8;
        eir_mantissa: 0x98, 8, u8;
    }

    /// Meters of flows.
    pub struct FlowMeterAsoObj: "flow_meter_aso_obj", 0x400 {
        modify_field_select: 0x0, 64, u64;
        meter_aso_access_pd: 0x88, 24, u32;
    }
    arrays {
        flow_meter_parameters: 0x200, 2, FlowMeterParameters;
    }

    /// Vendor and board.
    pub struct QueryAdapterParamBlock: "query_adapter_param_block", 0x800 {
        ieee_vendor_id: 0xc8, 24, u32;
        vsd_vendor_id: 0xf0, 16, u16;
    }
    bytes {
        vsd: 0x100, 208;
        vsd_contd_psid: 0x780, 16;
    }

    /// Queries vendor and board.
    pub struct QueryAdapterIn: "query_adapter_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`QueryAdapterIn`].
    pub struct QueryAdapterOut: "query_adapter_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        query_adapter_struct: 0x80, QueryAdapterParamBlock;
    }

    /// Queries the keys with a special meaning: the null key, the end of a scatter list.
    pub struct QuerySpecialContextsIn: "query_special_contexts_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`QuerySpecialContextsIn`].
    pub struct QuerySpecialContextsOut: "query_special_contexts_out", 0x100 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        dump_fill_mkey: 0x40, 32, u32;
        resd_lkey: 0x60, 32, u32;
        null_mkey: 0x80, 32, u32;
        terminate_scatter_list_mkey: 0xa0, 32, u32;
        repeated_mkey: 0xc0, 32, u32;
    }

    /// Queries the version of the interface between software and firmware.
    pub struct QueryIssiIn: "query_issi_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
    }

    /// Answer to [`QueryIssiIn`].
    pub struct QueryIssiOut: "query_issi_out", 0x380 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
        current_issi: 0x50, 16, u16;
        supported_issi_dw0: 0x360, 32, u32;
    }

    /// Accesses a register, whose contents follow.
    pub struct AccessRegisterIn: "access_register_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, RegisterAccess;
        register_id: 0x50, 16, RegisterId;
        argument: 0x60, 32, u32;
    }

    /// Answer to [`AccessRegisterIn`]; the register's contents follow.
    pub struct AccessRegisterOut: "access_register_out", 0x80 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }

    /// The device's clock.
    pub struct RegisterMtutc: "register_mtutc", 0xe0 {
        time_stamp_mode: 0x0, 2, TimeStampMode;
        time_stamp_state: 0x2, 2, u8;
        operation: 0x1c, 4, u8;
        freq_adjustment: 0x20, 32, u32;
        utc_sec: 0x80, 32, u32;
        utc_nsec: 0xa0, 32, u32;
        time_adjustment: 0xc0, 32, u32;
    }

    /// An Ethernet address.
    pub struct MacAddressLayout: "mac_address_layout", 0x40 {
        mac_addr_47_32: 0x10, 16, u16;
        mac_addr_31_0: 0x20, 32, u32;
    }

    /// Context of the port.
    pub struct NicVportContext: "nic_vport_context", 0x800 {
        min_wqe_inline_mode: 0x5, 3, MinInlineMode;
        disable_mc_local_lb: 0x1d, 1, bool;
        disable_uc_local_lb: 0x1e, 1, bool;
        roce_en: 0x1f, 1, bool;
        arm_change_event: 0x20, 1, bool;
        event_on_mtu: 0x3b, 1, bool;
        event_on_promisc_change: 0x3c, 1, bool;
        event_on_vlan_change: 0x3d, 1, bool;
        event_on_mc_address_change: 0x3e, 1, bool;
        event_on_uc_address_change: 0x3f, 1, bool;
        vhca_id_type: 0x40, 1, bool;
        affiliation_criteria: 0x4c, 4, u8;
        affiliated_vhca_id: 0x50, 16, u16;
        sd_group: 0x101, 3, u8;
        sd_group_size: 0x108, 8, u8;
        mtu: 0x130, 16, u16;
        system_image_guid: 0x140, 64, u64;
        port_guid: 0x180, 64, u64;
        node_guid: 0x1c0, 64, u64;
        qkey_violation_counter: 0x340, 16, u16;
        promisc_uc: 0x780, 1, bool;
        promisc_mc: 0x781, 1, bool;
        promisc_all: 0x782, 1, bool;
        allowed_list_type: 0x785, 3, u8;
        allowed_list_size: 0x790, 16, u16;
        multi_prio_sq: 0x0, 1, bool;
        vport_to_fdb_metadata: 0x1, 1, bool;
        fdb_to_vport_metadata: 0x2, 1, bool;
    }
    parts {
        permanent_address: 0x7a0, MacAddressLayout;
    }

    /// Queries the context.
    pub struct QueryNicVportContextIn: "query_nic_vport_context_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        vport_number: 0x50, 16, u16;
        allowed_list_type: 0x65, 3, u8;
    }

    /// Answer to [`QueryNicVportContextIn`].
    pub struct QueryNicVportContextOut: "query_nic_vport_context_out", 0x880 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    parts {
        nic_vport_context: 0x80, NicVportContext;
    }

    /// Queries a set of capabilities.
    pub struct QueryHcaCapIn: "query_hca_cap_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        op_mod: 0x30, 16, CapabilitySelector;
        other_function: 0x40, 1, bool;
        ec_vf_function: 0x41, 1, bool;
        function_id_type: 0x43, 1, bool;
        function_id: 0x50, 16, u16;
        uid: 0x10, 16, u16;
    }

    /// Answer to [`QueryHcaCapIn`].
    pub struct QueryHcaCapOut: "query_hca_cap_out", 0x8080 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    bytes {
        capability: 0x80, 4096;
    }

    /// General capabilities.
    pub struct CmdHcaCap: "cmd_hca_cap", 0x800 {
        page_request_disable: 0x6, 1, bool;
        abs_native_port_num: 0x7, 1, bool;
        shared_object_to_user_object_allowed: 0x10, 1, bool;
        vhca_resource_manager: 0x1f, 1, bool;
        hca_cap_2: 0x20, 1, bool;
        create_lag_when_not_master_up: 0x21, 1, bool;
        dtor: 0x22, 1, bool;
        event_on_vhca_state_teardown_request: 0x23, 1, bool;
        event_on_vhca_state_in_use: 0x24, 1, bool;
        event_on_vhca_state_active: 0x25, 1, bool;
        event_on_vhca_state_allocated: 0x26, 1, bool;
        event_on_vhca_state_invalid: 0x27, 1, bool;
        vhca_id: 0x30, 16, u16;
        log_max_srq_sz: 0x80, 8, u8;
        log_max_qp_sz: 0x88, 8, u8;
        event_cap: 0x90, 1, bool;
        isolate_vl_tc_new: 0x93, 1, bool;
        prio_tag_required: 0x98, 1, bool;
        log_max_qp: 0x9b, 5, u8;
        ece_support: 0xa3, 1, bool;
        reg_c_preserve: 0xa9, 1, bool;
        log_max_srq: 0xab, 5, u8;
        uplink_follow: 0xb1, 1, bool;
        ts_cqe_to_dest_cqn: 0xb2, 1, bool;
        go_back_n: 0xb9, 1, bool;
        max_sgl_for_optimized_performance: 0xc0, 8, u8;
        log_max_cq_sz: 0xc8, 8, u8;
        relaxed_ordering_write_umr: 0xd0, 1, bool;
        relaxed_ordering_read_umr: 0xd1, 1, bool;
        virtio_net_device_emualtion_manager: 0xd9, 1, bool;
        virtio_blk_device_emualtion_manager: 0xda, 1, bool;
        log_max_cq: 0xdb, 5, u8;
        log_max_eq_sz: 0xe0, 8, u8;
        relaxed_ordering_write: 0xe8, 1, bool;
        relaxed_ordering_read_pci_enabled: 0xe9, 1, bool;
        log_max_mkey: 0xea, 6, u8;
        terminate_scatter_list_mkey: 0xf6, 1, bool;
        repeated_mkey: 0xf7, 1, bool;
        dump_fill_mkey: 0xf8, 1, bool;
        fast_teardown: 0xfb, 1, bool;
        log_max_eq: 0xfc, 4, u8;
        max_indirection: 0x100, 8, u8;
        fixed_buffer_size: 0x108, 1, bool;
        log_max_mrw_sz: 0x109, 7, u8;
        force_teardown: 0x110, 1, bool;
        log_max_bsf_list_size: 0x112, 6, u8;
        umr_extended_translation_offset: 0x118, 1, bool;
        null_mkey: 0x119, 1, bool;
        log_max_klm_list_size: 0x11a, 6, u8;
        qpc_extension: 0x122, 1, bool;
        log_max_ra_req_dc: 0x12a, 6, u8;
        eth_wqe_too_small: 0x132, 1, bool;
        vnic_env_cq_overrun: 0x139, 1, bool;
        log_max_ra_res_dc: 0x13a, 6, u8;
        release_all_pages: 0x145, 1, bool;
        must_not_use: 0x146, 1, bool;
        roce_accl: 0x149, 1, bool;
        log_max_ra_req_qp: 0x14a, 6, u8;
        log_max_ra_res_qp: 0x15a, 6, u8;
        end_pad: 0x160, 1, bool;
        cc_query_allowed: 0x161, 1, bool;
        cc_modify_allowed: 0x162, 1, bool;
        start_pad: 0x163, 1, bool;
        cache_line_128byte: 0x164, 1, bool;
        rts2rts_qp_counters_set_id: 0x169, 1, bool;
        vnic_env_int_rq_oob: 0x16c, 1, bool;
        sbcam_reg: 0x16d, 1, bool;
        qcam_reg: 0x16f, 1, bool;
        gid_table_size: 0x170, 16, u16;
        out_of_seq_cnt: 0x180, 1, bool;
        vport_counters: 0x181, 1, bool;
        retransmission_q_counters: 0x182, 1, bool;
        debug: 0x183, 1, bool;
        modify_rq_counter_set_id: 0x184, 1, bool;
        rq_delay_drop: 0x185, 1, bool;
        max_qp_cnt: 0x186, 10, u16;
        pkey_table_size: 0x190, 16, u16;
        vport_group_manager: 0x1a0, 1, bool;
        vhca_group_manager: 0x1a1, 1, bool;
        ib_virt: 0x1a2, 1, bool;
        eth_virt: 0x1a3, 1, bool;
        vnic_env_queue_counters: 0x1a4, 1, bool;
        ets: 0x1a5, 1, bool;
        nic_flow_table: 0x1a6, 1, bool;
        eswitch_manager: 0x1a7, 1, bool;
        device_memory: 0x1a8, 1, bool;
        mcam_reg: 0x1a9, 1, bool;
        pcam_reg: 0x1aa, 1, bool;
        local_ca_ack_delay: 0x1ab, 5, u8;
        port_module_event: 0x1b0, 1, bool;
        enhanced_error_q_counters: 0x1b1, 1, bool;
        ports_check: 0x1b2, 1, bool;
        disable_link_up: 0x1b4, 1, bool;
        beacon_led: 0x1b5, 1, bool;
        port_type: 0x1b6, 2, u8;
        num_ports: 0x1b8, 8, u8;
        pps: 0x1c1, 1, bool;
        pps_modify: 0x1c2, 1, bool;
        log_max_msg: 0x1c3, 5, u8;
        max_tc: 0x1cc, 4, u8;
        temp_warn_event: 0x1d0, 1, bool;
        dcbx: 0x1d1, 1, bool;
        general_notification_event: 0x1d2, 1, bool;
        fpga: 0x1d5, 1, bool;
        rol_s: 0x1d6, 1, bool;
        rol_g: 0x1d7, 1, bool;
        wol_s: 0x1d9, 1, bool;
        wol_g: 0x1da, 1, bool;
        wol_a: 0x1db, 1, bool;
        wol_b: 0x1dc, 1, bool;
        wol_m: 0x1dd, 1, bool;
        wol_u: 0x1de, 1, bool;
        wol_p: 0x1df, 1, bool;
        stat_rate_support: 0x1e0, 16, u16;
        pci_sync_for_fw_update_event: 0x1f1, 1, bool;
        init2_lag_tx_port_affinity: 0x1f8, 1, bool;
        wqe_based_flow_table_update_cap: 0x1fb, 1, bool;
        cqe_version: 0x1fc, 4, u8;
        compact_address_vector: 0x200, 1, bool;
        striding_rq: 0x201, 1, bool;
        ipoib_enhanced_offloads: 0x203, 1, bool;
        ipoib_basic_offloads: 0x204, 1, bool;
        repeated_block_disabled: 0x206, 1, bool;
        umr_modify_entity_size_disabled: 0x207, 1, bool;
        umr_modify_atomic_disabled: 0x208, 1, bool;
        umr_indirect_mkey_disabled: 0x209, 1, bool;
        umr_fence: 0x20a, 2, u8;
        dc_req_scat_data_cqe: 0x20c, 1, bool;
        drain_sigerr: 0x20f, 1, bool;
        cmdif_checksum: 0x210, 2, u8;
        sigerr_cqe: 0x212, 1, bool;
        wq_signature: 0x214, 1, bool;
        sctr_data_cqe: 0x215, 1, bool;
        sho: 0x217, 1, bool;
        tph: 0x218, 1, bool;
        rf: 0x219, 1, bool;
        dct: 0x21a, 1, bool;
        qos: 0x21b, 1, bool;
        eth_net_offloads: 0x21c, 1, bool;
        roce: 0x21d, 1, bool;
        atomic: 0x21e, 1, bool;
        cq_oi: 0x220, 1, bool;
        cq_resize: 0x221, 1, bool;
        cq_moderation: 0x222, 1, bool;
        cq_period_mode_modify: 0x223, 1, bool;
        cq_eq_remap: 0x226, 1, bool;
        pg: 0x227, 1, bool;
        block_lb_mc: 0x228, 1, bool;
        scqe_break_moderation: 0x22a, 1, bool;
        cq_period_start_from_cqe: 0x22b, 1, bool;
        cd: 0x22c, 1, bool;
        apm: 0x22e, 1, bool;
        vector_calc: 0x22f, 1, bool;
        umr_ptr_rlky: 0x230, 1, bool;
        imaicl: 0x231, 1, bool;
        qp_packet_based: 0x232, 1, bool;
        qkv: 0x236, 1, bool;
        pkv: 0x237, 1, bool;
        set_deth_sqpn: 0x238, 1, bool;
        xrc: 0x23c, 1, bool;
        ud: 0x23d, 1, bool;
        uc: 0x23e, 1, bool;
        rc: 0x23f, 1, bool;
        uar_4k: 0x240, 1, bool;
        fl_rc_qp_when_roce_disabled: 0x248, 1, bool;
        regexp_params: 0x249, 1, bool;
        uar_sz: 0x24a, 6, u8;
        port_selection_cap: 0x250, 1, bool;
        nic_cap_reg: 0x251, 1, bool;
        umem_uid_0: 0x252, 1, bool;
        log_pg_sz: 0x258, 8, u8;
        bf: 0x260, 1, bool;
        driver_version: 0x261, 1, bool;
        pad_tx_eth_packet: 0x262, 1, bool;
        mkey_by_name: 0x266, 1, bool;
        log_bf_reg_size: 0x26b, 5, u8;
        disciplined_fr_counter: 0x270, 1, bool;
        qp_error_syndrome: 0x273, 1, bool;
        lag_dct: 0x276, 2, u8;
        lag_tx_port_affinity: 0x278, 1, bool;
        lag_native_fdb_selection: 0x279, 1, bool;
        lag_master: 0x27b, 1, bool;
        num_lag_ports: 0x27c, 4, u8;
        max_wqe_sz_sq: 0x290, 16, u16;
        icm_mng_function_id_mode: 0x2a0, 1, bool;
        mkey_pcie_tph: 0x2a7, 1, bool;
        tis_tir_td_order: 0x2a9, 1, bool;
        psp: 0x2aa, 1, bool;
        shampo: 0x2ab, 1, bool;
        max_wqe_sz_rq: 0x2b0, 16, u16;
        max_flow_counter_31_16: 0x2c0, 16, u16;
        max_wqe_sz_sq_dc: 0x2d0, 16, u16;
        query_host_net_function_num_max: 0x2e0, 5, u8;
        max_qp_mcg: 0x2e7, 25, u32;
        flow_counter_bulk_alloc: 0x310, 8, u8;
        log_max_mcg: 0x318, 8, u8;
        log_max_transport_domain: 0x323, 5, u8;
        relaxed_ordering_read: 0x32a, 1, bool;
        log_max_pd: 0x32b, 5, u8;
        dp_ordering_ooo_all_ud: 0x330, 1, bool;
        dp_ordering_ooo_all_uc: 0x331, 1, bool;
        dp_ordering_ooo_all_xrc: 0x332, 1, bool;
        dp_ordering_ooo_all_dc: 0x333, 1, bool;
        dp_ordering_ooo_all_rc: 0x334, 1, bool;
        pcie_reset_using_hotreset_method: 0x335, 1, bool;
        pci_sync_for_fw_update_with_driver_unload: 0x336, 1, bool;
        vnic_env_cnt_steering_fail: 0x337, 1, bool;
        vport_counter_local_loopback: 0x338, 1, bool;
        q_counter_aggregation: 0x339, 1, bool;
        q_counter_other_vport: 0x33a, 1, bool;
        log_max_xrcd: 0x33b, 5, u8;
        nic_receive_steering_discard: 0x340, 1, bool;
        receive_discard_vport_down: 0x341, 1, bool;
        transmit_discard_vport_down: 0x342, 1, bool;
        eq_overrun_count: 0x343, 1, bool;
        invalid_command_count: 0x345, 1, bool;
        quota_exceeded_count: 0x346, 1, bool;
        log_max_flow_counter_bulk: 0x348, 8, u8;
        max_flow_counter_15_0: 0x350, 16, u16;
        log_max_rq: 0x363, 5, u8;
        ft_alias_sw_vhca_id: 0x368, 1, bool;
        log_max_sq: 0x36b, 5, u8;
        log_max_tir: 0x373, 5, u8;
        log_max_tis: 0x37b, 5, u8;
        basic_cyclic_rcv_wqe: 0x380, 1, bool;
        log_max_rmp: 0x383, 5, u8;
        sd_group_size: 0x388, 1, bool;
        log_max_rqt: 0x38b, 5, u8;
        log_max_rqt_size: 0x393, 5, u8;
        tlp_device_emulation_manager: 0x398, 1, bool;
        vnic_env_cnt_bar_uar_access: 0x399, 1, bool;
        vnic_env_cnt_odp_page_fault: 0x39a, 1, bool;
        log_max_tis_per_sq: 0x39b, 5, u8;
        ext_stride_num_range: 0x3a0, 1, bool;
        roce_rw_supported: 0x3a1, 1, bool;
        log_max_current_uc_list_wr_supported: 0x3a2, 1, bool;
        log_max_stride_sz_rq: 0x3a3, 5, u8;
        log_min_stride_sz_rq: 0x3ab, 5, u8;
        log_max_stride_sz_sq: 0x3b3, 5, u8;
        log_min_stride_sz_sq: 0x3bb, 5, u8;
        hairpin: 0x3c0, 1, bool;
        log_max_hairpin_queues: 0x3c3, 5, u8;
        log_max_hairpin_wq_data_sz: 0x3cb, 5, u8;
        log_max_hairpin_num_packets: 0x3d3, 5, u8;
        log_max_wq_sz: 0x3db, 5, u8;
        nic_vport_change_event: 0x3e0, 1, bool;
        disable_local_lb_uc: 0x3e1, 1, bool;
        disable_local_lb_mc: 0x3e2, 1, bool;
        log_min_hairpin_wq_data_sz: 0x3e3, 5, u8;
        silent_mode_set: 0x3e9, 1, bool;
        vhca_state: 0x3ea, 1, bool;
        log_max_vlan_list: 0x3eb, 5, u8;
        log_max_current_mc_list: 0x3f3, 5, u8;
        silent_mode_query: 0x3f9, 1, bool;
        query_host_net_function_v1: 0x3fa, 1, bool;
        log_max_current_uc_list: 0x3fb, 5, u8;
        general_obj_types: 0x400, 64, u64;
        sq_ts_format: 0x440, 2, u8;
        rq_ts_format: 0x442, 2, u8;
        steering_format_version: 0x444, 4, u8;
        create_qp_start_hint: 0x448, 24, u32;
        ats: 0x461, 1, bool;
        cross_vhca_rqt: 0x462, 1, bool;
        log_max_uctx: 0x463, 5, u8;
        crypto: 0x469, 1, bool;
        ipsec_offload: 0x46a, 1, bool;
        log_max_umem: 0x46b, 5, u8;
        max_num_eqs: 0x470, 16, u16;
        tls_tx: 0x481, 1, bool;
        tls_rx: 0x482, 1, bool;
        log_max_l2_table: 0x483, 5, u8;
        log_uar_page_sz: 0x490, 16, u16;
        device_frequency_mhz: 0x4c0, 32, u32;
        device_frequency_khz: 0x4e0, 32, u32;
        num_of_uars_per_page: 0x520, 32, u32;
        flex_parser_protocols: 0x540, 32, u32;
        max_geneve_tlv_options: 0x560, 8, u8;
        max_geneve_tlv_option_data_len: 0x56b, 5, u8;
        adv_rdma: 0x571, 1, bool;
        adv_virtualization: 0x579, 1, bool;
        log_max_dci_stream_channels: 0x58b, 5, u8;
        log_max_dci_errored_streams: 0x593, 5, u8;
        enhanced_cqe_compression: 0x5b0, 1, bool;
        crossing_vhca_mkey: 0x5b2, 1, bool;
        log_max_dek: 0x5b3, 5, u8;
        mini_cqe_resp_stride_index: 0x5bc, 1, bool;
        cqe_128_always: 0x5bd, 1, bool;
        cqe_compression_128: 0x5be, 1, bool;
        cqe_compression: 0x5bf, 1, bool;
        cqe_compression_timeout: 0x5c0, 16, u16;
        cqe_compression_max_num: 0x5d0, 16, u16;
        flex_parser_id_gtpu_dw_0: 0x5e8, 4, u8;
        tag_matching: 0x5f0, 1, bool;
        rndv_offload_rc: 0x5f1, 1, bool;
        rndv_offload_dc: 0x5f2, 1, bool;
        log_tag_matching_list_sz: 0x5f3, 5, u8;
        log_max_xrq: 0x5fb, 5, u8;
        affiliate_nic_vport_criteria: 0x600, 8, u8;
        native_port_num: 0x608, 8, u8;
        num_vhca_ports: 0x610, 8, u8;
        flex_parser_id_gtpu_teid: 0x618, 4, u8;
        sw_owner_id: 0x61e, 1, bool;
        max_num_of_monitor_counters: 0x620, 16, u16;
        num_ppcnt_monitor_counters: 0x630, 16, u16;
        max_num_sf: 0x640, 16, u16;
        num_q_monitor_counters: 0x650, 16, u16;
        sf: 0x680, 1, bool;
        sf_set_partition: 0x681, 1, bool;
        log_max_sf: 0x683, 5, u8;
        apu: 0x688, 1, bool;
        migration: 0x68d, 1, bool;
        log_min_sf_size: 0x690, 8, u8;
        max_num_sf_partitions: 0x698, 8, u8;
        uctx_cap: 0x6a0, 32, u32;
        flex_parser_id_geneve_tlv_option_0: 0x6c4, 4, u8;
        flex_parser_id_icmp_dw1: 0x6c8, 4, u8;
        flex_parser_id_icmp_dw0: 0x6cc, 4, u8;
        flex_parser_id_icmpv6_dw1: 0x6d0, 4, u8;
        flex_parser_id_icmpv6_dw0: 0x6d4, 4, u8;
        flex_parser_id_outer_first_mpls_over_gre: 0x6d8, 4, u8;
        flex_parser_id_outer_first_mpls_over_udp_label: 0x6dc, 4, u8;
        max_num_match_definer: 0x6e0, 16, u16;
        sf_base_id: 0x6f0, 16, u16;
        flex_parser_id_gtpu_dw_2: 0x700, 4, u8;
        flex_parser_id_gtpu_first_ext_dw_0: 0x704, 4, u8;
        num_total_dynamic_vf_msix: 0x708, 24, u32;
        dynamic_msix_table_size: 0x734, 12, u16;
        min_dynamic_vf_msix_table_size: 0x74c, 4, u8;
        data_direct: 0x752, 1, bool;
        max_dynamic_vf_msix_table_size: 0x754, 12, u16;
        log_max_num_header_modify_argument: 0x763, 5, u8;
        log_header_modify_argument_granularity_offset: 0x768, 4, u8;
        log_header_modify_argument_granularity: 0x76c, 4, u8;
        log_header_modify_argument_max_alloc: 0x773, 5, u8;
        vhca_tunnel_commands: 0x780, 64, u64;
        match_definer_format_supported: 0x7c0, 64, u64;
        access_other_hca_roce: 0x0, 1, bool;
        qp_data_in_order: 0x62, 1, bool;
        log_dma_mmo_max_size: 0x6b, 5, u8;
        tunneled_atomic: 0xf0, 1, bool;
        as_notify: 0xf1, 1, bool;
        m_pci_port: 0xf2, 1, bool;
        m_vhca_mk: 0xf3, 1, bool;
        cmd_on_behalf: 0xf4, 1, bool;
        device_emulation_manager: 0xf5, 1, bool;
        sig_crc64_xp10: 0x147, 1, bool;
        sig_crc32c: 0x148, 1, bool;
        rts2rts_qp_udp_sport: 0x151, 1, bool;
        rts2rts_lag_tx_port_affinity: 0x152, 1, bool;
        dma_mmo_sq: 0x153, 1, bool;
        gid_table_size_ro: 0x165, 1, bool;
        pkey_table_size_ro: 0x166, 1, bool;
        rnr_nak_q_counters: 0x168, 1, bool;
        rts2rts_qp_dscp: 0x16a, 1, bool;
        pulse_gen_control: 0x1b3, 1, bool;
        multi_path_xrc_rdma: 0x1c8, 1, bool;
        multi_path_dc_rdma: 0x1c9, 1, bool;
        multi_path_rc_rdma: 0x1ca, 1, bool;
        traffic_fast_control: 0x1cb, 1, bool;
        multi_prio_sq: 0x1d3, 1, bool;
        afu_owner: 0x1d4, 1, bool;
        ib_port_sniffer: 0x1d8, 1, bool;
        sig_block_4048: 0x1f0, 1, bool;
        ib_striding_wq: 0x205, 1, bool;
        dc_connect_qp: 0x20d, 1, bool;
        dc_cnak_trace: 0x20e, 1, bool;
        extended_retry_count: 0x21f, 1, bool;
        cq_invalidate: 0x224, 1, bool;
        exponential_backoff: 0x229, 1, bool;
        atm: 0x22d, 1, bool;
        ipoib_enhanced_pkey_change: 0x234, 1, bool;
        initiator_src_dct_in_cqe: 0x235, 1, bool;
        rts2rts_primary_sl: 0x239, 1, bool;
        initiator_src_dct: 0x23a, 1, bool;
        dc_v2: 0x23b, 1, bool;
        log_max_dc_cnak_qps: 0x253, 5, u8;
        query_driver_version: 0x263, 1, bool;
        max_qp_retry_freq: 0x264, 1, bool;
        qp_by_name: 0x265, 1, bool;
        suspend_qp_uc: 0x268, 1, bool;
        suspend_qp_ud: 0x269, 1, bool;
        suspend_qp_rc: 0x26a, 1, bool;
        num_of_diagnostic_counters: 0x280, 16, u16;
        mlnx_tag_ethertype: 0x300, 16, u16;
        nic_receive_steering_depth: 0x344, 1, bool;
        modify_tis: 0x360, 1, bool;
        aes_xts_single_block_le_tweak: 0x3f1, 1, bool;
        aes_xts_multi_block_be_tweak: 0x3f2, 1, bool;
        sigerr_domain_and_sig_type: 0x480, 1, bool;
        capi: 0x500, 1, bool;
        create_pec: 0x501, 1, bool;
        nvmf_target_offload: 0x502, 1, bool;
        capi_invalidate: 0x503, 1, bool;
        log_max_pasid: 0x51b, 5, u8;
        flex_parser_header_modify: 0x570, 1, bool;
        log_max_guaranteed_connections: 0x573, 5, u8;
        log_max_dct_connections: 0x57b, 5, u8;
        log_max_atomic_size_qp: 0x580, 8, u8;
        log_max_atomic_size_dc: 0x598, 8, u8;
        log_max_tm_offloaded_op_size: 0x5ec, 4, u8;
        trusted_vnic_vhca: 0x61d, 1, bool;
        reserve_not_to_use: 0x61f, 1, bool;
        dma_mmo_qp: 0x748, 1, bool;
        ooo_sl_mask: 0x138, 1, bool;
        ib_striding_wq_cq_first_indication: 0x225, 1, bool;
        dci_no_rdma_wr_optimized_performance: 0x241, 1, bool;
        mkc_order_write_after_write_ro_only: 0x3a9, 1, bool;
        must_be_0: 0x5bb, 1, bool;
        alloc_flow_counter_pd: 0x1, 1, bool;
        flow_counter_access_aso: 0x2, 1, bool;
        query_match_sample_info: 0x3, 1, bool;
        flow_access_aso_opc_mod: 0x8, 8, u8;
        log_regexp_scatter_gather_size: 0x63, 5, u8;
        log_compress_mmo_size: 0x73, 5, u8;
        decompress_lz4_data_only_v2: 0x78, 1, bool;
        decompress_lz4_no_checksum_v2: 0x79, 1, bool;
        decompress_lz4_checksum_v2: 0x7a, 1, bool;
        log_decompress_mmo_size: 0x7b, 5, u8;
        wqe_index_ignore_cap: 0x99, 1, bool;
        dynamic_qp_allocation: 0x9a, 1, bool;
        regexp_num_of_engines: 0xa4, 4, u8;
        scatter_fcs_w_decap_disable: 0xbb, 1, bool;
        access_register_user: 0xd2, 1, bool;
        non_wire_sq: 0x120, 1, bool;
        log_max_static_sq_wq: 0x133, 5, u8;
        rtr2rts_qp_counters_set_id: 0x150, 1, bool;
        compress_min_block_size: 0x154, 4, u8;
        compress_mmo_sq: 0x158, 1, bool;
        decompress_mmo_sq: 0x159, 1, bool;
        regexp_mmo_sq: 0x2ac, 1, bool;
        regexp_version: 0x2ad, 3, u8;
        flow_counters_dump: 0x361, 1, bool;
        mem_rq_rmp: 0x382, 1, bool;
        mkc_order_read_after_write: 0x3a8, 1, bool;
        aes_xts: 0x468, 1, bool;
        geneve_tlv_sample: 0x568, 1, bool;
        geneve_tlv_option_offset: 0x569, 1, bool;
        driver_version_before_init_hca: 0x578, 1, bool;
        max_multi_user_ggroup_size: 0x5a0, 16, u16;
        mini_cqe_resp_l3_l4_tag: 0x5b9, 1, bool;
        mini_cqe_resp_flow_tag: 0x5ba, 1, bool;
        wait_on_data: 0x68b, 1, bool;
        wait_on_time: 0x68c, 1, bool;
        regexp_mmo_qp: 0x749, 1, bool;
        compress_mmo_qp: 0x74a, 1, bool;
        decompress_deflate_v1: 0x74b, 1, bool;
        decompress_deflate_v2: 0x750, 1, bool;
    }

    /// General capabilities, continued.
    pub struct CmdHcaCap2: "cmd_hca_cap_2", 0x800 {
        migratable: 0x80, 1, bool;
        dp_ordering_force: 0x88, 1, bool;
        query_vuid: 0x92, 1, bool;
        umr_log_entity_size_5: 0x98, 1, bool;
        max_reformat_insert_size: 0xa0, 8, u8;
        max_reformat_insert_offset: 0xa8, 8, u8;
        max_reformat_remove_size: 0xb0, 8, u8;
        max_reformat_remove_offset: 0xb8, 8, u8;
        migration_multi_load: 0xc8, 1, bool;
        migration_tracking_state: 0xc9, 1, bool;
        multiplane_qp_ud: 0xca, 1, bool;
        migration_in_chunks: 0xd0, 1, bool;
        sf_eq_usage: 0xd2, 1, bool;
        multiplane: 0xd8, 1, bool;
        migration_state: 0xd9, 1, bool;
        cross_vhca_object_to_object_supported: 0xe0, 32, u32;
        allowed_object_for_other_vhca_access: 0x100, 64, u64;
        flow_table_type_2_type: 0x1a0, 8, u8;
        format_select_dw_8_6_ext: 0x1aa, 1, bool;
        log_min_mkey_entity_size: 0x1ab, 5, u8;
        general_obj_types_127_64: 0x1c0, 64, u64;
        sw_vhca_id_valid: 0x221, 1, bool;
        sw_vhca_id: 0x222, 14, u16;
        ts_cqe_metadata_size2wqe_counter: 0x24b, 5, u8;
        format_select_dw_gtpu_dw_0: 0x280, 8, u8;
        format_select_dw_gtpu_dw_1: 0x288, 8, u8;
        format_select_dw_gtpu_dw_2: 0x290, 8, u8;
        format_select_dw_gtpu_first_ext_dw_0: 0x298, 8, u8;
        generate_wqe_type: 0x2a0, 32, u32;
        min_mkey_log_entity_size_fixed_buffer: 0x38b, 5, u8;
        ec_vf_vport_base: 0x390, 16, u16;
        max_mkey_log_entity_size_fixed_buffer: 0x3a2, 6, u8;
        max_mkey_log_entity_size_mtt: 0x3aa, 6, u8;
        max_rqt_vhca_id: 0x3b0, 16, u16;
        pcc_ifa2: 0x3f0, 1, bool;
        min_mkey_log_entity_size_fixed_buffer_valid: 0x401, 1, bool;
        return_reg_id: 0x410, 16, u16;
        flow_table_hash_type: 0x43c, 4, u8;
        max_num_eqs_24b: 0x448, 24, u32;
        load_balance_id: 0x5a4, 4, u8;
        query_adjacent_functions_id: 0x5c0, 1, bool;
        ingress_egress_esw_vport_connect: 0x5c1, 1, bool;
        function_id_type_vhca_id: 0x5c2, 1, bool;
        lag_per_mp_group: 0x5c4, 1, bool;
        delegate_vhca_management_profiles: 0x5d0, 16, u16;
        delegated_vhca_max: 0x5e0, 16, u16;
        delegate_vhca_max: 0x5f0, 16, u16;
        log_reserved_qpn_granularity: 0x93, 5, u8;
        max_num_prog_sample_field: 0x83, 5, u8;
        log_max_num_reserved_qpn: 0x8b, 5, u8;
        atomic_rate_pa: 0x90, 1, bool;
        introspection_mkey_access_allowed: 0x91, 1, bool;
        log_reserved_qpn_max_alloc: 0x9b, 5, u8;
        multi_sl_qp: 0xc0, 1, bool;
        non_tunnel_reformat: 0xc1, 1, bool;
        log_min_stride_wqe_sz: 0xc3, 5, u8;
        log_conn_track_granularity: 0xcb, 5, u8;
        log_conn_track_max_alloc: 0xd3, 5, u8;
        log_max_conn_track_offload: 0xdb, 5, u8;
        introspection_mkey: 0x140, 32, u32;
        mkey_by_name_reserve: 0x3c0, 1, bool;
        mkey_by_name_reserve_log_size: 0x3c2, 6, u8;
        mkey_by_name_reserve_base: 0x3c8, 24, u32;
        hairpin_sq_wqe_bb_size: 0x163, 5, u8;
        hairpin_sq_wq_in_host_mem: 0x168, 1, bool;
        hairpin_data_buffer_locked: 0x169, 1, bool;
        flow_counter_bulk_log_max_alloc: 0x253, 5, u8;
        flow_counter_bulk_log_granularity: 0x25b, 5, u8;
        encap_entropy_hash_type: 0x438, 4, u8;
        send_dbr_mode_no_dbr_ext: 0x2e1, 1, bool;
    }

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
        inner_second_prio: 0x28, 1, bool;
        inner_second_cfi: 0x29, 1, bool;
        inner_second_vid: 0x2a, 1, bool;
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
        geneve_tlv_option_0_data: 0x40, 1, bool;
        geneve_tlv_option_0_exist: 0x41, 1, bool;
        outer_first_mpls_over_udp: 0x45, 4, u8;
        outer_first_mpls_over_gre: 0x49, 4, u8;
        inner_first_mpls: 0x4d, 4, u8;
        outer_first_mpls: 0x51, 4, u8;
        outer_esp_spi: 0x57, 1, bool;
        bth_dst_qp: 0x5a, 1, bool;
        metadata_reg_c_7: 0x78, 1, bool;
        metadata_reg_c_6: 0x79, 1, bool;
        metadata_reg_c_5: 0x7a, 1, bool;
        metadata_reg_c_4: 0x7b, 1, bool;
        metadata_reg_c_3: 0x7c, 1, bool;
        metadata_reg_c_2: 0x7d, 1, bool;
        metadata_reg_c_1: 0x7e, 1, bool;
        metadata_reg_c_0: 0x7f, 1, bool;
        outer_ipv6_flow_label: 0xb, 1, bool;
        inner_ipv4_ttl: 0x27, 1, bool;
        inner_ipv6_flow_label: 0x2b, 1, bool;
        metadata_reg_b: 0x3e, 1, bool;
        metadata_reg_a: 0x3f, 1, bool;
        outer_emd_tag: 0x55, 1, bool;
        inner_esp_spi: 0x56, 1, bool;
        inner_ipv6_hop_limit: 0x58, 1, bool;
        outer_ipv6_hop_limit: 0x59, 1, bool;
        inner_first_svlan: 0x5b, 1, bool;
        inner_second_svlan: 0x5c, 1, bool;
        outer_first_svlan: 0x5d, 1, bool;
        outer_second_svlan: 0x5e, 1, bool;
        source_sqn: 0x5f, 1, bool;
    }

    /// Headers that may be matched, continued.
    pub struct FlowTableFieldsSupported2: "flow_table_fields_supported_2", 0x80 {
        inner_l4_type_ext: 0x0, 1, bool;
        outer_l4_type_ext: 0x1, 1, bool;
        inner_l4_type: 0x2, 1, bool;
        outer_l4_type: 0x3, 1, bool;
        bth_opcode: 0xe, 1, bool;
        tunnel_header_0_1: 0x10, 1, bool;
        ipsec_next_header: 0x2f, 1, bool;
        tunnel_header_2_3: 0xf, 1, bool;
        inner_l3_ok: 0x17, 1, bool;
        inner_l4_ok: 0x18, 1, bool;
        outer_l3_ok: 0x19, 1, bool;
        outer_l4_ok: 0x1a, 1, bool;
        psp_header: 0x1b, 1, bool;
        inner_ipv4_checksum_ok: 0x1c, 1, bool;
        inner_l4_checksum_ok: 0x1d, 1, bool;
        outer_ipv4_checksum_ok: 0x1e, 1, bool;
        outer_l4_checksum_ok: 0x1f, 1, bool;
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
        pop_vlan_2: 0xd, 1, bool;
        push_vlan_2: 0xe, 1, bool;
        reformat_and_vlan_action: 0xf, 1, bool;
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
        flow_tag: 0x1, 1, bool;
        fpga_vendor_acceleration: 0xc, 1, bool;
        modify_and_vlan_action: 0x10, 1, bool;
        metadata_reg_b_width: 0x50, 8, u8;
        metadata_reg_a_width: 0x58, 8, u8;
        log_max_ft_sampler_num: 0x48, 8, u8;
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
        sw_owner_reformat_supported: 0x7, 1, bool;
        encap_general_header: 0x20, 1, bool;
        log_max_packet_reformat_context: 0x2b, 5, u8;
        max_encap_header_size: 0x36, 10, u16;
        sw_steering_nic_rx_action_drop_icm_address: 0x2000, 64, u64;
        sw_steering_nic_tx_action_drop_icm_address: 0x2040, 64, u64;
        sw_steering_nic_tx_action_allow_icm_address: 0x2080, 64, u64;
        nic_rx_flow_tag_multipath_en: 0x4, 1, bool;
        nic_receive_max_steering_depth: 0x18, 8, u8;
    }
    parts {
        flow_table_properties_nic_receive: 0x200, FlowTablePropLayout;
        flow_table_properties_nic_receive_rdma: 0x400, FlowTablePropLayout;
        flow_table_properties_nic_receive_sniffer: 0x600, FlowTablePropLayout;
        flow_table_properties_nic_transmit: 0x800, FlowTablePropLayout;
        flow_table_properties_nic_transmit_rdma: 0xa00, FlowTablePropLayout;
        flow_table_properties_nic_transmit_sniffer: 0xc00, FlowTablePropLayout;
        ft_field_support_2_nic_receive: 0x1400, FlowTableFieldsSupported2;
        ft_field_support_2_nic_receive_rdma: 0x1500, FlowTableFieldsSupported2;
        ft_field_support_2_nic_transmit_rdma: 0x1800, FlowTableFieldsSupported2;
        header_modify_nic_receive: 0x1000, HeaderModifyCapProperties;
        ft_field_bitmask_support_2_nic_receive: 0x1480, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_receive_rdma: 0x1580, FlowTableFieldsSupported2;
        ft_field_support_2_nic_receive_sniffer: 0x1600, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_receive_sniffer: 0x1680, FlowTableFieldsSupported2;
        ft_field_support_2_nic_transmit: 0x1700, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_transmit: 0x1780, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_transmit_rdma: 0x1880, FlowTableFieldsSupported2;
        ft_field_support_2_nic_transmit_sniffer: 0x1900, FlowTableFieldsSupported2;
        ft_field_bitmask_support_2_nic_transmit_sniffer: 0x1980, FlowTableFieldsSupported2;
        header_modify_nic_transmit: 0x1c00, HeaderModifyCapProperties;
    }

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
        wqe_vlan_insert: 0x7, 1, bool;
        self_lb_en_modifiable: 0x8, 1, bool;
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
        tunnel_stateless_ip_over_ip_rx: 0x2c, 1, bool;
        tunnel_stateless_ip_over_ip_tx: 0x2d, 1, bool;
        max_vxlan_udp_ports: 0x30, 8, u8;
        swp_csum_l4_partial: 0x38, 1, bool;
        max_geneve_opt_len: 0x3e, 1, bool;
        tunnel_stateless_geneve_rx: 0x3f, 1, bool;
        lro_min_mss_size: 0x50, 16, u16;
        lro_max_msg_sz_mode: 0x5, 2, u8;
        self_lb_mc: 0x9, 1, bool;
        self_lb_uc: 0xa, 1, bool;
        tunnel_stateless_gtp: 0x2b, 1, bool;
        tunnel_stateless_vxlan_gpe_nsh: 0x2e, 1, bool;
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
        mem_page_fault: 0x600, 1, bool;
        sig: 0x40, 1, bool;
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
        nic_sq_scheduling: 0x8, 1, bool;
        nic_bw_share: 0x9, 1, bool;
        nic_rate_limit: 0xa, 1, bool;
        packet_pacing_uid: 0xb, 1, bool;
        log_esw_max_sched_depth: 0xc, 4, u8;
        packet_pacing_req_ud: 0x22, 1, bool;
        packet_pacing_req_uc: 0x23, 1, bool;
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
        nic_qp_scheduling: 0x21, 1, bool;
        flow_meter_old: 0x7, 1, bool;
        log_max_flow_meter: 0x10, 8, u8;
        flow_meter_reg_id: 0x18, 8, u8;
        wqe_rate_pp: 0x20, 1, bool;
        flow_meter: 0x28, 1, bool;
    }

    /// Encryption of memory.
    pub struct CryptoCaps: "crypto_caps", 0x800 {
        wrapped_crypto_operational: 0x0, 1, bool;
        wrapped_crypto_going_to_commissioning: 0x1, 1, bool;
        wrapped_import_method: 0x18, 8, u8;
        log_max_num_deks: 0x2b, 5, u8;
        log_max_num_import_keks: 0x33, 5, u8;
        log_max_num_creds: 0x3b, 5, u8;
        failed_selftests: 0x40, 16, u16;
        num_nv_import_keks: 0x50, 8, u8;
        num_nv_credentials: 0x58, 8, u8;
        sw_wrapped_dek: 0x2, 1, bool;
        synchronize_dek: 0x3, 1, bool;
        int_kek_manual: 0x4, 1, bool;
        int_kek_auto: 0x5, 1, bool;
        sw_wrapped_dek_key_purpose: 0x13, 1, bool;
        log_dek_max_alloc: 0x23, 5, u8;
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
        vnet_modify_ext: 0x38, 1, bool;
        virtio_net_q_addr_modify: 0x39, 1, bool;
        virtio_q_index_modify: 0x3a, 1, bool;
    }
}
