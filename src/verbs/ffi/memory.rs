//! Inline functions of `verbs.h` that are about memory. Knows no library.

use core::ffi::c_int;

use rdma_sys as sys;

use super::inline::{extended, extended_op, not_supported};

/// `ibv_query_device_ex`. Returns 0 or an errno.
///
/// # Safety
/// `ctx` is an open context, `attr` valid for writes.
pub unsafe fn query_device_ex(ctx: *mut sys::ibv_context, attr: *mut sys::ibv_device_attr_ex) -> c_int {
    match extended_op!(ctx, query_device_ex) {
        // SAFETY: the caller vouches for both; the length is that of the structure.
        Some(op) => unsafe { op(ctx, core::ptr::null(), attr, size_of::<sys::ibv_device_attr_ex>()) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_advise_mr`. Returns 0 or an errno.
///
/// # Safety
/// `pd` is a domain of the open context `ctx`.
pub unsafe fn advise_mr(
    ctx: *mut sys::ibv_context,
    pd: *mut sys::ibv_pd,
    advice: u32,
    flags: u32,
    list: &mut [sys::ibv_sge],
) -> c_int {
    let Ok(count) = u32::try_from(list.len()) else { return libc::EINVAL };
    match extended_op!(ctx, advise_mr) {
        // SAFETY: the caller vouches for the domain; the list lives until the call returns.
        Some(op) => unsafe { op(pd, advice, flags, list.as_mut_ptr(), count) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_alloc_dm`. Null and `errno` on failure.
///
/// # Safety
/// `ctx` is an open context, `attr` valid.
pub unsafe fn alloc_dm(ctx: *mut sys::ibv_context, attr: *mut sys::ibv_alloc_dm_attr) -> *mut sys::ibv_dm {
    match extended_op!(ctx, alloc_dm) {
        // SAFETY: the caller vouches for both.
        Some(op) => unsafe { op(ctx, attr) },
        None => not_supported(),
    }
}

/// `ibv_free_dm`. Returns 0 or an errno.
///
/// # Safety
/// `dm` came from [`alloc_dm`] on `ctx`, and no region of it is left.
pub unsafe fn free_dm(ctx: *mut sys::ibv_context, dm: *mut sys::ibv_dm) -> c_int {
    match extended_op!(ctx, free_dm) {
        // SAFETY: the caller vouches for the memory.
        Some(op) => unsafe { op(dm) },
        None => libc::EOPNOTSUPP,
    }
}

/// `ibv_reg_dm_mr`. Null and `errno` on failure.
///
/// # Safety
/// `pd` and `dm` belong to the open context `ctx`, and `dm` outlives the region.
pub unsafe fn reg_dm_mr(
    ctx: *mut sys::ibv_context,
    pd: *mut sys::ibv_pd,
    dm: *mut sys::ibv_dm,
    offset: u64,
    length: usize,
    access: u32,
) -> *mut sys::ibv_mr {
    match extended_op!(ctx, reg_dm_mr) {
        // SAFETY: the caller vouches for the objects.
        Some(op) => unsafe { op(pd, dm, offset, length, access) },
        None => not_supported(),
    }
}
