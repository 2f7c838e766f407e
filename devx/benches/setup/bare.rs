//! Queue pairs by libibverbs' and libmlx5's own calls and nothing else: what set-up by this crate is held against.
use std::ptr::NonNull;
use std::rc::Rc;

use blueflame::types::Psn;
use blueflame::verbs::{Cq, Path, ProtectionDomain};
use blueflame_sys as sys;

/// One request for a queue pair, made to this crate and to libmlx5.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) sends: u32,
    pub(crate) receives: u32,
    pub(crate) inline: u32,
}

/// A thread domain and the parent domain over it: queue pairs made there have a doorbell register of their own.
pub(crate) struct Domain {
    // Kept alive, and its context with it.
    pd: ProtectionDomain,
    td: *mut sys::ibv_td,
    parent: NonNull<sys::ibv_pd>,
}

impl Domain {
    pub(crate) fn new(pd: &ProtectionDomain) -> Rc<Self> {
        let context = pd.device().as_raw();
        // SAFETY: context and domain are alive; the attributes live until the call returns.
        unsafe {
            let td = sys::ibv_alloc_td(context, &mut sys::ibv_td_init_attr { comp_mask: 0 });
            let mut attr = sys::ibv_parent_domain_init_attr::ZERO;
            (attr.pd, attr.td) = (pd.as_raw(), td);
            let parent = sys::ibv_alloc_parent_domain(context, &raw mut attr);
            Rc::new(Self { pd: pd.clone(), td, parent: NonNull::new(parent).expect("ibv_alloc_parent_domain") })
        }
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // SAFETY: made in `new`; the queue pairs made here held this object and are gone.
        unsafe {
            assert_eq!(sys::ibv_dealloc_pd(self.parent.as_ptr()), 0);
            if !self.td.is_null() {
                assert_eq!(sys::ibv_dealloc_td(self.td), 0);
            }
        }
    }
}

/// A queue pair.
pub(crate) struct Bare {
    pub(crate) qp: NonNull<sys::ibv_qp>,
    _domain: Rc<Domain>,
}

impl Bare {
    /// `mlx5dv_create_qp` and `mlx5dv_init_obj`.
    pub(crate) fn new(domain: &Rc<Domain>, cq: &Cq, shape: Shape) -> Self {
        // SAFETY: domain and completion queue are alive; structures are plain numbers and pointers, for which zero is a
        // value, and live until the calls return.
        unsafe {
            let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
            (attr.send_cq, attr.recv_cq) = (cq.as_raw(), cq.as_raw());
            attr.cap = sys::ibv_qp_cap {
                max_send_wr: shape.sends,
                max_recv_wr: shape.receives,
                max_send_sge: 1,
                max_recv_sge: 1,
                max_inline_data: shape.inline,
            };
            attr.qp_type = sys::IBV_QPT_RC;
            attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD;
            attr.pd = domain.parent.as_ptr();
            let mut mlx5 = sys::mlx5dv_qp_init_attr {
                comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
                create_flags: sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
                ..Default::default()
            };
            let qp = sys::mlx5dv_create_qp(domain.pd.device().as_raw(), &raw mut attr, &raw mut mlx5);
            let qp = NonNull::new(qp).expect("mlx5dv_create_qp");
            let mut parts = sys::mlx5dv_qp::ZERO;
            let pair = sys::mlx5dv_pair { r#in: qp.as_ptr(), out: &raw mut parts };
            let mut obj = sys::mlx5dv_obj { qp: pair, ..sys::mlx5dv_obj::ZERO };
            assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_QP), 0);
            // For whoever drives it.
            std::hint::black_box(parts);
            Self { qp, _domain: Rc::clone(domain) }
        }
    }

    /// Connects it to itself, by three calls of `ibv_modify_qp`, with what `path` says.
    pub(crate) fn connect(&mut self, path: &Path, psn: Psn) {
        let mut attr = sys::ibv_qp_attr::ZERO;
        (attr.qp_state, attr.port_num, attr.pkey_index) = (sys::IBV_QPS_INIT, path.port.number, path.pkey_index);
        attr.qp_access_flags =
            sys::IBV_ACCESS_REMOTE_WRITE | sys::IBV_ACCESS_REMOTE_READ | sys::IBV_ACCESS_REMOTE_ATOMIC;
        self.modify(
            &mut attr,
            sys::IBV_QP_STATE | sys::IBV_QP_PKEY_INDEX | sys::IBV_QP_PORT | sys::IBV_QP_ACCESS_FLAGS,
        );

        attr.qp_state = sys::IBV_QPS_RTR;
        (attr.ah_attr.port_num, attr.ah_attr.dlid) = (path.port.number, path.port.lid);
        if let Some(sgid) = path.sgid {
            attr.ah_attr.is_global = 1;
            attr.ah_attr.grh.dgid.raw = sgid.gid.0;
            (attr.ah_attr.grh.sgid_index, attr.ah_attr.grh.hop_limit) = (sgid.index, path.hop_limit);
        }
        attr.path_mtu = path.mtu as sys::ibv_mtu;
        // SAFETY: alive; written once.
        attr.dest_qp_num = unsafe { (*self.qp.as_ptr()).qp_num };
        attr.rq_psn = psn.get();
        (attr.max_dest_rd_atomic, attr.min_rnr_timer) = (path.max_dest_rd_atomic, path.min_rnr_timer);
        self.modify(
            &mut attr,
            sys::IBV_QP_STATE
                | sys::IBV_QP_AV
                | sys::IBV_QP_PATH_MTU
                | sys::IBV_QP_DEST_QPN
                | sys::IBV_QP_RQ_PSN
                | sys::IBV_QP_MAX_DEST_RD_ATOMIC
                | sys::IBV_QP_MIN_RNR_TIMER,
        );

        (attr.qp_state, attr.sq_psn) = (sys::IBV_QPS_RTS, psn.get());
        (attr.timeout, attr.retry_cnt, attr.rnr_retry) = (path.timeout, path.retry_cnt, path.rnr_retry);
        attr.max_rd_atomic = path.max_rd_atomic;
        self.modify(
            &mut attr,
            sys::IBV_QP_STATE
                | sys::IBV_QP_SQ_PSN
                | sys::IBV_QP_TIMEOUT
                | sys::IBV_QP_RETRY_CNT
                | sys::IBV_QP_RNR_RETRY
                | sys::IBV_QP_MAX_QP_RD_ATOMIC,
        );
    }

    fn modify(&mut self, attr: &mut sys::ibv_qp_attr, mask: sys::ibv_qp_attr_mask) {
        // SAFETY: the queue pair is alive, the attributes live until the call returns.
        let result = unsafe { sys::ibv_modify_qp(self.qp.as_ptr(), attr, mask as i32) };
        assert_eq!(result, 0, "ibv_modify_qp to {}", attr.qp_state);
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed once, before its domain.
        assert_eq!(unsafe { sys::ibv_destroy_qp(self.qp.as_ptr()) }, 0);
    }
}
