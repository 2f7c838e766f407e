//! Transport interfaces of sends (TIS) and of receives (TIR), and tables of receive queues (RQT).

use crate::cmd::{Opcode, Pdn, Rqn, Rqtn, Status, Tdn, Tirn, Tisn};
use crate::mailbox::{commands, names, structures};

names! {
    /// How a transport interface chooses a receive queue (`tirc.disp_type`).
    pub struct TirDispatch(u8) {
        DIRECT = 0x0,
        INDIRECT = 0x1,
    }

    /// How packets are spread (`tirc.rx_hash_fn`).
    pub struct RxHashFunction(u8) {
        NONE = 0x0,
        INVERTED_XOR8 = 0x1,
        TOEPLITZ = 0x2,
    }
}

structures! {
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
}

commands! {
    CreateTisIn => CreateTisOut, CREATE_TIS, Creates;
    ModifyTisIn => ModifyTisOut, MODIFY_TIS, Modifies;
    QueryTisIn => QueryTisOut, QUERY_TIS, Queries;
    CreateRqtIn => CreateRqtOut, CREATE_RQT, Creates;
    ModifyRqtIn => ModifyRqtOut, MODIFY_RQT, Modifies;
    QueryRqtIn => QueryRqtOut, QUERY_RQT, Queries;
    CreateTirIn => CreateTirOut, CREATE_TIR, Creates;
    ModifyTirIn => ModifyTirOut, MODIFY_TIR, Modifies;
    QueryTirIn => QueryTirOut, QUERY_TIR, Queries;
}
