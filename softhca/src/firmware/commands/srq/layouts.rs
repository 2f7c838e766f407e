//! Layouts of the commands on shared receive queues of all kinds.

use crate::firmware::commands::work_queue::wq;
use crate::firmware::layout::layout;

layout! {
    /// Receive memory pool context.
    struct rmpc: 0xf0 bytes {
        STATE: 0x8, 4;
        BASIC_CYCLIC_RCV_WQE: 0x20, 1;
    } parts { WQ: 0x180, wq; }
    /// The list of tags of an extended receive queue.
    struct tag_matching_topology_context: 0x10 bytes {
        LOG_MATCHING_LIST_SZ: 0x0, 4;
        APPEND_NEXT_INDEX: 0x10, 16;
        SW_PHASE_CNT: 0x20, 16;
        HW_PHASE_CNT: 0x30, 16;
    }
    /// Extended receive queue context.
    struct xrqc: 0x140 bytes {
        STATE: 0x0, 4;
        RLKEY: 0x4, 1;
        TOPOLOGY: 0x14, 4;
        OFFLOAD: 0x1c, 4;
        USER_INDEX: 0x28, 24;
        CQN: 0x48, 24;
        DC: 0x7f, 1;
    } parts {
        TAG_MATCHING_TOPOLOGY_CONTEXT: 0x100, tag_matching_topology_context;
        WQ: 0x400, wq;
    }
    /// Shared receive queue context.
    struct srqc: 0x40 bytes {
        STATE: 0x0, 4;
        LOG_SRQ_SIZE: 0x4, 4;
        WQ_SIGNATURE: 0x20, 1;
        CONT_SRQ: 0x21, 1;
        RLKY: 0x23, 1;
        LOG_RQ_STRIDE: 0x25, 3;
        XRCD: 0x28, 24;
        PAGE_OFFSET: 0x40, 6;
        CQN: 0x48, 24;
        LOG_PAGE_SIZE: 0x82, 6;
        PD: 0xc8, 24;
        LWM: 0xe0, 16;
        WQE_CNT: 0xf0, 16;
        DBR_ADDR: 0x140, 64;
    }
    /// XRC shared receive queue context.
    struct xrc_srqc: 0x40 bytes {
        STATE: 0x0, 4;
        LOG_XRC_SRQ_SIZE: 0x4, 4;
        WQ_SIGNATURE: 0x20, 1;
        CONT_SRQ: 0x21, 1;
        RLKY: 0x23, 1;
        BASIC_CYCLIC_RCV_WQE: 0x24, 1;
        LOG_RQ_STRIDE: 0x25, 3;
        XRCD: 0x28, 24;
        PAGE_OFFSET: 0x40, 6;
        DBR_UMEM_VALID: 0x47, 1;
        CQN: 0x48, 24;
        USER_INDEX_EQUAL_XRC_SRQN: 0x80, 1;
        LOG_PAGE_SIZE: 0x82, 6;
        USER_INDEX: 0x88, 24;
        PD: 0xc8, 24;
        LWM: 0xe0, 16;
        WQE_CNT: 0xf0, 16;
        DB_RECORD_ADDR_H: 0x140, 32;
        DB_RECORD_ADDR_L: 0x160, 30;
    }
    /// The fields that a modification of a receive memory pool changes.
    struct rmp_bitmask: 0x8 bytes { LWM: 0x3f, 1; }
    /// `CREATE_RMP`, with the address of each page if its ring lies in no user memory.
    struct create_rmp_in: command 0x110 bytes {} parts { CTX: 0x100, rmpc; } list of 8 bytes
    struct create_rmp_out: answer { RMPN: 0x48, 24; }
    struct create_xrq_out: answer { XRQN: 0x48, 24; }
    struct create_srq_out: answer { SRQN: 0x48, 24; }
    struct create_xrc_srq_out: answer { XRC_SRQN: 0x48, 24; }
    struct modify_rmp_in: command 0x110 bytes {
        RMP_STATE: 0x40, 4;
        RMPN: 0x48, 24;
    } parts {
        BITMASK: 0x80, rmp_bitmask;
        CTX: 0x100, rmpc;
    }
    struct query_rmp_out: answer 0x110 bytes {} parts { RMP_CONTEXT: 0x100, rmpc; }
    /// `CREATE_XRQ`, with the address of each page if its ring lies in no user memory.
    struct create_xrq_in: command 0x150 bytes {} parts { XRQ_CONTEXT: 0x80, xrqc; } list of 8 bytes
    struct query_xrq_out: answer 0x150 bytes {} parts { XRQ_CONTEXT: 0x80, xrqc; }
    /// `CREATE_SRQ`, with the address of each page.
    struct create_srq_in: command 0x110 bytes {} parts { SRQ_CONTEXT_ENTRY: 0x80, srqc; } list of 8 bytes
    struct query_srq_out: answer 0x110 bytes {} parts { SRQ_CONTEXT_ENTRY: 0x80, srqc; }
    /// `CREATE_XRC_SRQ`, with the address of each page.
    struct create_xrc_srq_in: command 0x110 bytes {
        XRC_SRQ_UMEM_VALID: 0x2e0, 1;
    } parts { XRC_SRQ_CONTEXT_ENTRY: 0x80, xrc_srqc; } list of 8 bytes
    struct query_xrc_srq_out: answer 0x110 bytes {} parts { XRC_SRQ_CONTEXT_ENTRY: 0x80, xrc_srqc; }
    struct destroy_srq_in: command { SRQN: 0x48, 24; }
    struct query_srq_in: query { SRQN: 0x48, 24; }
    struct arm_rq_in: command { SRQ_NUMBER: 0x48, 24; LWM: 0x70, 16; }
    struct destroy_xrc_srq_in: command { XRC_SRQN: 0x48, 24; }
    struct query_xrc_srq_in: query { XRC_SRQN: 0x48, 24; }
    struct arm_xrc_srq_in: command { XRC_SRQN: 0x48, 24; LWM: 0x70, 16; }
    struct destroy_rmp_in: command { RMPN: 0x48, 24; }
    struct query_rmp_in: query { RMPN: 0x48, 24; }
    struct destroy_xrq_in: command { XRQN: 0x48, 24; }
    struct query_xrq_in: query { XRQN: 0x48, 24; }
    struct arm_xrq_in: query { XRQN: 0x48, 24; LWM: 0x70, 16; }
}
