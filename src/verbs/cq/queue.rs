//! Completion queues.

use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use blueflame_sys as sys;
use memmap2::MmapMut;

use crate::arch::copy::BlockCopy;
use crate::cq::compressed::{Expand, MiniFormat};
use crate::cq::mode::{Compressed, PollMode, Standard};
use crate::cq::setup::{CqParts, Reservation, Room, RoomError};
use crate::cq::{CompletionQueue, CqId};
use crate::db::FlushMode;
use crate::types::{CqCi, Cqn};
use crate::verbs::cq::channel::ChannelHandle;
use crate::verbs::device::Timestamps;
use crate::verbs::device::open::{Context, query_mlx5};
use crate::verbs::domain::thread::{ThreadDomain, ThreadDomainHandle};
use crate::verbs::error::{in_range, non_null};
use crate::verbs::event::event;
use crate::verbs::in_use::{InUse, Known};
use crate::verbs::leak::drop_or_leak;
use crate::verbs::parts::{self, fits, part};
use crate::verbs::{CompletionChannel, Device, Error, Owned};

/// Handle of a completion queue (`ibv_cq`), for all uses except polling. Cheap to clone. Make queue pairs with the
/// [queue itself](crate::verbs::AnyCq).
#[doc(alias = "ibv_cq")]
#[derive(Clone, Debug)]
pub struct Cq {
    pub(crate) handle: Arc<CqHandle>,
}

/// A completion queue of this crate over an `ibv_cq`, polled in mode `M`: [`with_mode`](Owned::with_mode) changes it.
#[doc(alias = "ibv_cq")]
pub type OwnedCq<M = Standard> = Owned<CompletionQueue<M>, Cq>;

pub(in crate::verbs) const OBJECT: &str = "completion queue";

#[derive(Debug)]
pub(crate) struct CqHandle {
    raw: NonNull<sys::ibv_cq>,
    /// Whether it is ours to destroy.
    adopted: bool,
    cqn: Cqn,
    room: Room,
    /// The clock of its timestamps, if a choice was made.
    timestamps: Option<Timestamps>,
    /// Where it lies, once there is a queue over it. Resizing moves it.
    lies: Mutex<Option<Lies>>,
    /// Makes sure that no other queue drives it; given back before it is destroyed.
    taken: Option<InUse>,
    _channel: Option<Arc<ChannelHandle>>,
    _thread_domain: Option<Arc<ThreadDomainHandle>>,
    context: Option<Arc<Context>>,
}

/// Where a completion queue lies.
#[derive(Debug)]
struct Lies {
    parts: CqParts,
    /// The ring, if it is not libmlx5's.
    ring: Option<MmapMut>,
    /// Rings of failed moves: the device, or the queue, may still use them.
    unsure: Vec<MmapMut>,
}

/// The device has moved to another ring.
pub(in crate::verbs) struct Moved {
    /// The first CQE, in `memory`.
    pub(in crate::verbs) buf: NonNull<u8>,
    /// CQEs.
    pub(in crate::verbs) cqe_cnt: u32,
    pub(in crate::verbs) memory: MmapMut,
    /// Whether the queue has followed, and agrees with the device.
    pub(in crate::verbs) result: Result<(), Error>,
}

// SAFETY: queue pairs are made of it, its ring and moderation are changed, and it is destroyed once, by its last owner.
// The kernel has locks for the state that these calls share. The parts are addresses, and behind a lock.
unsafe impl Send for CqHandle {}
// SAFETY: the kernel locks what its calls share; the parts are behind a lock.
unsafe impl Sync for CqHandle {}

impl Drop for CqHandle {
    fn drop(&mut self) {
        // Before the call: once the queue is destroyed, another may be made at the same address.
        drop(self.taken.take());
        event!(DEBUG, "completion queue destroyed", cqn = self.cqn.get(), adopted = self.adopted);
        if !self.adopted {
            // SAFETY: made by `mlx5dv_create_cq`; the queue pairs of it held this object and are gone, and so is the
            // queue over its ring (`Owned`). Events are acknowledged when they are taken, so this does not wait.
            let returned = unsafe { sys::ibv_destroy_cq(self.raw.as_ptr()) };
            let lies = self.lies.get_mut().unwrap_or_else(PoisonError::into_inner).take();
            let under = (lies, self._channel.take(), self._thread_domain.take(), self.context.take());
            drop_or_leak(OBJECT, self.cqn.get(), returned, under);
        }
    }
}

impl Cq {
    /// The completion queue's number.
    #[must_use]
    pub fn cqn(&self) -> Cqn {
        self.handle.cqn
    }

    /// The identity of the queue over it.
    pub(in crate::verbs) fn id(&self) -> CqId {
        InUse::cq(self.as_raw().addr())
    }

    /// The context; `None` for an adopted queue.
    pub(in crate::verbs) fn context(&self) -> Option<&Arc<Context>> {
        self.handle.context.as_ref()
    }

    /// Reserves places for `completions` of an object that is about to be made.
    ///
    /// # Errors
    /// [`Error::CqRoom`].
    pub(in crate::verbs) fn reserve(&self, completions: u32) -> Result<Reservation, Error> {
        self.handle.room.reserve(completions).map_err(|error| self.too_small(error))
    }

    /// The error of a queue that is too small.
    pub(in crate::verbs) fn too_small(&self, error: RoomError) -> Error {
        Error::CqRoom { cqn: self.cqn(), error }
    }

    pub(in crate::verbs) fn room(&self) -> &Room {
        &self.handle.room
    }

    /// The clock of its timestamps: [`real_time`](CqBuilder::real_time) or [`free_running`](CqBuilder::free_running).
    /// `None` if the queue was made with neither, or by other code.
    #[must_use]
    pub fn timestamps(&self) -> Option<Timestamps> {
        self.handle.timestamps
    }

    /// From now on, lets queues complete here that may together have more completions waiting than fit:
    /// [`Error::CqRoom`] no longer comes from this completion queue.
    ///
    /// The program must then see to it that no more wait at a time than fit ([`CompletionQueue::room`]). For example,
    /// it signals only every 16th request and counts the signalled ones. This does not hold once a queue pair fails:
    /// in the error state, each request and each receive completes, unsignalled ones as well.
    ///
    /// If the completion queue overruns, completions are lost, and the device moves it into error
    /// ([`AsyncEvent::CqError`](crate::verbs::async_event::AsyncEvent::CqError)). It gets no further completions. The
    /// requests of all its queue pairs stay outstanding for good: destroy them and the completion queue.
    ///
    /// ```no_run
    /// # use blueflame::verbs::{Device, Error, OwnedCq};
    /// # fn small(device: &Device) -> Result<OwnedCq, Error> {
    /// // A thousand queue pairs of 128 requests will complete here, of which the program keeps at most 1000 in flight.
    /// let cq = device.completion_queue(1000).build()?;
    /// cq.handle().oversubscribe();
    /// # Ok(cq)
    /// # }
    /// ```
    pub fn oversubscribe(&self) {
        self.handle.room.oversubscribe();
    }

    /// Has `to` move the queue to another ring, whose memory the handle then keeps. The old ring goes when both device
    /// and queue have certainly left it; otherwise the handle keeps both rings.
    pub(in crate::verbs) fn moves(&self, to: impl FnOnce(&CqParts) -> Result<Moved, Error>) -> Result<(), Error> {
        let mut lies = self.handle.lies.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Lies { parts, ring, unsure }) = lies.as_mut() else { return Err(Error::MixedUp { object: OBJECT }) };
        let Moved { buf, cqe_cnt, memory, result } = to(parts)?;
        *parts = CqParts { buf, cqe_cnt, ..*parts };
        let old = ring.replace(memory);
        if result.is_err() {
            unsure.extend(old);
        }
        result
    }

    /// The raw completion queue; alive as long as `self`. Do not poll or arm it with libibverbs: that corrupts the
    /// indices of both libraries.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_cq {
        self.handle.raw.as_ptr()
    }
}

/// Builder of a completion queue.
#[doc(alias("ibv_create_cq_ex", "mlx5dv_create_cq"))]
#[derive(Clone, Debug)]
pub struct CqBuilder<'a, M = Standard> {
    plan: Plan<'a>,
    mode: PhantomData<fn() -> M>,
}

/// The attributes, without the polling mode.
#[derive(Clone, Debug)]
struct Plan<'a> {
    device: &'a Device,
    cqes: u32,
    cqe_bytes: u16,
    channel: Option<&'a CompletionChannel>,
    event_context: usize,
    comp_vector: u32,
    ignore_overrun: bool,
    real_time: bool,
    free_running: bool,
    thread_domain: Option<&'a Arc<ThreadDomainHandle>>,
}

impl Device {
    /// Begins a completion queue with room for at least `cqes` completions. It must have room for all completions that
    /// can wait unpolled: a queue that overruns is lost, with all its queue pairs. So a queue for which there is no
    /// room is not made ([`Error::CqRoom`]), unless the completion queue is [oversubscribed](Cq::oversubscribe).
    ///
    /// `cqes` is the sum of these, over all queues that complete there:
    /// - [`send_completions`](crate::verbs::QpBuilder::send_completions) and
    ///   [`recv_completions`](crate::verbs::QpBuilder::recv_completions) of a queue pair;
    /// - the receives of a work queue, or the strides of its buffers;
    /// - the [capacity](crate::SharedRecvQueue::capacity) of a shared receive queue, once.
    ///
    /// Unsignalled requests count as well: they complete when their queue pair goes to the error state.
    /// Leave one more place for each memory key whose signatures are checked: a signature error
    /// has a completion of its own, and keys are not counted. Completions that were unpolled when their queue pair was
    /// dropped are not counted either.
    #[must_use]
    pub fn completion_queue(&self, cqes: u32) -> CqBuilder<'_> {
        let plan = Plan {
            device: self,
            cqes,
            cqe_bytes: 64,
            channel: None,
            event_context: 0,
            comp_vector: 0,
            ignore_overrun: false,
            real_time: false,
            free_running: false,
            thread_domain: None,
        };
        CqBuilder { plan, mode: PhantomData }
    }
}

impl<'a> CqBuilder<'a> {
    /// The device compresses similar completions into mini-CQEs of format `F`
    /// (`MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE`), which saves bus bandwidth. The queue is polled in the mode
    /// [`Compressed`](crate::cq::mode::Compressed). Fields that differ and are not in `F` are lost, for example
    /// timestamps.
    ///
    /// Formats without a name in mlx5dv ([`MiniFormat::MLX5DV`]) do not compile. They are for DevX.
    ///
    /// ```no_run
    /// # use blueflame::cq::compressed::Checksum;
    /// # use blueflame::cq::mode::Compressed;
    /// # use blueflame::verbs::{Device, Error, OwnedCq};
    /// # fn compressed(device: &Device) -> Result<OwnedCq<Compressed<Checksum>>, Error> {
    /// device.completion_queue(4096).compressed::<Checksum>().build()
    /// # }
    /// ```
    #[doc(alias = "MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE")]
    #[must_use]
    pub fn compressed<F: MiniFormat>(self) -> CqBuilder<'a, Compressed<F>> {
        const { assert!(F::MLX5DV.is_some(), "mlx5dv_create_cq has no name for the format") };
        CqBuilder { plan: self.plan, mode: PhantomData }
    }
}

impl<'a, M: PollMode> CqBuilder<'a, M> {
    /// Bytes per CQE, 64 (the default) or 128. 128 lets 64 bytes of data arrive in the CQE in place of 32.
    #[must_use]
    pub fn cqe_bytes(mut self, bytes: u16) -> Self {
        self.plan.cqe_bytes = bytes;
        self
    }

    /// Armed, the queue sends its event there.
    #[must_use]
    pub fn channel(mut self, channel: &'a CompletionChannel) -> Self {
        self.plan.channel = Some(channel);
        self
    }

    /// The value that its events carry ([`crate::verbs::CqEvent::context`],
    /// [`crate::verbs::async_event::AsyncEvent::CqError`]), to tell queues apart. libibverbs carries such a value in a
    /// pointer. Default 0.
    #[doc(alias = "cq_context")]
    #[must_use]
    pub fn context(mut self, context: usize) -> Self {
        self.plan.event_context = context;
        self
    }

    /// The completion interrupt of the device that delivers the queue's events. Default 0.
    #[must_use]
    pub fn comp_vector(mut self, vector: u32) -> Self {
        self.plan.comp_vector = vector;
        self
    }

    /// The device does not check for overruns (`IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`), so it does not need the consumer
    /// index. This is for the mode [`NoOverrun`](crate::cq::mode::NoOverrun), which never tells it. Off by default.
    ///
    /// ```no_run
    /// # use blueflame::{cq::mode::NoOverrun, verbs::{Device, Error, OwnedCq}};
    /// # fn quiet(device: &Device) -> Result<OwnedCq<NoOverrun>, Error> {
    /// // SAFETY: one queue pair of 64 sends and no receives will complete here. So there are never more than 65
    /// // completions, for which the queue has places.
    /// unsafe { Ok(device.completion_queue(65).ignore_overrun().build()?.with_mode_unchecked()) }
    /// # }
    /// ```
    /// ```compile_fail,E0133
    /// # use blueflame::verbs::{CqBuilder, Error};
    /// # fn careless(builder: CqBuilder<'_>) {
    /// let _ = builder.ignore_overrun(); // the device could overwrite a completion that is lent
    /// # }
    /// ```
    ///
    /// # Safety
    /// There are never more completions outstanding than the queue has places. Else, the queue does not go into error:
    /// the device overwrites completions that are not polled, or are lent. A lent one could then retire a request of
    /// another queue, which has not completed.
    #[doc(alias = "IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN")]
    #[must_use]
    pub unsafe fn ignore_overrun(mut self) -> Self {
        self.plan.ignore_overrun = true;
        self
    }

    /// Timestamps are the time, in seconds and nanoseconds
    /// ([`real_time_nanoseconds`](crate::cq::cqe::real_time_nanoseconds)), not cycles of a clock that runs freely
    /// ([`Clock`](crate::verbs::device::Clock)). The queues of a queue pair must agree. Off by default.
    #[must_use]
    pub fn real_time(mut self, on: bool) -> Self {
        self.plan.real_time = on;
        self
    }

    /// Timestamps are cycles of a clock that runs freely ([`Clock`](crate::verbs::device::Clock)). This is also the
    /// default, except on a device that has real time alone. With this choice, making a queue that completes here fails
    /// there ([`Error::Unsupported`]), so no time is taken for cycles (Linux `drivers/infiniband/hw/mlx5/qp.c`,
    /// `get_ts_format`).
    #[doc(alias = "IBV_WC_EX_WITH_COMPLETION_TIMESTAMP")]
    #[must_use]
    pub fn free_running(mut self, on: bool) -> Self {
        self.plan.free_running = on;
        self
    }

    /// Its record and its ring lie with those of the thread's other queues; see [`ThreadDomain`].
    #[must_use]
    pub fn thread_domain<F: FlushMode, C: BlockCopy>(mut self, domain: &'a ThreadDomain<F, C>) -> Self {
        self.plan.thread_domain = Some(domain.handle());
        self
    }

    /// Makes the queue.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for more CQEs than the device has, [`Error::CqeBytes`], [`Error::CqeCompression`],
    /// [`Error::Unsupported`] for [`real_time`](Self::real_time), [`Error::ForeignDevice`], or a failed call.
    pub fn build(self) -> Result<OwnedCq<M>, Error> {
        if !matches!(self.plan.cqe_bytes, 64 | 128) {
            return Err(Error::CqeBytes { bytes: self.plan.cqe_bytes });
        }
        // The mode gives places back by sessions.
        let more = M::Compression::MLX5DV.map_or(Ok(0), |format| self.longest_session(format))?;
        in_range("CQEs", self.plan.cqes.into(), 1..=u64::from(self.plan.device.attr().max_cqe.saturating_sub(more)))?;
        let mut attr = sys::ibv_cq_init_attr_ex {
            cqe: self.plan.cqes + more,
            cq_context: core::ptr::with_exposed_provenance_mut(self.plan.event_context),
            channel: self.plan.channel.map_or(core::ptr::null_mut(), |channel| channel.handle.raw()),
            comp_vector: self.plan.comp_vector,
            wc_flags: 0,
            comp_mask: 0,
            flags: 0,
            parent_domain: core::ptr::null_mut(),
        };
        if self.plan.ignore_overrun {
            attr.comp_mask |= sys::IBV_CQ_INIT_ATTR_MASK_FLAGS;
            attr.flags = sys::IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
        }
        let context = &self.plan.device.context;
        if let Some(channel) = self.plan.channel {
            context.check(OBJECT, [channel.into()])?;
        }
        if let Some(domain) = self.plan.thread_domain {
            context.check(OBJECT, [(&**domain).into()])?;
            attr.comp_mask |= sys::IBV_CQ_INIT_ATTR_MASK_PD;
            attr.parent_domain = domain.raw();
        }
        if self.plan.real_time {
            // SAFETY: the device is open, and libmlx5's.
            if unsafe { query_mlx5(context.raw()) }?.flags & sys::MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS == 0 {
                return Err(Error::Unsupported { what: "real-time timestamps" });
            }
            // libmlx5 asks for the format because of this flag alone, without the flag of timestamps.
            attr.wc_flags = sys::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK.into();
        }
        if self.plan.free_running {
            attr.wc_flags |= u64::from(sys::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
        }
        let mut mlx5 = sys::mlx5dv_cq_init_attr {
            comp_mask: sys::MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
            cqe_size: self.plan.cqe_bytes,
            ..sys::mlx5dv_cq_init_attr::default()
        };
        if let Some(format) = M::Compression::MLX5DV {
            mlx5.comp_mask |= sys::MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE;
            mlx5.cqe_comp_res_format = format;
        }
        // SAFETY: context, channel and domain are alive, and of one context; the attributes live until the call
        // returns.
        let raw = unsafe { sys::mlx5dv_create_cq(context.raw(), &raw mut attr, &raw mut mlx5) };
        let mut handle = CqHandle {
            // `struct ibv_cq_ex` begins with `struct ibv_cq`.
            raw: non_null("mlx5dv_create_cq", raw)?.cast(),
            adopted: false,
            cqn: Cqn::truncate(0),
            room: Room::new(0),
            timestamps: match (self.plan.real_time, self.plan.free_running) {
                (true, _) => Some(Timestamps::RealTime),
                (false, true) => Some(Timestamps::FreeRunning),
                (false, false) => None,
            },
            lies: Mutex::new(None),
            taken: None,
            _channel: self.plan.channel.map(|channel| Arc::clone(&channel.handle)),
            _thread_domain: self.plan.thread_domain.map(Arc::clone),
            context: Some(Arc::clone(context)),
        };
        // SAFETY: just made, by libmlx5, with the format of `M`; the queue goes before the handle (`Owned`).
        let queue = unsafe { queue_over::<M>(&mut handle, CqCi::truncate(0)) }?;
        // SAFETY: the handle keeps the completion queue; this is the only queue over its ring.
        Ok(unsafe { Owned::new(queue, Cq { handle: Arc::new(handle) }, CompletionQueue::ring_addr) })
    }

    /// The most completions that the device compresses together, if it supports this CQE size and this format of
    /// mini-CQEs.
    fn longest_session(&self, format: u8) -> Result<u32, Error> {
        // SAFETY: the device is open, and libmlx5's.
        let mlx5 = unsafe { query_mlx5(self.plan.device.context.raw()) }?;
        let supported = mlx5.cqe_comp_caps.supported_format;
        let size = self.plan.cqe_bytes == 64 || mlx5.flags & sys::MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP != 0;
        if mlx5.cqe_comp_caps.max_num == 0 || supported & u32::from(format) == 0 || !size {
            return Err(Error::CqeCompression { format, supported, cqe_bytes: self.plan.cqe_bytes, has_size: size });
        }
        Ok(mlx5.cqe_comp_caps.max_num)
    }
}

/// Takes over a completion queue that another library made.
///
/// # Errors
/// If the queue is not libmlx5's, or if this crate cannot drive its parts.
///
/// # Safety
/// - `cq` is alive, and stays so until the returned queue and every clone of its handle are dropped. It is not
///   destroyed.
/// - Nothing polls or arms it in any other way from here on, and nothing resizes it.
/// - Nothing has polled or armed it before: its consumer index is 0.
/// - If it was made to ignore overruns, it cannot overrun, as [`CqBuilder::ignore_overrun`] says.
/// - On 32-bit CPUs, no other thread arms completion queues of this context by libibverbs: arming is two stores there,
///   under a lock of this crate.
/// - The code that takes events of its channel acknowledges them.
pub unsafe fn adopt_cq(cq: NonNull<sys::ibv_cq>) -> Result<OwnedCq, Error> {
    let mut handle = CqHandle {
        raw: cq,
        adopted: true,
        cqn: Cqn::truncate(0),
        room: Room::new(0),
        timestamps: None,
        lies: Mutex::new(None),
        taken: None,
        _channel: None,
        _thread_domain: None,
        context: None,
    };
    // SAFETY: the caller vouches for the queue and its index.
    let queue = unsafe { queue_over::<Standard>(&mut handle, CqCi::truncate(0)) }?;
    // SAFETY: the caller keeps the completion queue; this is the only queue over its ring.
    Ok(unsafe { Owned::new(queue, Cq { handle: Arc::new(handle) }, CompletionQueue::ring_addr) })
}

/// A queue over the ring of `handle`, whose number and room it fills in.
///
/// # Safety
/// The completion queue is alive, of libmlx5, and made for mode `M`. It stays alive as long as the queue, no other code
/// polls it, and it has been polled up to `ci`.
unsafe fn queue_over<M: PollMode>(handle: &mut CqHandle, ci: CqCi) -> Result<CompletionQueue<M>, Error> {
    // SAFETY: the caller promises that the completion queue is alive, and libmlx5's.
    let raw = unsafe { parts::of_cq(handle.raw) }?;
    handle.cqn = fits(OBJECT, "number", raw.cqn, Cqn::new(raw.cqn))?;
    handle.taken = Some(InUse::new(OBJECT, raw.cqn, handle.raw.addr().get())?);
    let parts = CqParts {
        buf: part(OBJECT, "ring", raw.buf)?,
        cqe_cnt: raw.cqe_cnt,
        cqe_size: raw.cqe_size,
        dbrec: part(OBJECT, "doorbell record", raw.dbrec)?,
        cq_uar: part(OBJECT, "UAR page", raw.cq_uar)?,
        cqn: handle.cqn,
        ci,
    };
    // SAFETY: libmlx5 describes its own ring; the caller vouches for its life and for being the only one.
    let queue = unsafe { CompletionQueue::from_parts(parts) }
        .map_err(|error| Error::Parts { object: OBJECT, why: error.to_string() })?;
    // SAFETY: the caller promises that the queue was made for mode `M`; this crate has polled nothing yet.
    let queue = unsafe { queue.made_for::<M>() };
    handle.room = Room::new(queue.room());
    if let Some(taken) = &handle.taken {
        taken.describe(Known::Cq { id: queue.id(), cqn: handle.cqn, room: handle.room.clone() });
    }
    handle.lies = Mutex::new(Some(Lies { parts, ring: None, unsure: Vec::new() }));
    event!(
        DEBUG,
        "completion queue made",
        cqn = handle.cqn.get(),
        cqes = raw.cqe_cnt,
        cqe_bytes = raw.cqe_size,
        adopted = handle.adopted
    );
    Ok(queue)
}
