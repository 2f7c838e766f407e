//! Flow tables, groups and rules.

use crate::cmd::{FteMatchParam, Opcode, Status};
use crate::mailbox::{commands, names, structures};

names! {
    /// The traffic that a flow table sees (`table_type`; Linux `include/linux/mlx5/fs.h`, `enum fs_flow_table_type`).
    pub struct FlowTableType(u8) {
        NIC_RX = 0x0,
        NIC_TX = 0x1,
        ESW_EGRESS_ACL = 0x2,
        ESW_INGRESS_ACL = 0x3,
        FDB = 0x4,
        SNIFFER_RX = 0x5,
        SNIFFER_TX = 0x6,
        RDMA_RX = 0x7,
        RDMA_TX = 0x8,
    }

    /// Where a rule sends packets (`dest_format_struct.destination_type`).
    pub struct DestinationType(u8) {
        VPORT = 0x0,
        FLOW_TABLE = 0x1,
        TIR = 0x2,
        FLOW_SAMPLER = 0x6,
        UPLINK = 0x8,
        TABLE_TYPE = 0xa,
    }
}

structures! {
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
        uid: 0x10, 16, u16;
        vhca_tunnel_id: 0x20, 16, u16;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        vport_number: 0x50, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        table_id: 0xa8, 24, u32;
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
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, u16;
        other_vport: 0x40, 1, bool;
        other_eswitch: 0x41, 1, bool;
        vport_number: 0x50, 16, u16;
        modify_field_select: 0x70, 16, u16;
        table_type: 0x80, 8, FlowTableType;
        eswitch_owner_vhca_id: 0x90, 16, u16;
        table_id: 0xa8, 24, u32;
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
}

commands! {
    CreateFlowTableIn => CreateFlowTableOut, CREATE_FLOW_TABLE, Creates;
    QueryFlowTableIn => QueryFlowTableOut, QUERY_FLOW_TABLE, Queries;
    ModifyFlowTableIn => ModifyFlowTableOut, MODIFY_FLOW_TABLE, Modifies;
    CreateFlowGroupIn => CreateFlowGroupOut, CREATE_FLOW_GROUP, Creates;
    QueryFlowGroupIn => QueryFlowGroupOut, QUERY_FLOW_GROUP, Queries;
    SetFteIn => SetFteOut, SET_FLOW_TABLE_ENTRY, CreatesOrModifies;
    QueryFteIn => QueryFteOut, QUERY_FLOW_TABLE_ENTRY, Queries;
}
