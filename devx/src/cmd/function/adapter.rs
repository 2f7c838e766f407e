//! Identity of the adapter, keys with a special meaning, and the version of the command interface (ISSI).

use crate::cmd::{Opcode, Status};
use crate::mailbox::{commands, structures};

structures! {
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
}

commands! {
    QueryAdapterIn => QueryAdapterOut, QUERY_ADAPTER, Executes;
    QuerySpecialContextsIn => QuerySpecialContextsOut, QUERY_SPECIAL_CONTEXTS, Executes;
    QueryIssiIn => QueryIssiOut, QUERY_ISSI, Executes;
}
