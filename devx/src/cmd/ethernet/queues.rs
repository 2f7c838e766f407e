//! Send and receive queues outside of queue pairs.

use blueflame::types::Cqn;

use crate::cmd::{Opcode, Rmpn, Rqn, Sqn, Status, Tisn, Wq};
use crate::mailbox::{commands, names, structures};

names! {
    /// The state of a send or receive queue (`sqc.state`, `rqc.state`).
    pub struct QueueState(u8) {
        RST = 0x0,
        RDY = 0x1,
        ERR = 0x3,
    }

    /// The headers that a frame must carry inline (`sqc.min_wqe_inline_mode`, `nic_vport_context.min_wqe_inline_mode`).
    /// The last three modes include headers inside a tunnel (DPDK `drivers/common/mlx5/mlx5_prm.h`,
    /// `MLX5_INLINE_MODE_*`).
    pub struct MinInlineMode(u8) {
        NONE = 0x0,
        L2 = 0x1,
        IP = 0x2,
        TCP_UDP = 0x3,
        INNER_L2 = 0x5,
        INNER_IP = 0x6,
        INNER_TCP_UDP = 0x7,
    }

    /// The source of the requirement for inline headers (`per_protocol_networking_offload_caps.wqe_inline_mode`).
    pub struct InlineModeSource(u8) {
        /// The capability: the headers of layer 2.
        L2 = 0x0,
        /// The context of the function's port.
        VPORT_CONTEXT = 0x1,
        /// The capability: nothing.
        NOT_REQUIRED = 0x2,
    }

    /// Where a receive queue's buffers are (`rqc.mem_rq_type`).
    pub struct MemRqType(u8) {
        INLINE = 0x0,
        RMP = 0x1,
    }

    /// The clock of timestamps in CQEs (`sqc.ts_format`, `rqc.ts_format`, `qpc.ts_format`).
    pub struct TimestampFormat(u8) {
        FREE_RUNNING = 0x0,
        /// The device's default.
        DEFAULT = 0x1,
        REAL_TIME = 0x2,
    }
}

structures! {
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
        static_sq_wq: 0x10, 1, bool;
        hairpin_wq_buffer_type: 0x15, 3, u8;
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
        hairpin_data_buffer_type: 0x15, 3, u8;
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
}

commands! {
    CreateSqIn => CreateSqOut, CREATE_SQ, Creates;
    ModifySqIn => ModifySqOut, MODIFY_SQ, Modifies;
    QuerySqIn => QuerySqOut, QUERY_SQ, Queries;
    CreateRqIn => CreateRqOut, CREATE_RQ, Creates;
    ModifyRqIn => ModifyRqOut, MODIFY_RQ, Modifies;
    QueryRqIn => QueryRqOut, QUERY_RQ, Queries;
}
