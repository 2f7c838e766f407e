//! Structures, constants and inline functions of `verbs.h`. Knows no library.

use core::ffi::{c_int, c_void};

use rdma_sys as sys;

/// An asynchronous event (`struct ibv_async_event` of `verbs.h`). rdma-sys declares the type as a Rust enumeration,
/// which must not hold the number of a later library's event.
#[repr(C)]
pub struct IbvAsyncEvent {
    /// The object that the event is of.
    pub element: sys::ibv_async_event_element_t,
    /// `enum ibv_event_type`.
    pub event_type: u32,
}

/// The value that an allocator returns to leave the memory to the library (`IBV_ALLOCATOR_USE_DEFAULT` of `verbs.h`).
pub const IBV_ALLOCATOR_USE_DEFAULT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);

unsafe extern "C" {
    /// One entry of a port's GID table (libibverbs exports it with the underscore; `verbs.h` wraps it to pass the
    /// entry's size). Returns 0 or an errno: `ENODATA` for an empty entry.
    #[link_name = "_ibv_query_gid_ex"]
    pub fn ibv_query_gid_ex(
        context: *mut sys::ibv_context,
        port_num: u32,
        gid_index: u32,
        entry: *mut sys::ibv_gid_entry,
        flags: u32,
        entry_size: usize,
    ) -> c_int;
}

/// The context's extended part, which lies around it (`verbs_get_ctx` of `verbs.h`).
///
/// rdma-sys 0.3 has this function and its users, but compares `abi_compat` with 2^32 - 1 in place of all ones, so it
/// never finds an extended context on 64-bit machines. Therefore this crate has its own functions.
///
/// # Safety
/// `ctx` is an open context.
pub(super) unsafe fn extended(ctx: *mut sys::ibv_context) -> Option<*mut sys::verbs_context> {
    // SAFETY: the caller vouches for `ctx`.
    let abi_compat = unsafe { (*ctx).abi_compat };
    if abi_compat as usize != usize::MAX {
        return None;
    }
    Some(ctx.cast::<u8>().wrapping_sub(core::mem::offset_of!(sys::verbs_context, context)).cast())
}

/// Reads a member of the extended context, if the library's context is long enough to have it.
macro_rules! extended_op {
    ($ctx:expr, $field:ident) => {
        // SAFETY: `$ctx` is open by the contract of the function this is used in; `sz` is always present, and counts
        // the bytes the library knows of from the structure's end backwards, so a member before them is not read.
        unsafe {
            extended($ctx).and_then(|ext| {
                let needed = size_of::<sys::verbs_context>() - core::mem::offset_of!(sys::verbs_context, $field);
                if (*ext).sz < needed { None } else { (*ext).$field }
            })
        }
    };
}

pub(super) use extended_op;

/// `ibv_query_port`. Returns 0 or an errno.
///
/// # Safety
/// `ctx` is an open context, `attr` valid for writes.
pub unsafe fn query_port(ctx: *mut sys::ibv_context, port: u8, attr: *mut sys::ibv_port_attr) -> c_int {
    match extended_op!(ctx, query_port) {
        // SAFETY: the caller vouches for both; the length is that of the structure.
        Some(op) => unsafe { op(ctx, port, attr, size_of::<sys::ibv_port_attr>()) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_modify_qp_rate_limit`. Returns 0 or an errno.
///
/// # Safety
/// `qp` is alive, `attr` valid.
pub unsafe fn modify_qp_rate_limit(qp: *mut sys::ibv_qp, attr: *mut sys::ibv_qp_rate_limit_attr) -> c_int {
    // SAFETY: the caller vouches for the queue pair, whose context is open and written once.
    let context = unsafe { (*qp).context };
    match extended_op!(context, modify_qp_rate_limit) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(qp, attr) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_modify_cq`. Returns 0 or an errno.
///
/// # Safety
/// `cq` is alive, `attr` valid.
pub unsafe fn modify_cq(cq: *mut sys::ibv_cq, attr: *mut sys::ibv_modify_cq_attr) -> c_int {
    // SAFETY: the caller vouches for the queue, whose context is open and written once.
    let context = unsafe { (*cq).context };
    match extended_op!(context, modify_cq) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(cq, attr) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_alloc_td`: a thread domain, which in libmlx5 is a doorbell register of its own. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context.
pub unsafe fn alloc_td(ctx: *mut sys::ibv_context) -> *mut sys::ibv_td {
    let mut attr = sys::ibv_td_init_attr { comp_mask: 0 };
    match extended_op!(ctx, alloc_td) {
        // SAFETY: the caller vouches for the context; the attributes live until the call returns.
        Some(op) => unsafe { op(ctx, &raw mut attr) },
        None => not_supported(),
    }
}

/// `ibv_dealloc_td`. Returns 0 or an errno.
///
/// # Safety
/// `td` came from [`alloc_td`] on `ctx`, and nothing uses it any more.
pub unsafe fn dealloc_td(ctx: *mut sys::ibv_context, td: *mut sys::ibv_td) -> c_int {
    match extended_op!(ctx, dealloc_td) {
        // SAFETY: the caller vouches for the domain.
        Some(op) => unsafe { op(td) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_alloc_parent_domain`. Null and `errno` on failure. Freed by `ibv_dealloc_pd`.
///
/// # Safety
/// `ctx` is an open context. The domains that `attr` names are alive, of this context, and outlive the returned domain.
/// The allocators and their context, if there are any, are valid and outlive it as well.
pub unsafe fn alloc_parent_domain(
    ctx: *mut sys::ibv_context,
    attr: *mut sys::ibv_parent_domain_init_attr,
) -> *mut sys::ibv_pd {
    match extended_op!(ctx, alloc_parent_domain) {
        // SAFETY: the caller vouches for the objects; the attributes live until the call returns.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// `ibv_open_xrcd`. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context; `attr` names an open descriptor or none.
pub unsafe fn open_xrcd(ctx: *mut sys::ibv_context, attr: *mut sys::ibv_xrcd_init_attr) -> *mut sys::ibv_xrcd {
    match extended_op!(ctx, open_xrcd) {
        // SAFETY: the caller vouches for the context; the attributes live until the call returns.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// `ibv_close_xrcd`. Returns 0 or an errno.
///
/// # Safety
/// `xrcd` came from [`open_xrcd`] on `ctx`, and nothing uses it any more.
pub unsafe fn close_xrcd(ctx: *mut sys::ibv_context, xrcd: *mut sys::ibv_xrcd) -> c_int {
    match extended_op!(ctx, close_xrcd) {
        // SAFETY: the caller vouches for the domain.
        Some(op) => unsafe { op(xrcd) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_create_srq_ex`. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context. The objects that `attr` names are alive, of this context, and outlive the returned queue.
pub unsafe fn create_srq_ex(ctx: *mut sys::ibv_context, attr: *mut sys::ibv_srq_init_attr_ex) -> *mut sys::ibv_srq {
    match extended_op!(ctx, create_srq_ex) {
        // SAFETY: the caller vouches for the objects; the attributes live until the call returns.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// `ibv_create_flow`: which frames arrive at a raw packet queue pair. Returns null and sets `errno` if it fails.
///
/// `rdma_sys::ibv_create_flow` 0.3 always fails with `EOPNOTSUPP` on 64-bit machines: its `verbs_get_ctx` compares
/// `abi_compat` with 2^32 - 1, where libibverbs has all ones (`verbs.h`, `__VERBS_ABI_IS_EXTENDED`).
///
/// # Safety
/// `qp` is alive and outlives the flow. `attr` is followed by its specifications, `size` bytes in all.
pub unsafe fn create_flow(qp: *mut sys::ibv_qp, attr: *mut sys::ibv_flow_attr) -> *mut sys::ibv_flow {
    // SAFETY: the caller vouches for the queue pair, whose context is written once.
    let context = unsafe { (*qp).context };
    match extended_op!(context, ibv_create_flow) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(qp, attr) },
        None => not_supported(),
    }
}

/// `ibv_destroy_flow`. Returns 0 or an errno. `rdma_sys::ibv_destroy_flow` 0.3 fails for the reason that
/// [`create_flow`] names.
///
/// # Safety
/// `flow` comes from [`create_flow`], and is not used afterwards if this succeeds.
pub unsafe fn destroy_flow(flow: *mut sys::ibv_flow) -> c_int {
    // SAFETY: the caller vouches for the flow, whose context is written once.
    let context = unsafe { (*flow).context };
    match extended_op!(context, ibv_destroy_flow) {
        // SAFETY: the caller promises a flow of `create_flow`, and no use of it after success.
        Some(op) => unsafe { op(flow) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_create_counters`. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context, `attr` valid.
pub unsafe fn create_counters(
    ctx: *mut sys::ibv_context,
    attr: *mut sys::ibv_counters_init_attr,
) -> *mut sys::ibv_counters {
    match extended_op!(ctx, create_counters) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// `ibv_attach_counters_point_flow`. Returns 0 or an errno.
///
/// # Safety
/// `counters` are alive, `attr` is valid. `flow` is null, or a flow of the same context.
pub unsafe fn attach_counters(
    counters: *mut sys::ibv_counters,
    attr: *mut sys::ibv_counter_attach_attr,
    flow: *mut sys::ibv_flow,
) -> c_int {
    // SAFETY: the caller vouches for the counters, whose context is written once.
    let context = unsafe { (*counters).context };
    match extended_op!(context, attach_counters_point_flow) {
        // SAFETY: the caller vouches for all three.
        Some(op) => unsafe { op(counters, attr, flow) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_read_counters`. Returns 0 or an errno.
///
/// # Safety
/// `counters` are alive; `values` has room for `count` numbers.
pub unsafe fn read_counters(counters: *mut sys::ibv_counters, values: *mut u64, count: u32, flags: u32) -> c_int {
    // SAFETY: the caller vouches for the counters, whose context is written once.
    let context = unsafe { (*counters).context };
    match extended_op!(context, read_counters) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(counters, values, count, flags) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_destroy_counters`. Returns 0 or an errno.
///
/// # Safety
/// `counters` come from [`create_counters`], and are not used afterwards if this succeeds.
pub unsafe fn destroy_counters(counters: *mut sys::ibv_counters) -> c_int {
    // SAFETY: the caller vouches for the counters, whose context is written once.
    let context = unsafe { (*counters).context };
    match extended_op!(context, destroy_counters) {
        // SAFETY: the caller promises counters of `create_counters`, and no use of them after success.
        Some(op) => unsafe { op(counters) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_create_wq`: a receive queue of frames. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context. The domain and the completion queue that `attr` names are alive, of this context, and
/// outlive the returned queue.
pub unsafe fn create_wq(ctx: *mut sys::ibv_context, attr: *mut sys::ibv_wq_init_attr) -> *mut sys::ibv_wq {
    let Some(op) = extended_op!(ctx, create_wq) else { return not_supported() };
    // SAFETY: the caller vouches for the objects; the attributes live until the call returns.
    unsafe { begin_wq(op(ctx, attr), attr) }
}

/// Sets up the fields that a new queue leaves to its maker (`verbs.h`, `ibv_create_wq`).
///
/// # Safety
/// `wq` is null, or was just made with `attr`.
pub unsafe fn begin_wq(wq: *mut sys::ibv_wq, attr: *const sys::ibv_wq_init_attr) -> *mut sys::ibv_wq {
    if !wq.is_null() {
        // SAFETY: just made; its mutex and its condition are the caller's to set up.
        unsafe {
            ((*wq).wq_context, (*wq).events_completed) = ((*attr).wq_context, 0);
            libc::pthread_mutex_init((&raw mut (*wq).mutex).cast(), core::ptr::null());
            libc::pthread_cond_init((&raw mut (*wq).cond).cast(), core::ptr::null());
        }
    }
    wq
}

/// `ibv_modify_wq`. Returns 0, or an errno, which libmlx5 negates for a state that the queue is not in.
///
/// # Safety
/// `wq` is alive, `attr` valid.
pub unsafe fn modify_wq(wq: *mut sys::ibv_wq, attr: *mut sys::ibv_wq_attr) -> c_int {
    // SAFETY: the caller vouches for the queue, whose context is written once.
    let context = unsafe { (*wq).context };
    match extended_op!(context, modify_wq) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(wq, attr) }.abs(),
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_destroy_wq`. Returns 0 or an errno.
///
/// # Safety
/// `wq` comes from [`create_wq`] or `mlx5dv_create_wq`, and is not used afterwards if this succeeds.
pub unsafe fn destroy_wq(wq: *mut sys::ibv_wq) -> c_int {
    // SAFETY: the caller vouches for the queue, whose context is written once.
    let context = unsafe { (*wq).context };
    match extended_op!(context, destroy_wq) {
        // SAFETY: the caller promises a work queue that was made so, and no use of it after success.
        Some(op) => unsafe { op(wq) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_create_rwq_ind_table`: a table of receive queues. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context. `attr` names `2^log_ind_tbl_size` queues that are alive, of this context, and outlive the
/// returned table.
pub unsafe fn create_rwq_ind_table(
    ctx: *mut sys::ibv_context,
    attr: *mut sys::ibv_rwq_ind_table_init_attr,
) -> *mut sys::ibv_rwq_ind_table {
    match extended_op!(ctx, create_rwq_ind_table) {
        // SAFETY: the caller vouches for the queues; the attributes live until the call returns.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// `ibv_destroy_rwq_ind_table`. Returns 0 or an errno.
///
/// # Safety
/// `table` comes from [`create_rwq_ind_table`], and is not used afterwards if this succeeds.
pub unsafe fn destroy_rwq_ind_table(table: *mut sys::ibv_rwq_ind_table) -> c_int {
    // SAFETY: the caller vouches for the table, whose context is written once.
    let context = unsafe { (*table).context };
    match extended_op!(context, destroy_rwq_ind_table) {
        // SAFETY: the caller promises a table of `create_rwq_ind_table`, and no use of it after success.
        Some(op) => unsafe { op(table) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_create_qp_ex`, for attributes beyond those of `ibv_create_qp`. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context. The objects that `attr` names are alive, of this context, and outlive the queue pair.
pub unsafe fn create_qp_ex(ctx: *mut sys::ibv_context, attr: *mut sys::ibv_qp_init_attr_ex) -> *mut sys::ibv_qp {
    match extended_op!(ctx, create_qp_ex) {
        // SAFETY: the caller vouches for the objects; the attributes live until the call returns.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// Null with `errno` = `EOPNOTSUPP`, as the inline functions of `verbs.h` do for an operation a provider lacks.
pub(super) fn not_supported<T>() -> *mut T {
    // SAFETY: the C library's per-thread errno is always there to be written.
    unsafe { *libc::__errno_location() = libc::EOPNOTSUPP };
    core::ptr::null_mut()
}
