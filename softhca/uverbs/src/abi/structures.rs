//! The structures of commands and events.

use super::abi;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

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

    /// `struct ib_uverbs_alloc_mw`.
    struct AllocMw {
        response: u64,
        pd_handle: u32,
        /// `enum ib_uverbs_mw_type` (`IB_MW_TYPE_1`, `IB_MW_TYPE_2`).
        mw_type: u8,
        reserved: [u8; 3],
    }

    /// `struct ib_uverbs_alloc_mw_resp`.
    struct AllocMwResp {
        mw_handle: u32,
        rkey: u32,
    }

    /// `struct ib_uverbs_ex_query_device`.
    struct ExQueryDevice {
        comp_mask: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_ex_query_device_resp`: on-demand paging, timestamps, RSS, raw packets, tag matching, device
    /// memory and CQ moderation follow the plain response; the device has all of these but tag matching.
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
        reserved2: [u8; 2],
        /// The speed again, with room for more of them.
        active_speed_ex: u32,
    }

    /// `struct ib_uverbs_gid_entry`.
    struct GidEntry {
        gid: [u8; 16],
        gid_index: u32,
        port_num: u32,
        gid_type: u32,
        netdev_ifindex: u32,
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
        attr: AhAttr,
    }

    /// `struct ib_uverbs_ah_attr`.
    struct AhAttr {
        grh: GlobalRoute,
        dlid: u16,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
        reserved: u8,
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

    /// `struct ib_uverbs_ex_modify_qp`.
    struct ExModifyQp {
        base: ModifyQp,
        /// In kbit/s.
        rate_limit: u32,
        reserved: u32,
    }

    /// `struct ib_uverbs_ex_modify_qp_resp`.
    struct ExModifyQpResp {
        comp_mask: u32,
        response_length: u32,
    }

    /// `struct ib_uverbs_open_xrcd`.
    struct OpenXrcd {
        response: u64,
        /// The file that it stands for; -1 for none.
        fd: i32,
        oflags: u32,
    }

    /// `struct ib_uverbs_open_qp`.
    struct OpenQp {
        response: u64,
        user_handle: u64,
        /// In the place of a protection domain.
        xrcd_handle: u32,
        qpn: u32,
        qp_type: u8,
        reserved: [u8; 7],
    }

    /// `struct ib_uverbs_create_qp_resp`, which answers opening one, too.
    struct OpenQpResp {
        qp_handle: u32,
        qpn: u32,
        cap: QpCap,
        reserved: u32,
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

    /// `struct ib_uverbs_attach_mcast` and `struct ib_uverbs_detach_mcast`.
    struct GroupMember {
        gid: [u8; 16],
        qp_handle: u32,
        mlid: u16,
        reserved: u16,
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
