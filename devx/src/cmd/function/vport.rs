//! The function's own Ethernet port.

use crate::cmd::{MinInlineMode, Opcode, Status};
use crate::mailbox::{commands, structures};

structures! {
    /// An Ethernet address.
    pub struct MacAddressLayout: "mac_address_layout", 0x40 {
        mac_addr_47_32: 0x10, 16, u16;
        mac_addr_31_0: 0x20, 32, u32;
    }

    /// Context of the port.
    pub struct NicVportContext: "nic_vport_context", 0x800 {
        multi_prio_sq: 0x0, 1, bool;
        vport_to_fdb_metadata: 0x1, 1, bool;
        fdb_to_vport_metadata: 0x2, 1, bool;
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
}

commands! {
    QueryNicVportContextIn => QueryNicVportContextOut, QUERY_NIC_VPORT_CONTEXT, Executes;
}
