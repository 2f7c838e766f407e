//! Polling and arming a completion queue.
use core::convert::Infallible;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use super::compressed::{Expand, MiniFormat, RingAt};
use super::cqe::view::{Cqe, CqeCopy, CqeView};
use super::id::CqId;
use super::initial;
use super::mode::{Compressed, PollMode, Publish, Standard};
use super::parts::{CqParts, RECORD_CI};
use super::ring::{Place, Ring};
use crate::arch;
use crate::setup::SetupError;
use crate::types::{CqCi, Cqn};

/// Word of the doorbell record that holds the last arm request (rdma-core `providers/mlx5/mlx5.h`, `MLX5_CQ_ARM_DB`).
const RECORD_ARM: usize = 1;
/// Bytes into the UAR page where arming writes (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQ_DOORBELL`).
const ARM_DOORBELL_OFFSET: usize = 0x20;
/// The most completions of a session that devices report (`cmd_hca_cap.cqe_compression_max_num`: 64).
const MAX_SESSION: u32 = 64;
/// The most CQEs a queue can have: the owner bit is one of the consumer index's 24 bits.
pub(super) const MAX_CQES: u32 = 1 << 23;
/// The number of CQEs, in errors.
pub(super) const CQES: &str = "CQEs of a completion queue";
/// The memory of the CQEs, in errors.
pub(super) const RING: &str = "ring of a completion queue";

/// Which completions raise an event after [`CompletionQueue::arm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Notify {
    /// The next completion (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQ_DB_REQ_NOT`).
    Any = 0,
    /// The next receive whose sender asked for it, or the next error (`MLX5_CQ_DB_REQ_NOT_SOL`).
    Solicited = 1 << 24,
}

/// A completion queue: finds completed requests, and asks the device for events.
///
/// One thread polls at a time (`&mut self`); the queue may move between threads. The driver never trusts the device's
/// bytes: polling always ends after at most as many CQEs as asked for, and every CQE is a value.
///
/// # Room
///
/// The queue must have room for every completion that can come. Each posted request that is not retired counts,
/// signalled or not, for an error completes them all. Each receive counts as well. One place of the
/// [`capacity`](Self::capacity) stays free, as in verbs (libmlx5 makes queues of a power of two *greater* than the size
/// requested, rdma-core `providers/mlx5/verbs.c`, `create_cq`). A queue of this size does not overrun, even if closures
/// of [`poll_with`](Self::poll_with) retire requests and post others: while one completion is lent, the device knows
/// that the places before it are free. The lent completion is counted twice, as a CQE and as the request posted in its
/// place. The free place makes up for that.
///
/// [`OncePerCall`](crate::cq::mode::OncePerCall) needs more room and saves stores.
///
/// # Waiting for events
///
/// Arming is edge-triggered: only a CQE written *after* the device saw the request raises an event. So the order is
///
/// 1. [`poll_with`](Self::poll_with) until it returns 0;
/// 2. [`arm`](Self::arm);
/// 3. poll once more: a completion that came between 1 and 2 raises no event. If there was one, go to 1;
/// 4. block on the completion channel (`ibv_get_cq_event`), then call [`event_received`](Self::event_received) and
///    acknowledge it (`ibv_ack_cq_events`); go to 1.
///
/// Views do not outlive the call that lends them:
///
/// ```compile_fail
/// fn keep(cq: &mut blueflame::cq::CompletionQueue) {
///     let mut kept = None;
///     cq.poll_with(1, |cqe| kept = Some(cqe));
/// }
/// ```
#[doc(alias = "CQ")]
#[derive(Debug)]
pub struct CompletionQueue<M: PollMode = Standard> {
    /// The next CQE to come.
    pub(super) next: Place,
    pub(super) ring: Ring,
    /// State for expanding compressed completions.
    pub(super) expander: M::Compression,
    /// The number of events received. Its low two bits tell the device which arm request is new.
    arm_sn: u32,
    dbrec: NonNull<u32>,
    arm_doorbell: NonNull<u64>,
    cqn: Cqn,
    pub(super) id: CqId,
    mode: PhantomData<M>,
}

// SAFETY: the pointers are to memory that `from_parts` was promised for the queue's life, not bound to a thread; all
// access goes through `&mut self`.
unsafe impl<M: PollMode> Send for CompletionQueue<M> {}

impl CompletionQueue {
    /// A queue over raw parts, of the standard mode; [`with_mode`](Self::with_mode) gives it another.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names the invalid part. The check reads each CQE once. libmlx5 marks every CQE as never written,
    /// by opcode 0xf (`op_own` 0xf0, rdma-core `providers/mlx5/cq.c`, `mlx5_alloc_cq_buf`). If you make the ring
    /// without libmlx5, mark its CQEs before the device knows the ring: zeros read as completions
    /// ([`SetupError::WrittenCqe`]). A queue in use may have completions pending from `ci` on.
    ///
    /// # Safety
    ///
    /// For as long as the queue lives:
    /// - `buf` is `cqe_cnt * cqe_size` readable and writable bytes and `dbrec` two writable words, both known to the
    ///   device as CQ `cqn`'s, or to nobody; `cq_uar` is writable for 0x28 bytes;
    /// - nothing else in the process polls or arms this CQ (libibverbs included) or resizes it;
    /// - `ci` is the consumer index the next CQE will be written for;
    /// - no reference to any of that memory lives;
    /// - on 32-bit CPUs, where the doorbell that arms is two stores, nothing but this crate (which takes a lock) arms
    ///   queues through the same UAR page from another thread, libmlx5 included.
    pub unsafe fn from_parts(parts: CqParts) -> Result<Self, SetupError> {
        let CqParts { buf, cqe_cnt, cqe_size, dbrec, cq_uar, cqn, ci } = parts;
        SetupError::check_power_of_two(CQES, cqe_cnt, 1, MAX_CQES)?;
        SetupError::check_power_of_two("bytes of a CQE", cqe_size, 64, 128)?;
        SetupError::check_aligned(RING, buf.addr().get(), cqe_size as usize)?;
        SetupError::check_aligned("doorbell record of a completion queue", dbrec.addr().get(), 8)?;
        SetupError::check_aligned("UAR page", cq_uar.addr().get(), 8)?;
        // SAFETY: the caller promises the buffer; the numbers were checked.
        let (ring, next) = unsafe { Ring::new(buf, cqe_cnt, cqe_size as usize, ci) };
        // SAFETY: just made.
        unsafe { initial::check(&ring, ci) }?;
        // SAFETY: the caller promises 0x28 bytes at `cq_uar`.
        let arm_doorbell = unsafe { cq_uar.add(ARM_DOORBELL_OFFSET) }.cast();
        let id = CqId::new()?;
        Ok(Self { next, ring, expander: (), arm_sn: 0, dbrec, arm_doorbell, cqn, id, mode: PhantomData })
    }
}

impl<M: PollMode<Compression = ()>> CompletionQueue<M> {
    /// Turns the queue into one whose device compresses completions, by format `F`, in the enhanced layout if
    /// `ENHANCED`.
    ///
    /// ```
    /// use blueflame::CompletionQueue;
    /// use blueflame::cq::mode::Compressed;
    /// use blueflame::cq::compressed::{BASIC, Checksum};
    ///
    /// fn of_frames(cq: CompletionQueue) -> CompletionQueue<Compressed<Checksum>> {
    ///     // SAFETY: (for its caller to see to) the device compresses completions so, and none has been polled.
    ///     unsafe { cq.compressed::<Checksum, BASIC>() }
    /// }
    /// ```
    ///
    /// There is no way back to whole completions, or to another format:
    ///
    /// ```compile_fail,E0271
    /// use blueflame::CompletionQueue;
    /// use blueflame::cq::mode::{Compressed, OncePerCall};
    /// use blueflame::cq::compressed::Checksum;
    ///
    /// fn forget_sessions(cq: CompletionQueue<Compressed<Checksum>>) -> CompletionQueue<OncePerCall> {
    ///     cq.with_mode()
    /// }
    /// ```
    ///
    /// # Safety
    /// The queue was made so, and nothing has been polled yet. With another format, completions have wrong indices:
    /// retiring one gives back the memory of requests that the device still executes.
    #[must_use]
    pub unsafe fn compressed<F: MiniFormat, const ENHANCED: bool>(self) -> CompletionQueue<Compressed<F, ENHANCED, M>> {
        // SAFETY: the caller promises that the queue was made for this format and layout, and that nothing was polled.
        unsafe { self.made_for() }
    }

    /// Turns the queue into one made for mode `N`.
    ///
    /// # Safety
    /// The conditions of [`with_mode_unchecked`](Self::with_mode_unchecked). If completions are compressed in mode `N`,
    /// those of [`compressed`](Self::compressed) as well.
    #[doc(hidden)]
    #[must_use]
    pub unsafe fn made_for<N: PollMode>(self) -> CompletionQueue<N> {
        let Self { next, ring, expander: (), arm_sn, dbrec, arm_doorbell, cqn, id, mode: PhantomData } = self;
        let expander = N::Compression::new(&RingAt { ring: &ring, next });
        CompletionQueue { next, ring, expander, arm_sn, dbrec, arm_doorbell, cqn, id, mode: PhantomData }
    }
}

impl<M: PollMode> CompletionQueue<M> {
    /// Changes the mode in which the queue is polled.
    ///
    /// ```
    /// use blueflame::CompletionQueue;
    /// use blueflame::cq::mode::{OncePerCall, Prefetch};
    ///
    /// fn for_bursts(cq: CompletionQueue) -> CompletionQueue<OncePerCall<Prefetch>> {
    ///     cq.with_mode()
    /// }
    /// ```
    ///
    /// The mode that never tells the device the consumer index needs a promise:
    ///
    /// ```compile_fail,E0080
    /// use blueflame::CompletionQueue;
    /// use blueflame::cq::mode::NoOverrun;
    ///
    /// fn careless(cq: CompletionQueue) -> CompletionQueue<NoOverrun> {
    ///     cq.with_mode()
    /// }
    /// # let _ = careless as fn(_) -> _;
    /// ```
    #[must_use]
    pub fn with_mode<N: PollMode<Compression = M::Compression>>(self) -> CompletionQueue<N> {
        const {
            assert!(!matches!(N::PUBLISH, Publish::Never), "the mode never tells the device the consumer index");
        }
        // SAFETY: the device is told the consumer index, as asserted.
        unsafe { self.with_mode_unchecked() }
    }

    /// Like [`with_mode`](Self::with_mode), but accepts [`NoOverrun`](crate::cq::mode::NoOverrun) and modes built on it
    /// as well.
    ///
    /// # Safety
    ///
    /// In a mode that does not tell the device the consumer index, the queue cannot overrun, as described at
    /// [`NoOverrun`](crate::cq::mode::NoOverrun).
    #[must_use]
    pub unsafe fn with_mode_unchecked<N: PollMode<Compression = M::Compression>>(self) -> CompletionQueue<N> {
        let Self { next, ring, expander, arm_sn, dbrec, arm_doorbell, cqn, id, mode: PhantomData } = self;
        CompletionQueue { next, ring, expander, arm_sn, dbrec, arm_doorbell, cqn, id, mode: PhantomData }
    }

    /// Hands up to `max` completions to `f`, oldest first. After each, it tells the device how far it may write.
    /// Returns the number of completions. `f` may retire requests and post others: see [Room](Self#room).
    ///
    /// If `f` panics, the completion that it was given counts as consumed. The next call tells the device.
    #[doc(alias("ibv_poll_cq", "ibv_start_poll", "ibv_next_poll"))]
    #[inline(always)]
    pub fn poll_with<F: FnMut(Cqe<'_>)>(&mut self, max: usize, mut f: F) -> usize {
        let Ok(polled) = self.try_poll_with::<Infallible, _>(max, |cqe| {
            f(cqe);
            Ok(())
        });
        polled
    }

    /// Polls like [`poll_with`](Self::poll_with), but the first error of `f` ends the call. The completion that `f`
    /// failed on is consumed; later ones wait for the next call.
    ///
    /// ```
    /// use blueflame::queue::Done;
    /// use blueflame::{CompleteError, CompletionQueue, SendQueue, transport};
    ///
    /// fn complete(cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>) -> Result<usize, CompleteError<Done>> {
    ///     cq.try_poll_with(16, |cqe| {
    ///         let done = sq.complete(&cqe)?;
    ///         println!("{:?} is done", done.wr_id);
    ///         Ok(())
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    /// That of `f`.
    #[inline(always)]
    pub fn try_poll_with<E, F: FnMut(Cqe<'_>) -> Result<(), E>>(&mut self, max: usize, f: F) -> Result<usize, E> {
        if const { M::Compression::COMPRESSED } { self.walk_compressed(max, f) } else { self.walk(max, f) }
    }

    /// Like [`walk`](Self::walk). While a completion is lent, the queue is already past it, except for the published
    /// consumer index.
    #[inline(always)]
    fn walk_compressed<E, F: FnMut(Cqe<'_>) -> Result<(), E>>(&mut self, max: usize, mut f: F) -> Result<usize, E> {
        let mut polled = 0;
        let mut handled = Ok(());
        while polled < max && handled.is_ok() {
            let Some(cqe) = self.take_compressed() else { break };
            handled = f(cqe);
            polled += 1;
            if const { matches!(M::PUBLISH, Publish::Each) } && self.expander.kept() == 0 {
                // As in `walk`.
                self.store_record(RECORD_CI, self.next.ci());
            }
        }
        if const { matches!(M::PUBLISH, Publish::Call) } && polled != 0 {
            self.publish();
        }
        handled.map(|()| polled)
    }

    /// The next completion of a queue whose device compresses them, if there is one. The caller chooses the lifetime:
    /// until the next call, or until the consumer index is told.
    #[inline(always)]
    fn take_compressed<'a>(&mut self) -> Option<Cqe<'a>> {
        let Self { next, ring, expander, id, .. } = self;
        let here = *next;
        let found = expander.find_next(RingAt { ring, next: here }, || Self::prefetch_and_barrier(ring, here))?;
        // SAFETY: the only place there is.
        unsafe { ring.advance(next) };
        expander.advance(&found, here, RingAt { ring, next: *next });
        Some(CqeView::new(found.tail, *id, expander.lend(&found, ring, here)))
    }

    #[inline(always)]
    fn walk<E, F: FnMut(Cqe<'_>) -> Result<(), E>>(&mut self, max: usize, mut f: F) -> Result<usize, E> {
        if max == 0 {
            return Ok(0);
        }
        // SAFETY: in this ring.
        let Some(mut tail) = (unsafe { self.ring.tail(self.next) }) else { return Ok(0) };
        let mut walk = Walk { next: self.next, queue: self };
        let mut left = max;
        let handled = loop {
            Self::prefetch_and_barrier(&walk.queue.ring, walk.next);
            // SAFETY: in this ring. The CQE is software's until an index past it is published, after the walk.
            let handled = f(CqeView::new(tail, walk.queue.id, unsafe { walk.queue.ring.fields(walk.next) }));
            walk.advance();
            if const { matches!(M::PUBLISH, Publish::Each) } {
                // Requests that `f` posts for the next completion are stored after this index (`SendQueue::publish`,
                // `RecvBatch::ring_doorbell`: a barrier, and then the doorbell). So the device sees that this place is
                // free before it can complete them. DPDK does the same (`drivers/net/mlx5/mlx5_rx.c`, `cq_db` before
                // `rq_db`).
                walk.queue.store_record(RECORD_CI, walk.next.ci());
            }
            left -= 1;
            if left == 0 || handled.is_err() {
                break handled;
            }
            // SAFETY: in this ring.
            let Some(next) = (unsafe { walk.queue.ring.tail(walk.next) }) else { break handled };
            tail = next;
        };
        walk.finish();
        if const { matches!(M::PUBLISH, Publish::Call) } {
            self.publish();
        }
        handled.map(|()| max - left)
    }

    /// The oldest completion, copied, or `None`. The device is told that its slot is free.
    ///
    /// A message of up to 64 bytes in the first half of a 128-byte CQE is not copied: for such queues use
    /// [`poll_with`](Self::poll_with).
    #[doc(alias = "ibv_poll_cq")]
    #[inline(always)]
    pub fn poll(&mut self) -> Option<CqeCopy<'_>> {
        if const { M::Compression::COMPRESSED } {
            let copy = self.take_compressed()?.copy();
            if const { !matches!(M::PUBLISH, Publish::Never) } {
                self.publish();
            }
            return Some(copy);
        }
        // SAFETY: in this ring.
        let tail = unsafe { self.ring.tail(self.next) }?;
        Self::prefetch_and_barrier(&self.ring, self.next);
        // SAFETY: in this ring. The CQE is software's until an index past it is published, below.
        let copy = unsafe { self.ring.fields(self.next) }.copy();
        // SAFETY: the only place there is.
        unsafe { self.ring.advance(&mut self.next) };
        if const { !matches!(M::PUBLISH, Publish::Never) } {
            self.publish();
        }
        Some(CqeView::new(tail, self.id, copy))
    }

    /// Orders the load that saw the owner bit of the CQE at `place` before the loads of the rest. In a mode that
    /// prefetches, first prefetches a later CQE.
    #[inline(always)]
    pub(super) fn prefetch_and_barrier(ring: &Ring, place: Place) {
        if M::AHEAD != 0 {
            ring.prefetch(place, M::AHEAD);
        }
        Self::barrier();
    }

    /// The barrier of the mode between the load of an owner bit and the loads of the rest.
    #[inline(always)]
    pub(super) fn barrier() {
        if M::CONSERVATIVE {
            arch::from_device_conservative();
        } else {
            arch::from_device();
        }
    }

    /// Tells the device the consumer index (24 bits), so that it may write further. Polling does it, except in the mode
    /// [`NoOverrun`](crate::cq::mode::NoOverrun).
    ///
    /// No barrier precedes it, as in rdma-core (`providers/mlx5/cq.c`, `update_cons_index`). A weak CPU may load a
    /// field of a CQE after this store, but the device writes a freed slot only a ring's length later.
    #[inline(always)]
    pub fn publish(&mut self) {
        self.store_record(RECORD_CI, if const { M::Compression::COMPRESSED } { self.told() } else { self.next.ci() });
    }

    /// The consumer index to tell the device. In a session that is not polled to its end, it is the session's start.
    pub(super) fn told(&self) -> u32 {
        self.next.ci().wrapping_sub(self.expander.kept()) & CqCi::MAX
    }

    /// Asks for one event: the next CQE (or the next solicited one) that the device writes raises it. See the protocol
    /// at [`CompletionQueue`].
    #[doc(alias = "ibv_req_notify_cq")]
    pub fn arm(&mut self, notify: Notify) {
        let request = (self.arm_sn & 3) << 28 | notify as u32 | self.next.ci();
        self.store_record(RECORD_ARM, request);
        // The device reads the record when the doorbell arrives, so the record goes first.
        arch::mmio_wc_start();
        let doorbell = u64::from(request) << 32 | u64::from(self.cqn.get());
        // SAFETY: `from_parts` was promised the UAR page, and checked the alignment; arming makes the device read the
        // record and, at most, raise an event.
        unsafe { arch::mmio_write64(self.arm_doorbell.as_ptr(), doorbell.to_be()) };
        arch::mmio_flush_writes();
    }

    /// Counts an event that the completion channel delivered for this queue, so that the device can tell the next
    /// [`arm`](Self::arm) from the one that the event answered (rdma-core `providers/mlx5/cq.c`, `mlx5_cq_event`).
    #[doc(alias = "ibv_ack_cq_events")]
    pub fn event_received(&mut self) {
        self.arm_sn = self.arm_sn.wrapping_add(1);
    }

    /// The index of the next CQE to come.
    #[inline(always)]
    #[must_use]
    pub fn consumer_index(&self) -> CqCi {
        CqCi::truncate(self.next.ci())
    }

    /// The ring's address, which tells queues apart.
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.ring.addr()
    }

    /// The queue's identity: [given](crate::queue::send::SqParts::cq) to the queues that complete here.
    #[must_use]
    pub const fn id(&self) -> CqId {
        self.id
    }

    /// The queue's number.
    #[must_use]
    pub fn cqn(&self) -> Cqn {
        self.cqn
    }

    /// How many CQEs the ring has. [Room](Self#room) says how many completions fit.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.ring.cqe_cnt()
    }

    /// How many completions fit: all places but [one](Self#room). If the device compresses completions, a session's
    /// places are given back together, so the places of one session more stay free.
    #[must_use]
    pub fn room(&self) -> u32 {
        let session = if M::Compression::COMPRESSED { MAX_SESSION } else { 0 };
        self.capacity().saturating_sub(1 + session)
    }

    #[inline(always)]
    pub(super) fn store_record(&mut self, word: usize, value: u32) {
        // SAFETY: the record is two words, promised to `from_parts`; the device may read them at any time, hence
        // volatile.
        unsafe { self.dbrec.add(word).write_volatile(value.to_be()) };
    }
}

/// A [`CompletionQueue::poll_with`] under way. The place is a copy, kept in registers. It goes back to the queue at the
/// end, also after a panic.
pub(super) struct Walk<'a, M: PollMode> {
    /// The CQE lent to the closure, or the next one to come.
    pub(super) next: Place,
    pub(super) queue: &'a mut CompletionQueue<M>,
}

impl<M: PollMode> Walk<'_, M> {
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        // SAFETY: the queue's own place is as it was before the walk, and not used until it is replaced by this one.
        unsafe { self.queue.ring.advance(&mut self.next) };
    }

    #[inline(always)]
    pub(super) fn finish(self) {
        let mut walk = ManuallyDrop::new(self);
        walk.queue.next = walk.next;
    }
}

impl<M: PollMode> Drop for Walk<'_, M> {
    /// The closure has panicked: its completion is consumed.
    fn drop(&mut self) {
        self.advance();
        self.queue.next = self.next;
    }
}
