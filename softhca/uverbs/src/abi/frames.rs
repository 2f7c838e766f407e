//! The structures of commands that make receivers of Ethernet frames, and say which frames they get
//! (`rdma/ib_user_verbs.h`).

use super::abi;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

abi! {
    /// `struct ib_uverbs_ex_create_wq`.
    struct CreateWq {
        comp_mask: u32,
        wq_type: u32,
        user_handle: u64,
        pd_handle: u32,
        cq_handle: u32,
        max_wr: u32,
        max_sge: u32,
        create_flags: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_ex_create_wq_resp`.
    struct CreateWqResp {
        comp_mask: u32,
        response_length: u32,
        wq_handle: u32,
        max_wr: u32,
        max_sge: u32,
        wqn: u32,
    }

    /// `struct ib_uverbs_ex_destroy_wq`, and its likes of flows and tables of WQs.
    struct ExDestroy {
        comp_mask: u32,
        handle: u32,
    }

    /// `struct ib_uverbs_ex_destroy_wq_resp`.
    struct DestroyWqResp {
        comp_mask: u32,
        response_length: u32,
        events_reported: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_ex_modify_wq`.
    struct ModifyWq {
        attr_mask: u32,
        wq_handle: u32,
        wq_state: u32,
        curr_wq_state: u32,
        flags: u32,
        flags_mask: u32,
    }

    /// `struct ib_uverbs_ex_create_rwq_ind_table`, which handles of WQs follow.
    struct CreateWqTable {
        comp_mask: u32,
        log_ind_tbl_size: u32,
    }

    /// `struct ib_uverbs_ex_create_rwq_ind_table_resp`.
    struct CreateWqTableResp {
        comp_mask: u32,
        response_length: u32,
        ind_tbl_handle: u32,
        ind_tbl_num: u32,
    }

    /// `struct ib_uverbs_create_flow` with its `struct ib_uverbs_flow_attr`, which specifications follow.
    struct CreateFlow {
        comp_mask: u32,
        qp_handle: u32,
        flow_type: u32,
        /// Bytes of the specifications.
        size: u16,
        priority: u16,
        num_of_specs: u8,
        reserved: [u8; 2],
        port: u8,
        flags: u32,
    }

    /// `struct ib_uverbs_create_flow_resp`.
    struct CreateFlowResp {
        comp_mask: u32,
        flow_handle: u32,
    }

    /// `struct ib_uverbs_flow_spec_hdr`: the start of a specification. A value and a mask of equal size follow in most.
    struct FlowSpecHeader {
        spec_type: u32,
        size: u16,
        reserved: u16,
    }
}

/// Bytes of the longest specification (`struct ib_uverbs_flow_spec`), that of IPv6.
pub(crate) const MAX_FLOW_SPEC: usize = 88;

/// `enum ib_wq_flags`.
pub(crate) mod wq_flag {
    pub(crate) const CVLAN_STRIPPING: u32 = 1;
    pub(crate) const DELAY_DROP: u32 = 1 << 2;
    pub(crate) const END_PADDING: u32 = 1 << 3;
    /// Those that have names.
    pub(crate) const KNOWN: u32 = 0xf;
}

/// `enum ib_wq_state`.
pub(crate) mod wq_state {
    pub(crate) const RESET: u32 = 0;
    pub(crate) const READY: u32 = 1;
    pub(crate) const ERROR: u32 = 2;
}
