//! Making queue pairs.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std::rc;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::arch::copy::{BlockCopy, DefaultCopy};
use crate::db::{ExclusiveRegister, FlushMode, SharedRegister, ThreadRegister, TwoFences};
use crate::queue::owning::Posted;
use crate::transport;
use crate::types::{DS_BYTES, Ds, Wqebbs, WrId};
use crate::verbs::cq::any::{Completes, left_behind, receiver, whole};
use crate::verbs::domain::protection::ParentDomain;
use crate::verbs::domain::register::{self, Claim};
use crate::verbs::domain::thread::ThreadDomain;
use crate::verbs::error::{in_range, non_null};
use crate::verbs::leak::drop_or_leak;
use crate::verbs::memory::COPIES;
use crate::verbs::qp::initiator;
use crate::verbs::qp::limits;
use crate::verbs::qp::pair::{Domain, OBJECT, Under, VerbsTransport};
use crate::verbs::qp::queues::{Made, Parts, QP_SIGNATURE, QpAttr};
use crate::verbs::{AnyCq, Cq, Error, ProtectionDomain, QueuePair, Srq, parts};
use crate::wqe::SupportedOn;
use crate::wqe::operations::Memcpy;

/// The register of a thread's queues.
type Threads<F, C> = rc::Rc<ThreadRegister<F, C>>;

/// Builder of a queue pair.
#[doc(alias("ibv_qp_init_attr_ex", "ibv_create_qp_ex", "mlx5dv_create_qp"))]
#[derive(Clone)]
pub struct QpBuilder<'a, T, B = WrId> {
    pd: &'a ProtectionDomain,
    send_cq: &'a dyn AnyCq<Cq>,
    recv_cq: &'a dyn AnyCq<Cq>,
    srq: Option<&'a Srq>,
    cap: sys::ibv_qp_cap,
    scatter_to_cqe: bool,
    /// log2 of an initiator's streams, and of how many have failed when it fails.
    pub(in crate::verbs) streams: Option<[u8; 2]>,
    memcpy: bool,
    into_tunnels: bool,
    of: PhantomData<(T, fn() -> B)>,
}

impl ProtectionDomain {
    /// Begins a queue pair of transport `T` ([`Rc`](crate::transport::Rc), [`Uc`](crate::transport::Uc),
    /// [`XrcInitiator`](crate::transport::XrcInitiator), [`Ud`](crate::transport::Ud), [`Dci`](crate::transport::Dci),
    /// [`DciStreams`](crate::transport::DciStreams) or [`RawPacket`](crate::transport::RawPacket)) whose sends complete
    /// on `send_cq` and receives on `recv_cq`. An initiator has no receives, and nothing completes on its `recv_cq`. If
    /// the environment variable `MLX5_QP_SIGNATURE` is set, libmlx5 makes all queue pairs with
    /// [`Signed`](crate::transport::Signed) WQEs, and otherwise none.
    ///
    /// A queue pair that receives raw packets is the only receiver of its `recv_cq`
    /// ([`Receiver`](crate::cq::setup::Receiver)).
    ///
    /// A lent completion borrows its queue, so no queue pair is made there meanwhile:
    ///
    /// ```compile_fail,E0502
    /// use blueflame::transport::Rc;
    /// use blueflame::verbs::{Error, OwnedCq, ProtectionDomain};
    ///
    /// fn hold(pd: &ProtectionDomain, cq: &mut OwnedCq) -> Result<(), Error> {
    ///     let held = cq.poll();
    ///     let pair = pd.queue_pair::<Rc>(cq, cq).build()?;
    ///     drop((held, pair));
    ///     Ok(())
    /// }
    /// ```
    #[doc(alias = "ibv_create_qp")]
    #[must_use]
    pub fn queue_pair<'a, T: VerbsTransport>(
        &'a self,
        send_cq: &'a dyn AnyCq<Cq>,
        recv_cq: &'a dyn AnyCq<Cq>,
    ) -> QpBuilder<'a, T> {
        QpBuilder {
            pd: self,
            send_cq,
            recv_cq,
            srq: None,
            cap: sys::ibv_qp_cap {
                max_send_wr: 128,
                max_recv_wr: if T::RECEIVES { 128 } else { 0 },
                max_send_sge: 1,
                max_recv_sge: if T::RECEIVES { 1 } else { 0 },
                max_inline_data: 0,
            },
            scatter_to_cqe: false,
            streams: T::STREAMS,
            memcpy: false,
            into_tunnels: false,
            of: PhantomData,
        }
    }
}

/// Receives. For a transport whose queue pairs receive nothing ([`VerbsTransport::RECEIVES`]), these functions do not
/// compile:
///
/// ```compile_fail,E0080
/// use blueflame::transport;
/// use blueflame::verbs::QpBuilder;
///
/// let _ = QpBuilder::<transport::Dci>::receives::<blueflame::WrId> as fn(_, _) -> _;
/// ```
impl<'a, T: VerbsTransport, B: Posted> QpBuilder<'a, T, B> {
    const RECEIVES: () = assert!(T::RECEIVES, "queue pairs of this transport receive nothing");

    /// Requests that may be posted to the receive queue at a time. Default 128.
    ///
    /// The compiler infers `C` from the way you post: buffers, which the queue owns until they complete
    /// ([`RecvQueue::post`](crate::RecvQueue::post)), or memory that you vouch for
    /// ([`RecvQueue::post_unchecked`](crate::RecvQueue::post_unchecked), with a [`WrId`]).
    #[must_use]
    pub fn receives<C: Posted>(self, requests: u32) -> QpBuilder<'a, T, C> {
        const { Self::RECEIVES };
        let Self { pd, send_cq, recv_cq, srq, mut cap, scatter_to_cqe, streams, memcpy, into_tunnels, of: _ } = self;
        cap.max_recv_wr = requests;
        QpBuilder { pd, send_cq, recv_cq, srq, cap, scatter_to_cqe, streams, memcpy, into_tunnels, of: PhantomData }
    }

    /// The queue pair receives no messages: it has no receive queue.
    #[must_use]
    pub fn no_receives(mut self) -> Self {
        self.cap.max_recv_wr = 0;
        self
    }

    /// Scatter entries of a receive. Default 1.
    #[must_use]
    pub fn recv_sge(mut self, entries: u32) -> Self {
        const { Self::RECEIVES };
        self.cap.max_recv_sge = entries;
        self
    }

    /// Receives come from `srq`; the queue pair has no receive queue of its own.
    #[must_use]
    pub fn shared_recv_queue(mut self, srq: &'a Srq) -> Self {
        const { Self::RECEIVES };
        self.srq = Some(srq);
        self
    }
}

impl<T: VerbsTransport, B: Posted> QpBuilder<'_, T, B> {
    /// Requests that may be outstanding on the send queue at a time, if each fits one WQEBB (64 bytes). With RC, one
    /// WQEBB holds 28 bytes inline or two gather entries. A datagram with a payload to a full address vector takes two
    /// WQEBBs. Default 128.
    ///
    /// A larger request counts as many times as it has WQEBBs: to have 16 requests of four WQEBBs each, ask for 64. So
    /// there are never more requests than this number, and never more completions ([`Self::send_completions`]). If one
    /// request of the size asked for ([`Self::inline`], [`Self::send_sge`]) needs more WQEBBs than this, the queue
    /// takes one such request at a time. [`SendQueue::set_depth`](crate::SendQueue::set_depth) lowers it. It raises it
    /// only if the completion queue is [oversubscribed](Cq::oversubscribe): within the ring, which usually is longer.
    #[must_use]
    pub fn sends(mut self, requests: u32) -> Self {
        self.cap.max_send_wr = requests;
        self
    }

    /// Gather entries of a request to send. Default 1.
    #[must_use]
    pub fn send_sge(mut self, entries: u32) -> Self {
        self.cap.max_send_sge = entries;
        self
    }

    /// Bytes a request may carry inline. Default 0; inline data may then still use the space of the gather entries. The
    /// send queue knows how many bytes it was granted.
    #[must_use]
    pub fn inline(mut self, bytes: u32) -> Self {
        self.cap.max_inline_data = bytes;
        self
    }

    /// Lets small data arrive in the CQE in place of the buffer, which saves the device a write. Off by default: then
    /// the data is always in the buffer. If on, [`check`](crate::cq::CqeView::check) reports such completions by
    /// [`CqeError::DataInCqe`](crate::cq::CqeError::DataInCqe), and the polling code copies the data.
    #[must_use]
    pub fn scatter_to_cqe(mut self, on: bool) -> Self {
        self.scatter_to_cqe = on;
        self
    }

    /// The most completions that the send queue can have waiting in its CQ. The CQ needs room for these, and for the
    /// completions of its other queues ([`Device::completion_queue`](crate::verbs::Device::completion_queue)).
    ///
    /// Signalling fewer requests does not reduce this number: when the queue pair goes to the error state, unsignalled
    /// requests complete as well. It is one more than the depth, for the request by which [`QueuePair::drain`] ends.
    #[must_use]
    pub fn send_completions(&self) -> u32 {
        u32::from(self.depth().0) + 1
    }

    /// The most completions that the receive queue can have waiting in its CQ. Zero if the receives come from a shared
    /// queue: then count [its requests](crate::SharedRecvQueue::capacity) once for all its queue pairs.
    #[must_use]
    pub fn recv_completions(&self) -> u32 {
        if self.srq.is_some() { 0 } else { self.cap.max_recv_wr }
    }

    /// The send queue's depth: as many WQEBBs as requests were asked for, and at least room for one of the largest.
    fn depth(&self) -> Wqebbs {
        let inline = (self.cap.max_inline_data as usize + size_of::<u32>()).div_ceil(DS_BYTES);
        let payload = if self.cap.max_inline_data == 0 { 0 } else { inline };
        // Control segment and operands.
        let ds = 1 + T::OPERAND_DS + payload.max(self.cap.max_send_sge as usize);
        let largest = Ds(ds.min(usize::from(Ds::MAX)) as u8).wqebbs();
        Wqebbs(u16::try_from(self.cap.max_send_wr).unwrap_or(u16::MAX)).max(largest)
    }

    /// Makes the queue pair in a thread domain of its own, hence with a doorbell register of its own.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a size the device does not have, [`Error::MixedUp`] if a completion queue is another
    /// handle's, [`Error::ForeignDevice`], [`Error::CqRoom`], [`Error::Receivers`], [`Error::StaleCompletions`],
    /// [`Error::StaleReceives`], and [`Error::RegisterHandedOutTwice`]. [`Error::Unsupported`] for dynamic connections,
    /// their streams and [`memcpy`](Self::memcpy). [`Error::InlineLayers`] if the device needs more headers inline than
    /// frames of this transport have. [`Error::Parts`] if the environment asks libmlx5 for other WQE signatures than
    /// the transport has (`MLX5_QP_SIGNATURE`). Or a failed call: of `ibv_alloc_td` if no register is left.
    pub fn build(self) -> Result<QueuePair<T, ExclusiveRegister, B>, Error> {
        self.build_with::<TwoFences, _>(DefaultCopy::default())
    }

    /// [Builds](Self::build) the queue pair with another flush mode of its doorbell, and another
    /// [routine](crate::arch::copy) that copies WQEs to BlueFlame: `build_with::<OneFence, _>(DefaultCopy::default())`.
    /// The table of [`FlushMode`] says when to use which mode.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with<F: FlushMode, C: BlockCopy>(
        self,
        copy: C,
    ) -> Result<QueuePair<T, ExclusiveRegister<F, C>, B>, Error> {
        let own = ParentDomain::new(self.pd, None)?;
        let made = self.create(Domain::Own(own))?;
        let parts = made.register()?;
        let claim = Claim::new(parts)?;
        // SAFETY: the register is mapped until the context closes. Either it is ours: libmlx5 gives it to this thread
        // domain alone, and the claim says that no other queue got it before. Or it has no BlueFlame, and others store
        // 8-byte doorbells there.
        let register = unsafe { ExclusiveRegister::from_parts(parts) }.map_err(register::bad_register)?;
        made.finish(register.with_mode::<F>().with_copy(copy), Some(claim))
    }

    /// Makes the queue pair in the calling thread's domain, with the register, and the places of record and rings, that
    /// its queues share: for threads with many queues, see [`ThreadDomain`].
    ///
    /// # Errors
    /// As [`build`](Self::build); [`Error::ForeignDomain`].
    pub fn build_in<F: FlushMode, C: BlockCopy>(
        self,
        domain: &ThreadDomain<F, C>,
    ) -> Result<QueuePair<T, Threads<F, C>, B>, Error> {
        self.pd.handle.context.check(OBJECT, [(&**domain.handle()).into()])?;
        if domain.handle().pd().raw() != self.pd.as_raw() {
            return Err(Error::ForeignDomain { object: OBJECT, part: "thread domain" });
        }
        let made = self.create(Domain::Thread(Arc::clone(domain.handle())))?;
        // SAFETY: made in this domain; the register is mapped until the context closes.
        let register = unsafe { domain.register(made.register()?) }?;
        made.finish(register, None)
    }

    /// Makes the queue pair with the register that libmlx5 chooses, which other queues may have as well. All queues of
    /// this crate on one register take turns by a lock.
    ///
    /// # Errors
    /// As [`Self::build`].
    ///
    /// # Safety
    /// No queue pair of the same context is posted to by other means than this crate (`ibv_post_send`): it might ring
    /// the same register without the lock.
    pub unsafe fn build_shared(self) -> Result<QueuePair<T, Arc<SharedRegister>, B>, Error> {
        let made = self.create(Domain::Protection)?;
        let parts = made.register()?;
        // SAFETY: mapped until the context closes; the caller vouches for those outside this crate.
        let register = unsafe { register::shared(parts) }?;
        made.finish(register, None)
    }

    fn create(self, domain: Domain) -> Result<Made<T>, Error> {
        parts::signatures(OBJECT, QP_SIGNATURE, T::SIGNS)?;
        let context = &self.pd.handle.context;
        let (send_cq, recv_cq) = (whole(self.send_cq)?, whole(self.recv_cq)?);
        context.check(OBJECT, [send_cq.into(), recv_cq.into()])?;
        if let Some(srq) = self.srq {
            context.check(OBJECT, [srq.into()])?;
        }
        if let Some(has) = T::INLINE_LAYERS {
            context.inline_layers().check(has)?;
        }
        let (depth, receives) = (self.depth(), self.recv_completions());
        let has_receives = T::RECEIVES && (self.srq.is_some() || self.cap.max_recv_wr != 0);
        let receiver = has_receives.then(|| receiver(self.recv_cq, T::FLOW_TAGS)).transpose()?;
        let device = context.attr();
        let (cap, wr, sge) = (self.cap, device.max_qp_wr.into(), device.max_sge.into());
        in_range("requests of a send queue", cap.max_send_wr.into(), 1..=wr)?;
        in_range("gather entries", cap.max_send_sge.into(), 0..=sge)?;
        if self.srq.is_none() {
            in_range("requests of a receive queue", cap.max_recv_wr.into(), 0..=wr)?;
            in_range("scatter entries", cap.max_recv_sge.into(), 0..=sge)?;
        }
        let completes = Arc::new(Completes {
            receiver,
            sends: Some(send_cq.reserve(self.send_completions())?),
            _receives: match self.srq {
                Some(srq) => srq.reserve(recv_cq)?,
                None => Some(Arc::new(recv_cq.reserve(receives)?)),
            },
        });
        let mut attr = sys::ibv_qp_init_attr_ex::ZERO;
        attr.send_cq = send_cq.as_raw();
        // Verbs want one for an initiator of dynamic connections as well.
        attr.recv_cq = if T::RECEIVES || T::INITIATOR { recv_cq.as_raw() } else { core::ptr::null_mut() };
        attr.srq = self.srq.map_or(core::ptr::null_mut(), Srq::as_raw);
        attr.cap = cap;
        if self.srq.is_some() {
            (attr.cap.max_recv_wr, attr.cap.max_recv_sge) = (0, 0);
        }
        attr.qp_type = T::QP_TYPE;
        attr.comp_mask = sys::IBV_QP_INIT_ATTR_PD;
        attr.pd = match &domain {
            Domain::Own(parent) => parent.raw(),
            Domain::Thread(thread) => thread.raw(),
            Domain::Protection => self.pd.as_raw(),
        };
        let mut mlx5 = sys::mlx5dv_qp_init_attr {
            comp_mask: sys::MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
            create_flags: if self.scatter_to_cqe { 0 } else { sys::MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE },
            ..sys::mlx5dv_qp_init_attr::default()
        };
        if self.into_tunnels {
            device.check_looks_into_tunnels()?;
            mlx5.create_flags |= sys::MLX5DV_QP_CREATE_TUNNEL_OFFLOADS;
        }
        if T::INITIATOR {
            initiator::attributes(&mut mlx5, self.streams, device)?;
        }
        if self.memcpy {
            if device.max_memcpy == 0 {
                return Err(Error::Unsupported { what: COPIES });
            }
            mlx5.comp_mask |= sys::MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
            mlx5.send_ops_flags = sys::MLX5DV_QP_EX_WITH_MEMCPY;
        }
        let under = Arc::new(Under {
            domain,
            _send_cq: send_cq.clone(),
            _recv_cq: recv_cq.clone(),
            srq: self.srq.cloned(),
            pd: Arc::clone(&self.pd.handle),
        });
        let create = |sends, inline| {
            let (mut attr, mut mlx5) = (attr, mlx5);
            (attr.cap.max_send_wr, attr.cap.max_inline_data) = (sends, inline);
            // SAFETY: context, domain and queues are alive, and of one context; the attributes live until the call
            // returns.
            let raw = unsafe { sys::mlx5dv_create_qp(context.raw(), &raw mut attr, &raw mut mlx5) };
            let under = (Arc::clone(&under), Arc::clone(&completes));
            non_null("mlx5dv_create_qp", raw).map(|raw| (Unfit::new(raw, under), QpAttr::made(attr.cap)))
        };
        let mut unfit = Vec::new();
        let ((raw, (under, completes)), parts, granted) = loop {
            let (made, granted) = create(cap.max_send_wr, cap.max_inline_data).map_err(|error| {
                let possible = |sends, inline| create(sends, inline).is_ok();
                let past = || limits::past(cap.max_inline_data, cap.max_send_wr, possible);
                match error.errno {
                    libc::EOPNOTSUPP if T::INITIATOR => Error::Unsupported { what: initiator::DYNAMIC },
                    libc::EINVAL => past().unwrap_or(error.into()),
                    _ => error.into(),
                }
            })?;
            // SAFETY: just made, by libmlx5.
            let parts = unsafe { Parts::of(made.raw()) }?;
            let Some((qpn, cq)) = left_behind([parts.qpn, parts.recv_qpn], [self.send_cq, self.recv_cq]) else {
                break (made.keep(), parts, granted);
            };
            unfit.push(made);
            if unfit.len() == TRIES {
                return Err(Error::StaleCompletions { qpn, cqn: cq.cqn() });
            }
        };
        drop(unfit);
        // SAFETY: just made, by libmlx5, and ours to destroy.
        let mut made = unsafe { Made::new(raw, parts, granted, Arc::clone(device), (Some(under), Some(completes))) }?;
        made.bound(depth, receives);
        Ok(made)
    }
}

impl<T: VerbsTransport, B: Posted> QpBuilder<'_, T, B>
where
    Memcpy: SupportedOn<T>,
{
    /// Has the device copy memory when the queue pair's requests ask for it ([`Copier`](crate::verbs::memory::Copier)).
    /// Off by default: some devices copy only for queue pairs that were made for it, and such a queue pair cannot be
    /// made on a device without copies ([`max_memcpy`](crate::verbs::device::DeviceAttr::max_memcpy)).
    ///
    /// libmlx5 lets no data arrive in CQEs of initiators that copy, so [`Self::scatter_to_cqe`] has no effect on them.
    #[must_use]
    pub fn memcpy(mut self, on: bool) -> Self {
        self.memcpy = on;
        self
    }
}

impl<const HEADERS: usize, B: Posted> QpBuilder<'_, transport::RawPacket<HEADERS>, B> {
    /// Has the device look into the tunnels of received frames: completions then tell of the headers inside
    /// ([`CqeView::tunnel`](crate::cq::CqeView::tunnel), [`CqeView::verdicts`](crate::cq::CqeView::verdicts)). Off by
    /// default. For work queues, see
    /// [`FrameReceiver::into_tunnels`](crate::verbs::ethernet::FrameReceiver::into_tunnels).
    ///
    /// [`build`](Self::build) fails with [`Error::Unsupported`] if the device finds no tunnel's headers
    /// ([`DeviceAttr::tunnels`](crate::verbs::device::DeviceAttr::tunnels)).
    #[doc(alias("MLX5DV_QP_CREATE_TUNNEL_OFFLOADS", "tunneled_offload_en"))]
    #[must_use]
    pub fn into_tunnels(mut self, on: bool) -> Self {
        self.into_tunnels = on;
        self
    }
}

impl<T: VerbsTransport, B: Posted> QpBuilder<'_, T, B> {
    /// Asks for `2^log_streams` streams, on which the device works at the same time. When `2^log_errored` streams have
    /// failed and none of them was [reset](crate::verbs::QueuePair::reset_stream), the queue pair fails
    /// (`mlx5dv_create_qp(3)`).
    ///
    /// Default: two streams, and the queue pair fails with the second one. The device's limits are
    /// [`max_log_dci_streams`](crate::verbs::device::DeviceAttr::max_log_dci_streams) and
    /// [`max_log_dci_errored`](crate::verbs::device::DeviceAttr::max_log_dci_errored); [`build`](Self::build) fails
    /// past them, and where there are none. For another transport than
    /// [`DciStreams`](crate::transport::DciStreams) this does not compile:
    ///
    /// ```compile_fail,E0080
    /// use blueflame::transport;
    /// use blueflame::verbs::QpBuilder;
    ///
    /// let _ = QpBuilder::<transport::Dci>::streams as fn(_, _, _) -> _;
    /// ```
    #[must_use]
    pub fn streams(mut self, log_streams: u8, log_errored: u8) -> Self {
        const { assert!(T::STREAMS.is_some(), "queue pairs of this transport have no streams") };
        self.streams = Some([log_streams, log_errored]);
        self
    }
}

/// Queue pairs that are made to get a number with no completions left.
pub(in crate::verbs) const TRIES: usize = 16;

/// A queue pair that may not be used, destroyed when dropped. If the kernel refuses, all that it stands on is leaked.
pub(in crate::verbs) struct Unfit<U> {
    raw: NonNull<sys::ibv_qp>,
    under: ManuallyDrop<U>,
}

impl<U> Unfit<U> {
    /// The queue pair that `mlx5dv_create_qp` has just made. `under` has the objects below it.
    pub(in crate::verbs) fn new(raw: NonNull<sys::ibv_qp>, under: U) -> Self {
        Self { raw, under: ManuallyDrop::new(under) }
    }

    pub(in crate::verbs) fn raw(&self) -> NonNull<sys::ibv_qp> {
        self.raw
    }

    /// It may be used.
    pub(in crate::verbs) fn keep(self) -> (NonNull<sys::ibv_qp>, U) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: once, as `this` is not dropped.
        (this.raw, unsafe { ManuallyDrop::take(&mut this.under) })
    }
}

impl<U> Drop for Unfit<U> {
    fn drop(&mut self) {
        // SAFETY: alive; nothing changes its state now.
        let number = unsafe { (*self.raw.as_ptr()).qp_num };
        // SAFETY: made by `mlx5dv_create_qp`, and never used.
        let returned = unsafe { sys::ibv_destroy_qp(self.raw.as_ptr()) };
        // SAFETY: once, as this is dropped once.
        let under = unsafe { ManuallyDrop::take(&mut self.under) };
        drop_or_leak(OBJECT, number, returned, under);
    }
}
