//! Receivers of tagged messages that send nothing: the device uses their send queue for the data of rendezvous.

use std::sync::Arc;

use blueflame_sys as sys;

use crate::transport::Rc;
use crate::verbs::cq::any::{Completes, numbered_receiver};
use crate::verbs::qp::pair::{Domain, Under};
use crate::verbs::qp::responder::{Needs, Responder};
use crate::verbs::{Cq, Error, ProtectionDomain, Srq};

const OBJECT: &str = "receiver of tagged messages";

/// The receiving end of a reliable connection, whose messages are compared with the list of a shared receive queue, and
/// which has no queues of its own: it posts nothing.
///
/// If a [rendezvous](crate::tagged::RendezvousHeader) matches, and the buffer has room, the device reads the data and
/// notifies the sender; the list reports both ([`TagEvent::Matched`](crate::queue::tags::TagEvent::Matched)). Queue
/// pairs that send leave that to software (Linux `drivers/infiniband/hw/mlx5/qp.c`, `MLX5_QPC_OFFLOAD_TYPE_RNDV`).
pub type TagReceiver = Responder<Rc>;

impl ProtectionDomain {
    /// Makes a receiver for a connection, in RESET. `shared` is the shared receive queue of a
    /// [list of tags](ProtectionDomain::tag_matching), and `cq` the completion queue of that.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Receivers`], or a failed call.
    pub fn tag_receiver(&self, cq: &Cq, shared: &Srq) -> Result<TagReceiver, Error> {
        self.handle.context.check(OBJECT, [cq.into(), shared.into()])?;
        // Its receives are those of the list, which has reserved places for them.
        let completes = Completes { receiver: Some(numbered_receiver(cq)?), ..Completes::default() };
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        (attr.send_cq, attr.recv_cq, attr.srq) = (cq.as_raw(), cq.as_raw(), shared.as_raw());
        attr.qp_type = sys::IBV_QPT_RC;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD;
        attr.pd = self.as_raw();
        let mut mlx5 = sys::mlx5dv_qp_init_attr {
            comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
            create_flags: sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
            ..sys::mlx5dv_qp_init_attr::default()
        };
        let context = &self.handle.context;
        // SAFETY: domain and queues are alive, and of one context; the attributes live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_qp(context.raw(), &raw mut attr, &raw mut mlx5) };
        let under = Under {
            domain: Domain::Protection,
            _send_cq: cq.clone(),
            _recv_cq: cq.clone(),
            srq: Some(shared.clone()),
            pd: Arc::clone(&self.handle),
        };
        let needs = Needs { completes: Some(completes), under: Some(under), ..Needs::default() };
        Responder::over(OBJECT, raw, context.attr(), needs)
    }
}
