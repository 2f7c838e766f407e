//! Targets of dynamically connected queue pairs.

use blueflame::types::Cqn;

use super::{Dctn, Opcode, Pdn, Status};
use crate::mailbox::{commands, structures};

structures! {
    /// Context of a target.
    pub struct Dctc: "dctc", 0x200 {
        state: 0x4, 4, u8;
        offload_type: 0x18, 4, u8;
        data_in_order: 0x1d, 1, bool;
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
        dp_ordering_0: 0x73, 1, bool;
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
}

commands! {
    CreateDctIn => CreateDctOut, CREATE_DCT, Creates;
    QueryDctIn => QueryDctOut, QUERY_DCT, Queries;
}
