//! From an `ibv_qp` to queues over its rings.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::{Arc, Mutex};

use blueflame_sys as sys;

use crate::cq::CqId;
use crate::cq::setup::{Receiver, Room, RoomError};
use crate::db::{Register, RegisterParts};
use crate::queue::Shadow;
use crate::queue::owning::Posted;
use crate::queue::recv::RqParts;
use crate::queue::send::SqParts;
use crate::queue::{RecvQueue, SendQueue};
use crate::types::{Cqn, Qpn, SqPi, Wqebbs};
use crate::verbs::cq::any::Completes;
use crate::verbs::device::DeviceAttr;
use crate::verbs::device::blueflame::blueflame_policy;
use crate::verbs::device::inline::Needed;
use crate::verbs::device::open::{is_mlx5, query};
use crate::verbs::domain::register::Claim;
use crate::verbs::error::zero;
use crate::verbs::event::event;
use crate::verbs::in_use::{InUse, Known};
use crate::verbs::parts::{self, fits, part};
use crate::verbs::qp::pair::{Domain, OBJECT, QpHandle, Under, VerbsTransport};
use crate::verbs::state::QpState;
use crate::verbs::{Error, Owned, Qp, QueuePair};

/// The environment variable that tells libmlx5 to sign the WQEs of queue pairs.
pub(in crate::verbs) const QP_SIGNATURE: &CStr = c"MLX5_QP_SIGNATURE";

/// A queue pair and its raw parts, before it is known which queues have its register.
pub(in crate::verbs) struct Made<T> {
    handle: QpHandle,
    parts: Parts,
    attr: QpAttr,
    /// The queue to which sends complete.
    cq: CqId,
    /// How many receives may be posted at a time.
    receives: u32,
    /// WQEs of the receive ring; zero if receives come from a shared queue, or there are none.
    recv_wqes: u32,
    transport: PhantomData<T>,
}

impl<T: VerbsTransport> Made<T> {
    /// # Safety
    /// The conditions of [`adopt_qp`], except those about the register.
    pub(in crate::verbs) unsafe fn adopt(qp: NonNull<sys::ibv_qp>) -> Result<Self, Error> {
        parts::signatures(OBJECT, QP_SIGNATURE, T::SIGNS)?;
        // SAFETY: the caller vouches for the queue pair, which has its context, its type and its shared queue written
        // once.
        let (context, kind, srq) = unsafe { ((*qp.as_ptr()).context, (*qp.as_ptr()).qp_type, (*qp.as_ptr()).srq) };
        if kind != T::QP_TYPE {
            return Err(Error::WrongTransport { is: type_name(kind), wanted: T::NAME });
        }
        // A target always has a shared queue, an initiator never. Do not ask libmlx5 for the parts of a target: it
        // looks for a register that does not exist (rdma-core `providers/mlx5/mlx5.c`, `mlx5dv_get_qp`).
        if T::INITIATOR && !srq.is_null() {
            return Err(Error::WrongTransport { is: "DCT".into(), wanted: T::NAME });
        }
        // SAFETY: a live queue pair has an open context with a device.
        if !unsafe { is_mlx5((*context).device) }? {
            return Err(Error::Parts { object: OBJECT, why: "it is not of an mlx5 device".into() });
        }
        if let Some(has) = T::INLINE_LAYERS {
            // SAFETY: the context of a live queue pair is open, and it is of an mlx5 device, as checked above.
            unsafe { Needed::query(context) }.check(has)?;
        }
        // SAFETY: the caller promises that the queue pair is alive; it is of an mlx5 device, as checked above.
        let (parts, attr) = unsafe { (Parts::of(qp)?, QpAttr::query(qp)?) };
        if InUse::is(qp.addr().get()) {
            return Err(Error::Taken { object: OBJECT, number: parts.qpn.get() });
        }
        let receives = T::RECEIVES && (!srq.is_null() || parts.raw.rq.wqe_cnt != 0);
        // SAFETY: the caller promises that the queue pair is alive; its completion queues are written once.
        let (send_cq, recv_cq) = unsafe { ((*qp.as_ptr()).send_cq.addr(), (*qp.as_ptr()).recv_cq.addr()) };
        let completes = Arc::new(Completes {
            receiver: receives.then(|| receiver(recv_cq, T::FLOW_TAGS)).transpose()?,
            // One more for the drain, as in `QpBuilder::send_completions`.
            sends: reserve(send_cq, |room| room.reserve(attr.cap.max_send_wr.min(parts.raw.sq.wqe_cnt) + 1))?,
            _receives: match InUse::known(srq.addr()) {
                Known::Srq(places) => reserve(recv_cq, |room| places.on(room))?,
                _ if srq.is_null() => reserve(recv_cq, |room| room.reserve(attr.cap.max_recv_wr).map(Arc::new))?,
                _ => None,
            },
        });
        // SAFETY: the caller promises that the queue pair is alive, and stays so; parts and attributes are its own.
        unsafe { Self::new(qp, parts, attr, Arc::new(query(context)?), (None, Some(completes))) }
    }

    /// # Safety
    /// The queue pair is alive, of an mlx5 device, and stays so: with `under`, this value destroys it. Parts and
    /// attributes are its own.
    pub(in crate::verbs) unsafe fn new(
        raw: NonNull<sys::ibv_qp>,
        parts: Parts,
        attr: QpAttr,
        device: Arc<DeviceAttr>,
        (under, completes): (Option<Arc<Under>>, Option<Arc<Completes>>),
    ) -> Result<Self, Error> {
        // Make the value first that destroys the queue pair if a later step fails.
        let mut handle = QpHandle {
            raw,
            adopted: under.is_none(),
            qpn: parts.qpn,
            recv_qpn: parts.recv_qpn,
            recv_cq: CqId::NONE,
            completes,
            reliable: T::RELIABLE,
            device,
            depth: Wqebbs(0),
            changing: Mutex::new(()),
            taken: None,
            _sq_shadow: Shadow::new(0),
            _rq_shadow: Shadow::new(0),
            _claim: None,
            under,
            xrcd: None,
        };
        handle.taken = Some(InUse::new(OBJECT, parts.qpn.get(), raw.addr().get())?);
        // SAFETY: the caller vouches for the queue pair; these are written once.
        let (srq, send_cq, recv_cq) =
            unsafe { ((*raw.as_ptr()).srq, (*raw.as_ptr()).send_cq, (*raw.as_ptr()).recv_cq) };
        // A completion queue cannot go before the queue pair, so the entry found here stays.
        handle.recv_cq = InUse::cq(recv_cq.addr());
        let recv_wqes = if srq.is_null() { parts.raw.rq.wqe_cnt } else { 0 };
        let cq = InUse::cq(send_cq.addr());
        let mut made = Self { handle, parts, attr, cq, receives: 0, recv_wqes, transport: PhantomData };
        // The limits of libmlx5 (rdma-core `providers/mlx5/qp.c`, `mlx5_wq_overflow`).
        made.bound(Wqebbs(u16::try_from(attr.cap.max_send_wr).unwrap_or(u16::MAX)), attr.cap.max_recv_wr);
        Ok(made)
    }

    /// Bounds the requests that the queues take at a time.
    pub(in crate::verbs) fn bound(&mut self, depth: Wqebbs, receives: u32) {
        // A ring has at most 2^15 WQEBBs; `from_parts` refuses a larger one.
        self.handle.depth = depth.min(Wqebbs(u16::try_from(self.parts.raw.sq.wqe_cnt).unwrap_or(u16::MAX)));
        self.receives = receives;
    }

    pub(in crate::verbs) fn register(&self) -> Result<RegisterParts, Error> {
        let reg = part(OBJECT, "doorbell register", self.parts.raw.bf.reg)?;
        let parts = RegisterParts { reg, size: self.parts.raw.bf.size };
        match self.handle.under.as_ref().map(|under| &under.domain) {
            Some(Domain::Own(parent)) => parent.check(parts)?,
            Some(Domain::Thread(thread)) => thread.parent().check(parts)?,
            Some(Domain::Protection) | None => {}
        }
        Ok(parts)
    }

    pub(in crate::verbs) fn finish<R: Register, B: Posted>(
        mut self,
        register: R,
        claim: Option<Claim>,
    ) -> Result<QueuePair<T, R, B>, Error> {
        let raw = self.parts.raw;
        let dbrec = part(OBJECT, "doorbell record", raw.dbrec)?;
        // A queue pair goes on where its doorbell record says it is: at 0 when new.
        // SAFETY: two words that libmlx5 allocated; nothing else writes them while nothing is posted.
        let counters = unsafe { [dbrec.read(), dbrec.add(1).read()] }.map(|word: u32| u32::from_be(word) as u16);
        if raw.sq.stride as usize != crate::types::WQEBB_BYTES {
            let why = format!("send WQEBBs of {} bytes", raw.sq.stride);
            return Err(Error::Parts { object: OBJECT, why });
        }
        let bad = |object| move |error: &dyn core::fmt::Display| Error::Parts { object, why: error.to_string() };

        let sq_shadow = Shadow::new(raw.sq.wqe_cnt);
        let sq = SqParts {
            ring: part(OBJECT, "send ring", raw.sq.buf)?,
            wqebbs: raw.sq.wqe_cnt,
            dbrec,
            qpn: self.handle.qpn,
            cq: self.cq,
            max_inline: self.attr.cap.max_inline_data,
            max_sge: self.attr.cap.max_send_sge,
            signal_all: self.attr.signal_all,
            pi: SqPi(counters[sys::MLX5_SND_DBR]),
            shadow: sq_shadow.start(),
        };
        self.handle._sq_shadow = sq_shadow;
        // SAFETY: libmlx5 describes its own ring; ring, record and shadow live in the handle, which goes after the
        // queue (`Owned`). No other code posts: the contract of adopting says so, and `Qp::as_raw` warns of it. The
        // identity is that of the queue over the completion queue of this queue pair. No completion of an earlier queue
        // pair with its number is left: the builder has looked, and borrows the completion queue. For an adopted one,
        // the caller vouches.
        let mut sq = unsafe { SendQueue::from_parts(sq, register) }.map_err(|error| bad("send queue")(&error))?;
        let under = self.handle.under.as_ref();
        sq.set_blueflame_policy(under.map_or_else(blueflame_policy, |under| under.pd.context.blueflame()));
        if let Some(most) = self.handle.completes.as_ref().and_then(|completes| completes.most_sends()) {
            sq.limit_depth(Wqebbs(u16::try_from(most).unwrap_or(u16::MAX)));
        }
        let depth = if self.attr.state.takes_sends() { self.handle.depth } else { Wqebbs(0) };
        sq.set_depth(depth).map_err(|error| bad("send queue")(&error))?;
        sq.set_frame_offloads(self.handle.device.frame_offloads());

        let rq_shadow = Shadow::new(RqParts::shadow_words(self.recv_wqes));
        let rq = RqParts {
            buf: if self.recv_wqes == 0 { dbrec.cast() } else { part(OBJECT, "receive ring", raw.rq.buf)? },
            wqe_cnt: self.recv_wqes,
            stride: raw.rq.stride,
            dbrec,
            qpn: self.handle.recv_qpn,
            cq: self.handle.recv_cq,
            flow_tags: T::FLOW_TAGS,
            head: counters[sys::MLX5_RCV_DBR],
            shadow: rq_shadow.start(),
        };
        self.handle._rq_shadow = rq_shadow;
        // SAFETY: as for the send queue.
        let mut rq = unsafe { RecvQueue::from_parts(rq) }.map_err(|error| bad("receive queue")(&error))?;
        rq.limit_depth(self.receives);

        self.handle._claim = claim;
        event!(
            DEBUG,
            "queue pair made",
            qpn = self.handle.qpn.get(),
            transport = T::NAME,
            state = %self.attr.state,
            sends = self.handle.depth.0,
            receives = self.receives,
            inline = self.attr.cap.max_inline_data,
            blueflame_bytes = raw.bf.size,
            adopted = self.handle.adopted
        );
        self.handle.left_shared_queue(|left, qpn| _ = left.insert(qpn, false));
        let qp = Qp { handle: Arc::new(self.handle) };
        Ok(QueuePair {
            // SAFETY: the handle keeps the queue pair; these are the only queues over its rings.
            sq: unsafe { Owned::new(sq, qp.clone(), SendQueue::ring_addr) },
            // SAFETY: the handle keeps the queue pair; this is the only receive queue over its ring.
            rq: unsafe { Owned::new(rq, qp.clone(), RecvQueue::ring_addr) },
            qp,
        })
    }
}

/// Counts a queue pair that other code made as a receiver of its completion queue, if a queue of this crate drives
/// that.
fn receiver(cq: usize, flow_tags: bool) -> Result<Receiver, Error> {
    let (id, cqn) = match InUse::known(cq) {
        Known::Cq { id, cqn, .. } => (id, cqn),
        _ => (CqId::NONE, Cqn::truncate(0)),
    };
    Receiver::new(id, flow_tags).map_err(|error| Error::Receivers { cqn, error })
}

/// Places in the room of a completion queue, if a queue of this crate drives that.
fn reserve<P>(cq: usize, places: impl FnOnce(&Room) -> Result<P, RoomError>) -> Result<Option<P>, Error> {
    let Known::Cq { cqn, room, .. } = InUse::known(cq) else { return Ok(None) };
    places(&room).map(Some).map_err(|error| Error::CqRoom { cqn, error })
}

/// The name of a queue pair type in verbs.
fn type_name(kind: sys::ibv_qp_type) -> String {
    match kind {
        sys::IBV_QPT_RC => "RC".into(),
        sys::IBV_QPT_UC => "UC".into(),
        sys::IBV_QPT_UD => "UD".into(),
        sys::IBV_QPT_RAW_PACKET => "raw packet".into(),
        sys::IBV_QPT_XRC_SEND => "XRC (sending side)".into(),
        sys::IBV_QPT_XRC_RECV => "XRC (receiving side)".into(),
        sys::IBV_QPT_DRIVER => "the driver's own".into(),
        other => format!("ibv_qp_type {other}"),
    }
}

/// The parts of a queue pair as `mlx5dv_init_obj` returns them, and its numbers.
#[derive(Clone, Copy)]
pub(in crate::verbs) struct Parts {
    raw: sys::mlx5dv_qp,
    /// The number that completions of sends carry.
    pub(in crate::verbs) qpn: Qpn,
    /// That of receives: the same, but for raw packets.
    pub(in crate::verbs) recv_qpn: Qpn,
}

impl Parts {
    /// # Safety
    /// The queue pair is alive and of an mlx5 device.
    pub(in crate::verbs) unsafe fn of(qp: NonNull<sys::ibv_qp>) -> Result<Self, Error> {
        // SAFETY: the caller promises that the queue pair is alive, and of an mlx5 device.
        let raw = unsafe { parts::of_qp(qp) }?;
        // SAFETY: the caller promises that the queue pair is alive; its number is written once.
        let number = unsafe { (*qp.as_ptr()).qp_num };
        let qpn = fits(OBJECT, "number", number, Qpn::new(number))?;
        Ok(Self { raw, qpn, recv_qpn: recv_number(&raw)?.unwrap_or(qpn) })
    }
}

/// The attributes that a queue pair was made with, and its state.
#[derive(Clone, Copy)]
pub(in crate::verbs) struct QpAttr {
    cap: sys::ibv_qp_cap,
    state: QpState,
    signal_all: bool,
}

impl QpAttr {
    /// The attributes of a queue pair that this crate has just made. `cap` is the answer of the call that made it.
    /// libmlx5 writes the ring's room there before the kernel sees it, and the kernel hands it back (rdma-core
    /// `providers/mlx5/verbs.c`, `mlx5_calc_sq_size` and `create_qp`). Asking (`ibv_query_qp`) would be a command to
    /// the firmware for the same numbers.
    pub(in crate::verbs) fn made(cap: sys::ibv_qp_cap) -> Self {
        Self { cap, state: QpState::Reset, signal_all: false }
    }

    /// The attributes of a queue pair that other code made.
    ///
    /// # Safety
    /// The queue pair is alive and of an mlx5 device.
    unsafe fn query(qp: NonNull<sys::ibv_qp>) -> Result<Self, Error> {
        let (mut attr, mut init) = (sys::ibv_qp_attr::ZERO, sys::ibv_qp_init_attr::ZERO);
        let mask = (sys::IBV_QP_CAP | sys::IBV_QP_STATE) as libc::c_int;
        // SAFETY: the queue pair is alive, both structures are ours.
        zero("ibv_query_qp", unsafe { sys::ibv_query_qp(qp.as_ptr(), &raw mut attr, mask, &raw mut init) })?;
        Ok(Self { cap: init.cap, state: QpState::from_raw(attr.qp_state), signal_all: init.sq_sig_all != 0 })
    }
}

/// The number of the receive queue, if it has one of its own, as with raw packet queue pairs. Completions of receives
/// carry it (Linux `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp`).
fn recv_number(parts: &sys::mlx5dv_qp) -> Result<Option<Qpn>, Error> {
    if parts.comp_mask & sys::MLX5DV_QP_MASK_RAW_QP_HANDLES == 0 || parts.rqn == 0 {
        return Ok(None);
    }
    fits(OBJECT, "receive queue's number", parts.rqn, Qpn::new(parts.rqn)).map(Some)
}
