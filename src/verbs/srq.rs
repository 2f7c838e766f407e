//! Shared receive queues.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::cq::setup::{Receiver, Reservation, Reservations};
use crate::queue::Shadow;
use crate::queue::SharedRecvQueue;
use crate::queue::recv::capacity;
use crate::queue::recv::{SrqParts, SrqRecord};
use crate::types::Srqn;
use crate::verbs::cq::any::numbered_receiver;
use crate::verbs::device::open::is_mlx5;
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::domain::xrc::XrcdHandle;
use crate::verbs::error::{in_range, non_null, zero};
use crate::verbs::event::event;
use crate::verbs::in_use::{InUse, Known};
use crate::verbs::leak::drop_or_leak;
use crate::verbs::parts::{self, fits, part};
use crate::verbs::{Cq, Error, Owned, ProtectionDomain, XrcDomain};

/// Handle of a shared receive queue (`ibv_srq`), for making queue pairs. Cheap to clone.
#[doc(alias = "ibv_srq")]
#[derive(Clone, Debug)]
pub struct Srq {
    pub(crate) handle: Arc<SrqHandle>,
}

/// A shared receive queue of this crate over an `ibv_srq`.
#[doc(alias("ibv_srq", "ibv_create_srq_ex"))]
pub type OwnedSrq = Owned<SharedRecvQueue, Srq>;

const OBJECT: &str = "shared receive queue";

#[derive(Debug)]
pub(crate) struct SrqHandle {
    raw: NonNull<sys::ibv_srq>,
    srqn: Srqn,
    /// Makes sure that no other queue drives it; given back before it is destroyed.
    taken: Option<InUse>,
    shadow: Option<Shadow<SrqRecord>>,
    /// `None`: it is another library's to destroy.
    pd: Option<Arc<PdHandle>>,
    /// The XRC domain, for a queue of one.
    _xrcd: Option<Arc<XrcdHandle>>,
    /// The places that its receives need where its queue pairs complete.
    places: Arc<Reservations>,
    /// The queue where its receives complete, if that is not the completion queue of its queue pairs.
    cq: Option<(Cq, Receiver, Reservation)>,
}

// SAFETY: queue pairs are made of it, it is queried and armed, and it is destroyed once, by its last owner. In these
// calls libmlx5 has one state, the table of queues, which it locks; the kernel locks the rest.
unsafe impl Send for SrqHandle {}
// SAFETY: libmlx5 locks the one table that its calls share, and the kernel locks the rest.
unsafe impl Sync for SrqHandle {}

impl Drop for SrqHandle {
    fn drop(&mut self) {
        // Before the call: once the queue is destroyed, another may be made at the same address.
        drop(self.taken.take());
        event!(DEBUG, "shared receive queue destroyed", srqn = self.srqn.get(), adopted = self.pd.is_none());
        if self.pd.is_some() {
            // SAFETY: made by `ibv_create_srq` or its like; the queue pairs of it held this object and are gone, and so
            // is the queue over its ring (`Owned`).
            let returned = unsafe { sys::ibv_destroy_srq(self.raw.as_ptr()) };
            drop_or_leak(OBJECT, self.srqn.get(), returned, (self.pd.take(), self._xrcd.take(), self.cq.take()));
        }
    }
}

impl Srq {
    /// The shared receive queue's number.
    #[must_use]
    pub fn srqn(&self) -> Srqn {
        self.handle.srqn
    }

    /// The places that its receives need where its queue pairs complete. `None`: they complete on a queue of its own.
    #[must_use]
    pub fn reservations(&self) -> Option<&Arc<Reservations>> {
        self.handle.cq.is_none().then_some(&self.handle.places)
    }

    /// Reserves places for its receives on the completion queue of a queue pair that is about to be made. `None`: they
    /// complete elsewhere.
    ///
    /// # Errors
    /// [`Error::CqRoom`].
    pub(in crate::verbs) fn reserve(&self, cq: &Cq) -> Result<Option<Arc<Reservation>>, Error> {
        let Some(places) = self.reservations() else { return Ok(None) };
        places.on(cq.room()).map(Some).map_err(|error| cq.too_small(error))
    }

    /// Asks for [`SrqEvent::LimitReached`](crate::verbs::async_event::SrqEvent::LimitReached), once, when the number of
    /// posted receives drops below `receives`. 0 disarms the limit. Arm it while more receives are posted. It is
    /// undocumented whether a queue that is already below the limit gives the event (`ibv_modify_srq(3)`); the software
    /// device gives it at the next receive taken.
    ///
    /// # Errors
    /// More than the queue holds, or a failed call.
    #[doc(alias("ibv_modify_srq", "ibv_query_srq", "IBV_SRQ_LIMIT"))]
    pub fn arm_limit(&self, receives: u32) -> Result<(), Error> {
        let mut attr = sys::ibv_srq_attr { max_wr: 0, max_sge: 0, srq_limit: 0 };
        // SAFETY: alive; the structure is ours.
        zero("ibv_query_srq", unsafe { sys::ibv_query_srq(self.as_raw(), &raw mut attr) })?;
        in_range("limit of a shared receive queue", receives.into(), 0..=attr.max_wr.into())?;
        attr.srq_limit = receives;
        let mask = sys::IBV_SRQ_LIMIT as libc::c_int;
        // SAFETY: alive; the structure is ours.
        zero("ibv_modify_srq", unsafe { sys::ibv_modify_srq(self.as_raw(), &raw mut attr, mask) })?;
        Ok(())
    }

    /// The raw shared receive queue; alive as long as `self`. Do not post to it with libibverbs: that corrupts the
    /// indices of both libraries.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_srq {
        self.handle.raw.as_ptr()
    }
}

impl ProtectionDomain {
    /// Makes a shared receive queue of at least `receives` requests of at most `max_sge` scatter entries each.
    ///
    /// # Errors
    /// A size the device does not have, or a failed call.
    #[doc(alias = "ibv_create_srq")]
    pub fn shared_recv_queue(&self, receives: u32, max_sge: u32) -> Result<OwnedSrq, Error> {
        self.check_srq(receives, max_sge)?;
        let mut attr = sys::ibv_srq_init_attr {
            srq_context: core::ptr::null_mut(),
            attr: sys::ibv_srq_attr { max_wr: receives, max_sge, srq_limit: 0 },
        };
        // SAFETY: the domain is alive; the attributes live until the call returns.
        let raw = non_null("ibv_create_srq", unsafe { sys::ibv_create_srq(self.handle.raw(), &raw mut attr) })?;
        // SAFETY: just made, by libmlx5, and this crate's alone.
        unsafe { queue_over(raw, Some(Arc::clone(&self.handle)), None, None) }
    }

    /// Makes a shared receive queue of an XRC domain (`IBV_SRQT_XRC`), with the sizes of
    /// [`shared_recv_queue`](Self::shared_recv_queue). Peers name its [number](Srq::srqn) in their requests; they reach
    /// it through any [target](crate::verbs::XrcTarget) of the domain, and access memory of this protection domain.
    ///
    /// Its receives complete on `cq`. Each completion has the number of the target that the message came through. On a
    /// device with CQEs of version 1, only an index that libmlx5 keeps to itself tells the shared receive queue
    /// ([`uidx`](crate::cq::CqeView::uidx)). So give each such queue its own completion queue. Other queues may
    /// complete sends there.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::ForeignDevice`], [`Error::Receivers`], [`Error::CqRoom`], a size the device
    /// does not have, or a failed call.
    #[doc(alias = "IBV_SRQT_XRC")]
    pub fn xrc_shared_recv_queue(
        &self,
        domain: &XrcDomain,
        cq: &Cq,
        receives: u32,
        max_sge: u32,
    ) -> Result<OwnedSrq, Error> {
        self.handle.context.check(OBJECT, [(&*domain.handle).into()])?;
        self.completing_on(cq, (receives, 0), max_sge, Some(Arc::clone(&domain.handle)), |attr| {
            attr.comp_mask |= sys::IBV_SRQ_INIT_ATTR_XRCD;
            attr.srq_type = sys::IBV_SRQT_XRC;
            attr.xrcd = domain.as_raw();
        })
    }

    /// A shared receive queue with a list of `tags` tags, whose receives, and operations on the list, complete on `cq`.
    /// libmlx5 makes a command queue for it, which stays unused.
    pub(in crate::verbs) fn tagged_shared_recv_queue(
        &self,
        cq: &Cq,
        receives: u32,
        max_sge: u32,
        tags: u32,
    ) -> Result<OwnedSrq, Error> {
        // A tagged message has two completions at most.
        self.completing_on(cq, (receives, 2 * tags), max_sge, None, |attr| {
            attr.comp_mask |= sys::IBV_SRQ_INIT_ATTR_TM;
            attr.srq_type = sys::IBV_SRQT_TM;
            attr.tm_cap = sys::ibv_tm_cap { max_num_tags: tags, max_ops: 1 };
        })
    }

    /// A shared receive queue whose receives, and `more`, complete on `cq`. `kind` sets its type and the attributes of
    /// that.
    fn completing_on(
        &self,
        cq: &Cq,
        (receives, more): (u32, u32),
        max_sge: u32,
        xrcd: Option<Arc<XrcdHandle>>,
        kind: impl FnOnce(&mut sys::ibv_srq_init_attr_ex),
    ) -> Result<OwnedSrq, Error> {
        self.handle.context.check(OBJECT, [cq.into()])?;
        let receiver = numbered_receiver(cq)?;
        self.check_srq(receives, max_sge)?;
        let mut attr = sys::ibv_srq_init_attr_ex::ZERO;
        attr.attr = sys::ibv_srq_attr { max_wr: receives, max_sge, srq_limit: 0 };
        attr.comp_mask = sys::IBV_SRQ_INIT_ATTR_TYPE | sys::IBV_SRQ_INIT_ATTR_PD | sys::IBV_SRQ_INIT_ATTR_CQ;
        (attr.pd, attr.cq) = (self.handle.raw(), cq.as_raw());
        kind(&mut attr);
        let places = cq.reserve(capacity(receives) + more)?;
        // SAFETY: the objects that the attributes name are alive, and of this context, as was checked; the attributes
        // live until the call returns.
        let raw = unsafe { sys::ibv_create_srq_ex(self.handle.context.raw(), &raw mut attr) };
        let raw = non_null("ibv_create_srq_ex", raw)?;
        // SAFETY: just made, by libmlx5, and this crate's alone.
        unsafe { queue_over(raw, Some(Arc::clone(&self.handle)), xrcd, Some((cq.clone(), receiver, places))) }
    }

    fn check_srq(&self, receives: u32, max_sge: u32) -> Result<(), Error> {
        parts::signatures(OBJECT, c"MLX5_SRQ_SIGNATURE", false)?;
        let limits = self.handle.context.attr();
        in_range("receives of a shared receive queue", receives.into(), 1..=limits.max_srq_wr.into())?;
        in_range("scatter entries of a shared receive queue", max_sge.into(), 1..=limits.max_srq_sge.into())
    }
}

/// Takes over a shared receive queue that another library made, and to which nothing was posted yet.
///
/// # Errors
/// If the queue is not libmlx5's, if this crate cannot drive its parts, if receives were posted to it
/// ([`Error::Parts`]), or if a queue of this crate drives it already ([`Error::Taken`]).
///
/// # Safety
/// - `srq` is alive, and stays so until the returned queue and every clone of its handle are dropped. It is not
///   destroyed.
/// - Nothing was posted to it, and nothing is posted to it in any other way from here on.
/// - It is a plain shared receive queue: not for XRC, and without tag matching.
/// - It was made without WQE signatures (the environment variable `MLX5_SRQ_SIGNATURE` makes libmlx5 ask for them).
pub unsafe fn adopt_srq(srq: NonNull<sys::ibv_srq>) -> Result<OwnedSrq, Error> {
    parts::signatures(OBJECT, c"MLX5_SRQ_SIGNATURE", false)?;
    // SAFETY: the caller vouches for the queue, which has its context, with a device, written once.
    if !unsafe { is_mlx5((*(*srq.as_ptr()).context).device) }? {
        return Err(Error::Parts { object: OBJECT, why: "it is not of an mlx5 device".into() });
    }
    // SAFETY: the caller promises that `srq` outlives the queue, and that no other code posts; it is libmlx5's, as
    // checked.
    unsafe { queue_over(srq, None, None, None) }
}

/// A queue over the ring of `raw`, which is destroyed with it if it was made in `pd`.
///
/// # Safety
/// The shared receive queue is alive and of libmlx5; with `pd`, the returned queue destroys it; otherwise it stays
/// alive as long as that queue and its handles. Nothing was posted to it, and no other code will post.
unsafe fn queue_over(
    raw: NonNull<sys::ibv_srq>,
    pd: Option<Arc<PdHandle>>,
    xrcd: Option<Arc<XrcdHandle>>,
    cq: Option<(Cq, Receiver, Reservation)>,
) -> Result<OwnedSrq, Error> {
    let (srqn, taken, shadow) = (Srqn::truncate(0), None, None);
    let places = Arc::new(Reservations::new(0));
    let mut handle = SrqHandle { raw, srqn, taken, shadow, pd, _xrcd: xrcd, places, cq };
    // SAFETY: the caller promises that the queue is alive, and libmlx5's.
    let raw = unsafe { parts::of_srq(handle.raw) }?;
    handle.srqn = fits(OBJECT, "number", raw.srqn, Srqn::new(raw.srqn))?;
    handle.taken = Some(InUse::new(OBJECT, raw.srqn, handle.raw.addr().get())?);
    let dbrec = part(OBJECT, "doorbell record", raw.dbrec)?;
    // SAFETY: one word that libmlx5 allocated; nothing else writes it while nothing is posted.
    if raw.head != 0 || unsafe { dbrec.read() } != 0 {
        return Err(Error::Parts {
            object: OBJECT,
            why: "receives were posted to it, whose identifiers libmlx5 has".into(),
        });
    }
    // Nothing was posted yet, so the last free WQE is the last of the ring. libmlx5 keeps the WQEs that it allocates
    // behind it for itself ("wait queue" in `mlx5_alloc_srq_buf`).
    let wqe_cnt = raw.tail.saturating_add(1);
    handle.places = Arc::new(Reservations::new(wqe_cnt - 1));
    if let (Some(taken), None) = (&handle.taken, &handle.cq) {
        taken.describe(Known::Srq(Arc::clone(&handle.places)));
    }
    let shadow = Shadow::new(wqe_cnt);
    let parts = SrqParts {
        buf: part(OBJECT, "ring", raw.buf)?,
        wqe_cnt,
        stride: raw.stride,
        head: raw.head,
        tail: raw.tail,
        dbrec,
        srqn: handle.srqn,
        counter: 0,
        shadow: shadow.start(),
    };
    handle.shadow = Some(shadow);
    event!(
        DEBUG,
        "shared receive queue made",
        srqn = handle.srqn.get(),
        receives = wqe_cnt - 1,
        adopted = handle.pd.is_none()
    );
    // SAFETY: libmlx5 describes its own ring; nothing was posted to it, no other code will post (`Srq::as_raw` warns),
    // and ring and shadow live in the handle, which goes after the queue (`Owned`).
    let queue = unsafe { SharedRecvQueue::from_parts(parts) }
        .map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
    // SAFETY: the handle keeps the shared receive queue; this is the only queue over its ring.
    Ok(unsafe { Owned::new(queue, Srq { handle: Arc::new(handle) }, SharedRecvQueue::ring_addr) })
}
