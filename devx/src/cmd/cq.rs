//! Completion queues.

use blueflame::types::Cqn;

use super::{Opcode, Status, UarPage, UmemId};
use crate::mailbox::{commands, names, structures};

names! {
    /// The state of a completion queue (`cqc.st`).
    pub struct CqState(u8) {
        SOLICITED_ARMED = 0x6,
        ARMED = 0x9,
        FIRED = 0xa,
    }

    /// Whether a completion queue works (`cqc.status`).
    pub struct CqStatus(u8) {
        OK = 0x0,
        OVERFLOW = 0x9,
        WRITE_FAIL = 0xa,
    }

    /// How large CQEs are (`cqc.cqe_sz`).
    pub struct CqeSize(u8) {
        BYTES_64 = 0x0,
        BYTES_128 = 0x1,
        /// 64 bytes in a stride of 128.
        BYTES_128_PADDED = 0x2,
    }
}

structures! {
    /// Context of a completion queue.
    pub struct Cqc: "cqc", 0x200 {
        status: 0x0, 4, CqStatus;
        as_notify: 0x4, 1, bool;
        initiator_src_dct: 0x5, 1, bool;
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
        always_armed_cq: 0x18, 1, bool;
        ext_element_type: 0x19, 3, u8;
        cqe_compression_layout: 0x1e, 2, u8;
        dbr_umem_id: 0x20, 32, UmemId;
        page_offset: 0x54, 6, u8;
        mini_cqe_res_format_ext: 0x5c, 2, u8;
        cq_timestamp_format: 0x5e, 2, u8;
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
        local_partition_id: 0x180, 12, u16;
        process_id: 0x18c, 20, u32;
        dbr_addr: 0x1c0, 64, u64;
    }

    /// Creates a completion queue.
    pub struct CreateCqIn: "create_cq_in", 0x880 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        cq_umem_offset: 0x280, 64, u64;
        cq_umem_id: 0x2c0, 32, UmemId;
        cq_umem_valid: 0x2e0, 1, bool;
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
}

commands! {
    CreateCqIn => CreateCqOut, CREATE_CQ, Creates;
    ModifyCqIn => ModifyCqOut, MODIFY_CQ, Modifies;
    QueryCqIn => QueryCqOut, QUERY_CQ, Queries;
}
