//! Leaks everything that an object uses if the object cannot be destroyed.

use core::ffi::c_int;

use super::event::event;

/// Drops `under`, everything that `object` uses, if the call that destroys the object has `returned` 0.
///
/// Otherwise the device goes on with the object: it writes the rings and reads the doorbell record. libmlx5 returns
/// before it frees them (rdma-core `providers/mlx5/verbs.c`, `mlx5_destroy_qp`, `mlx5_destroy_cq`, `mlx5_destroy_srq`).
/// This function leaks `under`.
pub(super) fn drop_or_leak<T>(object: &'static str, number: u32, returned: c_int, under: T) {
    if returned == 0 {
        drop(under);
        return;
    }
    event!(WARN, "object cannot be destroyed: what it uses is leaked", object, number, errno = returned);
    #[cfg(not(feature = "tracing"))]
    let _ = (object, number);
    core::mem::forget(under);
}
