//! Receivers of tagged messages that send nothing: the device uses their send queue for the data of rendezvous.

use std::io::{Read, Write};
use std::sync::Arc;

use rdma_sys as sys;

use crate::cq::CqId;
use crate::types::{Psn, Qpn, Wqebbs};
use crate::verbs::connect::handshake::{self, HandshakeError, Peer};
use crate::verbs::cq::any::numbered_receiver;
use crate::verbs::device::foreign::Part;
use crate::verbs::error::non_null;
use crate::verbs::event::event;
use crate::verbs::parts::{Shadow, fits};
use crate::verbs::qp::pair::{Domain, QpHandle, Under};
use crate::verbs::qp::transitions::zeroed_attr;
use crate::verbs::{Cq, Endpoint, Error, Path, ProtectionDomain, Qp, Srq, ffi};

const OBJECT: &str = "receiver of tagged messages";

/// The receiving end of a reliable connection, whose messages are compared with the list of a shared receive queue, and
/// which has no queues of its own: it posts nothing.
///
/// If a [rendezvous](crate::tagged::RendezvousHeader) matches, and the buffer has room, the device reads the data and
/// notifies the sender; the list reports both ([`TagEvent::Matched`](crate::queue::tags::TagEvent::Matched)). Queue
/// pairs that send leave that to software (Linux `drivers/infiniband/hw/mlx5/qp.c`, `MLX5_QPC_OFFLOAD_TYPE_RNDV`).
#[derive(Clone, Debug)]
pub struct TagReceiver {
    qp: Qp,
}

impl ProtectionDomain {
    /// Makes a receiver for a connection, in RESET. `shared` is the shared receive queue of a
    /// [list of tags](ProtectionDomain::tag_matching), and `cq` the completion queue of that.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`], [`Error::Receivers`], or a failed call.
    pub fn tag_receiver(&self, cq: &Cq, shared: &Srq) -> Result<TagReceiver, Error> {
        self.handle.context.check(OBJECT, [cq as &dyn Part, shared])?;
        let receiver = numbered_receiver(cq)?;
        // SAFETY: integers and null pointers.
        let mut attr: sys::ibv_qp_init_attr_ex = unsafe { core::mem::zeroed() };
        (attr.send_cq, attr.recv_cq, attr.srq) = (cq.as_raw(), cq.as_raw(), shared.as_raw());
        attr.qp_type = sys::ibv_qp_type::IBV_QPT_RC;
        attr.comp_mask = sys::ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0;
        attr.pd = self.as_raw();
        let mut mlx5 = ffi::Mlx5dvQpInitAttr {
            comp_mask: ffi::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
            create_flags: ffi::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
            ..ffi::Mlx5dvQpInitAttr::default()
        };
        let context = &self.handle.context;
        // SAFETY: domain and queues are alive, and of one context; the attributes live until the call returns.
        let raw = unsafe { ffi::mlx5dv_create_qp(context.raw(), &raw mut attr, &raw mut mlx5) };
        let raw = non_null("mlx5dv_create_qp", raw)?;
        let mut handle = QpHandle {
            raw,
            adopted: false,
            qpn: Qpn::truncate(0),
            recv_qpn: Qpn::truncate(0),
            recv_cq: CqId::NONE,
            receiver: Some(receiver),
            reliable: true,
            device: Arc::clone(context.attr()),
            depth: Wqebbs(0),
            taken: None,
            _sq_shadow: Shadow::new(0),
            _rq_shadow: None,
            _claim: None,
            under: Some(Under {
                domain: Domain::Protection,
                _send_cq: cq.clone(),
                _recv_cq: cq.clone(),
                _srq: Some(shared.clone()),
                pd: Arc::clone(&self.handle),
            }),
            _xrcd: None,
        };
        // SAFETY: alive; written once.
        let number = unsafe { (*raw.as_ptr()).qp_num };
        handle.qpn = fits(OBJECT, "number", number, Qpn::new(number))?;
        handle.recv_qpn = handle.qpn;
        event!(DEBUG, "receiver of tagged messages made", qpn = number, srqn = shared.srqn().get());
        Ok(TagReceiver { qp: Qp { handle: Arc::new(handle) } })
    }
}

impl TagReceiver {
    /// Its number, states and endpoint. Tell the sender the endpoint.
    #[must_use]
    pub fn qp(&self) -> &Qp {
        &self.qp
    }

    /// INIT to RTR to RTS: from here on, it answers the sender `remote` and reads from it. `local` is the endpoint that
    /// the sender was told.
    ///
    /// # Errors
    /// Those of [`Qp::to_rtr`], or a failed call.
    pub fn connect(&self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Error> {
        self.qp.to_rtr(path, remote)?;
        let (mut attr, mask) = self.qp.ready_to_send(path, local.psn)?;
        self.qp.modify(&mut attr, mask)?;
        event!(INFO, "connected", qpn = self.qp.qpn().get(), peer = %remote);
        Ok(())
    }

    /// Connects with the sender at the other side of `stream`, which calls
    /// [`connect_over`](crate::verbs::Owned::connect_over).
    ///
    /// # Errors
    /// [`HandshakeError`].
    pub fn connect_over<S: Read + Write>(
        &self,
        stream: &mut S,
        path: &Path,
        data: &[u8],
    ) -> Result<Peer, HandshakeError> {
        let types = (sys::ibv_qp_type::IBV_QPT_RC, sys::ibv_qp_type::IBV_QPT_RC);
        handshake::shake_hands(stream, &self.qp, types, path, data, |local, remote| self.connect(path, local, remote))
    }

    /// The endpoint to tell the sender, with a random PSN.
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
