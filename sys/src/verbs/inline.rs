//! The functions that rdma-core's `libibverbs/verbs.h` has as inline functions: they call what the object's context, or
//! the object itself, points to. They need no symbol of a library.

use core::ffi::{c_int, c_void};

use super::enumerations::*;
use super::functions::{_ibv_query_gid_ex, ibv_create_qp, ibv_create_srq};
use super::types::*;
use crate::errno::set_errno;

/// The value that an allocator of a parent domain returns to leave the memory to the library.
pub const IBV_ALLOCATOR_USE_DEFAULT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);

/// The context's extended part, which lies around it (`verbs_get_ctx` of `verbs.h`).
///
/// # Safety
/// `context` is open.
unsafe fn extended(context: *mut ibv_context) -> Option<*mut verbs_context> {
    // SAFETY: the caller promises an open context, which is written once.
    let abi_compat = unsafe { (*context).abi_compat };
    // `__VERBS_ABI_IS_EXTENDED`.
    if abi_compat.addr() != usize::MAX {
        return None;
    }
    Some(context.cast::<u8>().wrapping_sub(core::mem::offset_of!(verbs_context, context)).cast())
}

/// Null with `errno` = `EOPNOTSUPP`, for an operation that a provider lacks.
fn not_supported<T>() -> *mut T {
    set_errno(libc::EOPNOTSUPP);
    core::ptr::null_mut()
}

/// Declares functions that call a member of the extended context, if the library's is long enough to have it
/// (`verbs_get_ctx_op`).
macro_rules! extended_functions {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty, else $absent:expr;
        $context:expr => $member:ident($($passed:expr),*);)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The objects that are given, and those that the attributes name, are alive and of one open context. A new
        /// object is destroyed before them. Nothing uses an object after its destruction. Attributes are valid.
        $vis unsafe fn $name($($arg: $type),*) -> $result {
            // SAFETY: the caller promises live objects and an open context. `sz` is always there, and counts what the
            // library knows from the end of the structure backwards: a member before that is not read. The arguments
            // are those that the caller promises for this function.
            unsafe {
                let member = extended($context).and_then(|extended| {
                    let needed = size_of::<verbs_context>() - core::mem::offset_of!(verbs_context, $member);
                    if (*extended).sz < needed { None } else { (*extended).$member }
                });
                match member {
                    Some(member) => member($($passed),*),
                    None => $absent,
                }
            }
        }
    )*};
}

extended_functions! {
    /// Queries a device. Returns 0 or an errno: `EOPNOTSUPP` without this operation, where `verbs.h` calls
    /// [`ibv_query_device`](super::ibv_query_device).
    pub fn ibv_query_device_ex(
        context: *mut ibv_context, input: *const ibv_query_device_ex_input, attr: *mut ibv_device_attr_ex,
    ) -> c_int, else libc::EOPNOTSUPP;
        context => query_device_ex(context, input, attr, size_of::<ibv_device_attr_ex>());
    /// Queries a port. Returns 0 or an errno: `EOPNOTSUPP` without this operation, where `verbs.h` calls a function for
    /// shorter attributes.
    pub fn ibv_query_port(context: *mut ibv_context, port_num: u8, attr: *mut ibv_port_attr) -> c_int,
        else libc::EOPNOTSUPP;
        context => query_port(context, port_num, attr, size_of::<ibv_port_attr>());
    /// Makes a thread domain, which in libmlx5 is a doorbell register of its own. Null and `errno` on failure.
    pub fn ibv_alloc_td(context: *mut ibv_context, attr: *mut ibv_td_init_attr) -> *mut ibv_td, else not_supported();
        context => alloc_td(context, attr);
    /// Destroys a thread domain. Returns 0 or an errno.
    pub fn ibv_dealloc_td(td: *mut ibv_td) -> c_int, else libc::EOPNOTSUPP;
        (*td).context => dealloc_td(td);
    /// Makes a parent domain. [`ibv_dealloc_pd`](super::ibv_dealloc_pd) frees it. Its allocators and their context
    /// outlive it. Null and `errno` on failure.
    pub fn ibv_alloc_parent_domain(
        context: *mut ibv_context, attr: *mut ibv_parent_domain_init_attr,
    ) -> *mut ibv_pd, else not_supported();
        context => alloc_parent_domain(context, attr);
    /// Opens a domain of XRC. Null and `errno` on failure.
    pub fn ibv_open_xrcd(context: *mut ibv_context, attr: *mut ibv_xrcd_init_attr) -> *mut ibv_xrcd,
        else not_supported();
        context => open_xrcd(context, attr);
    /// Closes it. Returns 0 or an errno.
    pub fn ibv_close_xrcd(xrcd: *mut ibv_xrcd) -> c_int, else libc::EOPNOTSUPP;
        (*xrcd).context => close_xrcd(xrcd);
    /// Gives advice about memory regions. Returns 0 or an errno.
    pub fn ibv_advise_mr(
        pd: *mut ibv_pd, advice: ibv_advise_mr_advice, flags: u32, sg_list: *mut ibv_sge, num_sge: u32,
    ) -> c_int, else libc::EOPNOTSUPP;
        (*pd).context => advise_mr(pd, advice, flags, sg_list, num_sge);
    /// Makes a region that dumps what is written, and reads as zeros. Null and `errno` on failure.
    pub fn ibv_alloc_null_mr(pd: *mut ibv_pd) -> *mut ibv_mr, else not_supported();
        (*pd).context => alloc_null_mr(pd);
    /// Allocates memory of the device. Null and `errno` on failure.
    pub fn ibv_alloc_dm(context: *mut ibv_context, attr: *mut ibv_alloc_dm_attr) -> *mut ibv_dm, else not_supported();
        context => alloc_dm(context, attr);
    /// Frees it. Returns 0 or an errno.
    pub fn ibv_free_dm(dm: *mut ibv_dm) -> c_int, else libc::EOPNOTSUPP;
        (*dm).context => free_dm(dm);
    /// Registers memory of the device. Null and `errno` on failure.
    pub fn ibv_reg_dm_mr(
        pd: *mut ibv_pd, dm: *mut ibv_dm, dm_offset: u64, length: usize, access: u32,
    ) -> *mut ibv_mr, else not_supported();
        (*pd).context => reg_dm_mr(pd, dm, dm_offset, length, access);
    /// Makes a completion queue that is read field by field. Null and `errno` on failure.
    pub fn ibv_create_cq_ex(context: *mut ibv_context, attr: *mut ibv_cq_init_attr_ex) -> *mut ibv_cq_ex,
        else not_supported();
        context => create_cq_ex(context, attr);
    /// Changes a completion queue. Returns 0 or an errno.
    pub fn ibv_modify_cq(cq: *mut ibv_cq, attr: *mut ibv_modify_cq_attr) -> c_int, else libc::EOPNOTSUPP;
        (*cq).context => modify_cq(cq, attr);
    /// Makes a shared receive queue with attributes that [`ibv_create_srq`](super::ibv_create_srq) has not.
    fn create_srq_ex(context: *mut ibv_context, attr: *mut ibv_srq_init_attr_ex) -> *mut ibv_srq,
        else not_supported();
        context => create_srq_ex(context, attr);
    /// Changes the list of tags. Returns 0, or an errno and the operation that failed.
    pub fn ibv_post_srq_ops(srq: *mut ibv_srq, op: *mut ibv_ops_wr, bad_op: *mut *mut ibv_ops_wr) -> c_int,
        else { *bad_op = op; libc::EOPNOTSUPP };
        (*srq).context => post_srq_ops(srq, op, bad_op);
    /// Makes a queue pair with attributes that [`ibv_create_qp`](super::ibv_create_qp) has not.
    fn create_qp_ex(context: *mut ibv_context, attr: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp,
        else not_supported();
        context => create_qp_ex(context, attr);
    /// Opens a queue pair of another process. Null and `errno` on failure.
    pub fn ibv_open_qp(context: *mut ibv_context, attr: *mut ibv_qp_open_attr) -> *mut ibv_qp, else not_supported();
        context => open_qp(context, attr);
    /// Sets the rate of a queue pair. Returns 0 or an errno.
    pub fn ibv_modify_qp_rate_limit(qp: *mut ibv_qp, attr: *mut ibv_qp_rate_limit_attr) -> c_int,
        else libc::EOPNOTSUPP;
        (*qp).context => modify_qp_rate_limit(qp, attr);
    /// Makes a rule for frames. The attributes are followed by their specifications, `size` bytes in all. Null and
    /// `errno` on failure.
    pub fn ibv_create_flow(qp: *mut ibv_qp, attr: *mut ibv_flow_attr) -> *mut ibv_flow, else not_supported();
        (*qp).context => ibv_create_flow(qp, attr);
    /// Destroys a rule. Returns 0 or an errno.
    pub fn ibv_destroy_flow(flow: *mut ibv_flow) -> c_int, else libc::EOPNOTSUPP;
        (*flow).context => ibv_destroy_flow(flow);
    /// Makes counters. Null and `errno` on failure.
    pub fn ibv_create_counters(context: *mut ibv_context, attr: *mut ibv_counters_init_attr) -> *mut ibv_counters,
        else not_supported();
        context => create_counters(context, attr);
    /// Says what a counter counts. `flow` may be null. Returns 0 or an errno.
    pub fn ibv_attach_counters_point_flow(
        counters: *mut ibv_counters, attr: *mut ibv_counter_attach_attr, flow: *mut ibv_flow,
    ) -> c_int, else libc::EOPNOTSUPP;
        (*counters).context => attach_counters_point_flow(counters, attr, flow);
    /// Reads `ncounters` counters. Returns 0 or an errno.
    pub fn ibv_read_counters(counters: *mut ibv_counters, values: *mut u64, ncounters: u32, flags: u32) -> c_int,
        else libc::EOPNOTSUPP;
        (*counters).context => read_counters(counters, values, ncounters, flags);
    /// Destroys counters. Returns 0 or an errno.
    pub fn ibv_destroy_counters(counters: *mut ibv_counters) -> c_int, else libc::EOPNOTSUPP;
        (*counters).context => destroy_counters(counters);
    /// Changes a work queue. Returns 0, or an errno, which libmlx5 negates for a state that the queue is not in.
    pub fn ibv_modify_wq(wq: *mut ibv_wq, attr: *mut ibv_wq_attr) -> c_int, else libc::EOPNOTSUPP;
        (*wq).context => modify_wq(wq, attr);
    /// Destroys a work queue. Returns 0 or an errno.
    pub fn ibv_destroy_wq(wq: *mut ibv_wq) -> c_int, else libc::EOPNOTSUPP;
        (*wq).context => destroy_wq(wq);
    /// Makes a table of `2^log_ind_tbl_size` receive queues. Null and `errno` on failure.
    pub fn ibv_create_rwq_ind_table(
        context: *mut ibv_context, attr: *mut ibv_rwq_ind_table_init_attr,
    ) -> *mut ibv_rwq_ind_table, else not_supported();
        context => create_rwq_ind_table(context, attr);
    /// Destroys a table of receive queues. Returns 0 or an errno.
    pub fn ibv_destroy_rwq_ind_table(table: *mut ibv_rwq_ind_table) -> c_int, else libc::EOPNOTSUPP;
        (*table).context => destroy_rwq_ind_table(table);
    /// Makes a work queue, whose fields [`begin_wq`] sets up.
    fn create_wq(context: *mut ibv_context, attr: *mut ibv_wq_init_attr) -> *mut ibv_wq, else not_supported();
        context => create_wq(context, attr);
}

/// Makes a shared receive queue: a basic one as [`ibv_create_srq`] does. Null and `errno` on failure.
///
/// # Safety
/// `context` is open. The objects that `attr` names are alive, of this context, and outlive the queue.
pub unsafe fn ibv_create_srq_ex(context: *mut ibv_context, attr: *mut ibv_srq_init_attr_ex) -> *mut ibv_srq {
    // SAFETY: the caller promises what both functions ask for. The attributes begin with those of the plain function.
    unsafe {
        let (mask, kind) = ((*attr).comp_mask, (*attr).srq_type);
        let basic = mask & IBV_SRQ_INIT_ATTR_TYPE == 0 || kind == IBV_SRQT_BASIC;
        if mask | IBV_SRQ_INIT_ATTR_TYPE == IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE && basic {
            return ibv_create_srq((*attr).pd, attr.cast());
        }
        create_srq_ex(context, attr)
    }
}

/// Makes a queue pair: one with a domain alone as [`ibv_create_qp`] does. Null and `errno` on failure.
///
/// # Safety
/// `context` is open. The objects that `attr` names are alive, of this context, and outlive the queue pair.
pub unsafe fn ibv_create_qp_ex(context: *mut ibv_context, attr: *mut ibv_qp_init_attr_ex) -> *mut ibv_qp {
    // SAFETY: the caller promises what both functions ask for. The attributes begin with those of the plain function.
    unsafe {
        if (*attr).comp_mask == IBV_QP_INIT_ATTR_PD {
            return ibv_create_qp((*attr).pd, attr.cast());
        }
        create_qp_ex(context, attr)
    }
}

/// An entry of a port's table of GIDs. Returns 0 or an errno: `ENODATA` for an empty entry.
///
/// # Safety
/// `context` is open; `entry` is valid for writes.
pub unsafe fn ibv_query_gid_ex(
    context: *mut ibv_context,
    port_num: u32,
    gid_index: u32,
    entry: *mut ibv_gid_entry,
    flags: u32,
) -> c_int {
    // SAFETY: the caller promises an open context and a valid entry, whose size this is.
    unsafe { _ibv_query_gid_ex(context, port_num, gid_index, entry, flags, size_of::<ibv_gid_entry>()) }
}

/// Makes a memory window. Null and `errno` on failure.
///
/// # Safety
/// `pd` is alive, and outlives the window.
pub unsafe fn ibv_alloc_mw(pd: *mut ibv_pd, r#type: ibv_mw_type) -> *mut ibv_mw {
    // SAFETY: the caller promises a live domain, whose context is open.
    unsafe {
        match (*(*pd).context).ops.alloc_mw {
            Some(alloc_mw) => alloc_mw(pd, r#type),
            None => not_supported(),
        }
    }
}

/// Makes a receive queue of frames. Null and `errno` on failure.
///
/// # Safety
/// `context` is open. The objects that `attr` names are alive, of this context, and outlive the queue.
pub unsafe fn ibv_create_wq(context: *mut ibv_context, attr: *mut ibv_wq_init_attr) -> *mut ibv_wq {
    // SAFETY: the caller promises what both ask for; the queue is new.
    unsafe { begin_wq(create_wq(context, attr), attr) }
}

/// Sets up the fields that a new queue leaves to its maker (`ibv_create_wq` of `verbs.h`).
///
/// # Safety
/// `wq` is null, or was just made with `attr`.
pub unsafe fn begin_wq(wq: *mut ibv_wq, attr: *const ibv_wq_init_attr) -> *mut ibv_wq {
    if !wq.is_null() {
        // SAFETY: just made; its mutex and its condition are the caller's to set up.
        unsafe {
            ((*wq).wq_context, (*wq).events_completed) = ((*attr).wq_context, 0);
            libc::pthread_mutex_init(&raw mut (*wq).mutex, core::ptr::null());
            libc::pthread_cond_init(&raw mut (*wq).cond, core::ptr::null());
        }
    }
    wq
}

/// Declares functions that call a member which each object of the kind has.
macro_rules! member_functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)?;
        $members:expr => $member:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The objects are alive, and the first was made with this function (`send_ops_flags`, `wc_flags`). Lists,
        /// requests and memory are valid as `verbs.h` and ibv_wr_post(3) say.
        #[inline]
        pub unsafe fn $name($($arg: $type),*) $(-> $result)? {
            // SAFETY: the caller promises a live object that has the function, and arguments for it.
            unsafe { $members.$member.unwrap_unchecked()($($arg),*) }
        }
    )*};
}

member_functions! {
    /// Frees a memory window. Returns 0 or an errno.
    fn ibv_dealloc_mw(mw: *mut ibv_mw) -> c_int;
        (*(*mw).context).ops => dealloc_mw;
    /// Takes completions. Returns their number, or a negative number.
    fn ibv_poll_cq(cq: *mut ibv_cq, num_entries: c_int, wc: *mut ibv_wc) -> c_int;
        (*(*cq).context).ops => poll_cq;
    /// Asks for an event at the next completion. Returns 0 or an errno.
    fn ibv_req_notify_cq(cq: *mut ibv_cq, solicited_only: c_int) -> c_int;
        (*(*cq).context).ops => req_notify_cq;
    /// Posts receives. Returns 0, or an errno and the receive that failed.
    fn ibv_post_srq_recv(srq: *mut ibv_srq, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int;
        (*(*srq).context).ops => post_srq_recv;
    /// Posts requests. Returns 0, or an errno and the request that failed.
    fn ibv_post_send(qp: *mut ibv_qp, wr: *mut ibv_send_wr, bad_wr: *mut *mut ibv_send_wr) -> c_int;
        (*(*qp).context).ops => post_send;
    /// Posts receives. Returns 0, or an errno and the receive that failed.
    fn ibv_post_recv(qp: *mut ibv_qp, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int;
        (*(*qp).context).ops => post_recv;
    /// Posts receives. Returns 0, or an errno and the receive that failed.
    fn ibv_post_wq_recv(wq: *mut ibv_wq, wr: *mut ibv_recv_wr, bad_wr: *mut *mut ibv_recv_wr) -> c_int;
        (*wq) => post_recv;
    /// Copies to memory of the device. Returns 0 or an errno.
    fn ibv_memcpy_to_dm(dm: *mut ibv_dm, dm_offset: u64, host_addr: *const c_void, length: usize) -> c_int;
        (*dm) => memcpy_to_dm;

    /// Begins requests.
    fn ibv_wr_start(qp: *mut ibv_qp_ex);
        (*qp) => wr_start;
    /// Posts the requests since [`ibv_wr_start`]. Returns 0 or an errno.
    fn ibv_wr_complete(qp: *mut ibv_qp_ex) -> c_int;
        (*qp) => wr_complete;
    /// Drops the requests since [`ibv_wr_start`].
    fn ibv_wr_abort(qp: *mut ibv_qp_ex);
        (*qp) => wr_abort;
    /// An atomic compare and swap.
    fn ibv_wr_atomic_cmp_swp(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, compare: u64, swap: u64);
        (*qp) => wr_atomic_cmp_swp;
    /// An atomic fetch and add.
    fn ibv_wr_atomic_fetch_add(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, add: u64);
        (*qp) => wr_atomic_fetch_add;
    /// Binds a memory window.
    fn ibv_wr_bind_mw(qp: *mut ibv_qp_ex, mw: *mut ibv_mw, rkey: u32, bind_info: *const ibv_mw_bind_info);
        (*qp) => wr_bind_mw;
    /// Invalidates a key of this side.
    fn ibv_wr_local_inv(qp: *mut ibv_qp_ex, invalidate_rkey: u32);
        (*qp) => wr_local_inv;
    /// A READ.
    fn ibv_wr_rdma_read(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64);
        (*qp) => wr_rdma_read;
    /// A WRITE.
    fn ibv_wr_rdma_write(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64);
        (*qp) => wr_rdma_write;
    /// A WRITE with immediate data, big endian.
    fn ibv_wr_rdma_write_imm(qp: *mut ibv_qp_ex, rkey: u32, remote_addr: u64, imm_data: u32);
        (*qp) => wr_rdma_write_imm;
    /// A SEND.
    fn ibv_wr_send(qp: *mut ibv_qp_ex);
        (*qp) => wr_send;
    /// A SEND with immediate data, big endian.
    fn ibv_wr_send_imm(qp: *mut ibv_qp_ex, imm_data: u32);
        (*qp) => wr_send_imm;
    /// A SEND that invalidates a key of the peer.
    fn ibv_wr_send_inv(qp: *mut ibv_qp_ex, invalidate_rkey: u32);
        (*qp) => wr_send_inv;
    /// A large send: `hdr_sz` bytes of headers, and segments of `mss` bytes at most.
    fn ibv_wr_send_tso(qp: *mut ibv_qp_ex, hdr: *mut c_void, hdr_sz: u16, mss: u16);
        (*qp) => wr_send_tso;
    /// The receiver of a datagram.
    fn ibv_wr_set_ud_addr(qp: *mut ibv_qp_ex, ah: *mut ibv_ah, remote_qpn: u32, remote_qkey: u32);
        (*qp) => wr_set_ud_addr;
    /// The receive queue of an XRC request.
    fn ibv_wr_set_xrc_srqn(qp: *mut ibv_qp_ex, remote_srqn: u32);
        (*qp) => wr_set_xrc_srqn;
    /// Inline data.
    fn ibv_wr_set_inline_data(qp: *mut ibv_qp_ex, addr: *mut c_void, length: usize);
        (*qp) => wr_set_inline_data;
    /// Inline data of several pieces.
    fn ibv_wr_set_inline_data_list(qp: *mut ibv_qp_ex, num_buf: usize, buf_list: *const ibv_data_buf);
        (*qp) => wr_set_inline_data_list;
    /// A piece of memory.
    fn ibv_wr_set_sge(qp: *mut ibv_qp_ex, lkey: u32, addr: u64, length: u32);
        (*qp) => wr_set_sge;
    /// Pieces of memory.
    fn ibv_wr_set_sge_list(qp: *mut ibv_qp_ex, num_sge: usize, sg_list: *const ibv_sge);
        (*qp) => wr_set_sge_list;

    /// Begins to read completions. Returns 0, or an errno: `ENOENT` if there is none.
    fn ibv_start_poll(cq: *mut ibv_cq_ex, attr: *mut ibv_poll_cq_attr) -> c_int;
        (*cq) => start_poll;
    /// Goes on to the next completion. Returns as [`ibv_start_poll`] does.
    fn ibv_next_poll(cq: *mut ibv_cq_ex) -> c_int;
        (*cq) => next_poll;
    /// Ends what [`ibv_start_poll`] began.
    fn ibv_end_poll(cq: *mut ibv_cq_ex);
        (*cq) => end_poll;
    /// The operation that completed.
    fn ibv_wc_read_opcode(cq: *mut ibv_cq_ex) -> ibv_wc_opcode;
        (*cq) => read_opcode;
    /// The device's own error number.
    fn ibv_wc_read_vendor_err(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_vendor_err;
    /// Bytes received.
    fn ibv_wc_read_byte_len(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_byte_len;
    /// Immediate data, big endian.
    fn ibv_wc_read_imm_data(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_imm_data;
    /// The number of the queue pair.
    fn ibv_wc_read_qp_num(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_qp_num;
    /// The number of the sender's queue pair.
    fn ibv_wc_read_src_qp(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_src_qp;
    /// [`ibv_wc_flags`].
    fn ibv_wc_read_wc_flags(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_wc_flags;
    /// The sender's LID.
    fn ibv_wc_read_slid(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_slid;
    /// The service level.
    fn ibv_wc_read_sl(cq: *mut ibv_cq_ex) -> u8;
        (*cq) => read_sl;
    /// The low bits of the receiver's LID.
    fn ibv_wc_read_dlid_path_bits(cq: *mut ibv_cq_ex) -> u8;
        (*cq) => read_dlid_path_bits;
    /// The device's time.
    fn ibv_wc_read_completion_ts(cq: *mut ibv_cq_ex) -> u64;
        (*cq) => read_completion_ts;
    /// The time of day, nanoseconds.
    fn ibv_wc_read_completion_wallclock_ns(cq: *mut ibv_cq_ex) -> u64;
        (*cq) => read_completion_wallclock_ns;
    /// The VLAN tag that was stripped.
    fn ibv_wc_read_cvlan(cq: *mut ibv_cq_ex) -> u16;
        (*cq) => read_cvlan;
    /// The tag of the rule.
    fn ibv_wc_read_flow_tag(cq: *mut ibv_cq_ex) -> u32;
        (*cq) => read_flow_tag;
    /// The tag of a message.
    fn ibv_wc_read_tm_info(cq: *mut ibv_cq_ex, tm_info: *mut ibv_wc_tm_info);
        (*cq) => read_tm_info;
}

/// The key that was invalidated, which shares its place with immediate data.
///
/// # Safety
/// As [`ibv_wc_read_imm_data`].
#[inline]
pub unsafe fn ibv_wc_read_invalidated_rkey(cq: *mut ibv_cq_ex) -> u32 {
    // SAFETY: what the caller promises. libmlx5 gives the CPU's order for this kind of completion.
    unsafe { ibv_wc_read_imm_data(cq) }
}

/// Copies from memory of the device. Returns 0 or an errno.
///
/// # Safety
/// As [`ibv_memcpy_to_dm`].
#[inline]
pub unsafe fn ibv_memcpy_from_dm(host_addr: *mut c_void, dm: *mut ibv_dm, dm_offset: u64, length: usize) -> c_int {
    // SAFETY: the caller promises live memory of a device that has the function, and valid memory of the host.
    unsafe { (*dm).memcpy_from_dm.unwrap_unchecked()(host_addr, dm, dm_offset, length) }
}

/// The key after `rkey`: the next of the 256 variants.
#[must_use]
pub const fn ibv_inc_rkey(rkey: u32) -> u32 {
    rkey & !0xff | (rkey.wrapping_add(1) & 0xff)
}

/// The completion queue as one that is polled whole.
#[must_use]
pub const fn ibv_cq_ex_to_cq(cq: *mut ibv_cq_ex) -> *mut ibv_cq {
    cq.cast()
}
