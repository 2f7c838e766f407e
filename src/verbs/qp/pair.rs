//! Queue pairs.

use core::ptr::NonNull;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use blueflame_sys as sys;

use crate::cq::CqId;
use crate::cq::setup::Receiver;
use crate::db::{ExclusiveRegister, Register};
use crate::queue::Shadow;
use crate::queue::send::WqeRecord;
use crate::queue::{RecvQueue, SendQueue};
use crate::transport::{self, InlineLayers, Transport};
use crate::types::{Psn, Qpn, Wqebbs, WrId};
use crate::verbs::cq::any::Completes;
use crate::verbs::device::DeviceAttr;
use crate::verbs::domain::protection::{ParentDomain, PdHandle};
use crate::verbs::domain::register::Claim;
use crate::verbs::domain::thread::ThreadDomainHandle;
use crate::verbs::domain::xrc::XrcdHandle;
use crate::verbs::event::event;
use crate::verbs::in_use::InUse;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::{Cq, Endpoint, Owned, Path, Srq};

pub(in crate::verbs) const OBJECT: &str = "queue pair";

/// A transport, with its attributes in verbs.
pub trait VerbsTransport: Transport {
    /// `ibv_qp_type`.
    const QP_TYPE: sys::ibv_qp_type;
    /// Whether the service is reliable, and so has READs, atomics, timers and retries.
    const RELIABLE: bool;
    /// DS of a request between its control segment and its payload: the remote address, the address vector, or both, or
    /// the fewest inline headers of a frame.
    const OPERAND_DS: usize = 1;
    /// Whether it is an initiator of dynamic connections.
    const INITIATOR: bool = false;
    /// Defaults of the builder for an initiator: log2 of its streams, and log2 of the number of failed streams with
    /// which it fails. `None`: no streams.
    #[doc(hidden)]
    const STREAMS: Option<[u8; 2]> = None;
    /// Whether its queue pairs also receive: all but initiators. Code that configures receives of others does not
    /// compile.
    const RECEIVES: bool = true;
    /// Whether its queue pairs are connected to one peer each: those of [`Rc`](transport::Rc), [`Uc`](transport::Uc)
    /// and [`XrcInitiator`](transport::XrcInitiator). Requests of the other services each name a destination, or have
    /// no peer. Code that connects such a queue pair does not compile.
    const CONNECTED: bool = true;
    /// Whether completions of its receives carry flow tags in place of a number, as completions of frames do.
    const FLOW_TAGS: bool = false;
    /// The headers that each frame has inline; `None`: it sends no frames.
    const INLINE_LAYERS: Option<InlineLayers> = None;
    /// `ibv_qp_type` of a queue pair that it is connected to.
    const PEER_TYPE: sys::ibv_qp_type = Self::QP_TYPE;
    /// The transport's name in messages.
    const NAME: &'static str;
}

impl VerbsTransport for transport::Rc {
    const QP_TYPE: sys::ibv_qp_type = sys::IBV_QPT_RC;
    const RELIABLE: bool = true;
    const NAME: &'static str = "RC";
}

impl VerbsTransport for transport::Uc {
    const QP_TYPE: sys::ibv_qp_type = sys::IBV_QPT_UC;
    const RELIABLE: bool = false;
    const NAME: &'static str = "UC";
}

impl<T: VerbsTransport> VerbsTransport for transport::Signed<T> {
    const QP_TYPE: sys::ibv_qp_type = T::QP_TYPE;
    const RELIABLE: bool = T::RELIABLE;
    const OPERAND_DS: usize = T::OPERAND_DS;
    const INITIATOR: bool = T::INITIATOR;
    const STREAMS: Option<[u8; 2]> = T::STREAMS;
    const RECEIVES: bool = T::RECEIVES;
    const CONNECTED: bool = T::CONNECTED;
    const FLOW_TAGS: bool = T::FLOW_TAGS;
    const PEER_TYPE: sys::ibv_qp_type = T::PEER_TYPE;
    const NAME: &'static str = T::NAME;
}

/// Handle of a queue pair (`ibv_qp`): its number, and the states before and after sending ([`Self::to_init`],
/// [`Self::to_error`]). The queue pair goes to RTS by [`QueuePair::connect`]. Cheap to clone.
#[doc(alias = "ibv_qp")]
#[derive(Clone, Debug)]
pub struct Qp {
    pub(in crate::verbs) handle: Arc<QpHandle>,
}

#[derive(Debug)]
pub(in crate::verbs) struct QpHandle {
    pub(in crate::verbs) raw: NonNull<sys::ibv_qp>,
    /// Whether it is ours to destroy.
    pub(in crate::verbs) adopted: bool,
    pub(in crate::verbs) qpn: Qpn,
    /// The number that completions of receives carry, if not flow tags.
    pub(in crate::verbs) recv_qpn: Qpn,
    /// The queue to which receives complete.
    pub(in crate::verbs) recv_cq: CqId,
    pub(in crate::verbs) completes: Option<Arc<Completes>>,
    pub(in crate::verbs) reliable: bool,
    pub(in crate::verbs) device: Arc<DeviceAttr>,
    /// The WQEBBs that the send queue may have outstanding once it is ready to send.
    pub(in crate::verbs) depth: Wqebbs,
    /// Held while the state changes, or is asked for.
    pub(in crate::verbs) changing: Mutex<()>,
    /// Makes sure that no other queue drives it; given back before it is destroyed.
    pub(in crate::verbs) taken: Option<InUse>,
    // From here on: fields that must outlive the queue pair, dropped after `Drop` has destroyed it.
    pub(in crate::verbs) _sq_shadow: Shadow<WqeRecord>,
    pub(in crate::verbs) _rq_shadow: Shadow<u64>,
    pub(in crate::verbs) _claim: Option<Claim>,
    pub(in crate::verbs) under: Option<Arc<Under>>,
    pub(in crate::verbs) xrcd: Option<Arc<XrcdHandle>>,
}

/// The objects that a queue pair is made from.
#[derive(Debug)]
pub(in crate::verbs) struct Under {
    pub(in crate::verbs) domain: Domain,
    pub(in crate::verbs) _send_cq: Cq,
    pub(in crate::verbs) _recv_cq: Cq,
    pub(in crate::verbs) srq: Option<Srq>,
    pub(in crate::verbs) pd: Arc<PdHandle>,
}

/// The domain that a queue pair is made in. It decides which queues have the queue pair's register.
#[derive(Debug)]
pub(in crate::verbs) enum Domain {
    /// A domain of its own, and so a register of its own.
    Own(ParentDomain),
    /// A thread's: all the queues there have one register.
    Thread(Arc<ThreadDomainHandle>),
    /// The protection domain: libmlx5 chooses the register.
    Protection,
}

// SAFETY: state changes and queries store the state without a lock of libibverbs, and `writes_in_order` has it read.
// This crate does all three only with `changing` held. libibverbs and the kernel lock all else that they share. Other
// calls read fields that never change. The handle is destroyed once, by its last owner.
unsafe impl Send for QpHandle {}
// SAFETY: the unlocked calls are made with `changing` held; other calls lock, or read fields that never change.
unsafe impl Sync for QpHandle {}

impl Drop for QpHandle {
    fn drop(&mut self) {
        // Before the call: once the queue pair is destroyed, another may be made at the same address.
        drop(self.taken.take());
        event!(DEBUG, "queue pair destroyed", qpn = self.qpn.get(), adopted = self.adopted);
        // Before the call, too: another may get its number.
        self.left_shared_queue(|left, qpn| _ = left.remove(&qpn));
        if !self.adopted {
            // SAFETY: made by `mlx5dv_create_qp`; the queues over its rings held this object and are gone (`Owned`).
            let returned = unsafe { sys::ibv_destroy_qp(self.raw.as_ptr()) };
            let under = (self._claim.take(), self.under.take(), self.xrcd.take(), self.completes.take());
            drop_or_leak(OBJECT, self.qpn.get(), returned, under);
        }
    }
}

impl QpHandle {
    /// Has `change` note whether the queue pair takes receives from its shared queue, if it has one.
    pub(in crate::verbs) fn left_shared_queue(&self, change: impl FnOnce(&mut HashMap<Qpn, bool>, Qpn)) {
        let of_domain = self.xrcd.as_deref().map(XrcdHandle::context);
        let with_shared = self.under.as_ref().filter(|under| under.srq.is_some());
        if let Some(context) = of_domain.or(with_shared.map(|under| &*under.pd.context)) {
            change(&mut context.left_shared_queue(), self.qpn);
        }
    }
}

impl Qp {
    /// Where the peer reaches this queue pair by `path`. Call it once for each connection: each call takes another
    /// random number as the first PSN ([`Psn::random`]). Give [`connect`](crate::verbs::QueuePair::connect) the same
    /// endpoint as the peer.
    #[must_use]
    pub fn endpoint(&self, path: &Path) -> Endpoint {
        self.endpoint_with(path, Psn::random())
    }

    /// [`endpoint`](Self::endpoint) with a first PSN chosen by the caller, for peers that fix it, and for tests.
    #[must_use]
    pub fn endpoint_with(&self, path: &Path, psn: Psn) -> Endpoint {
        Endpoint { ece: self.ece(), ..path.endpoint(self.qpn(), psn) }
    }

    /// The queue pair's number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        self.handle.qpn
    }

    /// The number of the receive queue, which completions of receives carry: the queue pair's. With raw packets the
    /// receive queue is an object with a number of its own, and its completions carry [flow
    /// tags](crate::cq::CqeView::flow_tag).
    #[must_use]
    pub fn recv_qpn(&self) -> Qpn {
        self.handle.recv_qpn
    }

    /// The raw queue pair; alive as long as `self`: for queries, and for attributes that this crate does not set.
    ///
    /// Not for
    /// - posting (`ibv_post_send`, `ibv_post_recv`, `ibv_wr_start`): libmlx5 counts for itself, and writes over
    ///   requests;
    /// - RESET (`ibv_modify_qp`): the device starts again at index 0, but the queues here go on where they were. After
    ///   connecting again, the device would execute the old WQEs of the ring once more. Use [`QueuePair::reset`].
    ///   Connecting detects such a queue pair by its doorbell record and refuses it
    ///   ([`Error::ResetElsewhere`](crate::verbs::Error::ResetElsewhere));
    /// - RTS: the send queue stays closed until [`QueuePair::refresh`];
    /// - destroying it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_qp {
        self.handle.raw.as_ptr()
    }

    /// How it counts as a receiver; `None` without receives.
    pub(in crate::verbs) fn receiver(&self) -> Option<&Receiver> {
        self.handle.completes.as_ref()?.receiver.as_ref()
    }

    /// Whether both are handles of one queue pair.
    pub(in crate::verbs) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }

    pub(crate) fn is_reliable(&self) -> bool {
        self.handle.reliable
    }

    pub(crate) fn device_attr(&self) -> &DeviceAttr {
        &self.handle.device
    }
}

/// A queue pair: its handle, and its queues. The queues are independent from here on: for example, move them to other
/// threads.
///
/// # Completions that outlive it
///
/// Unpolled completions stay in the completion queue when the queue pair is dropped, and the device gives its number
/// out again. Dropping cannot take the completions out: the completion queue is another value, and another thread may
/// have it. So:
/// - If you have both, take them out by [`reset`](Self::reset) before dropping, or by
///   [`CompletionQueue::forget`](crate::CompletionQueue::forget) after.
/// - A new queue pair on completion queues of this crate never has a number whose completions they hold: the
///   [builder](crate::verbs::QpBuilder) checks, and takes another number or fails with
///   [`Error::StaleCompletions`](crate::verbs::Error::StaleCompletions).
/// - This crate does not check queue pairs that are adopted, or that libibverbs itself makes on such a completion
///   queue: call `forget` with their number before they post.
///
/// A lent completion borrows its completion queue, and no queue pair is made there meanwhile
/// ([`AnyCq`](crate::verbs::AnyCq)). A queue pair with the same number may be made on another completion queue: its
/// queues refuse the completions of other completion queues
/// ([`RetireError::WrongCompletionQueue`](crate::RetireError::WrongCompletionQueue)).
///
/// `B` is the type posted to the receive queue: see [`RecvQueue`].
#[doc(alias = "ibv_qp")]
#[derive(Debug)]
pub struct QueuePair<T: Transport, R: Register = ExclusiveRegister, B = WrId> {
    /// The handle, for all uses except posting.
    pub qp: Qp,
    /// The send queue.
    pub sq: Owned<SendQueue<T, R>, Qp>,
    /// The receive queue. If receives come from a shared queue, or there are none, its
    /// [`capacity`](RecvQueue::capacity) is zero.
    pub rq: Owned<RecvQueue<T::RecvForm, B>, Qp>,
}
