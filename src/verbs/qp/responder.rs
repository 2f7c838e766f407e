//! Receiving ends of reliable connections that have no queues: the targets of XRC, and receivers of tagged messages.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use blueflame_sys as sys;

use crate::cq::CqId;
use crate::queue::Shadow;
use crate::types::{Psn, Qpn, Wqebbs};
use crate::verbs::cq::any::Completes;
use crate::verbs::device::DeviceAttr;
use crate::verbs::domain::xrc::XrcdHandle;
use crate::verbs::error::non_null;
use crate::verbs::event::event;
use crate::verbs::parts::fits;
use crate::verbs::qp::handshake::{self, Peer};
use crate::verbs::qp::pair::{QpHandle, Under};
use crate::verbs::{Endpoint, Error, Path, Qp, VerbsTransport};

/// The receiving end of a connection whose other end sends by transport `T`. It has no queues: it posts nothing, and
/// nothing completes on it. The two kinds are [`XrcTarget`](crate::verbs::XrcTarget) and
/// [`TagReceiver`](crate::verbs::receive::TagReceiver).
pub struct Responder<T> {
    qp: Qp,
    sender: PhantomData<fn() -> T>,
}

impl<T> Clone for Responder<T> {
    fn clone(&self) -> Self {
        Self { qp: self.qp.clone(), sender: PhantomData }
    }
}

impl<T> fmt::Debug for Responder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("qp", &self.qp).finish()
    }
}

/// The objects that outlive a responder.
#[derive(Default)]
pub(in crate::verbs) struct Needs {
    pub(in crate::verbs) completes: Option<Completes>,
    pub(in crate::verbs) under: Option<Under>,
    pub(in crate::verbs) xrcd: Option<Arc<XrcdHandle>>,
}

impl<T: VerbsTransport> Responder<T> {
    /// Takes over the queue pair that `mlx5dv_create_qp` has just returned; `object` is its name in errors.
    pub(in crate::verbs) fn over(
        object: &'static str,
        returned: *mut sys::ibv_qp,
        device: &Arc<DeviceAttr>,
        needs: Needs,
    ) -> Result<Self, Error> {
        let raw: NonNull<sys::ibv_qp> = non_null("mlx5dv_create_qp", returned)?;
        let mut handle = QpHandle {
            raw,
            adopted: false,
            qpn: Qpn::truncate(0),
            recv_qpn: Qpn::truncate(0),
            recv_cq: CqId::NONE,
            completes: needs.completes.map(Arc::new),
            reliable: true,
            device: Arc::clone(device),
            depth: Wqebbs(0),
            changing: Mutex::new(()),
            taken: None,
            _sq_shadow: Shadow::new(0),
            _rq_shadow: Shadow::new(0),
            _claim: None,
            under: needs.under.map(Arc::new),
            xrcd: needs.xrcd,
        };
        // SAFETY: alive; written once.
        let number = unsafe { (*raw.as_ptr()).qp_num };
        handle.qpn = fits(object, "number", number, Qpn::new(number))?;
        handle.recv_qpn = handle.qpn;
        handle.left_shared_queue(|left, qpn| _ = left.insert(qpn, false));
        event!(DEBUG, "receiving end made", object, qpn = number);
        Ok(Self { qp: Qp { handle: Arc::new(handle) }, sender: PhantomData })
    }

    /// Its number, states and endpoint. Tell the peer the endpoint.
    #[must_use]
    pub fn qp(&self) -> &Qp {
        &self.qp
    }

    /// INIT to RTR to RTS: from here on, it answers the peer `remote`. `local` is the endpoint that the peer was told.
    ///
    /// # Errors
    /// Those of [`Qp::to_rtr`], or a failed call.
    pub fn connect(&self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Error> {
        self.qp.to_rtr(path, remote)?;
        let (mut attr, mut mask) = self.qp.ready_to_send(path, local.psn)?;
        if T::PEER_TYPE == sys::IBV_QPT_XRC_RECV {
            // It sends nothing of its own, so the kernel takes no counts of retries (Linux
            // `drivers/infiniband/core/verbs.c`, `qp_state_table`).
            mask = sys::IBV_QP_STATE | sys::IBV_QP_TIMEOUT | sys::IBV_QP_SQ_PSN;
        }
        self.qp.modify(&mut attr, mask)?;
        event!(INFO, "connected", qpn = self.qp.qpn().get(), peer = %remote);
        Ok(())
    }

    /// Connects with the peer at the other side of `stream`, which calls
    /// [`connect_over`](crate::verbs::QueuePair::connect_over).
    ///
    /// # Errors
    /// Those of [`exchange`](handshake::exchange), [`ready`](handshake::ready) and [`connect`](Self::connect).
    pub fn connect_over<S: Read + Write>(&self, stream: &mut S, path: &Path, data: &[u8]) -> Result<Peer, Error> {
        let types = (T::PEER_TYPE, T::QP_TYPE);
        handshake::shake_hands(stream, &self.qp, types, path, data, |local, remote| self.connect(path, local, remote))
    }

    /// The endpoint to tell the peer, with a random PSN.
    #[must_use]
    pub fn endpoint(&self, path: &Path) -> Endpoint {
        self.qp.endpoint_with(path, Psn::random())
    }

    /// To RESET, from any state; to be connected again from there.
    ///
    /// # Errors
    /// A failed call.
    pub fn reset(&self) -> Result<(), Error> {
        self.qp.to_reset().map(drop)
    }
}
