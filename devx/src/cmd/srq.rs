//! Shared receive queues: basic, XRC, memory pools, extended ones.

use blueflame::types::{Cqn, Srqn};

use super::{Opcode, Pdn, Rmpn, Status, Wq, Xrcdn, Xrqn};
use crate::mailbox::{commands, names, structures};

names! {
    /// The state of a receive memory pool (`rmpc.state`).
    pub struct RmpState(u8) {
        RDY = 0x1,
        ERR = 0x3,
    }
}

structures! {
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
}

commands! {
    CreateSrqIn => CreateSrqOut, CREATE_SRQ, Creates;
    QuerySrqIn => QuerySrqOut, QUERY_SRQ, Queries;
    ArmRqIn => ArmRqOut, ARM_RQ, Modifies;
    CreateXrcSrqIn => CreateXrcSrqOut, CREATE_XRC_SRQ, Creates;
    QueryXrcSrqIn => QueryXrcSrqOut, QUERY_XRC_SRQ, Queries;
    ArmXrcSrqIn => ArmXrcSrqOut, ARM_XRC_SRQ, Modifies;
    CreateRmpIn => CreateRmpOut, CREATE_RMP, Creates;
    ModifyRmpIn => ModifyRmpOut, MODIFY_RMP, Modifies;
    QueryRmpIn => QueryRmpOut, QUERY_RMP, Queries;
    CreateXrqIn => CreateXrqOut, CREATE_XRQ, Creates;
    QueryXrqIn => QueryXrqOut, QUERY_XRQ, Queries;
    ArmXrqIn => ArmXrqOut, ARM_XRQ, Modifies;
}
