//! Work queues: receive queues of frames, outside of queue pairs.

use core::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use blueflame_sys as sys;

use crate::cq::Cqe;
use crate::cq::setup::{Receiver, Reservation, Whose};
use crate::queue::RecvQueue;
use crate::queue::Shadow;
use crate::queue::owning::Posted;
use crate::queue::recv::RqParts;
use crate::queue::striding::{MemoryGuard, StridedMemory, Strides};
use crate::transport::PlainRecv;
use crate::types::{Qpn, WrId};
use crate::verbs::cq::any::{receiver, whole};
use crate::verbs::domain::protection::PdHandle;
use crate::verbs::error::{in_range, non_null, zero};
use crate::verbs::event::event;
use crate::verbs::in_use::InUse;
use crate::verbs::leak::drop_or_leak;
use crate::verbs::parts::{self, fits, part};
use crate::verbs::{AnyCq, Cq, Error, Owned, ProtectionDomain};

pub(super) const OBJECT: &str = "work queue";

/// The most receives of a work queue: half of the values of its 16-bit counter.
pub(super) const MAX_RECEIVES: u64 = 1 << 15;

/// Handle of a work queue (`ibv_wq`), for making receivers. Cheap to clone.
#[doc(alias = "ibv_wq")]
#[derive(Clone, Debug)]
pub struct Wq {
    handle: Arc<WqHandle>,
}

/// A receive queue of this crate over an `ibv_wq`: the receives of a [`FrameReceiver`](super::FrameReceiver). Unlike
/// that of a queue pair, it is always there, and ready from the start.
#[doc(alias("ibv_wq", "ibv_create_wq"))]
pub type OwnedWq<B = WrId> = Owned<RecvQueue<PlainRecv, B>, Wq>;

#[derive(Debug)]
pub(super) struct WqHandle {
    raw: NonNull<sys::ibv_wq>,
    pub(super) number: u32,
    /// The state that it was moved to last; held while it changes.
    state: Mutex<State>,
    /// Makes sure that no other queue drives it; given back before it is destroyed.
    taken: Option<InUse>,
    pub(super) shadow: Option<Shadow<u64>>,
    under: Option<Under>,
}

/// The objects that a work queue is made from.
#[derive(Debug)]
struct Under {
    _pd: Arc<PdHandle>,
    cq: Cq,
    _receiver: Receiver,
    _places: Reservation,
    /// The buffers of a striding queue.
    _memory: Option<MemoryGuard>,
}

// SAFETY: used only for state changes, to make tables, and to be destroyed once. libmlx5 reads and stores the state
// without a lock (`ibv_wq::state`), so this crate changes it only with `state` held. Tables read fields that never change.
unsafe impl Send for WqHandle {}
// SAFETY: the state changes only with `state` held; other threads read fields that never change.
unsafe impl Sync for WqHandle {}

impl Drop for WqHandle {
    fn drop(&mut self) {
        // Before the call: once the queue is destroyed, another may be made at the same address.
        drop(self.taken.take());
        event!(DEBUG, "work queue destroyed", number = self.number);
        // SAFETY: made by `ibv_create_wq`; the tables of it held this object and are gone, and so is the queue over its
        // ring (`Owned`).
        let returned = unsafe { sys::ibv_destroy_wq(self.raw.as_ptr()) };
        drop_or_leak(OBJECT, self.number, returned, (self.under.take(), self.shadow.take()));
    }
}

/// A state, `ibv_wq_state`.
type State = sys::ibv_wq_state;

impl WqHandle {
    /// Moves the new queue to the ready state.
    pub(super) fn ready(self) -> Result<Wq, Error> {
        let wq = Wq { handle: Arc::new(self) };
        // On this way libmlx5 stores its own count of posted receives, zero, to the record (rdma-core
        // `providers/mlx5/verbs.c`, `mlx5_modify_wq`): so before anything is posted.
        wq.modify(&mut wq.changing(), sys::IBV_WQS_RDY)?;
        Ok(wq)
    }
}

impl Wq {
    /// The number of the receive queue. Completions carry flow tags in its place.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.handle.number
    }

    /// Moves the queue to the error state: the device completes all posted receives with
    /// [`WcStatus::WrFlushErr`](crate::cq::WcStatus::WrFlushErr), and drops frames that come later.
    ///
    /// # Errors
    /// A failed call.
    #[doc(alias = "ibv_modify_wq")]
    pub fn to_error(&self) -> Result<(), Error> {
        self.modify(&mut self.changing(), sys::IBV_WQS_ERR)
    }

    /// Keeps others from changing the state.
    fn changing(&self) -> MutexGuard<'_, State> {
        self.handle.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The raw work queue; alive as long as `self`. Not for posting (`ibv_post_wq_recv`) or state changes
    /// (`ibv_modify_wq`), which corrupt the indices of both libraries.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_wq {
        self.handle.raw.as_ptr()
    }

    /// Changes the state. `state` is this queue's.
    fn modify(&self, state: &mut State, to: State) -> Result<(), Error> {
        let mut attr = sys::ibv_wq_attr::ZERO;
        (attr.attr_mask, attr.wq_state) = (sys::IBV_WQ_ATTR_STATE, to);
        // SAFETY: alive; the structure is ours.
        let returned = unsafe { sys::ibv_modify_wq(self.as_raw(), &raw mut attr) };
        // libmlx5 negates the errno for a state that the queue is not in.
        zero("ibv_modify_wq", returned.abs())?;
        *state = to;
        Ok(())
    }
}

impl<B: Posted> OwnedWq<B> {
    /// Starts the queue over, from any state: it is empty and ready. Buffers of outstanding receives are dropped, and
    /// `wr_id`s lost.
    /// It removes unpolled completions from `cq`, the queue's completion queue, because they would pass for completions
    /// of later receives. `forgotten` sees each of them first. The queue ends ready even if a clone of the handle moves
    /// it to the error state meanwhile.
    ///
    /// # Errors
    /// [`Error::CqNotGiven`], [`Error::MixedUp`], with nothing changed; or a failed call: the queue receives nothing
    /// then, until this succeeds.
    pub fn restart(&mut self, cq: &mut dyn AnyCq<Cq>, forgotten: impl FnMut(Cqe<'_>)) -> Result<(), Error> {
        // SAFETY: as `restart` says of this moment.
        restart(self, cq, forgotten, |queue| unsafe { queue.reset() })
    }
}

/// Starts a queue over. `reset` is called when the device's queue is in the reset state. All completions that the queue
/// accepts are in the completion queue then, and are forgotten before this returns, or ends by a panic of `forgotten`.
/// None is lent, as both queues are borrowed. `reset` leaves a doorbell record of zero.
pub(super) fn restart<Q>(
    owned: &mut Owned<Q, Wq>,
    cq: &mut dyn AnyCq<Cq>,
    mut forgotten: impl FnMut(Cqe<'_>),
    reset: impl FnOnce(&mut Q),
) -> Result<(), Error> {
    if !owned.is_whole() {
        return Err(Error::MixedUp { object: OBJECT });
    }
    let wq = owned.handle().clone();
    let given = whole(cq)?.as_raw();
    if wq.handle.under.as_ref().is_none_or(|under| under.cq.as_raw() != given) {
        return Err(Error::CqNotGiven { which: "receives" });
    }
    // To RESET from the error state, as Linux' mlx5e does
    // (`drivers/net/ethernet/mellanox/mlx5/core/en/reporter_rx.c`, `mlx5e_rx_reporter_err_rq_cqe_recover`).
    let mut state = wq.changing();
    wq.modify(&mut state, sys::IBV_WQS_ERR)?;
    wq.modify(&mut state, sys::IBV_WQS_RESET)?;
    reset(owned);
    // From here on, the device and the queue agree, so that `forgotten` may do anything with other handles.
    drop(state);
    cq.forget_any(Whose::Receives, &mut forgotten);
    let mut state = wq.changing();
    if *state != sys::IBV_WQS_RESET {
        // A clone moved it to the error state. The device flushed nothing there: by the record, nothing is posted.
        wq.modify(&mut state, sys::IBV_WQS_RESET)?;
    }
    wq.modify(&mut state, sys::IBV_WQS_RDY)
}

/// Builder of a work queue.
#[doc(alias("ibv_wq_init_attr", "ibv_create_wq"))]
#[derive(Clone)]
#[must_use = "nothing is made yet"]
pub struct WqBuilder<'a> {
    pub(super) pd: &'a ProtectionDomain,
    pub(super) cq: &'a dyn AnyCq<Cq>,
    pub(super) receives: Option<u32>,
    pub(super) max_sge: u32,
    strip_vlan: bool,
}

impl ProtectionDomain {
    /// Begins a receive queue of frames whose receives complete on `cq`. It must be the only receiver there, because
    /// completions of frames carry flow tags in place of numbers ([`Receiver`]).
    ///
    /// ```
    /// use blueflame::flow::{Flow, Rss};
    /// use blueflame::verbs::ethernet::{FrameReceiver, OwnedWq, WqTable};
    /// use blueflame::verbs::{Device, Error, OwnedCq, ProtectionDomain};
    ///
    /// /// One queue for each of four threads.
    /// fn spread(device: &Device, pd: &ProtectionDomain, flow: &Flow) -> Result<Vec<(OwnedCq, OwnedWq)>, Error> {
    ///     let mut queues = Vec::new();
    ///     for _ in 0..4 {
    ///         let cq = device.completion_queue(512).build()?;
    ///         let wq = pd.work_queue(&cq).receives(512).build()?;
    ///         queues.push((cq, wq));
    ///     }
    ///     let handles: Vec<_> = queues.iter().map(|(_, wq)| wq.handle().clone()).collect();
    ///     let receiver = FrameReceiver::spread(pd, &WqTable::new(&handles)?, &Rss::udp(Rss::PUBLISHED_KEY))?;
    ///     let rule = receiver.steer(flow)?;
    ///     # drop(rule);
    ///     Ok(queues) // and the rule, as long as frames shall come
    /// }
    /// ```
    #[doc(alias = "ibv_create_wq")]
    pub fn work_queue<'a>(&'a self, cq: &'a dyn AnyCq<Cq>) -> WqBuilder<'a> {
        WqBuilder { pd: self, cq, receives: None, max_sge: 1, strip_vlan: false }
    }
}

impl WqBuilder<'_> {
    /// Receives that may be posted at a time, at most 32768. Default 128.
    pub fn receives(mut self, receives: u32) -> Self {
        self.receives = Some(receives);
        self
    }

    /// Scatter entries of a receive. Default 1.
    pub fn recv_sge(mut self, entries: u32) -> Self {
        self.max_sge = entries;
        self
    }

    /// The device takes the VLAN tag out of frames, and completions report it
    /// (`IBV_WQ_FLAGS_CVLAN_STRIPPING`). Off by default.
    #[doc(alias = "IBV_WQ_FLAGS_CVLAN_STRIPPING")]
    pub fn strip_vlan(mut self, on: bool) -> Self {
        self.strip_vlan = on;
        self
    }

    /// Makes the queue, and moves it to the ready state. You post values of type `B`; the compiler infers it from your
    /// call ([`RecvQueue::post`], [`RecvQueue::post_unchecked`]).
    ///
    /// # Errors
    /// A size out of range, [`Error::ForeignDevice`], [`Error::MixedUp`], [`Error::CqRoom`], [`Error::Receivers`],
    /// [`Error::StaleReceives`], or a failed call: on InfiniBand there are no work queues (`EOPNOTSUPP`).
    pub fn build<B: Posted>(self) -> Result<OwnedWq<B>, Error> {
        let receives = self.receives.unwrap_or(128);
        in_range("receives of a work queue", receives.into(), 1..=MAX_RECEIVES)?;
        let (mut handle, raw) = self.make(receives, None)?;
        let shadow = Shadow::new(RqParts::shadow_words(raw.wqe_cnt));
        let parts = RqParts {
            buf: part(OBJECT, "ring", raw.buf)?,
            wqe_cnt: raw.wqe_cnt,
            stride: raw.stride,
            dbrec: part(OBJECT, "doorbell record", raw.dbrec)?,
            qpn: fits(OBJECT, "number", handle.number, Qpn::new(handle.number))?,
            cq: self.cq.any_id(),
            flow_tags: true,
            head: 0,
            shadow: shadow.start(),
        };
        handle.shadow = Some(shadow);
        let wq = handle.ready()?;
        // SAFETY: libmlx5 describes its own ring; nothing was posted to it, no other code will post (`Wq::as_raw`
        // warns), and ring and shadow live in the handle, which goes after the queue (`Owned`). The receiver counted is
        // the only one on its completion queue, where no receive of an earlier one is left.
        let mut queue = unsafe { RecvQueue::from_parts(parts) }
            .map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
        queue.limit_depth(receives);
        // SAFETY: the handle keeps the work queue; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, wq, RecvQueue::ring_addr) })
    }

    /// Makes the object, in the reset state: a striding one if there is `memory` for it.
    pub(super) fn make(
        &self,
        receives: u32,
        memory: Option<&StridedMemory>,
    ) -> Result<(WqHandle, sys::mlx5dv_rwq), Error> {
        parts::signatures(OBJECT, c"MLX5_RWQ_SIGNATURE", false)?;
        let context = &self.pd.handle.context;
        let cq = whole(self.cq)?;
        context.check(OBJECT, [cq.into()])?;
        in_range("scatter entries of a work queue", self.max_sge.into(), 1..=context.attr().max_sge.into())?;
        let under = Under {
            _pd: Arc::clone(&self.pd.handle),
            cq: cq.clone(),
            _receiver: receiver(self.cq, true)?,
            _places: cq.reserve(memory.map_or(receives, |memory| memory.completions(receives)))?,
            _memory: memory.map(StridedMemory::guard),
        };
        let mut attr = sys::ibv_wq_init_attr::ZERO;
        attr.wq_type = sys::IBV_WQT_RQ;
        (attr.max_wr, attr.max_sge) = (receives, self.max_sge);
        (attr.pd, attr.cq) = (self.pd.as_raw(), cq.as_raw());
        if self.strip_vlan {
            attr.comp_mask = sys::IBV_WQ_INIT_ATTR_FLAGS;
            attr.create_flags = sys::IBV_WQ_FLAGS_CVLAN_STRIPPING;
        }
        let raw = match memory.map(|memory| memory.strides()) {
            None => {
                // SAFETY: both are alive, and of this context, as was checked; the attributes live until the call
                // returns.
                let raw = unsafe { sys::ibv_create_wq(context.raw(), &raw mut attr) };
                non_null("ibv_create_wq", raw)?
            }
            Some(strides) => {
                let mut mlx5 = striding(strides);
                // SAFETY: domain and queue are alive, and of this context; both attributes live until the calls return.
                let raw = unsafe {
                    let raw = sys::mlx5dv_create_wq(context.raw(), &raw mut attr, &raw mut mlx5);
                    sys::begin_wq(raw, &raw const attr)
                };
                non_null("mlx5dv_create_wq", raw)?
            }
        };
        // Make the value first that destroys the work queue if a later step fails.
        let state = Mutex::new(sys::IBV_WQS_RESET);
        let mut handle = WqHandle { raw, number: 0, state, taken: None, shadow: None, under: Some(under) };
        // SAFETY: just made; written once.
        handle.number = unsafe { (*raw.as_ptr()).wq_num };
        handle.taken = Some(InUse::new(OBJECT, handle.number, raw.addr().get())?);
        event!(DEBUG, "work queue made", number = handle.number, receives);
        // SAFETY: just made, by libmlx5.
        let raw = unsafe { parts::of_wq(raw) }?;
        Ok((handle, raw))
    }
}

/// The attributes of a striding queue.
fn striding(strides: Strides) -> sys::mlx5dv_wq_init_attr {
    sys::mlx5dv_wq_init_attr {
        comp_mask: sys::MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
        striding_rq_attrs: sys::mlx5dv_striding_rq_init_attr {
            single_stride_log_num_of_bytes: strides.log_bytes().into(),
            single_wqe_log_num_of_strides: strides.log_count().into(),
            two_byte_shift_en: strides.is_shifted().into(),
        },
    }
}
