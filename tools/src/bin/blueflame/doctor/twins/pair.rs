//! The queue pair that libmlx5 drives, made as a C program makes it: one that takes both of libmlx5's ways to post.

use std::io;
use std::ptr::{self, NonNull};

use blueflame::verbs::{OwnedCq, ProtectionDomain, VerbsTransport};
use blueflame_sys as sys;

use super::request::{Request, Way, post};
use crate::doctor::found::{Failure, ensure};
use crate::doctor::lab::{DEPTH, INLINE, Lab};

/// Receives of a queue pair for which the builder was asked for no number.
const RECEIVES: u32 = 128;

/// `MLX5DV_QP_EX_WITH_MR_LIST`.
const WITH_MR_LIST: u64 = 1 << 1;

/// The sizes of both twins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) sends: u32,
    pub(super) send_sge: u32,
    pub(super) inline: u32,
    pub(super) cqe_bytes: u16,
    /// Its requests configure memory keys.
    pub(super) keys: bool,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { sends: DEPTH, send_sge: 2, inline: INLINE, cqe_bytes: 64, keys: false }
    }
}

fn failed(call: &str) -> Failure {
    format!("{call}: {}", io::Error::last_os_error()).into()
}

/// A thread domain of libmlx5: a doorbell register for one queue pair.
struct OwnDomain {
    parent: NonNull<sys::ibv_pd>,
    td: *mut sys::ibv_td,
    _pd: ProtectionDomain,
}

impl OwnDomain {
    fn new(pd: &ProtectionDomain) -> Result<Self, Failure> {
        let context = pd.device().as_raw();
        // SAFETY: the context is open. Where write combining does not work, rdma-core before release 60 makes none, and
        // none is needed: all queue pairs have one register.
        let td = unsafe { sys::ibv_alloc_td(context, &mut sys::ibv_td_init_attr { comp_mask: 0 }) };
        let mut attr = sys::ibv_parent_domain_init_attr::ZERO;
        (attr.pd, attr.td) = (pd.as_raw(), td);
        // SAFETY: both domains are alive; the attributes live until the call returns.
        let Some(parent) = NonNull::new(unsafe { sys::ibv_alloc_parent_domain(context, &raw mut attr) }) else {
            let why = failed("ibv_alloc_parent_domain");
            if !td.is_null() {
                // SAFETY: made above, and not used.
                unsafe { sys::ibv_dealloc_td(td) };
            }
            return Err(why);
        };
        Ok(Self { parent, td, _pd: pd.clone() })
    }
}

impl Drop for OwnDomain {
    fn drop(&mut self) {
        // SAFETY: made in `new`, freed once, the parent before its parts.
        unsafe {
            sys::ibv_dealloc_pd(self.parent.as_ptr());
            if !self.td.is_null() {
                sys::ibv_dealloc_td(self.td);
            }
        }
    }
}

/// libmlx5's queue pair.
pub(super) struct TheirPair {
    raw: NonNull<sys::ibv_qp>,
    parts: sys::mlx5dv_qp,
    _domain: OwnDomain,
}

/// The operations that libmlx5 makes room for if a program names none (rdma-core `providers/mlx5/verbs.c`,
/// `sq_overhead`). So both twins have rings of one length.
fn operations(kind: sys::ibv_qp_type) -> sys::ibv_qp_create_send_ops_flags {
    match kind {
        sys::IBV_QPT_RAW_PACKET => sys::IBV_QP_EX_WITH_SEND | sys::IBV_QP_EX_WITH_TSO,
        sys::IBV_QPT_UD => sys::IBV_QP_EX_WITH_SEND | sys::IBV_QP_EX_WITH_SEND_WITH_IMM,
        _ => {
            sys::IBV_QP_EX_WITH_SEND
                | sys::IBV_QP_EX_WITH_SEND_WITH_INV
                | sys::IBV_QP_EX_WITH_SEND_WITH_IMM
                | sys::IBV_QP_EX_WITH_RDMA_WRITE
                | sys::IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM
                | sys::IBV_QP_EX_WITH_RDMA_READ
                | sys::IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP
                | sys::IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD
                | sys::IBV_QP_EX_WITH_LOCAL_INV
                | sys::IBV_QP_EX_WITH_BIND_MW
        }
    }
}

impl TheirPair {
    /// A queue pair of transport `T`, in RESET.
    pub(super) fn new<T: VerbsTransport>(
        lab: &Lab,
        [sent, received]: [&OwnedCq; 2],
        sizes: Sizes,
    ) -> Result<Self, Failure> {
        let domain = OwnDomain::new(lab.pd())?;
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        (attr.send_cq, attr.recv_cq) = (sent.handle().as_raw(), received.handle().as_raw());
        attr.cap = sys::ibv_qp_cap {
            max_send_wr: sizes.sends,
            max_recv_wr: if T::RECEIVES { RECEIVES } else { 0 },
            max_send_sge: sizes.send_sge,
            max_recv_sge: u32::from(T::RECEIVES),
            max_inline_data: sizes.inline,
        };
        attr.qp_type = T::QP_TYPE;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD | sys::IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        (attr.pd, attr.send_ops_flags) = (domain.parent.as_ptr(), operations(T::QP_TYPE).into());
        let mut mlx5 = sys::mlx5dv_qp_init_attr {
            comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
            create_flags: sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
            ..Default::default()
        };
        if sizes.keys {
            mlx5.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
            mlx5.send_ops_flags = WITH_MR_LIST;
        }
        if T::INITIATOR {
            mlx5.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_DC;
            mlx5.dc_init_attr.dc_type = sys::MLX5DV_DCTYPE_DCI;
        }
        // SAFETY: context, domain and queues are alive; the attributes live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_qp(lab.device().as_raw(), &raw mut attr, &raw mut mlx5) };
        let raw = NonNull::new(raw).ok_or_else(|| failed("mlx5dv_create_qp"))?;
        // SAFETY: numbers and pointers, for which zero is a value.
        let mut made = Self { raw, parts: unsafe { core::mem::zeroed() }, _domain: domain };
        made.parts = parts(raw.as_ptr())?;
        Ok(made)
    }

    pub(super) fn as_raw(&self) -> NonNull<sys::ibv_qp> {
        self.raw
    }

    pub(super) fn parts(&self) -> &sys::mlx5dv_qp {
        &self.parts
    }

    pub(super) fn number(&self) -> u32 {
        // SAFETY: alive; written when it was made.
        unsafe { (*self.raw.as_ptr()).qp_num }
    }

    /// Posts a list, with one doorbell, as a C program would.
    ///
    /// # Safety
    /// The queue pair's transport has these requests. Memory that the list names is registered until they are done.
    pub(super) unsafe fn post(&self, way: Way, list: &[Request<'_>]) -> Result<(), Failure> {
        // SAFETY: the queue pair is alive, and libmlx5 itself counts its room; the caller vouches for the memory.
        unsafe { post(self.raw, way, list) }
    }

    /// Posts a receive of one entry, as a C program would.
    ///
    /// # Safety
    /// The memory is registered until the receive is done.
    pub(super) unsafe fn receive(&self, wr_id: u64, sge: blueflame::Sge) -> Result<(), Failure> {
        let mut sge = sys::ibv_sge { addr: sge.addr, length: sge.length, lkey: sge.lkey.0 };
        let mut wr = sys::ibv_recv_wr { wr_id, next: ptr::null_mut(), sg_list: &raw mut sge, num_sge: 1 };
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is alive, the request lives until the call returns; the caller vouches for the memory.
        let returned = unsafe { sys::ibv_post_recv(self.raw.as_ptr(), &raw mut wr, &raw mut bad) };
        ensure(returned == 0, || format!("ibv_post_recv: {returned}"))
    }
}

impl Drop for TheirPair {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once. Handles that adopted it are dropped before.
        unsafe { sys::ibv_destroy_qp(self.raw.as_ptr()) };
    }
}

/// The raw parts of a queue pair.
pub(super) fn parts(qp: *mut sys::ibv_qp) -> Result<sys::mlx5dv_qp, Failure> {
    let mut parts = sys::mlx5dv_qp::ZERO;
    let mut obj = sys::mlx5dv_obj { qp: sys::mlx5dv_pair { r#in: qp, out: &raw mut parts }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the queue pair is alive, the parts are ours.
    let returned = unsafe { sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP) };
    ensure(returned == 0, || format!("mlx5dv_init_obj: {returned}"))?;
    Ok(parts)
}

/// The next completion of a queue, by `ibv_poll_cq`.
pub(super) fn poll(lab: &Lab, what: &str, cq: &OwnedCq) -> Result<sys::ibv_wc, Failure> {
    let wc = lab.until(what, || {
        let mut wc = sys::ibv_wc::ZERO;
        // SAFETY: the queue is alive, and `wc` has room for one.
        match unsafe { sys::ibv_poll_cq(cq.handle().as_raw(), 1, &raw mut wc) } {
            0 => Ok(None),
            1 => Ok(Some(wc)),
            error => Err(format!("{what}: ibv_poll_cq: {error}").into()),
        }
    })?;
    ensure(wc.status == sys::IBV_WC_SUCCESS, || {
        format!("{what}: status {}, vendor's syndrome {:#x}", wc.status, wc.vendor_err)
    })?;
    Ok(wc)
}
