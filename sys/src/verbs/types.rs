//! Structures of rdma-core's `libibverbs/verbs.h`.

use core::ffi::{c_char, c_int, c_void};

use super::enumerations::*;
use crate::declare::{Uncalled, structures};

structures! {
    /// A device, as the list has it.
    struct ibv_device {
        _ops: _ibv_device_ops,
        node_type: ibv_node_type,
        transport_type: ibv_transport_type,
        name: [c_char; 64],
        dev_name: [c_char; 64],
        dev_path: [c_char; 256],
        ibdev_path: [c_char; 256],
    }

    /// Functions of a device that programs do not call.
    struct _ibv_device_ops {
        _dummy1: Uncalled,
        _dummy2: Uncalled,
    }

    /// An open device.
    struct ibv_context {
        device: *mut ibv_device,
        ops: ibv_context_ops,
        cmd_fd: c_int,
        async_fd: c_int,
        num_comp_vectors: c_int,
        mutex: libc::pthread_mutex_t,
        abi_compat: *mut c_void,
    }

    /// The functions of an open device that every libibverbs has: `verbs.h` calls them from inline functions.
    struct ibv_context_ops {
        _compat_query_device: Uncalled,
        _compat_query_port: Uncalled,
        _compat_alloc_pd: Uncalled,
        _compat_dealloc_pd: Uncalled,
        _compat_reg_mr: Uncalled,
        _compat_rereg_mr: Uncalled,
        _compat_dereg_mr: Uncalled,
        alloc_mw: Option<unsafe extern "C" fn(*mut ibv_pd, ibv_mw_type) -> *mut ibv_mw>,
        bind_mw: Uncalled,
        dealloc_mw: Option<unsafe extern "C" fn(*mut ibv_mw) -> c_int>,
        _compat_create_cq: Uncalled,
        poll_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int, *mut ibv_wc) -> c_int>,
        req_notify_cq: Option<unsafe extern "C" fn(*mut ibv_cq, c_int) -> c_int>,
        _compat_cq_event: Uncalled,
        _compat_resize_cq: Uncalled,
        _compat_destroy_cq: Uncalled,
        _compat_create_srq: Uncalled,
        _compat_modify_srq: Uncalled,
        _compat_query_srq: Uncalled,
        _compat_destroy_srq: Uncalled,
        post_srq_recv: Option<unsafe extern "C" fn(*mut ibv_srq, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int>,
        _compat_create_qp: Uncalled,
        _compat_query_qp: Uncalled,
        _compat_modify_qp: Uncalled,
        _compat_destroy_qp: Uncalled,
        post_send: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_send_wr, *mut *mut ibv_send_wr) -> c_int>,
        post_recv: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int>,
        _compat_create_ah: Uncalled,
        _compat_destroy_ah: Uncalled,
        _compat_attach_mcast: Uncalled,
        _compat_detach_mcast: Uncalled,
        _compat_async_event: Uncalled,
    }

    /// What lies around an open device, by `container_of`: functions of later releases. New ones come at its beginning,
    /// and `sz` says how much of it the library has.
    struct verbs_context {
        query_port: Option<unsafe extern "C" fn(*mut ibv_context, u8, *mut ibv_port_attr, usize) -> c_int>,
        advise_mr: Option<unsafe extern "C" fn(*mut ibv_pd, ibv_advise_mr_advice, u32, *mut ibv_sge, u32) -> c_int>,
        alloc_null_mr: Option<unsafe extern "C" fn(*mut ibv_pd) -> *mut ibv_mr>,
        read_counters: Option<unsafe extern "C" fn(*mut ibv_counters, *mut u64, u32, u32) -> c_int>,
        attach_counters_point_flow: Option<
            unsafe extern "C" fn(*mut ibv_counters, *mut ibv_counter_attach_attr, *mut ibv_flow) -> c_int,
        >,
        create_counters: Option<
            unsafe extern "C" fn(*mut ibv_context, *mut ibv_counters_init_attr) -> *mut ibv_counters,
        >,
        destroy_counters: Option<unsafe extern "C" fn(*mut ibv_counters) -> c_int>,
        reg_dm_mr: Option<unsafe extern "C" fn(*mut ibv_pd, *mut ibv_dm, u64, usize, u32) -> *mut ibv_mr>,
        alloc_dm: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_alloc_dm_attr) -> *mut ibv_dm>,
        free_dm: Option<unsafe extern "C" fn(*mut ibv_dm) -> c_int>,
        modify_flow_action_esp: Uncalled,
        destroy_flow_action: Uncalled,
        create_flow_action_esp: Uncalled,
        modify_qp_rate_limit: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_qp_rate_limit_attr) -> c_int>,
        alloc_parent_domain: Option<
            unsafe extern "C" fn(*mut ibv_context, *mut ibv_parent_domain_init_attr) -> *mut ibv_pd,
        >,
        dealloc_td: Option<unsafe extern "C" fn(*mut ibv_td) -> c_int>,
        alloc_td: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_td_init_attr) -> *mut ibv_td>,
        modify_cq: Option<unsafe extern "C" fn(*mut ibv_cq, *mut ibv_modify_cq_attr) -> c_int>,
        post_srq_ops: Option<unsafe extern "C" fn(*mut ibv_srq, *mut ibv_ops_wr, *mut *mut ibv_ops_wr) -> c_int>,
        destroy_rwq_ind_table: Option<unsafe extern "C" fn(*mut ibv_rwq_ind_table) -> c_int>,
        create_rwq_ind_table: Option<
            unsafe extern "C" fn(*mut ibv_context, *mut ibv_rwq_ind_table_init_attr) -> *mut ibv_rwq_ind_table,
        >,
        destroy_wq: Option<unsafe extern "C" fn(*mut ibv_wq) -> c_int>,
        modify_wq: Option<unsafe extern "C" fn(*mut ibv_wq, *mut ibv_wq_attr) -> c_int>,
        create_wq: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_wq_init_attr) -> *mut ibv_wq>,
        query_rt_values: Uncalled,
        create_cq_ex: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex>,
        r#priv: *mut c_void,
        query_device_ex: Option<
            unsafe extern "C" fn(
                *mut ibv_context, *const ibv_query_device_ex_input, *mut ibv_device_attr_ex, usize,
            ) -> c_int,
        >,
        ibv_destroy_flow: Option<unsafe extern "C" fn(*mut ibv_flow) -> c_int>,
        placeholder2 as "ABI_placeholder2": Uncalled,
        ibv_create_flow: Option<unsafe extern "C" fn(*mut ibv_qp, *mut ibv_flow_attr) -> *mut ibv_flow>,
        placeholder1 as "ABI_placeholder1": Uncalled,
        open_qp: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_qp_open_attr) -> *mut ibv_qp>,
        create_qp_ex: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_qp_init_attr_ex) -> *mut ibv_qp>,
        get_srq_num: Uncalled,
        create_srq_ex: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_srq_init_attr_ex) -> *mut ibv_srq>,
        open_xrcd: Option<unsafe extern "C" fn(*mut ibv_context, *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd>,
        close_xrcd: Option<unsafe extern "C" fn(*mut ibv_xrcd) -> c_int>,
        placeholder3 as "_ABI_placeholder3": u64,
        sz: usize,
        context: ibv_context,
    }

    /// What a device can do.
    struct ibv_device_attr {
        fw_ver: [c_char; 64],
        node_guid: u64,
        sys_image_guid: u64,
        max_mr_size: u64,
        page_size_cap: u64,
        vendor_id: u32,
        vendor_part_id: u32,
        hw_ver: u32,
        max_qp: c_int,
        max_qp_wr: c_int,
        device_cap_flags: u32,
        max_sge: c_int,
        max_sge_rd: c_int,
        max_cq: c_int,
        max_cqe: c_int,
        max_mr: c_int,
        max_pd: c_int,
        max_qp_rd_atom: c_int,
        max_ee_rd_atom: c_int,
        max_res_rd_atom: c_int,
        max_qp_init_rd_atom: c_int,
        max_ee_init_rd_atom: c_int,
        atomic_cap: ibv_atomic_cap,
        max_ee: c_int,
        max_rdd: c_int,
        max_mw: c_int,
        max_raw_ipv6_qp: c_int,
        max_raw_ethy_qp: c_int,
        max_mcast_grp: c_int,
        max_mcast_qp_attach: c_int,
        max_total_mcast_qp_attach: c_int,
        max_ah: c_int,
        max_fmr: c_int,
        max_map_per_fmr: c_int,
        max_srq: c_int,
        max_srq_wr: c_int,
        max_srq_sge: c_int,
        max_pkeys: u16,
        local_ca_ack_delay: u8,
        phys_port_cnt: u8,
    }

    /// What a device can do, with the parts of later releases.
    struct ibv_device_attr_ex {
        orig_attr: ibv_device_attr,
        comp_mask: u32,
        odp_caps: ibv_odp_caps,
        completion_timestamp_mask: u64,
        hca_core_clock: u64,
        device_cap_flags_ex: u64,
        tso_caps: ibv_tso_caps,
        rss_caps: ibv_rss_caps,
        max_wq_type_rq: u32,
        packet_pacing_caps: ibv_packet_pacing_caps,
        raw_packet_caps: u32,
        tm_caps: ibv_tm_caps,
        cq_mod_caps: ibv_cq_moderation_caps,
        max_dm_size: u64,
        pci_atomic_caps: ibv_pci_atomic_caps,
        xrc_odp_caps: u32,
        phys_port_cnt_ex: u32,
    }

    /// On-demand paging.
    struct ibv_odp_caps {
        general_caps: u64,
        per_transport_caps: ibv_odp_transport_caps,
    }

    /// On-demand paging, for each transport.
    struct ibv_odp_transport_caps {
        rc_odp_caps: u32,
        uc_odp_caps: u32,
        ud_odp_caps: u32,
    }

    /// Segmentation of large sends.
    struct ibv_tso_caps {
        max_tso: u32,
        supported_qpts: u32,
    }

    /// Receive hashing.
    struct ibv_rss_caps {
        supported_qpts: u32,
        max_rwq_indirection_tables: u32,
        max_rwq_indirection_table_size: u32,
        rx_hash_fields_mask: u64,
        rx_hash_function: u8,
    }

    /// Rates of queue pairs, in kbit/s.
    struct ibv_packet_pacing_caps {
        qp_rate_limit_min: u32,
        qp_rate_limit_max: u32,
        supported_qpts: u32,
    }

    /// Tag matching.
    struct ibv_tm_caps {
        max_rndv_hdr_size: u32,
        max_num_tags: u32,
        flags: u32,
        max_ops: u32,
        max_sge: u32,
    }

    /// Moderation of completion events.
    struct ibv_cq_moderation_caps {
        max_cq_count: u16,
        max_cq_period: u16,
    }

    /// Atomic operations on PCI.
    struct ibv_pci_atomic_caps {
        fetch_add: u16,
        swap: u16,
        compare_swap: u16,
    }

    /// The input of `ibv_query_device_ex`, which has no field that means anything.
    struct ibv_query_device_ex_input {
        comp_mask: u32,
    }

    /// State and limits of a port.
    struct ibv_port_attr {
        state: ibv_port_state,
        max_mtu: ibv_mtu,
        active_mtu: ibv_mtu,
        gid_tbl_len: c_int,
        port_cap_flags: u32,
        max_msg_sz: u32,
        bad_pkey_cntr: u32,
        qkey_viol_cntr: u32,
        pkey_tbl_len: u16,
        lid: u16,
        sm_lid: u16,
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
        port_cap_flags2: u16,
    }

    /// A GID: 16 bytes, big endian.
    union ibv_gid {
        raw: [u8; 16],
        global: ibv_gid_global,
    }

    /// The two halves of a GID.
    struct ibv_gid_global {
        subnet_prefix: u64,
        interface_id: u64,
    }

    /// An entry of a port's table of GIDs.
    struct ibv_gid_entry {
        gid: ibv_gid,
        gid_index: u32,
        port_num: u32,
        gid_type: u32,
        ndev_ifindex: u32,
    }

    /// The route through a GRH.
    struct ibv_global_route {
        dgid: ibv_gid,
        flow_label: u32,
        sgid_index: u8,
        hop_limit: u8,
        traffic_class: u8,
    }

    /// A GRH, as it lies in front of a datagram.
    struct ibv_grh {
        version_tclass_flow: u32,
        paylen: u16,
        next_hdr: u8,
        hop_limit: u8,
        sgid: ibv_gid,
        dgid: ibv_gid,
    }

    /// The attributes of an address.
    struct ibv_ah_attr {
        grh: ibv_global_route,
        dlid: u16,
        sl: u8,
        src_path_bits: u8,
        static_rate: u8,
        is_global: u8,
        port_num: u8,
    }

    /// An address handle.
    struct ibv_ah {
        context: *mut ibv_context,
        pd: *mut ibv_pd,
        handle: u32,
    }

    /// A protection domain.
    struct ibv_pd {
        context: *mut ibv_context,
        handle: u32,
    }

    /// Options that the ends of a connection negotiate.
    struct ibv_ece {
        vendor_id: u32,
        options: u32,
        comp_mask: u32,
    }

    /// A thread domain.
    struct ibv_td {
        context: *mut ibv_context,
    }

    /// The attributes of a thread domain: none.
    struct ibv_td_init_attr {
        comp_mask: u32,
    }

    /// The attributes of a parent domain.
    struct ibv_parent_domain_init_attr {
        pd: *mut ibv_pd,
        td: *mut ibv_td,
        comp_mask: u32,
        alloc: Option<unsafe extern "C" fn(*mut ibv_pd, *mut c_void, usize, usize, u64) -> *mut c_void>,
        free: Option<unsafe extern "C" fn(*mut ibv_pd, *mut c_void, *mut c_void, u64)>,
        pd_context: *mut c_void,
    }

    /// A domain of XRC.
    struct ibv_xrcd {
        context: *mut ibv_context,
    }

    /// The attributes of a domain of XRC.
    struct ibv_xrcd_init_attr {
        comp_mask: u32,
        fd: c_int,
        oflags: c_int,
    }

    /// A memory region.
    struct ibv_mr {
        context: *mut ibv_context,
        pd: *mut ibv_pd,
        addr: *mut c_void,
        length: usize,
        handle: u32,
        lkey: u32,
        rkey: u32,
    }

    /// A memory window.
    struct ibv_mw {
        context: *mut ibv_context,
        pd: *mut ibv_pd,
        rkey: u32,
        handle: u32,
        r#type: ibv_mw_type,
    }

    /// What a memory window is bound to.
    struct ibv_mw_bind_info {
        mr: *mut ibv_mr,
        addr: u64,
        length: u64,
        mw_access_flags: u32,
    }

    /// Memory of the device.
    struct ibv_dm {
        context: *mut ibv_context,
        memcpy_to_dm: Option<unsafe extern "C" fn(*mut ibv_dm, u64, *const c_void, usize) -> c_int>,
        memcpy_from_dm: Option<unsafe extern "C" fn(*mut c_void, *mut ibv_dm, u64, usize) -> c_int>,
        comp_mask: u32,
        handle: u32,
    }

    /// The attributes of memory of the device.
    struct ibv_alloc_dm_attr {
        length: usize,
        log_align_req: u32,
        comp_mask: u32,
    }

    /// A piece of memory.
    struct ibv_sge {
        addr: u64,
        length: u32,
        lkey: u32,
    }

    /// A piece of memory for inline data.
    struct ibv_data_buf {
        addr: *mut c_void,
        length: usize,
    }

    /// A channel for completion events.
    struct ibv_comp_channel {
        context: *mut ibv_context,
        fd: c_int,
        refcnt: c_int,
    }

    /// A completion queue.
    struct ibv_cq {
        context: *mut ibv_context,
        channel: *mut ibv_comp_channel,
        cq_context: *mut c_void,
        handle: u32,
        cqe: c_int,
        mutex: libc::pthread_mutex_t,
        cond: libc::pthread_cond_t,
        comp_events_completed: u32,
        async_events_completed: u32,
    }

    /// A completion queue that is read field by field.
    struct ibv_cq_ex {
        context: *mut ibv_context,
        channel: *mut ibv_comp_channel,
        cq_context: *mut c_void,
        handle: u32,
        cqe: c_int,
        mutex: libc::pthread_mutex_t,
        cond: libc::pthread_cond_t,
        comp_events_completed: u32,
        async_events_completed: u32,
        comp_mask: u32,
        status: ibv_wc_status,
        wr_id: u64,
        start_poll: Option<unsafe extern "C" fn(*mut ibv_cq_ex, *mut ibv_poll_cq_attr) -> c_int>,
        next_poll: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> c_int>,
        end_poll: Option<unsafe extern "C" fn(*mut ibv_cq_ex)>,
        read_opcode: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> ibv_wc_opcode>,
        read_vendor_err: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_byte_len: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_imm_data: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_qp_num: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_src_qp: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_wc_flags: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_slid: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_sl: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u8>,
        read_dlid_path_bits: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u8>,
        read_completion_ts: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u64>,
        read_cvlan: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u16>,
        read_flow_tag: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u32>,
        read_tm_info: Option<unsafe extern "C" fn(*mut ibv_cq_ex, *mut ibv_wc_tm_info)>,
        read_completion_wallclock_ns: Option<unsafe extern "C" fn(*mut ibv_cq_ex) -> u64>,
    }

    /// The attributes of a completion queue.
    struct ibv_cq_init_attr_ex {
        cqe: u32,
        cq_context: *mut c_void,
        channel: *mut ibv_comp_channel,
        comp_vector: u32,
        wc_flags: u64,
        comp_mask: u32,
        flags: u32,
        parent_domain: *mut ibv_pd,
    }

    /// The input of `ibv_start_poll`: none.
    struct ibv_poll_cq_attr {
        comp_mask: u32,
    }

    /// When a completion queue raises its event.
    struct ibv_moderate_cq {
        cq_count: u16,
        cq_period: u16,
    }

    /// Changes to a completion queue.
    struct ibv_modify_cq_attr {
        attr_mask: u32,
        moderate: ibv_moderate_cq,
    }

    /// A completion.
    struct ibv_wc {
        wr_id: u64,
        status: ibv_wc_status,
        opcode: ibv_wc_opcode,
        vendor_err: u32,
        byte_len: u32,
        /// Immediate data, big endian; or the key that was invalidated (`invalidated_rkey`), in the CPU's order.
        imm_data: u32,
        qp_num: u32,
        src_qp: u32,
        wc_flags: u32,
        pkey_index: u16,
        slid: u16,
        sl: u8,
        dlid_path_bits: u8,
    }

    /// What a completion says about a tag.
    struct ibv_wc_tm_info {
        tag: u64,
        r#priv: u32,
    }

    /// A shared receive queue.
    struct ibv_srq {
        context: *mut ibv_context,
        srq_context: *mut c_void,
        pd: *mut ibv_pd,
        handle: u32,
        mutex: libc::pthread_mutex_t,
        cond: libc::pthread_cond_t,
        events_completed: u32,
    }

    /// The limits of a shared receive queue.
    struct ibv_srq_attr {
        max_wr: u32,
        max_sge: u32,
        srq_limit: u32,
    }

    /// The attributes of a new shared receive queue.
    struct ibv_srq_init_attr {
        srq_context: *mut c_void,
        attr: ibv_srq_attr,
    }

    /// The attributes of a new shared receive queue, with the parts of later releases.
    struct ibv_srq_init_attr_ex {
        srq_context: *mut c_void,
        attr: ibv_srq_attr,
        comp_mask: u32,
        srq_type: ibv_srq_type,
        pd: *mut ibv_pd,
        xrcd: *mut ibv_xrcd,
        cq: *mut ibv_cq,
        tm_cap: ibv_tm_cap,
    }

    /// The tags of a shared receive queue.
    struct ibv_tm_cap {
        max_num_tags: u32,
        max_ops: u32,
    }

    /// A queue pair.
    struct ibv_qp {
        context: *mut ibv_context,
        qp_context: *mut c_void,
        pd: *mut ibv_pd,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        handle: u32,
        qp_num: u32,
        state: ibv_qp_state,
        qp_type: ibv_qp_type,
        mutex: libc::pthread_mutex_t,
        cond: libc::pthread_cond_t,
        events_completed: u32,
    }

    /// A queue pair with functions that build one request each.
    struct ibv_qp_ex {
        qp_base: ibv_qp,
        comp_mask: u64,
        wr_id: u64,
        wr_flags: u32,
        wr_atomic_cmp_swp: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64, u64, u64)>,
        wr_atomic_fetch_add: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64, u64)>,
        wr_bind_mw: Option<unsafe extern "C" fn(*mut ibv_qp_ex, *mut ibv_mw, u32, *const ibv_mw_bind_info)>,
        wr_local_inv: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32)>,
        wr_rdma_read: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64)>,
        wr_rdma_write: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64)>,
        wr_rdma_write_imm: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64, u32)>,
        wr_send: Option<unsafe extern "C" fn(*mut ibv_qp_ex)>,
        wr_send_imm: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32)>,
        wr_send_inv: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32)>,
        wr_send_tso: Option<unsafe extern "C" fn(*mut ibv_qp_ex, *mut c_void, u16, u16)>,
        wr_set_ud_addr: Option<unsafe extern "C" fn(*mut ibv_qp_ex, *mut ibv_ah, u32, u32)>,
        wr_set_xrc_srqn: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32)>,
        wr_set_inline_data: Option<unsafe extern "C" fn(*mut ibv_qp_ex, *mut c_void, usize)>,
        wr_set_inline_data_list: Option<unsafe extern "C" fn(*mut ibv_qp_ex, usize, *const ibv_data_buf)>,
        wr_set_sge: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64, u32)>,
        wr_set_sge_list: Option<unsafe extern "C" fn(*mut ibv_qp_ex, usize, *const ibv_sge)>,
        wr_start: Option<unsafe extern "C" fn(*mut ibv_qp_ex)>,
        wr_complete: Option<unsafe extern "C" fn(*mut ibv_qp_ex) -> c_int>,
        wr_abort: Option<unsafe extern "C" fn(*mut ibv_qp_ex)>,
        wr_atomic_write: Option<unsafe extern "C" fn(*mut ibv_qp_ex, u32, u64, *const c_void)>,
    }

    /// The sizes of a queue pair.
    struct ibv_qp_cap {
        max_send_wr: u32,
        max_recv_wr: u32,
        max_send_sge: u32,
        max_recv_sge: u32,
        max_inline_data: u32,
    }

    /// The attributes of a queue pair that `ibv_modify_qp` sets.
    struct ibv_qp_attr {
        qp_state: ibv_qp_state,
        cur_qp_state: ibv_qp_state,
        path_mtu: ibv_mtu,
        path_mig_state: ibv_mig_state,
        qkey: u32,
        rq_psn: u32,
        sq_psn: u32,
        dest_qp_num: u32,
        qp_access_flags: u32,
        cap: ibv_qp_cap,
        ah_attr: ibv_ah_attr,
        alt_ah_attr: ibv_ah_attr,
        pkey_index: u16,
        alt_pkey_index: u16,
        en_sqd_async_notify: u8,
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
        rate_limit: u32,
    }

    /// The attributes of a new queue pair.
    struct ibv_qp_init_attr {
        qp_context: *mut c_void,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        cap: ibv_qp_cap,
        qp_type: ibv_qp_type,
        sq_sig_all: c_int,
    }

    /// The attributes of a new queue pair, with the parts of later releases.
    struct ibv_qp_init_attr_ex {
        qp_context: *mut c_void,
        send_cq: *mut ibv_cq,
        recv_cq: *mut ibv_cq,
        srq: *mut ibv_srq,
        cap: ibv_qp_cap,
        qp_type: ibv_qp_type,
        sq_sig_all: c_int,
        comp_mask: u32,
        pd: *mut ibv_pd,
        xrcd: *mut ibv_xrcd,
        create_flags: u32,
        max_tso_header: u16,
        rwq_ind_tbl: *mut ibv_rwq_ind_table,
        rx_hash_conf: ibv_rx_hash_conf,
        source_qpn: u32,
        send_ops_flags: u64,
    }

    /// Which queue pair of another process is opened.
    struct ibv_qp_open_attr {
        comp_mask: u32,
        qp_num: u32,
        xrcd: *mut ibv_xrcd,
        qp_context: *mut c_void,
        qp_type: ibv_qp_type,
    }

    /// The rate of a queue pair.
    struct ibv_qp_rate_limit_attr {
        rate_limit: u32,
        max_burst_sz: u32,
        typical_pkt_sz: u16,
        comp_mask: u32,
    }

    /// How frames are spread over receive queues.
    struct ibv_rx_hash_conf {
        rx_hash_function: u8,
        rx_hash_key_len: u8,
        rx_hash_key: *mut u8,
        rx_hash_fields_mask: u64,
    }

    /// A receive.
    struct ibv_recv_wr {
        wr_id: u64,
        next: *mut ibv_recv_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
    }

    /// A request.
    struct ibv_send_wr {
        wr_id: u64,
        next: *mut ibv_send_wr,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
        opcode: ibv_wr_opcode,
        send_flags: u32,
        /// Immediate data, big endian; or the key to invalidate (`invalidate_rkey`), in the CPU's order.
        imm_data: u32,
        wr: ibv_send_wr_peer,
        qp_type: ibv_send_wr_qp_type,
        /// The part of its own opcodes: `bind_mw` or `tso`.
        own as "bind_mw": ibv_send_wr_own,
    }

    /// What a request says about the peer.
    union ibv_send_wr_peer {
        rdma: ibv_send_wr_rdma,
        atomic: ibv_send_wr_atomic,
        ud: ibv_send_wr_ud,
    }

    /// The peer's memory.
    struct ibv_send_wr_rdma {
        remote_addr: u64,
        rkey: u32,
    }

    /// The peer's eight bytes, and what is done with them.
    struct ibv_send_wr_atomic {
        remote_addr: u64,
        compare_add: u64,
        swap: u64,
        rkey: u32,
    }

    /// The receiver of a datagram.
    struct ibv_send_wr_ud {
        ah: *mut ibv_ah,
        remote_qpn: u32,
        remote_qkey: u32,
    }

    /// What a request says for XRC.
    struct ibv_send_wr_qp_type {
        remote_srqn as "xrc.remote_srqn": u32,
    }

    /// The parts that one opcode each has.
    union ibv_send_wr_own {
        bind_mw: ibv_send_wr_bind_mw,
        tso: ibv_send_wr_tso,
    }

    /// A memory window, and what it is bound to.
    struct ibv_send_wr_bind_mw {
        mw: *mut ibv_mw,
        rkey: u32,
        bind_info: ibv_mw_bind_info,
    }

    /// A large send: its headers, and the most bytes of a segment behind them.
    struct ibv_send_wr_tso {
        hdr: *mut c_void,
        hdr_sz: u16,
        mss: u16,
    }

    /// An operation on a list of tags.
    struct ibv_ops_wr {
        wr_id: u64,
        next: *mut ibv_ops_wr,
        opcode: ibv_ops_wr_opcode,
        flags: c_int,
        tm: ibv_ops_wr_tm,
    }

    /// The tag of an operation.
    struct ibv_ops_wr_tm {
        unexpected_cnt: u32,
        handle: u32,
        add: ibv_ops_wr_add,
    }

    /// The entry that an operation adds.
    struct ibv_ops_wr_add {
        recv_wr_id: u64,
        sg_list: *mut ibv_sge,
        num_sge: c_int,
        tag: u64,
        mask: u64,
    }

    /// A work queue.
    struct ibv_wq {
        context: *mut ibv_context,
        wq_context: *mut c_void,
        pd: *mut ibv_pd,
        cq: *mut ibv_cq,
        wq_num: u32,
        handle: u32,
        state: ibv_wq_state,
        wq_type: ibv_wq_type,
        post_recv: Option<unsafe extern "C" fn(*mut ibv_wq, *mut ibv_recv_wr, *mut *mut ibv_recv_wr) -> c_int>,
        mutex: libc::pthread_mutex_t,
        cond: libc::pthread_cond_t,
        events_completed: u32,
        comp_mask: u32,
    }

    /// The attributes of a new work queue.
    struct ibv_wq_init_attr {
        wq_context: *mut c_void,
        wq_type: ibv_wq_type,
        max_wr: u32,
        max_sge: u32,
        pd: *mut ibv_pd,
        cq: *mut ibv_cq,
        comp_mask: u32,
        create_flags: u32,
    }

    /// Changes to a work queue.
    struct ibv_wq_attr {
        attr_mask: u32,
        wq_state: ibv_wq_state,
        curr_wq_state: ibv_wq_state,
        flags: u32,
        flags_mask: u32,
    }

    /// A table of receive queues.
    struct ibv_rwq_ind_table {
        context: *mut ibv_context,
        ind_tbl_handle: c_int,
        ind_tbl_num: c_int,
        comp_mask: u32,
    }

    /// The attributes of a table of receive queues.
    struct ibv_rwq_ind_table_init_attr {
        log_ind_tbl_size: u32,
        ind_tbl: *mut *mut ibv_wq,
        comp_mask: u32,
    }

    /// A rule for frames.
    struct ibv_flow {
        comp_mask: u32,
        context: *mut ibv_context,
        handle: u32,
    }

    /// The attributes of a rule. Its specifications follow it.
    struct ibv_flow_attr {
        comp_mask: u32,
        r#type: ibv_flow_attr_type,
        size: u16,
        priority: u16,
        num_of_specs: u8,
        port: u8,
        flags: u32,
    }

    /// Fields of an Ethernet header.
    struct ibv_flow_eth_filter {
        dst_mac: [u8; 6],
        src_mac: [u8; 6],
        ether_type: u16,
        vlan_tag: u16,
    }

    /// A specification: an Ethernet header.
    struct ibv_flow_spec_eth {
        r#type: ibv_flow_spec_type,
        size: u16,
        val: ibv_flow_eth_filter,
        mask: ibv_flow_eth_filter,
    }

    /// Fields of an IPv4 header.
    struct ibv_flow_ipv4_ext_filter {
        src_ip: u32,
        dst_ip: u32,
        proto: u8,
        tos: u8,
        ttl: u8,
        flags: u8,
    }

    /// A specification: an IPv4 header.
    struct ibv_flow_spec_ipv4_ext {
        r#type: ibv_flow_spec_type,
        size: u16,
        val: ibv_flow_ipv4_ext_filter,
        mask: ibv_flow_ipv4_ext_filter,
    }

    /// Fields of an IPv6 header.
    struct ibv_flow_ipv6_filter {
        src_ip: [u8; 16],
        dst_ip: [u8; 16],
        flow_label: u32,
        next_hdr: u8,
        traffic_class: u8,
        hop_limit: u8,
    }

    /// A specification: an IPv6 header.
    struct ibv_flow_spec_ipv6 {
        r#type: ibv_flow_spec_type,
        size: u16,
        val: ibv_flow_ipv6_filter,
        mask: ibv_flow_ipv6_filter,
    }

    /// Ports of TCP or UDP.
    struct ibv_flow_tcp_udp_filter {
        dst_port: u16,
        src_port: u16,
    }

    /// A specification: ports.
    struct ibv_flow_spec_tcp_udp {
        r#type: ibv_flow_spec_type,
        size: u16,
        val: ibv_flow_tcp_udp_filter,
        mask: ibv_flow_tcp_udp_filter,
    }

    /// A specification: the tag of the frame's completion.
    struct ibv_flow_spec_action_tag {
        r#type: ibv_flow_spec_type,
        size: u16,
        tag_id: u32,
    }

    /// A specification: the frame is dropped.
    struct ibv_flow_spec_action_drop {
        r#type: ibv_flow_spec_type,
        size: u16,
    }

    /// A specification: the frame is counted.
    struct ibv_flow_spec_counter_action {
        r#type: ibv_flow_spec_type,
        size: u16,
        counters: *mut ibv_counters,
    }

    /// Counters of rules.
    struct ibv_counters {
        context: *mut ibv_context,
    }

    /// The attributes of counters: none.
    struct ibv_counters_init_attr {
        comp_mask: u32,
    }

    /// What a counter counts.
    struct ibv_counter_attach_attr {
        counter_desc: ibv_counter_description,
        index: u32,
        comp_mask: u32,
    }

    /// An asynchronous event.
    struct ibv_async_event {
        element: ibv_async_event_element,
        event_type: ibv_event_type,
    }

    /// The object of an event, or the port.
    union ibv_async_event_element {
        cq: *mut ibv_cq,
        qp: *mut ibv_qp,
        srq: *mut ibv_srq,
        wq: *mut ibv_wq,
        port_num: c_int,
    }
}
