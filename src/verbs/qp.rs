//! Queue pairs.

use core::marker::PhantomData;
use core::ptr::NonNull;
use std::rc;
use std::sync::Arc;

use rdma_sys as sys;

use super::device::{is_mlx5, query};
use super::error::{in_range, non_null, zero};
use super::parts::{self, Shadow, fits, part};
use super::pd::{ParentDomain, PdHandle};
use super::register::{self, Claim};
use super::thread_domain::{ThreadDomain, ThreadDomainHandle};
use super::{Cq, DeviceAttr, Error, Owned, ProtectionDomain, Srq, ffi};
use crate::arch::copy::{BlockCopy, Usual};
use crate::db::{ExclusiveRegister, FlushMode, Register, RegisterParts, SharedRegister, ThreadRegister, TwoFences};
use crate::queue::{RecvQueue, RqParts, SendQueue, SqParts, WqeRecord};
use crate::types::{Qpn, SqPi, WrId};
use crate::wqe::{Rc, Transport, Uc};

/// A transport as verbs names it.
pub trait VerbsTransport: Transport {
    /// `ibv_qp_type`.
    const QP_TYPE: sys::ibv_qp_type::Type;
    /// Whether the service is reliable, and so has READs, atomics, timers and retries.
    const RELIABLE: bool;
}

impl VerbsTransport for Rc {
    const QP_TYPE: sys::ibv_qp_type::Type = sys::ibv_qp_type::IBV_QPT_RC;
    const RELIABLE: bool = true;
}

impl VerbsTransport for Uc {
    const QP_TYPE: sys::ibv_qp_type::Type = sys::ibv_qp_type::IBV_QPT_UC;
    const RELIABLE: bool = false;
}

/// Handle of a queue pair (`ibv_qp`): its number, and its states ([`Self::to_init`], [`Self::connect`]). Cheap to clone.
#[derive(Clone, Debug)]
pub struct Qp {
    handle: Arc<QpHandle>,
}

#[derive(Debug)]
struct QpHandle {
    raw: NonNull<sys::ibv_qp>,
    /// Whether it is ours to destroy.
    adopted: bool,
    qpn: Qpn,
    reliable: bool,
    device: DeviceAttr,
    // From here on: what must outlive the queue pair, dropped after `Drop` has destroyed it.
    _sq_shadow: Shadow<WqeRecord>,
    _rq_shadow: Option<Shadow<WrId>>,
    _claim: Option<Claim>,
    under: Option<Under>,
}

/// What a queue pair is made from.
#[derive(Debug)]
struct Under {
    domain: Domain,
    _send_cq: Cq,
    _recv_cq: Cq,
    _srq: Option<Srq>,
    _pd: Arc<PdHandle>,
}

/// The domain that a queue pair is made in, which says whose its register is.
#[derive(Debug)]
enum Domain {
    /// Its own: so is the register.
    Own(ParentDomain),
    /// A thread's: all the queues there have one register.
    Thread(Arc<ThreadDomainHandle>),
    /// The protection domain: libmlx5 chooses the register.
    Protection,
}

// SAFETY: libibverbs locks what state changes and queries share; the handle is destroyed once, by its last owner.
unsafe impl Send for QpHandle {}
// SAFETY: as above.
unsafe impl Sync for QpHandle {}

impl Drop for QpHandle {
    fn drop(&mut self) {
        if !self.adopted {
            // SAFETY: made by `mlx5dv_create_qp`; the queues over its rings held this object and are gone (`Owned`).
            unsafe { sys::ibv_destroy_qp(self.raw.as_ptr()) };
        }
    }
}

impl Qp {
    /// The queue pair's number.
    #[must_use]
    pub fn qpn(&self) -> Qpn {
        self.handle.qpn
    }

    /// The raw queue pair; alive as long as `self`. Posting to it with libibverbs mixes up both.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_qp {
        self.handle.raw.as_ptr()
    }

    pub(crate) fn is_reliable(&self) -> bool {
        self.handle.reliable
    }

    pub(crate) fn device_attr(&self) -> &DeviceAttr {
        &self.handle.device
    }
}

/// A queue pair: its handle, and its queues, which go their own ways from here on, to other threads for instance.
#[derive(Debug)]
pub struct QueuePair<T: Transport, R: Register = ExclusiveRegister> {
    /// The handle, for what is not posting.
    pub qp: Qp,
    /// The send queue.
    pub sq: Owned<SendQueue<T, R>, Qp>,
    /// The receive queue; `None` if receives come from a shared one.
    pub rq: Option<Owned<RecvQueue, Qp>>,
}

/// What a queue pair is to be like.
#[derive(Clone)]
pub struct QpBuilder<'a, T> {
    pd: &'a ProtectionDomain,
    send_cq: &'a Cq,
    recv_cq: &'a Cq,
    srq: Option<&'a Srq>,
    cap: sys::ibv_qp_cap,
    scatter_to_cqe: bool,
    transport: PhantomData<T>,
}

impl ProtectionDomain {
    /// Begins a queue pair of transport `T` ([`Rc`], [`Uc`] or [`RawPacket`](crate::wqe::RawPacket)) whose sends complete on
    /// `send_cq` and receives on `recv_cq`.
    #[must_use]
    pub fn queue_pair<'a, T: VerbsTransport>(&'a self, send_cq: &'a Cq, recv_cq: &'a Cq) -> QpBuilder<'a, T> {
        QpBuilder {
            pd: self,
            send_cq,
            recv_cq,
            srq: None,
            cap: sys::ibv_qp_cap {
                max_send_wr: 128,
                max_recv_wr: 128,
                max_send_sge: 1,
                max_recv_sge: 1,
                max_inline_data: 0,
            },
            scatter_to_cqe: false,
            transport: PhantomData,
        }
    }
}

impl<'a, T: VerbsTransport> QpBuilder<'a, T> {
    /// Requests the send queue holds at least. Default 128.
    #[must_use]
    pub fn sends(mut self, requests: u32) -> Self {
        self.cap.max_send_wr = requests;
        self
    }

    /// Requests the receive queue holds at least. Default 128.
    #[must_use]
    pub fn receives(mut self, requests: u32) -> Self {
        self.cap.max_recv_wr = requests;
        self
    }

    /// Gather entries of a request to send. Default 1.
    #[must_use]
    pub fn send_sge(mut self, entries: u32) -> Self {
        self.cap.max_send_sge = entries;
        self
    }

    /// Scatter entries of a receive. Default 1.
    #[must_use]
    pub fn recv_sge(mut self, entries: u32) -> Self {
        self.cap.max_recv_sge = entries;
        self
    }

    /// Bytes a request may carry inline. Default 0, which still leaves what fits the space of the gather entries: the send
    /// queue knows how much it was granted.
    #[must_use]
    pub fn inline(mut self, bytes: u32) -> Self {
        self.cap.max_inline_data = bytes;
        self
    }

    /// Receives come from `srq`; the queue pair has no receive queue of its own.
    #[must_use]
    pub fn shared_recv_queue(mut self, srq: &'a Srq) -> Self {
        self.srq = Some(srq);
        self
    }

    /// Lets small data arrive in the CQE in place of the buffer, which saves the device a write. Off by default, and then a
    /// buffer always has its data; on, whoever polls must look at each CQE and copy.
    #[must_use]
    pub fn scatter_to_cqe(mut self, on: bool) -> Self {
        self.scatter_to_cqe = on;
        self
    }

    /// Makes the queue pair in a thread domain of its own, hence with a doorbell register that is its own.
    ///
    /// # Errors
    /// A size the device does not have, a failed call (of `ibv_alloc_td` if no register is left), or
    /// [`Error::RegisterHandedOutTwice`].
    pub fn build(self) -> Result<QueuePair<T>, Error> {
        self.build_with::<TwoFences, _>(Usual::default())
    }

    /// As [`build`](Self::build), with a doorbell of another flush mode, and another
    /// [routine](crate::arch::copy) that copies WQEs to BlueFlame: `build_with::<OneFence, _>(Usual::default())`.
    /// [`FlushMode`] has the table of which mode is for whom.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<F: FlushMode, C: BlockCopy>(
        self,
        copy: C,
    ) -> Result<QueuePair<T, ExclusiveRegister<F, C>>, Error> {
        let own = ParentDomain::new(self.pd, None)?;
        let made = self.create(Domain::Own(own))?;
        let parts = made.register()?;
        let claim = Claim::new(parts)?;
        // SAFETY: the register is mapped until the context closes, and is ours: libmlx5 gives it to this thread domain
        // alone, and the claim says that nobody got it before; or it has no BlueFlame, and others store 8-byte doorbells there.
        let register = unsafe { ExclusiveRegister::from_parts(parts) }.map_err(register::bad_register)?;
        made.finish(register.with_mode::<F>().with_copy(copy), Some(claim))
    }

    /// Makes the queue pair in the calling thread's domain, with the register, and the places of record and rings, that its
    /// queues share: for threads with many queues, see [`ThreadDomain`].
    ///
    /// # Errors
    /// A size the device does not have, [`Error::ForeignThreadDomain`], or a failed call.
    pub fn build_in(self, domain: &ThreadDomain) -> Result<QueuePair<T, rc::Rc<ThreadRegister>>, Error> {
        if !Arc::ptr_eq(domain.handle().pd(), &self.pd.handle) {
            return Err(Error::ForeignThreadDomain { object: OBJECT });
        }
        let made = self.create(Domain::Thread(Arc::clone(domain.handle())))?;
        // SAFETY: made in this domain; the register is mapped until the context closes.
        let register = unsafe { domain.register(made.register()?) }?;
        made.finish(register, None)
    }

    /// Makes the queue pair with whatever register libmlx5 chooses, which others may have, too. All queues of this crate on
    /// one register take turns by a lock.
    ///
    /// # Errors
    /// As [`Self::build`].
    ///
    /// # Safety
    /// No queue pair of the same context is posted to by other means than this crate (`ibv_post_send`): it might ring the
    /// same register without the lock.
    pub unsafe fn build_shared(self) -> Result<QueuePair<T, Arc<SharedRegister>>, Error> {
        let made = self.create(Domain::Protection)?;
        let parts = made.register()?;
        // SAFETY: mapped until the context closes; the caller vouches for those outside this crate.
        let register = unsafe { register::shared(parts) }?;
        made.finish(register, None)
    }

    fn create(self, domain: Domain) -> Result<Made<T>, Error> {
        parts::unsigned(OBJECT, QP_SIGNATURE)?;
        let device = self.pd.device().query()?;
        let (cap, wr, sge) = (self.cap, device.max_qp_wr.into(), device.max_sge.into());
        in_range("requests of a send queue", cap.max_send_wr.into(), 1..=wr)?;
        in_range("gather entries", cap.max_send_sge.into(), 0..=sge)?;
        if self.srq.is_none() {
            in_range("requests of a receive queue", cap.max_recv_wr.into(), 0..=wr)?;
            in_range("scatter entries", cap.max_recv_sge.into(), 0..=sge)?;
        }
        // SAFETY: integers and null pointers.
        let mut attr: sys::ibv_qp_init_attr_ex = unsafe { core::mem::zeroed() };
        attr.send_cq = self.send_cq.as_raw();
        attr.recv_cq = self.recv_cq.as_raw();
        attr.srq = self.srq.map_or(core::ptr::null_mut(), Srq::as_raw);
        attr.cap = cap;
        if self.srq.is_some() {
            (attr.cap.max_recv_wr, attr.cap.max_recv_sge) = (0, 0);
        }
        attr.qp_type = T::QP_TYPE;
        attr.comp_mask = sys::ibv_qp_init_attr_mask::IBV_QP_INIT_ATTR_PD.0;
        attr.pd = match &domain {
            Domain::Own(parent) => parent.raw(),
            Domain::Thread(thread) => thread.raw(),
            Domain::Protection => self.pd.as_raw(),
        };
        let mut mlx5 = ffi::Mlx5dvQpInitAttr {
            comp_mask: ffi::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
            create_flags: if self.scatter_to_cqe { 0 } else { ffi::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE },
            ..ffi::Mlx5dvQpInitAttr::default()
        };
        let context = self.pd.handle.context.raw();
        // SAFETY: context, domain and queues are alive; the attributes live until the call returns.
        let raw = unsafe { ffi::mlx5dv_create_qp(context, &raw mut attr, &raw mut mlx5) };
        let raw = non_null("mlx5dv_create_qp", raw)?;
        let under = Under {
            domain,
            _send_cq: self.send_cq.clone(),
            _recv_cq: self.recv_cq.clone(),
            _srq: self.srq.cloned(),
            _pd: Arc::clone(&self.pd.handle),
        };
        // SAFETY: just made, by libmlx5, and ours to destroy.
        unsafe { Made::new(raw, device, Some(under)) }
    }
}

/// Takes over a queue pair that another library made, with a register of its own.
///
/// # Errors
/// If it is not libmlx5's, not of transport `T`, its parts are not what this crate can drive, or its register is in use by
/// another queue of this crate.
///
/// # Safety
/// - `qp` is alive, and stays so until the returned queues and every clone of the handle are dropped. It is not destroyed,
///   nor moved to RESET.
/// - Nothing is outstanding on it: every request posted so far has completed and was polled.
/// - Nobody posts to it in any other way from here on.
/// - It was made without WQE signatures (the environment variable `MLX5_QP_SIGNATURE` makes libmlx5 ask for them).
/// - Nothing else rings its doorbell register: it was made in a thread domain of its own (`ibv_alloc_td`,
///   `ibv_alloc_parent_domain`). If that is not known, use [`adopt_qp_shared`].
pub unsafe fn adopt_qp<T: VerbsTransport>(qp: NonNull<sys::ibv_qp>) -> Result<QueuePair<T>, Error> {
    // SAFETY: the caller vouches for the queue pair.
    let made = unsafe { Made::<T>::adopt(qp) }?;
    let parts = made.register()?;
    let claim = Claim::new(parts)?;
    // SAFETY: mapped as long as the queue pair lives; the caller vouches for those outside this crate, the claim for
    // those inside.
    let register = unsafe { ExclusiveRegister::from_parts(parts) }.map_err(register::bad_register)?;
    made.finish(register, Some(claim))
}

/// Takes over a queue pair that another library made, on a register that other queues of this crate may have, too.
///
/// # Errors
/// As [`adopt_qp`].
///
/// # Safety
/// As [`adopt_qp`], but its register may be rung by other queues of this crate.
pub unsafe fn adopt_qp_shared<T: VerbsTransport>(
    qp: NonNull<sys::ibv_qp>,
) -> Result<QueuePair<T, Arc<SharedRegister>>, Error> {
    // SAFETY: the caller vouches for the queue pair.
    let made = unsafe { Made::<T>::adopt(qp) }?;
    // SAFETY: mapped as long as the queue pair lives; the caller vouches for those outside this crate.
    let register = unsafe { register::shared(made.register()?) }?;
    made.finish(register, None)
}

const OBJECT: &str = "queue pair";

/// The environment variable by which libmlx5 is told to sign the WQEs of queue pairs.
const QP_SIGNATURE: &str = "MLX5_QP_SIGNATURE";

/// A queue pair and its raw parts, before its register is known to be whose.
struct Made<T> {
    handle: QpHandle,
    parts: ffi::Mlx5dvQp,
    cap: sys::ibv_qp_cap,
    signal_all: bool,
    has_rq: bool,
    transport: PhantomData<T>,
}

impl<T: VerbsTransport> Made<T> {
    /// # Safety
    /// As [`adopt_qp`], but for the register.
    unsafe fn adopt(qp: NonNull<sys::ibv_qp>) -> Result<Self, Error> {
        parts::unsigned(OBJECT, QP_SIGNATURE)?;
        // SAFETY: the caller vouches for the queue pair, which has its context and its type written once.
        let (context, kind) = unsafe { ((*qp.as_ptr()).context, (*qp.as_ptr()).qp_type) };
        if kind != T::QP_TYPE {
            let why = format!("its type is {kind} and not {}", T::QP_TYPE);
            return Err(Error::Parts { object: OBJECT, why });
        }
        // SAFETY: a live queue pair has an open context with a device.
        if !unsafe { is_mlx5((*context).device) }? {
            return Err(Error::Parts { object: OBJECT, why: "it is not of an mlx5 device".into() });
        }
        // SAFETY: as above; and the caller keeps it alive.
        unsafe { Self::new(qp, query(context)?, None) }
    }

    /// # Safety
    /// The queue pair is alive, of an mlx5 device, and stays so: with `under`, it is this value's to destroy.
    unsafe fn new(raw: NonNull<sys::ibv_qp>, device: DeviceAttr, under: Option<Under>) -> Result<Self, Error> {
        // First of all the value that destroys it if the rest fails.
        let mut handle = QpHandle {
            raw,
            adopted: under.is_none(),
            qpn: Qpn::truncate(0),
            reliable: T::RELIABLE,
            device,
            _sq_shadow: Shadow::new(0),
            _rq_shadow: None,
            _claim: None,
            under,
        };
        // SAFETY: the caller vouches for the queue pair.
        let parts = unsafe { parts::of_qp(raw) }?;
        // SAFETY: as above; written once.
        let (number, srq) = unsafe { ((*raw.as_ptr()).qp_num, (*raw.as_ptr()).srq) };
        handle.qpn = fits(OBJECT, "number", number, Qpn::new(number))?;
        // SAFETY: integers and null pointers.
        let (mut attr, mut init): (sys::ibv_qp_attr, sys::ibv_qp_init_attr) = unsafe { core::mem::zeroed() };
        let mask = sys::ibv_qp_attr_mask::IBV_QP_CAP.0.cast_signed();
        // SAFETY: the queue pair is alive, both structures are ours.
        zero("ibv_query_qp", unsafe { sys::ibv_query_qp(raw.as_ptr(), &raw mut attr, mask, &raw mut init) })?;
        let has_rq = srq.is_null() && parts.rq.wqe_cnt != 0;
        Ok(Self { handle, parts, cap: init.cap, signal_all: init.sq_sig_all != 0, has_rq, transport: PhantomData })
    }

    /// The number that completions of receives carry: that of the receive queue where it has its own, as those of raw packet
    /// queue pairs have (Linux `drivers/infiniband/hw/mlx5/qp.c`, `create_raw_packet_qp`).
    fn recv_number(&self) -> Result<Qpn, Error> {
        let own = self.parts.comp_mask & ffi::MLX5DV_QP_MASK_RAW_QP_HANDLES != 0 && self.parts.rqn != 0;
        if !own {
            return Ok(self.handle.qpn);
        }
        fits(OBJECT, "receive queue's number", self.parts.rqn, Qpn::new(self.parts.rqn))
    }

    fn register(&self) -> Result<RegisterParts, Error> {
        let reg = part(OBJECT, "doorbell register", self.parts.bf.reg)?;
        let parts = RegisterParts { reg, size: self.parts.bf.size };
        match self.handle.under.as_ref().map(|under| &under.domain) {
            Some(Domain::Own(parent)) => parent.check(parts)?,
            Some(Domain::Thread(thread)) => thread.parent().check(parts)?,
            Some(Domain::Protection) | None => {}
        }
        Ok(parts)
    }

    fn finish<R: Register>(mut self, register: R, claim: Option<Claim>) -> Result<QueuePair<T, R>, Error> {
        let raw = self.parts;
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
            max_inline: self.cap.max_inline_data,
            max_sge: self.cap.max_send_sge,
            signal_all: self.signal_all,
            pi: SqPi(counters[ffi::MLX5_SND_DBR]),
            shadow: sq_shadow.start(),
        };
        self.handle._sq_shadow = sq_shadow;
        // SAFETY: libmlx5 describes its own ring; ring, record and shadow live in the handle, which goes after the queue
        // (`Owned`); nobody else posts, which is in the contract of adopting and what `Qp::as_raw` warns of.
        let mut sq = unsafe { SendQueue::from_parts(sq, register) }.map_err(|error| bad("send queue")(&error))?;
        sq.set_blueflame_policy(register::blueflame_policy());

        let rq = if self.has_rq {
            let shadow = Shadow::new(raw.rq.wqe_cnt);
            let rq = RqParts {
                buf: part(OBJECT, "receive ring", raw.rq.buf)?,
                wqe_cnt: raw.rq.wqe_cnt,
                stride: raw.rq.stride,
                dbrec,
                qpn: self.recv_number()?,
                head: counters[ffi::MLX5_RCV_DBR],
                shadow: shadow.start(),
            };
            self.handle._rq_shadow = Some(shadow);
            // SAFETY: as for the send queue.
            Some(unsafe { RecvQueue::from_parts(rq) }.map_err(|error| bad("receive queue")(&error))?)
        } else {
            None
        };

        self.handle._claim = claim;
        let qp = Qp { handle: Arc::new(self.handle) };
        Ok(QueuePair {
            sq: Owned::new(sq, qp.clone(), SendQueue::ring_addr),
            rq: rq.map(|rq| Owned::new(rq, qp.clone(), RecvQueue::ring_addr)),
            qp,
        })
    }
}
