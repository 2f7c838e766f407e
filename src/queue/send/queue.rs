//! The send queue: its parts, its indices, and the requests that completed. Posting is in `post.rs`. Knows no
//! operation.
use core::marker::PhantomData;

use crate::arch;
use crate::arch::copy::BlockCopy;
use crate::cq::{CqeView, Origin, Side, Source};
use crate::db::{DoorbellRecord, ExclusiveRegister, FlushMode, Register};
use crate::hint::cold_path;
use crate::queue::outcome::{self, CompleteError, RetireError};
use crate::queue::send::error::PostError;
use crate::queue::send::parts::{SqParts, WqeRecord};
use crate::queue::send::place::{Index, SendRing, WqebbPlace};
use crate::queue::send::policy::{BlueFlameLimits, BlueFlamePolicy};
use crate::setup::SetupError;
use crate::transport::Transport;
use crate::types::{Qpn, SqPi, WQEBB_BYTES, Wqebbs, WrId};
use crate::wqe::limits::FrameOffloads;
use crate::wqe::{CtrlSeg, Limits};

/// A request that is done: the result of [`SendQueue::complete`] and [`SendQueue::retire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The identifier of the completed request. If it was a [session](crate::queue::send::Session), that of its first
    /// frame.
    pub wr_id: WrId,
    /// Frames of a session; 1 for every other request.
    pub frames: u16,
    /// WQEBBs that are free again: those of the request, and of the unsignalled ones before it.
    pub freed: Wqebbs,
}

impl Done {
    /// The identifiers of a session's frames, in their order; the one identifier of every other request.
    #[inline]
    pub fn wr_ids(self) -> impl ExactSizeIterator<Item = WrId> {
        (0..self.frames).map(move |n| WrId(self.wr_id.0.wrapping_add(n.into())))
    }
}

/// The send queue of a queue pair of transport `T`, ringing a register of type `R`.
///
/// It moves between threads and is used by one at a time:
///
/// ```
/// fn send<T: Send>() {}
/// send::<blueflame::queue::SendQueue<blueflame::transport::Rc>>();
/// ```
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<blueflame::queue::SendQueue<blueflame::transport::Rc>>();
/// ```
///
/// An operation that the transport does not have does not compile:
///
/// ```compile_fail,E0277
/// # use blueflame::{Remote, Sge, queue::SendQueue, transport, wqe};
/// fn read(sq: &mut SendQueue<transport::Uc>, remote: Remote, local: Sge) {
///     // SAFETY: (never called: it does not compile)
///     let _ = unsafe { sq.post_unchecked(&wqe::read(remote).scatter([local])) };
/// }
/// ```
#[doc(alias = "SQ")]
#[derive(Debug)]
pub struct SendQueue<T: Transport, R: Register = ExclusiveRegister> {
    /// The ring and its records.
    pub(in crate::queue) ring: SendRing,
    pub(in crate::queue) doorbell_record: DoorbellRecord,
    pub(in crate::queue) register: R,
    /// Whose completions are this queue's.
    pub(super) origin: Origin,
    pub(in crate::queue) limits: Limits,
    pub(in crate::queue) blueflame: BlueFlameLimits,
    /// Index of the next WQEBB. See [`Index`].
    pub(in crate::queue) pi: Index,
    /// The index that `pi` may come to: one depth past the oldest WQEBB outstanding.
    pub(in crate::queue) end: Index,
    /// How many WQEBBs may be outstanding: at most the ring's.
    pub(in crate::queue) depth: u32,
    /// The most that `depth` may be.
    pub(in crate::queue) most: Wqebbs,
    pub(super) transport: PhantomData<T>,
}

// SAFETY: the pointers are to memory with no tie to a thread, and `from_parts`' caller vouches that nothing else
// touches it; a register that must not move is not `Send` itself.
unsafe impl<T: Transport, R: Register + Send> Send for SendQueue<T, R> {}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Makes a queue of its parts.
    ///
    /// # Errors
    /// Parts that no send queue has.
    ///
    /// # Safety
    /// As long as the queue is used:
    /// - `ring` is the send ring of queue pair `qpn`, valid for reads and writes of `wqebbs * 64` bytes;
    /// - `dbrec` is its doorbell record, two words valid for writes;
    /// - `shadow` is valid for reads and writes of `wqebbs` records and not reachable by the device;
    /// - `register` belongs to the UAR that the queue pair was created with;
    /// - nothing else writes any of them (libibverbs' own posting calls included), and no reference to them lives;
    /// - the queue pair has transport `T` and nothing outstanding, and expects the index `pi` next;
    /// - its requests complete to the completion queue with the identity `cq`, if that is one;
    /// - no completion of an earlier queue pair with the same number is left of that completion queue, neither in it
    ///   ([`holds`](crate::CompletionQueue::holds), [`forget`](crate::CompletionQueue::forget)) nor lent by it;
    /// - it was created with WQE signatures (libmlx5's `MLX5_QP_SIGNATURE`) if `T` is
    ///   [`Signed`](crate::transport::Signed), and without otherwise.
    pub unsafe fn from_parts(parts: SqParts, register: R) -> Result<Self, SetupError> {
        let SqParts { ring, wqebbs, dbrec, qpn, cq, max_inline, max_sge, signal_all, pi, shadow } = parts;
        SetupError::check_power_of_two("WQEBBs of a send ring", wqebbs, 1, 1 << 15)?;
        SetupError::check_aligned("send ring", ring.addr().get(), WQEBB_BYTES)?;
        SetupError::check_aligned("doorbell record of a send queue", dbrec.addr().get(), align_of::<u32>())?;
        SetupError::check_aligned("private memory of a send queue", shadow.addr().get(), align_of::<WqeRecord>())?;
        let shadow = shadow.cast::<WqeRecord>();
        for place in 0..wqebbs as usize {
            // SAFETY: the caller vouches for `wqebbs` records.
            unsafe { shadow.add(place).write(WqeRecord { wr_id: WrId(0), size_and_frames: 0 }) };
        }
        let limits = Limits { max_inline, max_sge, offloads: FrameOffloads::NONE };
        Ok(Self {
            ring: SendRing {
                start: ring.cast(),
                shadow,
                qpn: CtrlSeg::qpn(qpn),
                mask: WqebbPlace::mask(wqebbs),
                signal_all,
            },
            // SAFETY: the caller vouches for the record.
            doorbell_record: unsafe { DoorbellRecord::send(dbrec) },
            origin: Origin::new(cq, qpn),
            limits,
            blueflame: BlueFlameLimits::new(BlueFlamePolicy::default(), register.size(), limits),
            register,
            pi: Index::new(pi),
            // At most 2^15, checked.
            end: Index::new(pi.add(Wqebbs(wqebbs as u16))),
            depth: wqebbs,
            most: Wqebbs(wqebbs as u16),
            transport: PhantomData,
        })
    }

    /// Chooses when a whole WQE is copied to BlueFlame.
    pub fn set_blueflame_policy(&mut self, policy: BlueFlamePolicy) {
        self.blueflame = BlueFlameLimits::new(policy, self.register.size(), self.limits);
    }

    /// States the offloads that the device has for frames of this queue. A queue made of parts begins with none.
    /// `verbs` and `blueflame-devx` state them by the device's capabilities.
    ///
    /// If the device lacks an offload that is stated here, requests for it complete with an error.
    pub fn set_frame_offloads(&mut self, offloads: FrameOffloads) {
        self.limits.offloads = offloads;
        self.blueflame.set_offloads(offloads);
    }

    /// The ring's address, which tells queues apart.
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.ring.start.addr().get()
    }

    /// The queue pair's number.
    #[must_use]
    pub const fn qpn(&self) -> Qpn {
        self.origin.qpn()
    }

    /// The limits of one request.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// The index of the next WQEBB.
    #[inline]
    #[must_use]
    pub const fn pi(&self) -> SqPi {
        self.pi.get()
    }

    /// Fetches the cache lines that the next request goes to, in the ring and in the shadow.
    ///
    /// For threads that post to many queues in turn. Call it after posting to each: the lines are in the cache when the
    /// queue's turn comes again, and posting does not wait for them. With one queue it is two wasted instructions. It
    /// gains most in a `verbs::ThreadDomain`, where no other lines miss (`docs/performance/measurements.md`, "Thread
    /// domains").
    #[inline(always)]
    pub fn prefetch(&self) {
        let place = self.ring.place(self.pi);
        arch::prefetch_write(self.ring.wqebb(place).as_ptr());
        arch::prefetch_write(self.ring.record(place).as_ptr());
    }

    /// WQEBBs of the ring, 1 to 32768. [`depth`](Self::depth) says how many of them may be outstanding.
    #[inline]
    #[must_use]
    pub const fn capacity(&self) -> Wqebbs {
        Wqebbs(self.ring.wqebbs() as u16)
    }

    /// WQEBBs that can be posted now.
    #[inline]
    #[must_use]
    pub const fn free(&self) -> Wqebbs {
        self.free_from(self.pi)
    }

    /// Takes back the request that completed, and all before it, and says whether it succeeded.
    ///
    /// ```
    /// use blueflame::{CompleteError, CompletionQueue, SendQueue, transport};
    ///
    /// fn complete(cq: &mut CompletionQueue, sq: &mut SendQueue<transport::Rc>) {
    ///     cq.poll_with(16, |cqe| match sq.complete(&cqe) {
    ///         Ok(done) => println!("{:?}", done.wr_id),
    ///         Err(CompleteError::Failed { done, error }) => eprintln!("{:?}: {error}", done.wr_id),
    ///         Err(CompleteError::Foreign(error)) => eprintln!("{error}"), // not of this queue
    ///     });
    /// }
    /// ```
    ///
    /// # Errors
    /// [`CompleteError::Failed`] if the request did not succeed: it is taken back all the same.
    /// [`CompleteError::Foreign`] if this is no completion of an outstanding request of this queue, which is unchanged
    /// then.
    #[inline(always)]
    pub fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Done, CompleteError<Done>> {
        let done = self.retire(cqe)?;
        outcome::checked(cqe, done)
    }

    /// Takes back the request that completed, successfully or not, and all before it. [`complete`](Self::complete) says
    /// which it was as well; after this call, [`CqeView::check`] does.
    ///
    /// # Errors
    /// See [`RetireError`]; the queue is unchanged then. The completion belongs to a receive, to another queue pair or
    /// to another completion queue, or no outstanding request has its index. The queue does not trust the device's
    /// writes.
    #[inline]
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Done, RetireError> {
        self.retire_wqe(cqe).map(|(_, retired)| retired)
    }

    /// [Retires](Self::retire), and also returns the index of the request that completed. Asking the view again could
    /// give another one.
    #[inline(always)]
    pub(in crate::queue) fn retire_wqe<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<(SqPi, Done), RetireError> {
        // Why safe code cannot free a WQEBB that the device still owns:
        // - The side and the origin say that the device wrote the CQE for this queue (`check_origin`).
        // - The first time, everything up to the index is done.
        // - The second time, the index is at most a WQE (16 WQEBBs) before the oldest outstanding, which `retire_index`
        //   refuses unless more than 2^16 - 16 WQEBBs are outstanding, and a ring has 2^15. To bring the index around,
        //   others must be retired meanwhile. Their CQEs come from the same completion queue, which the view borrows:
        //   the next one is lent when this view is gone.
        outcome::check_side(cqe, Side::Requester)?;
        outcome::check_origin(cqe, self.origin, Origin::NUMBERED)?;
        let index = cqe.wqe_counter();
        // SAFETY: of a completion of this queue, as argued.
        let retired = unsafe { self.retire_index(index) }?;
        Ok((SqPi(index), retired))
    }

    /// Whether a completion's origin is this queue's.
    #[cfg(feature = "verbs")]
    pub(crate) fn takes<S: Source>(&self, cqe: &CqeView<S>) -> bool {
        cqe.is_of(self.origin, Origin::NUMBERED)
    }

    /// Takes back the request at `wqe_counter`, the index of its first WQEBB, and all before it.
    ///
    /// # Errors
    /// [`RetireError::NotOutstanding`], [`RetireError::InsideWqe`]; the queue is as before then.
    ///
    /// # Safety
    /// The request has completed: `wqe_counter` comes from a completion of this queue, which has not been used before.
    /// Else the device may still be reading a WQE that the next request overwrites.
    #[inline]
    pub unsafe fn retire_index(&mut self, wqe_counter: u16) -> Result<Done, RetireError> {
        let completed = Index::new(SqPi(wqe_counter));
        let oldest = self.oldest();
        let before = completed.since(oldest);
        if before >= self.pi.since(oldest) {
            return Err(RetireError::not_outstanding(wqe_counter, oldest.get().0, self.pi().0));
        }
        // SAFETY: the place is one of the shadow.
        let record = unsafe { self.ring.record(self.ring.place(completed)).read() };
        if record.size_and_frames == 0 {
            return Err(RetireError::inside_wqe(wqe_counter));
        }
        // Outstanding places were recorded when their WQE was put, so the WQE ends at or before `pi`.
        let freed = Wqebbs(before.0.wrapping_add(record.size_and_frames as u16));
        self.end = self.end.add(freed);
        Ok(Done { wr_id: record.wr_id, frames: record.frames(), freed })
    }

    /// WQEBBs from `pi` on that can be written.
    #[inline(always)]
    pub(in crate::queue) const fn free_from(&self, pi: Index) -> Wqebbs {
        self.end.since(pi)
    }
}

impl<T: Transport, F: FlushMode, C: BlockCopy> SendQueue<T, ExclusiveRegister<F, C>> {
    /// Sends the device the doorbells that may still be in the CPU's write-combining buffers. In the [modes](FlushMode)
    /// that leave out flushes, call it before the queue goes idle or moves to another thread, on the CPU that rang.
    #[inline]
    pub fn flush(&mut self) {
        self.register.flush();
    }
}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// WQEBBs that may be outstanding at a time: posting beyond is [`PostError::Full`]. Zero: the queue takes nothing.
    #[inline]
    #[must_use]
    pub const fn depth(&self) -> Wqebbs {
        // At most 2^15, the largest ring.
        Wqebbs(self.depth as u16)
    }

    /// Bounds the WQEBBs that may be outstanding at a time: the ring, or less. A queue made of parts begins with its
    /// ring.
    ///
    /// The bound costs posting nothing: the queue compares an index with the bound, not with the end of the ring.
    ///
    /// - A request of `k` WQEBBs takes `k` of the depth. So at most as many *requests* are outstanding as the depth
    ///   has WQEBBs. No more completions than that can come: each request completes at most once. Unsignalled requests
    ///   complete as well when the queue pair goes to the error state.
    /// - With a depth of zero, [`PostError::NotReadyToSend`] refuses every request. For as long as the queue pair is
    ///   not in RTS, a doorbell must not be rung (libmlx5 refuses such requests: rdma-core `providers/mlx5/verbs.c`,
    ///   `set_qp_operational_state`). The queues of `verbs` are opened by the call that moves them to RTS. This call
    ///   does not look at the state: a queue that you open earlier takes requests, which the device may ignore, or fail
    ///   with the queue pair.
    ///
    /// # Errors
    /// [`SetupError::OutOfRange`]: the depth is larger than the ring or the [limit](Self::limit_depth), or smaller than
    /// the outstanding WQEBBs. The queue keeps the depth that it has.
    pub fn set_depth(&mut self, depth: Wqebbs) -> Result<(), SetupError> {
        let value = depth.0.into();
        let (ring, most, outstanding) = (self.capacity().0, self.most.0, self.pi.since(self.oldest()).0);
        SetupError::check_range("depth in WQEBBs, limited by the ring", value, 0, ring.into())?;
        SetupError::check_range("depth in WQEBBs, limited by the completion queue", value, 0, most.into())?;
        SetupError::check_range(
            "depth in WQEBBs, limited by those outstanding",
            value,
            outstanding.into(),
            most.min(ring).into(),
        )?;
        self.end = self.oldest().add(depth);
        self.depth = u32::from(depth.0);
        Ok(())
    }

    /// From now on, [`set_depth`](Self::set_depth) refuses a depth of more than `most`. Later calls may lower the
    /// limit. The queues of `verbs` and DevX have one: the requests whose completions their completion queue has room
    /// for. The present depth stays.
    pub fn limit_depth(&mut self, most: Wqebbs) {
        self.most = most.min(self.most);
    }

    /// Starts over at index 0: nothing outstanding, a depth of zero, a doorbell record of zero. Outstanding requests
    /// and their identifiers are forgotten.
    ///
    /// # Safety
    /// The queue pair is in RESET, so that the device will not look at the ring's contents. CQEs of it that were not
    /// polled must be [forgotten](crate::cq::CompletionQueue::forget): their indices would mean requests that are
    /// posted from here on.
    pub unsafe fn reset(&mut self) {
        for place in 0..self.capacity().0 {
            let record = self.ring.record(self.ring.place(Index::new(SqPi(place))));
            // SAFETY: one of the shadow.
            unsafe { record.write(WqeRecord { wr_id: WrId(0), size_and_frames: 0 }) };
        }
        (self.pi, self.end, self.depth) = (Index::new(SqPi(0)), Index::new(SqPi(0)), 0);
        // SAFETY: nothing is posted, and the device takes nothing in this state.
        unsafe { self.doorbell_record.store(0) };
    }

    /// Whether the doorbell record still has the value that this queue has stored there.
    #[cfg(feature = "verbs")]
    pub(crate) fn is_recorded(&self) -> bool {
        self.doorbell_record.load() == self.pi().0
    }

    /// The oldest WQEBB outstanding; the one to be posted next, if none is.
    #[inline(always)]
    pub(in crate::queue) const fn oldest(&self) -> Index {
        self.end.sub(self.depth())
    }

    /// The oldest request outstanding: its index, and its `wr_id`.
    #[inline]
    pub(in crate::queue) fn oldest_request(&self) -> Option<(SqPi, WrId)> {
        let oldest = self.oldest();
        if oldest == self.pi {
            return None;
        }
        // SAFETY: the place is one of the shadow, all of which are written.
        let record = unsafe { self.ring.record(self.ring.place(oldest)).read() };
        Some((oldest.get(), record.wr_id))
    }

    /// Whether one WQEBB can be put at `pi`. Without a subtraction: it cannot only where the depth ends.
    #[inline(always)]
    pub(in crate::queue) fn check_room_for_one(&self, pi: Index) -> Result<(), PostError> {
        if pi != self.end {
            return Ok(());
        }
        cold_path();
        // In line: where nothing is called, nothing is saved for a call.
        Err(if self.depth == 0 {
            PostError::NotReadyToSend
        } else {
            PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }
        })
    }

    /// Whether `wqebbs` WQEBBs can be put at `pi`.
    #[inline(always)]
    pub(in crate::queue) fn check_room(&self, pi: Index, wqebbs: Wqebbs) -> Result<(), PostError> {
        let free = self.free_from(pi);
        if wqebbs <= free { Ok(()) } else { Err(PostError::refused(wqebbs, free, self.depth(), self.capacity())) }
    }
}
