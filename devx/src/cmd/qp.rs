//! Queue pairs and their states.

use blueflame::types::{Cqn, Psn, Qpn, Srqn};

use super::{Opcode, Pdn, Status, TimestampFormat, UarPage, UmemId, Xrcdn};
use crate::mailbox::{commands, names, structures};

names! {
    /// The state of a queue pair (`qpc.state`).
    pub struct QpcState(u8) {
        RST = 0x0,
        INIT = 0x1,
        RTR = 0x2,
        RTS = 0x3,
        SQER = 0x4,
        SQD = 0x5,
        ERR = 0x6,
        SQ_DRAINING = 0x7,
        SUSPENDED = 0x9,
    }

    /// The service of a queue pair (`qpc.st`).
    pub struct ServiceType(u8) {
        RC = 0x0,
        UC = 0x1,
        UD = 0x2,
        XRC = 0x3,
        DCI = 0x5,
        QP0 = 0x7,
        QP1 = 0x8,
        RAW_DATAGRAM = 0x9,
        REG_UMR = 0xc,
    }

    /// The state of path migration (`qpc.pm_state`).
    pub struct PathMigration(u8) {
        ARMED = 0x0,
        REARM = 0x1,
        MIGRATED = 0x3,
    }

    /// The path MTU (`qpc.mtu`), as `ibv_mtu` counts.
    pub struct PathMtu(u8) {
        BYTES_256 = 0x1,
        BYTES_512 = 0x2,
        BYTES_1024 = 0x3,
        BYTES_2048 = 0x4,
        BYTES_4096 = 0x5,
        /// Raw Ethernet.
        RAW_ETHERNET = 0x7,
    }

    /// Where a queue pair's receives are (`qpc.rq_type`).
    pub struct RqType(u8) {
        /// In its own ring.
        REGULAR = 0x0,
        /// In a shared receive queue or receive memory pool.
        SRQ_RMP_XRC_SRQ_XRQ = 0x1,
        /// No receives: the queue pair serves RDMA only.
        ZERO_SIZE = 0x3,
    }
}

structures! {
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
        log_rtm: 0x50, 4, u8;
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
        rdma_wr_disabled: 0x15, 1, bool;
        req_e2e_credit_mode: 0x16, 2, u8;
        offload_type: 0x18, 4, u8;
        end_padding_mode: 0x1c, 2, u8;
        wq_signature: 0x20, 1, bool;
        block_lb_mc: 0x21, 1, bool;
        atomic_like_write_en: 0x22, 1, bool;
        latency_sensitive: 0x23, 1, bool;
        drain_sigerr: 0x25, 1, bool;
        dp_ordering_0: 0x26, 1, bool;
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
        data_in_order: 0x5a, 1, bool;
        rlky: 0x5b, 1, bool;
        ulp_stateless_offload_mode: 0x5c, 4, u8;
        counter_set_id: 0x60, 8, u8;
        uar_page: 0x68, 24, UarPage;
        send_dbr_mode: 0x80, 2, u8;
        full_handshake: 0x83, 1, bool;
        cnak_reverse_sl: 0x84, 4, u8;
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
        dbr_umem_id: 0x720, 32, UmemId;
    }
    parts {
        primary_address_path: 0xc0, Ads;
        secondary_address_path: 0x220, Ads;
    }

    /// Fields that follow the context in some commands.
    pub struct QpcExt: "qpc_ext", 0x600 {
        delay_drop_en: 0x0, 1, bool;
        vl15: 0x1, 1, bool;
        mmo: 0x2, 1, bool;
        dci_stream_channel_id: 0x10, 16, u16;
        qos_queue_group_id_requester: 0x20, 32, u32;
        qos_queue_group_id_responder: 0x40, 32, u32;
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
        vhca_tunnel_id: 0x20, 16, u16;
        op_mod: 0x30, 16, u16;
        qpc_ext: 0x40, 1, bool;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
        opt_param_mask_95_32: 0x840, 64, u64;
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
        qpc_ext: 0x40, 1, bool;
        qpn: 0x48, 24, Qpn;
        opt_param_mask: 0x80, 32, u32;
        ece: 0xa0, 32, u32;
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
}

commands! {
    CreateQpIn => CreateQpOut, CREATE_QP, Creates;
    Rst2initQpIn => Rst2initQpOut, RST2INIT_QP, Modifies;
    Init2initQpIn => Init2initQpOut, INIT2INIT_QP, Modifies;
    Init2rtrQpIn => Init2rtrQpOut, INIT2RTR_QP, Modifies;
    Rtr2rtsQpIn => Rtr2rtsQpOut, RTR2RTS_QP, Modifies;
    Rts2rtsQpIn => Rts2rtsQpOut, RTS2RTS_QP, Modifies;
    Sqerr2rtsQpIn => Sqerr2rtsQpOut, SQERR2RTS_QP, Modifies;
    Rts2sqdQpIn => Rts2sqdQpOut, RTS2SQD_QP, Modifies;
    Sqd2rtsQpIn => Sqd2rtsQpOut, SQD_RTS_QP, Modifies;
    Qp2ErrIn => Qp2ErrOut, QP_2ERR, Modifies;
    Qp2RstIn => Qp2RstOut, QP_2RST, Modifies;
    QueryQpIn => QueryQpOut, QUERY_QP, Queries;
}
