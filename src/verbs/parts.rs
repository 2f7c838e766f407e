//! From verbs objects to raw parts, by `mlx5dv_init_obj`.

use core::ffi::CStr;
use core::ptr::NonNull;

use blueflame_sys as sys;

use super::Error;
use super::error::zero;

/// A pointer that libmlx5 hands out, which must not be null.
pub(crate) fn part<P, T>(object: &'static str, what: &'static str, pointer: *mut P) -> Result<NonNull<T>, Error> {
    NonNull::new(pointer.cast()).ok_or_else(|| Error::Parts { object, why: format!("no {what}") })
}

/// A number that must fit `T`.
pub(crate) fn fits<T>(object: &'static str, what: &'static str, value: u32, checked: Option<T>) -> Result<T, Error> {
    checked.ok_or_else(|| Error::Parts { object, why: format!("{what} {value:#x} has more than 24 bits") })
}

/// Refuses to make or adopt queues if only one side has WQE signatures. Either libmlx5 would have the device check
/// signatures and the queues would not compute them (`signed`), or the other way round. The environment's `variable`
/// decides for libmlx5: it reads the variable when it makes a queue, and does not report it (rdma-core
/// `providers/mlx5/verbs.c`, `qp_sig_enabled`, `srq_sig_enabled`).
pub(crate) fn signatures(object: &'static str, variable: &'static CStr, signed: bool) -> Result<(), Error> {
    // SAFETY: a string; no other thread changes the environment meanwhile: libmlx5 is about to look for the same
    // variable, with no lock. The lock of `std::env` does not help, because libmlx5 does not know of it; `std::env`
    // also copies the value.
    let asked = !unsafe { libc::getenv(variable.as_ptr()) }.is_null();
    if asked == signed {
        return Ok(());
    }
    let variable = variable.to_string_lossy();
    let why = if asked {
        format!("the environment variable {variable} makes libmlx5 request WQE signatures; unset it")
    } else {
        format!("libmlx5 requests WQE signatures only if the environment variable {variable} is set; set it")
    };
    Err(Error::Parts { object, why })
}

/// Raw parts of a queue pair.
///
/// # Safety
/// `qp` is alive and of an mlx5 device.
pub(crate) unsafe fn of_qp(qp: NonNull<sys::ibv_qp>) -> Result<sys::mlx5dv_qp, Error> {
    let mut out = sys::mlx5dv_qp::ZERO;
    out.comp_mask = sys::MLX5DV_QP_MASK_RAW_QP_HANDLES;
    let mut obj =
        sys::mlx5dv_obj { qp: sys::mlx5dv_pair { r#in: qp.as_ptr(), out: &raw mut out }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the caller vouches for the queue pair; `out` is ours.
    zero("mlx5dv_init_obj (QP)", unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP) })?;
    Ok(out)
}

/// Raw parts of a completion queue. libmlx5 no longer touches its consumer index after this.
///
/// # Safety
/// `cq` is alive and of an mlx5 device.
pub(crate) unsafe fn of_cq(cq: NonNull<sys::ibv_cq>) -> Result<sys::mlx5dv_cq, Error> {
    let mut out = sys::mlx5dv_cq::ZERO;
    let mut obj =
        sys::mlx5dv_obj { cq: sys::mlx5dv_pair { r#in: cq.as_ptr(), out: &raw mut out }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the caller vouches for the completion queue; `out` is ours.
    zero("mlx5dv_init_obj (CQ)", unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_CQ) })?;
    Ok(out)
}

/// Raw parts of a shared receive queue.
///
/// # Safety
/// `srq` is alive and of an mlx5 device.
pub(crate) unsafe fn of_srq(srq: NonNull<sys::ibv_srq>) -> Result<sys::mlx5dv_srq, Error> {
    let mut out = sys::mlx5dv_srq::ZERO;
    out.comp_mask = sys::MLX5DV_SRQ_MASK_SRQN;
    let mut obj =
        sys::mlx5dv_obj { srq: sys::mlx5dv_pair { r#in: srq.as_ptr(), out: &raw mut out }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the caller vouches for the shared receive queue; `out` is ours.
    zero("mlx5dv_init_obj (SRQ)", unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_SRQ) })?;
    if out.comp_mask & sys::MLX5DV_SRQ_MASK_SRQN == 0 {
        return Err(Error::Parts { object: "shared receive queue", why: "no number; libmlx5 is too old".into() });
    }
    Ok(out)
}

/// Raw parts of a work queue.
///
/// # Safety
/// `wq` is alive and of an mlx5 device.
pub(crate) unsafe fn of_wq(wq: NonNull<sys::ibv_wq>) -> Result<sys::mlx5dv_rwq, Error> {
    let mut out = sys::mlx5dv_rwq::ZERO;
    let mut obj =
        sys::mlx5dv_obj { rwq: sys::mlx5dv_pair { r#in: wq.as_ptr(), out: &raw mut out }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the caller vouches for the work queue; `out` is ours.
    zero("mlx5dv_init_obj (RWQ)", unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_RWQ) })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_that_asks_for_signatures_must_agree() {
        const ABSENT: &CStr = c"BLUEFLAME_TEST_OF_A_VARIABLE_THAT_IS_NOT_SET";
        assert_eq!(signatures("queue pair", ABSENT, false), Ok(()));
        assert_eq!(signatures("queue pair", c"PATH", true), Ok(()));
        let error = signatures("queue pair", c"PATH", false).expect_err("every test has a path");
        assert!(error.to_string().contains("the environment variable PATH"), "{error}");
        let error = signatures("queue pair", ABSENT, true).expect_err("nobody has set it");
        assert!(error.to_string().ends_with("is set; set it"), "{error}");
    }
}
