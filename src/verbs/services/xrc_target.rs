//! Extended reliable connections: the targets in a domain (`xrc_domain.rs`). Their shared receive queues are beside the
//! others (`src/verbs/receive/shared.rs`).
//!
//! ```text
//!   this process                                       the peer
//!   SendQueue<XrcInitiator> ── requests name ──> XrcTarget ─┬─> OwnedSrq 1, its CQ and its protection domain
//!                              an SRQ's number              └─> OwnedSrq 2, of another process, maybe
//!                                                  all of one XrcDomain
//! ```

use core::ptr::NonNull;
use std::io::{Read, Write};
use std::sync::Arc;

use rdma_sys as sys;

use crate::cq::CqId;
use crate::transport;
use crate::types::{Psn, Qpn, Wqebbs};
use crate::verbs::connect::handshake::{self, HandshakeError, Peer};
use crate::verbs::error::non_null;
use crate::verbs::event::event;
use crate::verbs::parts::{Shadow, fits};
use crate::verbs::qp::pair::QpHandle;
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::services::xrc_domain::XrcDomain;
use crate::verbs::{Endpoint, Error, Path, Qp, VerbsTransport, ffi};

const OBJECT: &str = "XRC target";

impl VerbsTransport for transport::XrcInitiator {
    const QP_TYPE: sys::ibv_qp_type::Type = sys::ibv_qp_type::IBV_QPT_XRC_SEND;
    const RELIABLE: bool = true;
    const OPERAND_DS: usize = 2;
    const RECEIVES: bool = false;
    const PEER_TYPE: sys::ibv_qp_type::Type = sys::ibv_qp_type::IBV_QPT_XRC_RECV;
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
        // SAFETY: integers and null pointers.
        let mut attr: sys::ibv_qp_init_attr_ex = unsafe { core::mem::zeroed() };
        attr.qp_type = sys::ibv_qp_type::IBV_QPT_XRC_RECV;
        attr.comp_mask = sys::ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_XRCD.0;
        attr.xrcd = self.as_raw();
        let mut mlx5 = ffi::Mlx5dvQpInitAttr::default();
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = unsafe { ffi::mlx5dv_create_qp(self.device().raw(), &raw mut attr, &raw mut mlx5) };
        self.adopt(non_null("mlx5dv_create_qp", raw)?)
    }

    /// A target over a queue pair that was just made in this domain.
    fn adopt(&self, raw: NonNull<sys::ibv_qp>) -> Result<XrcTarget, Error> {
        let mut handle = QpHandle {
            raw,
            adopted: false,
            qpn: Qpn::truncate(0),
            recv_qpn: Qpn::truncate(0),
            recv_cq: CqId::NONE,
            receiver: None,
            reliable: true,
            device: Arc::clone(self.device().attr()),
            depth: Wqebbs(0),
            taken: None,
            _sq_shadow: Shadow::new(0),
            _rq_shadow: None,
            _claim: None,
            under: None,
            _xrcd: Some(Arc::clone(&self.handle)),
        };
        // SAFETY: alive; written once.
        let number = unsafe { (*raw.as_ptr()).qp_num };
        handle.qpn = fits(OBJECT, "number", number, Qpn::new(number))?;
        handle.recv_qpn = handle.qpn;
        event!(DEBUG, "XRC target made", qpn = number);
        Ok(XrcTarget { qp: Qp { handle: Arc::new(handle) } })
    }
}

/// The receiving end of an XRC connection, for one [`XrcInitiator`](transport::XrcInitiator): it has no queues, and so
/// posts and completes nothing. Messages go to the shared receive queues that they name, and complete there;
/// completions carry its number.
///
/// An error of a request is the target's error: the target goes to the error state, and the shared receive queues stay
/// as they are. Receives that it had taken from one of them and not completed are flushed there.
/// [`AsyncEvents::leave_shared_queue`](crate::verbs::device::AsyncEvents::leave_shared_queue) waits until the target
/// takes no further receives.
#[doc(alias = "IBV_QPT_XRC_RECV")]
#[derive(Clone, Debug)]
pub struct XrcTarget {
    qp: Qp,
}

impl XrcTarget {
    /// Its number, states and endpoint. Tell the initiator the endpoint.
    #[must_use]
    pub fn qp(&self) -> &Qp {
        &self.qp
    }

    /// INIT to RTR to RTS: from here on, it answers the initiator `remote`. `local` is the endpoint that the initiator
    /// was told.
    ///
    /// # Errors
    /// Those of [`Qp::to_rtr`], or a failed call.
    pub fn connect(&self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Error> {
        type Mask = sys::ibv_qp_attr_mask;
        self.qp.to_rtr(path, remote)?;
        // It sends nothing of its own, but the kernel wants these (Linux `drivers/infiniband/core/verbs.c`,
        // `qp_state_table`).
        let mut attr = zeroed_attr(sys::ibv_qp_state::IBV_QPS_RTS);
        (attr.timeout, attr.sq_psn) = (path.timeout, local.psn.get());
        self.qp.modify(&mut attr, Mask::IBV_QP_STATE | Mask::IBV_QP_TIMEOUT | Mask::IBV_QP_SQ_PSN)?;
        event!(INFO, "connected", qpn = self.qp.qpn().get(), peer = %remote);
        Ok(())
    }

    /// Connects with the initiator at the other side of `stream`, which calls
    /// [`connect_over`](crate::verbs::Owned::connect_over). The initiator must also know the numbers of shared receive
    /// queues.
    ///
    /// # Errors
    /// [`HandshakeError`].
    pub fn connect_over<S: Read + Write>(
        &self,
        stream: &mut S,
        path: &Path,
        data: &[u8],
    ) -> Result<Peer, HandshakeError> {
        let types = (sys::ibv_qp_type::IBV_QPT_XRC_RECV, sys::ibv_qp_type::IBV_QPT_XRC_SEND);
        handshake::shake_hands(stream, &self.qp, types, path, data, |local, remote| self.connect(path, local, remote))
    }

    /// The endpoint to tell the initiator, with a random PSN.
    #[must_use]
    pub fn endpoint(&self, path: &Path) -> Endpoint {
        self.qp.endpoint_with(path, Psn::random())
    }

    /// To RESET, from any state; to be connected again from there.
    ///
    /// # Errors
    /// A failed call.
    pub fn reset(&self) -> Result<(), Error> {
        self.qp.modify(&mut zeroed_attr(sys::ibv_qp_state::IBV_QPS_RESET), sys::ibv_qp_attr_mask::IBV_QP_STATE)
    }
}
