//! The uverbs ABI: objects, methods, attributes and write commands with their structures, as the kernel's uapi headers
//! have them (`rdma/rdma_user_ioctl_cmds.h`, `rdma/ib_user_ioctl_cmds.h`, `rdma/ib_user_ioctl_verbs.h`,
//! `rdma/ib_user_verbs.h`). Integers are in the CPU's byte order unless a field says otherwise.
//!
//! The structures leave out the `response` pointer only where a comment says so: commands that come through the
//! `INVOKE_WRITE` method still carry it, unused.

pub(crate) use crate::abi_names::{command, object};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `RDMA_VERBS_IOCTL`: `_IOWR(0x1b, 1, struct ib_uverbs_ioctl_hdr)`, whose header has 24 bytes.
pub(crate) const RDMA_VERBS_IOCTL: u64 = 0xc018_1b01;

/// Declares ABI structures: C layout, any bytes valid, no padding (the derives refuse it).
macro_rules! abi {
    ($($(#[$meta:meta])* struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
            #[repr(C)]
            pub(crate) struct $name { $($(#[$field_meta])* pub(crate) $field: $ty,)* }
        )*
    };
}
pub(crate) use abi;

abi! {
    /// `struct ib_uverbs_ioctl_hdr`.
    struct IoctlHdr {
        /// Bytes of header and attributes.
        length: u16,
        object_id: u16,
        method_id: u16,
        num_attrs: u16,
        reserved1: u64,
        driver_id: u32,
        reserved2: u32,
    }

    /// `struct ib_uverbs_attr`.
    struct AttrWire {
        attr_id: u16,
        /// Bytes of a pointed-to or inline value; 0 for handles and file descriptors.
        len: u16,
        flags: u16,
        attr_data: u16,
        /// Pointer, inline value, handle or file descriptor.
        data: u64,
    }
}

/// `UVERBS_ATTR_F_MANDATORY`.
pub(crate) const ATTR_MANDATORY: u16 = 1;
/// `UVERBS_ATTR_F_VALID_OUTPUT`.
pub(crate) const ATTR_VALID_OUTPUT: u16 = 2;
/// `RDMA_DRIVER_MLX5`.
pub(crate) const DRIVER_MLX5: u32 = 1;
/// `UVERBS_ATTR_UHW_IN`: the driver's part of a request.
pub(crate) const UHW_IN: u16 = 0x1000;
/// `UVERBS_ATTR_UHW_OUT`: the driver's part of a response.
pub(crate) const UHW_OUT: u16 = 0x1001;

/// `INVOKE_WRITE`'s attributes.
pub(crate) mod write {
    pub(crate) const CORE_IN: u16 = 0;
    pub(crate) const CORE_OUT: u16 = 1;
    pub(crate) const COMMAND: u16 = 2;
}

abi! {
    /// `struct ib_uverbs_query_device_resp`.
    struct QueryDeviceResp {
        fw_ver: u64,
        /// Big endian.
        node_guid: [u8; 8],
        /// Big endian.
        sys_image_guid: [u8; 8],
        max_mr_size: u64,
        page_size_cap: u64,
        vendor_id: u32,
        vendor_part_id: u32,
        hw_ver: u32,
        max_qp: u32,
        max_qp_wr: u32,
        device_cap_flags: u32,
        max_sge: u32,
        max_sge_rd: u32,
        max_cq: u32,
        max_cqe: u32,
        max_mr: u32,
        max_pd: u32,
        max_qp_rd_atom: u32,
        max_ee_rd_atom: u32,
        max_res_rd_atom: u32,
        max_qp_init_rd_atom: u32,
        max_ee_init_rd_atom: u32,
        atomic_cap: u32,
        max_ee: u32,
        max_rdd: u32,
        max_mw: u32,
        max_raw_ipv6_qp: u32,
        max_raw_ethy_qp: u32,
        max_mcast_grp: u32,
        max_mcast_qp_attach: u32,
        max_total_mcast_qp_attach: u32,
        max_ah: u32,
        max_fmr: u32,
        max_map_per_fmr: u32,
        max_srq: u32,
        max_srq_wr: u32,
        max_srq_sge: u32,
        max_pkeys: u16,
        local_ca_ack_delay: u8,
        phys_port_cnt: u8,
        reserved: [u8; 4],
    }

    /// `struct ib_uverbs_ex_query_device`.
    struct ExQueryDevice {
        comp_mask: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_ex_query_device_resp`: on-demand paging, timestamps, RSS, raw packets, tag matching, device
    /// memory and CQ moderation follow the plain response; the device has the first three and the last.
    struct ExQueryDeviceResp {
        base: QueryDeviceResp,
        comp_mask: u32,
        response_length: u32,
        /// `enum ibv_odp_general_caps`.
        odp_general_caps: u64,
        /// RC, UC, UD (`enum ibv_odp_transport_cap_bits`).
        odp_transport_caps: [u32; 3],
        odp_reserved: u32,
        timestamp_mask: u64,
        hca_core_clock: u64,
        device_cap_flags_ex: u64,
        rss_caps: [u32; 4],
        max_wq_type_rq: u32,
        raw_packet_caps: u32,
        tm_caps: [u32; 6],
        max_cq_moderation_count: u16,
        max_cq_moderation_period: u16,
        cq_moderation_reserved: u32,
        max_dm_size: u64,
        xrc_odp_caps: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_query_port`.
    struct QueryPort {
        response: u64,
        port_num: u8,
        reserved: [u8; 7],
    }

    /// `struct ib_uverbs_query_port_resp_ex`, which begins with `struct ib_uverbs_query_port_resp` (40 bytes).
    struct QueryPortResp {
        port_cap_flags: u32,
        max_msg_sz: u32,
        bad_pkey_cntr: u32,
        qkey_viol_cntr: u32,
        gid_tbl_len: u32,
        pkey_tbl_len: u16,
        lid: u16,
        sm_lid: u16,
        state: u8,
        max_mtu: u8,
        active_mtu: u8,
        lmc: u8,
        max_vl_num: u8,
        sm_sl: u8,
        subnet_timeout: u8,
        init_type_reply: u8,
        active_width: u8,
        active_speed: u8,
        phys_state: u8,
        link_layer: u8,
        flags: u8,
        reserved: u8,
        port_cap_flags2: u16,
        reserved2: [u8; 6],
    }

    /// `struct ib_uverbs_gid_entry`.
    struct GidEntry {
        gid: [u8; 16],
        gid_index: u32,
        port_num: u32,
        gid_type: u32,
        netdev_ifindex: u32,
    }

    /// `struct ib_uverbs_alloc_pd_resp`.
    struct AllocPdResp {
        pd_handle: u32,
    }

    /// `struct ib_uverbs_reg_mr`.
    struct RegMr {
        response: u64,
        start: u64,
        length: u64,
        hca_va: u64,
        pd_handle: u32,
        access_flags: u32,
    }

    /// `struct ib_uverbs_reg_mr_resp`.
    struct RegMrResp {
        mr_handle: u32,
        lkey: u32,
        rkey: u32,
    }

    /// `struct ib_uverbs_rereg_mr`.
    struct ReregMr {
        response: u64,
        mr_handle: u32,
        flags: u32,
        start: u64,
        length: u64,
        hca_va: u64,
        pd_handle: u32,
        access_flags: u32,
    }

    /// `struct ib_uverbs_rereg_mr_resp`.
    struct ReregMrResp {
        lkey: u32,
        rkey: u32,
    }

    /// `struct ib_uverbs_sge`.
    struct Sge {
        addr: u64,
        length: u32,
        lkey: u32,
    }

    /// `struct ib_uverbs_create_comp_channel_resp`.
    struct CreateCompChannelResp {
        fd: i32,
    }

    /// `struct ib_uverbs_resize_cq`.
    struct ResizeCq {
        response: u64,
        cq_handle: u32,
        cqe: u32,
    }

    /// `struct ib_uverbs_resize_cq_resp`.
    struct ResizeCqResp {
        cqe: u32,
        reserved: u32,
    }

    /// A legacy destroy command with a response (`struct ib_uverbs_destroy_cq` and its likes).
    struct Destroy {
        response: u64,
        handle: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_destroy_cq_resp`.
    struct DestroyCqResp {
        comp_events_reported: u32,
        async_events_reported: u32,
    }

    /// `struct ib_uverbs_ex_modify_cq`.
    struct ExModifyCq {
        cq_handle: u32,
        attr_mask: u32,
        cq_count: u16,
        cq_period: u16,
        reserved: u32,
    }

    /// `struct ib_uverbs_global_route`.
    struct GlobalRoute {
        dgid: [u8; 16],
        flow_label: u32,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
        reserved: u8,
    }

    /// `struct ib_uverbs_create_ah`.
    struct CreateAh {
        response: u64,
        user_handle: u64,
        pd_handle: u32,
        reserved: u32,
        grh: GlobalRoute,
        dlid: u16,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
        reserved2: u8,
    }

    /// `struct ib_uverbs_create_ah_resp`.
    struct CreateAhResp {
        ah_handle: u32,
    }

    /// `struct ib_uverbs_qp_cap`.
    struct QpCap {
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
    }

    /// `struct ib_uverbs_qp_dest`.
    struct QpDest {
        dgid: [u8; 16],
        flow_label: u32,
        dlid: u16,
        reserved: u16,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
    }

    /// `struct ib_uverbs_modify_qp`.
    struct ModifyQp {
        dest: QpDest,
        alt_dest: QpDest,
        qp_handle: u32,
        attr_mask: u32,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: u32,
        pkey_index: u16,
        alt_pkey_index: u16,
        qp_state: u8,
        cur_qp_state: u8,
        path_mtu: u8,
        path_mig_state: u8,
        en_sqd_async_notify: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port_num: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port_num: u8,
        alt_timeout: u8,
        reserved: [u8; 2],
    }

    /// `struct ib_uverbs_ex_modify_qp_resp`.
    struct ExModifyQpResp {
        comp_mask: u32,
        response_length: u32,
    }

    /// `struct ib_uverbs_query_qp`.
    struct QueryQp {
        response: u64,
        qp_handle: u32,
        attr_mask: u32,
    }

    /// `struct ib_uverbs_query_qp_resp`.
    struct QueryQpResp {
        dest: QpDest,
        alt_dest: QpDest,
        cap: QpCap,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: u32,
        pkey_index: u16,
        alt_pkey_index: u16,
        qp_state: u8,
        cur_qp_state: u8,
        path_mtu: u8,
        path_mig_state: u8,
        sq_draining: u8,
        max_rd_atomic: u8,
        max_dest_rd_atomic: u8,
        min_rnr_timer: u8,
        port_num: u8,
        timeout: u8,
        retry_cnt: u8,
        rnr_retry: u8,
        alt_port_num: u8,
        alt_timeout: u8,
        sq_sig_all: u8,
        reserved: [u8; 5],
    }

    /// `struct ib_uverbs_modify_srq`.
    struct ModifySrq {
        srq_handle: u32,
        attr_mask: u32,
        max_wr: u32,
        srq_limit: u32,
    }

    /// `struct ib_uverbs_query_srq`.
    struct QuerySrq {
        response: u64,
        srq_handle: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_query_srq_resp`.
    struct QuerySrqResp {
        max_wr: u32,
        max_sge: u32,
        srq_limit: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_destroy_qp_resp` and `struct ib_uverbs_destroy_srq_resp`.
    struct EventsReported {
        events_reported: u32,
    }

    /// `struct ib_uverbs_comp_event_desc`.
    struct CompEvent {
        cq_handle: u64,
    }

    /// `struct ib_uverbs_async_event_desc`.
    struct AsyncEvent {
        element: u64,
        event_type: u32,
        reserved: u32,
    }
}

/// Asynchronous event types (`enum ib_event_type`).
pub(crate) mod async_event {
    pub(crate) const CQ_ERR: u32 = 0;
    pub(crate) const QP_FATAL: u32 = 1;
    pub(crate) const QP_REQ_ERR: u32 = 2;
    pub(crate) const QP_ACCESS_ERR: u32 = 3;
    pub(crate) const COMM_EST: u32 = 4;
    pub(crate) const SQ_DRAINED: u32 = 5;
    pub(crate) const DEVICE_FATAL: u32 = 8;
    pub(crate) const PORT_ACTIVE: u32 = 9;
    pub(crate) const PORT_ERR: u32 = 10;
    pub(crate) const SRQ_ERR: u32 = 14;
    pub(crate) const SRQ_LIMIT_REACHED: u32 = 15;
    pub(crate) const QP_LAST_WQE_REACHED: u32 = 16;
}

/// Access flags (`enum ib_uverbs_access_flags`).
pub(crate) mod access {
    pub(crate) const LOCAL_WRITE: u32 = 1;
    pub(crate) const REMOTE_WRITE: u32 = 1 << 1;
    pub(crate) const REMOTE_READ: u32 = 1 << 2;
    pub(crate) const REMOTE_ATOMIC: u32 = 1 << 3;
    pub(crate) const MW_BIND: u32 = 1 << 4;
    pub(crate) const ZERO_BASED: u32 = 1 << 5;
    pub(crate) const ON_DEMAND: u32 = 1 << 6;
    pub(crate) const HUGETLB: u32 = 1 << 7;
    /// Placement of what FLUSH requests flush: global, persistent.
    pub(crate) const FLUSH: u32 = 3 << 8;
    /// The one that there is a name for.
    pub(crate) const RELAXED_ORDERING: u32 = 1 << 20;
    /// Hints, which a device may ignore (`IB_UVERBS_ACCESS_OPTIONAL_RANGE`).
    pub(crate) const OPTIONAL: u32 = 0x3ff0_0000;
}
