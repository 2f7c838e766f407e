//! Extended reliable connections: the targets in a domain (`domain/xrc.rs`). Their shared receive queues are beside the
//! others (`srq.rs`).
//!
//! ```text
//!   this process                                       the peer
//!   SendQueue<XrcInitiator> ── requests name ──> XrcTarget ─┬─> OwnedSrq 1, its CQ and its protection domain
//!                              an SRQ's number              └─> OwnedSrq 2, of another process, maybe
//!                                                  all of one XrcDomain
//! ```

use std::sync::Arc;

use blueflame_sys as sys;

use crate::transport;
use crate::verbs::domain::xrc::XrcDomain;
use crate::verbs::qp::responder::{Needs, Responder};
use crate::verbs::{Error, VerbsTransport};

const OBJECT: &str = "XRC target";

impl VerbsTransport for transport::XrcInitiator {
    const QP_TYPE: sys::ibv_qp_type = sys::IBV_QPT_XRC_SEND;
    const RELIABLE: bool = true;
    const OPERAND_DS: usize = 2;
    const RECEIVES: bool = false;
    const PEER_TYPE: sys::ibv_qp_type = sys::IBV_QPT_XRC_RECV;
    const NAME: &'static str = "XRC initiator";
}

impl XrcDomain {
    /// Makes a target: the receiving end of an XRC connection (`IBV_QPT_XRC_RECV`), in RESET.
    ///
    /// The target lives as long as its handles here. With verbs, other processes could open it as well (`ibv_open_qp`).
    /// This crate does not offer that: libmlx5 crashes when a target opened in this way is given back
    /// (`mlx5_destroy_qp` frees a doorbell record that does not exist).
    ///
    /// # Errors
    /// A failed call.
    pub fn target(&self) -> Result<XrcTarget, Error> {
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        attr.qp_type = sys::IBV_QPT_XRC_RECV;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_XRCD;
        attr.xrcd = self.as_raw();
        let mut mlx5 = sys::mlx5dv_qp_init_attr::default();
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = unsafe { sys::mlx5dv_create_qp(self.device().raw(), &raw mut attr, &raw mut mlx5) };
        let needs = Needs { xrcd: Some(Arc::clone(&self.handle)), ..Needs::default() };
        Responder::over(OBJECT, raw, self.device().attr(), needs)
    }
}

/// The receiving end of an XRC connection, for one [`XrcInitiator`](transport::XrcInitiator): it has no queues, and so
/// posts and completes nothing. Messages go to the shared receive queues that they name, and complete there;
/// completions carry its number.
///
/// An error of a request is the target's error: the target goes to the error state, and the shared receive queues stay
/// as they are. Receives that it had taken from one of them and not completed are flushed there.
/// [`AsyncEvents::leave_shared_queue`](crate::verbs::async_event::AsyncEvents::leave_shared_queue) waits until the
/// target takes no further receives.
///
/// To send, the initiator must also know the numbers of shared receive queues.
#[doc(alias = "IBV_QPT_XRC_RECV")]
pub type XrcTarget = Responder<transport::XrcInitiator>;
