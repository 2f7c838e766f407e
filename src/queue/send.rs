use core::marker::PhantomData;
use core::ptr::NonNull;

use super::parts::{SqParts, WqeRecord};
use super::put::{Put, line_units};
use super::retire::{self, RetireError};
use super::send_error::{PostError, SqPartsError};
use super::slot::{Index, Slot};
use crate::arch;
use crate::arch::copy::BlockCopy;
use crate::cq::{CqeView, QpnInCqe, Side, Source};
use crate::db::{DoorbellRecord, ExclusiveRegister, FlushMode, Register};
use crate::transport::Transport;
use crate::types::{Ds, Qpn, SqPi, WQEBB_BYTES, Wqebbs, WrId};
use crate::wqe::{Control, CtrlSeg, Limits, Line, NoLocalMemory, PackedLine, WordLine, WorkRequest};

/// When a doorbell of one request is the whole WQE, copied to BlueFlame, and not its first 8 bytes.
///
/// If it may be, the WQE must also have data or operands (more than one DS) and fit the register. A register of size zero has
/// no BlueFlame to copy to.
///
/// Queues of the feature `verbs` begin with what libmlx5's environment variables say, as libmlx5 would post itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlueFlamePolicy {
    /// Whenever it fits: saves the fetch of the WQE, not that of the data. libmlx5's default (rdma-core
    /// `providers/mlx5/mlx5.c`, `get_always_bf`).
    #[default]
    Prefer,
    /// For inline requests only: the device then needs no fetch at all. What libmlx5 does with
    /// `MLX5_POST_SEND_PREFER_BF=0`.
    Inline,
    /// Never. What libmlx5 does with `MLX5_SHUT_UP_BF=1` (rdma-core `providers/mlx5/qp.c`, `post_send_db`).
    Never,
}

/// What [`SendQueue::retire`] took back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    /// The tag of the completed request.
    pub wr_id: WrId,
    /// WQEBBs that are free again: those of the request, and of the unsignalled ones before it.
    pub freed: Wqebbs,
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
///     let _ = unsafe { sq.post_unchecked(&wqe::read(remote).scatter([local])) };
/// }
/// ```
#[derive(Debug)]
pub struct SendQueue<T: Transport, R: Register = ExclusiveRegister> {
    pub(super) ring: NonNull<u64>,
    shadow: NonNull<WqeRecord>,
    pub(super) db: DoorbellRecord,
    register: R,
    /// The number where the control segment's first word has it.
    control_qpn: u64,
    /// The number where completions have it.
    qpn: QpnInCqe,
    pub(super) limits: Limits,
    /// What of [`limits`](Self::limits) a lone request of one WQEBB may carry to be copied to BlueFlame: nothing if the
    /// register or the policy is against it. So one comparison answers both.
    blueflame: Limits,
    /// Index of the next WQEBB. See [`Index`].
    pub(super) pi: Index,
    /// The index that `pi` may come to: one window past the oldest WQEBB outstanding.
    pub(super) end: Index,
    /// How many WQEBBs may be outstanding: at most the ring's.
    pub(super) window: u32,
    /// Selects a [`Slot`] of the ring.
    mask: u32,
    /// Bytes that a lone request's copy to BlueFlame may have: inline, and other. Zero if the policy is against it.
    copy_bytes: [u32; 2],
    signal_all: bool,
    transport: PhantomData<T>,
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
    /// - the queue pair is of transport `T`, has nothing outstanding, and expects the index `pi` next;
    /// - no completion queue that is polled holds completions of an earlier queue pair with the same number
    ///   ([`CompletionQueue::forget`](crate::CompletionQueue::forget)), nor is a completion of another device's queue pair with
    ///   the same number ever given to [`retire`](Self::retire);
    /// - it was created without WQE signatures (libmlx5's `MLX5_QP_SIGNATURE`), which this crate does not compute.
    pub unsafe fn from_parts(parts: SqParts, register: R) -> Result<Self, SqPartsError> {
        let SqParts { ring, wqebbs, dbrec, qpn, max_inline, max_sge, signal_all, pi, shadow } = parts;
        if !wqebbs.is_power_of_two() || wqebbs > 1 << 15 {
            return Err(SqPartsError::RingSize { wqebbs });
        }
        for (part, address, alignment) in [
            ("send ring", ring.addr().get(), WQEBB_BYTES),
            ("doorbell record", dbrec.addr().get(), align_of::<u32>()),
            ("shadow", shadow.addr().get(), align_of::<WqeRecord>()),
        ] {
            if !address.is_multiple_of(alignment) {
                return Err(SqPartsError::Alignment { part, address, alignment });
            }
        }
        let shadow = shadow.cast::<WqeRecord>();
        for slot in 0..wqebbs as usize {
            // SAFETY: the caller vouches for `wqebbs` records.
            unsafe { shadow.add(slot).write(WqeRecord { wr_id: WrId(0), wqebbs: 0 }) };
        }
        let mut queue = Self {
            ring: ring.cast(),
            shadow,
            // SAFETY: the caller vouches for the record.
            db: unsafe { DoorbellRecord::send(dbrec) },
            register,
            control_qpn: CtrlSeg::qpn(qpn),
            qpn: QpnInCqe::new(qpn),
            limits: Limits { max_inline, max_sge },
            blueflame: Limits { max_inline: 0, max_sge: 0 },
            pi: Index::new(pi),
            // At most 2^15, checked.
            end: Index::new(pi.add(Wqebbs(wqebbs as u16))),
            window: wqebbs,
            mask: Slot::mask(wqebbs),
            copy_bytes: [0; 2],
            signal_all,
            transport: PhantomData,
        };
        queue.set_blueflame_policy(BlueFlamePolicy::default());
        Ok(queue)
    }

    /// Chooses when a whole WQE is copied to BlueFlame.
    pub fn set_blueflame_policy(&mut self, policy: BlueFlamePolicy) {
        // At most 2048.
        let block = self.register.size() as u32;
        let inline = if policy == BlueFlamePolicy::Never { 0 } else { block };
        let other = if policy == BlueFlamePolicy::Prefer { block } else { 0 };
        self.copy_bytes = [inline, other];
        let allowed = |copy_bytes, limit| if copy_bytes >= WQEBB_BYTES as u32 { limit } else { 0 };
        let Limits { max_inline, max_sge } = self.limits;
        self.blueflame = Limits { max_inline: allowed(inline, max_inline), max_sge: allowed(other, max_sge) };
    }

    /// The ring's address, which tells queues apart.
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.ring.addr().get()
    }

    /// The queue pair's number.
    #[must_use]
    pub const fn qpn(&self) -> Qpn {
        self.qpn.get()
    }

    /// What one request may carry.
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

    /// Brings the lines that the next request goes to, in the ring and in the shadow, into this CPU's cache.
    ///
    /// For threads that post to many queues in turn, called after posting to each: the lines have come when the queue's turn
    /// comes again, in place of being waited for between its request and its doorbell. With one queue it is two
    /// instructions for nothing. Figures are with `verbs::ThreadDomain`, whose layout leaves these lines as the ones that miss.
    #[inline(always)]
    pub fn prefetch(&self) {
        let slot = self.slot(self.pi);
        arch::prefetch_write(self.wqebb(slot).as_ptr());
        arch::prefetch_write(self.record(slot).as_ptr());
    }

    /// WQEBBs of the ring, 1 to 32768. [`window`](Self::window) says how many of them may be outstanding.
    #[inline]
    #[must_use]
    pub const fn capacity(&self) -> Wqebbs {
        Wqebbs(Slot::wqebbs(self.mask) as u16)
    }

    /// WQEBBs that can be posted now.
    #[inline]
    #[must_use]
    pub const fn free(&self) -> Wqebbs {
        self.free_from(self.pi)
    }

    /// Posts one request that names no memory of this side, and rings: by BlueFlame where the [policy](BlueFlamePolicy) and
    /// the register allow. What it does to the peer's memory is the peer's consent by its key.
    ///
    /// A request that names registered memory goes by [`post_unchecked`](Self::post_unchecked):
    ///
    /// ```compile_fail,E0277
    /// # use blueflame::{Sge, queue::SendQueue, transport, wqe};
    /// fn send(sq: &mut SendQueue<transport::Rc>, page: Sge) {
    ///     let _ = sq.post(&wqe::send().gather([page]));
    /// }
    /// ```
    /// ```compile_fail,E0277
    /// # use blueflame::{Remote, queue::SendQueue, transport, types::Lkey, wqe};
    /// fn count(sq: &mut SendQueue<transport::Rc>, at: Remote) {
    ///     let _ = sq.post(&wqe::fetch_add(at, 1).result(0x7000, Lkey(1)));
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    #[inline(always)]
    pub fn post<W: WorkRequest<T> + NoLocalMemory>(&mut self, request: &W) -> Result<(), PostError> {
        // SAFETY: the request names no memory.
        unsafe { self.post_unchecked(request) }
    }

    /// Posts any request as [`post`](Self::post) does.
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// Memory that the request names by scatter/gather entries must stay registered and alive, and must not be used
    /// against what the device does with it (nothing may write what is gathered, nothing may touch what is scattered
    /// into), until the request has completed.
    #[inline(always)]
    pub unsafe fn post_unchecked<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        if const { line_units::<T, W>() > 1 }
            && request.has_static_size(&self.blueflame)
            && (const { W::HAS_PAYLOAD } || self.copies_to_blueflame(W::INLINE, 1))
        {
            // SAFETY: the caller's; the register has a block, or nothing would fit its limits.
            unsafe {
                if const { <R::Copy as BlockCopy>::WIDE } {
                    self.post_line::<PackedLine, _>(request)
                } else {
                    self.post_line::<WordLine, _>(request)
                }
            }
        } else if const { line_units::<T, W>() == 0 } {
            // SAFETY: the caller's.
            unsafe { self.post_by_parts(request) }
        } else {
            // SAFETY: the caller's.
            unsafe { self.post_other(*request) }
        }
    }

    /// Posts a request that is known to fit one WQEBB, and is of the size its type states: composed in CPU registers, stored
    /// to the ring, and stored again to BlueFlame.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked), and the register must have a size of at least 64 bytes.
    #[inline(always)]
    unsafe fn post_line<L: Line, W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        let pi = self.pi;
        if self.is_full_at(pi) {
            return Err(self.no_room());
        }
        let units = const { line_units::<T, W>() };
        let mut line = L::new();
        request.encode(&self.control(pi), Ds(units as u8), &mut line);
        let slot = self.slot(pi);
        // SAFETY: a WQEBB of the ring that is free, and its record in the shadow. Bytes past the WQE's end are left alone, as
        // libmlx5 leaves them.
        unsafe {
            line.store(self.wqebb(slot), units);
            WqeRecord { wr_id: request.tag(), wqebbs: 1 }.store(self.record(slot));
        }
        // SAFETY: just put; the caller vouches for the memory the request names.
        unsafe { self.publish(pi.add(Wqebbs(1))) };
        // SAFETY: `publish` has made the WQE and its index visible; the caller vouches for the register's size and for the
        // memory the request names.
        self.register.ring_doorbell(|half| unsafe { half.copy_by(|copy, block| line.copy(copy, block)) });
        Ok(())
    }

    /// Posts a request of one WQEBB by type that goes without BlueFlame, or has less in it than its type says. Out of line
    /// and by value, so that it takes no CPU registers, and puts nothing on the stack, where `post` is inlined.
    #[inline(never)]
    unsafe fn post_other<W: WorkRequest<T>>(&mut self, request: W) -> Result<(), PostError> {
        // SAFETY: the caller's.
        unsafe { self.post_by_parts(&request) }
    }

    /// Puts, publishes and rings.
    #[inline(always)]
    unsafe fn post_by_parts<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        let at = self.pi;
        let put = self.put(at, request)?;
        // SAFETY: just put, the only request; the caller vouches for the memory it names.
        unsafe {
            self.publish(at.add(put.wqebbs()));
            self.ring_one(at, put);
        }
        Ok(())
    }

    /// Takes back the request that completed, successfully or not, and all before it.
    ///
    /// # Errors
    /// See [`RetireError`]; the queue is as before then. It is the completion of a receive or of another queue pair, or the
    /// index in it is not of an outstanding request: what the device writes is not trusted.
    #[inline]
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Retired, RetireError> {
        // Why safe code cannot free a WQEBB that the device still owns:
        // - The side and the number say that the device wrote the CQE for this queue. Of a queue pair that had the number
        //   before, none is left (`from_parts`).
        // - The first time, everything up to the index is done.
        // - The second time, the index is at most a WQE (16 WQEBBs) before the oldest outstanding, which `retire_index`
        //   refuses unless more than 2^16 - 16 WQEBBs are outstanding, and a ring has 2^15. To bring the index around, others
        //   must be retired meanwhile. Their CQEs come from the same completion queue, which the view borrows: the next one
        //   is lent when this view is gone.
        retire::check_side(cqe, Side::Requester)?;
        retire::check_qpn(cqe, self.qpn)?;
        // SAFETY: of a completion of this queue, as argued.
        unsafe { self.retire_index(cqe.wqe_counter()) }
    }

    /// Takes back the request at `wqe_counter`, the index of its first WQEBB, and all before it.
    ///
    /// # Errors
    /// [`RetireError::NotOutstanding`], [`RetireError::InsideWqe`]; the queue is as before then.
    ///
    /// # Safety
    /// The request has completed: `wqe_counter` is that of a completion of this queue, which has not been used before. Else the
    /// device may still be reading a WQE that the next request overwrites.
    #[inline]
    pub unsafe fn retire_index(&mut self, wqe_counter: u16) -> Result<Retired, RetireError> {
        let completed = Index::new(SqPi(wqe_counter));
        let oldest = self.oldest();
        let before = completed.since(oldest);
        if before >= self.pi.since(oldest) {
            return Err(RetireError::not_outstanding(wqe_counter, oldest.get().0, self.pi().0));
        }
        // SAFETY: the slot is one of the shadow.
        let record = unsafe { self.record(self.slot(completed)).read() };
        if record.wqebbs == 0 {
            return Err(RetireError::inside_wqe(wqe_counter));
        }
        // Outstanding slots were recorded when their WQE was put, so the WQE ends at or before `pi`.
        let freed = Wqebbs(before.0.wrapping_add(record.wqebbs as u16));
        self.end = self.end.add(freed);
        Ok(Retired { wr_id: record.wr_id, freed })
    }

    /// WQEBBs from `pi` on that can be written.
    #[inline(always)]
    pub(super) const fn free_from(&self, pi: Index) -> Wqebbs {
        self.end.since(pi)
    }

    /// Where the WQEBB of an index is: always inside of the ring, and its record inside of the shadow.
    #[inline(always)]
    pub(super) const fn slot(&self, pi: Index) -> Slot {
        Slot::new(pi, self.mask)
    }

    /// The first word of a WQEBB of the ring.
    #[inline(always)]
    pub(super) fn wqebb(&self, slot: Slot) -> NonNull<u64> {
        // SAFETY: a slot is inside of the ring that `from_parts`' caller vouches for.
        unsafe { self.ring.byte_add(slot.ring_offset()) }
    }

    /// The record of the WQE that starts at a slot.
    #[inline(always)]
    pub(super) fn record(&self, slot: Slot) -> NonNull<WqeRecord> {
        // SAFETY: there are as many records as slots.
        unsafe { self.shadow.byte_add(slot.shadow_offset()) }
    }

    /// Whether a lone request of `wqebbs` WQEBBs, of more than one unit, is copied to BlueFlame.
    #[inline(always)]
    pub(super) fn copies_to_blueflame(&self, inline: bool, wqebbs: usize) -> bool {
        let [of_inline, of_other] = self.copy_bytes;
        (if inline { of_inline } else { of_other }) as usize >= wqebbs * WQEBB_BYTES
    }

    #[inline(always)]
    pub(super) const fn control(&self, pi: Index) -> Control {
        Control { index: pi.bits(), qpn: self.control_qpn, signal_all: self.signal_all }
    }

    #[inline(always)]
    pub(super) fn index(&self) -> Index {
        self.pi
    }

    #[inline(always)]
    pub(super) fn is_full_at(&self, pi: Index) -> bool {
        pi == self.end
    }

    #[inline(always)]
    pub(super) fn register(&mut self) -> &mut R {
        &mut self.register
    }

    /// Makes everything put before `pi` the device's: the WQEs visible first, then the doorbell record.
    ///
    /// # Safety
    /// All before `pi` are put, and name memory that stays valid until they complete.
    #[inline(always)]
    pub(super) unsafe fn publish(&mut self, pi: Index) {
        self.pi = pi;
        arch::to_device();
        // SAFETY: the caller's.
        unsafe { self.db.store(pi.get().0) };
    }

    /// Rings for the only request published, by BlueFlame where the policy and the register allow
    /// (rdma-core `providers/mlx5/qp.c`, `post_send_db`).
    ///
    /// # Safety
    /// `put` is published, starts at `at`, and nothing else is published that was not rung for; the memory that it names
    /// stays valid until it completes.
    #[inline(always)]
    pub(super) unsafe fn ring_one(&mut self, at: Index, put: Put) {
        if put.wqebbs() == Wqebbs(1) && self.rings_by_blueflame(put) {
            let line = self.wqebb(self.slot(at));
            // SAFETY: the WQE is one WQEBB of the ring; the size is checked; the caller vouches for the rest.
            self.register.ring_doorbell(|half| unsafe { half.copy_line(line) });
        } else {
            // SAFETY: the caller's.
            unsafe { self.ring_other(at, put) }
        }
    }

    /// The same for a request of more WQEBBs, or without BlueFlame. Out of line and by value for the same reasons as
    /// `post_other`.
    ///
    /// # Safety
    /// As for [`ring_one`](Self::ring_one).
    #[inline(never)]
    pub(super) unsafe fn ring_other(&mut self, at: Index, put: Put) {
        if self.rings_by_blueflame(put) {
            let (ring, capacity) = (self.ring, usize::from(self.capacity().0));
            let (slot, wqebbs) = (self.slot(at).number(), usize::from(put.wqebbs().0));
            // SAFETY: the WQE is in the ring that `from_parts`' caller vouches for, at a slot inside; the size is
            // checked; the caller vouches for the rest.
            self.register.ring_doorbell(|half| unsafe { half.copy_from_ring(ring, capacity, slot, wqebbs) });
        } else {
            // SAFETY: the caller vouches for what the device will do.
            unsafe { self.ring_many(put) };
        }
    }

    /// Whether a lone request is its own doorbell.
    #[inline(always)]
    pub(super) fn rings_by_blueflame(&self, put: Put) -> bool {
        put.ds() > Ds(1) && self.copies_to_blueflame(put.is_inline(), usize::from(put.wqebbs().0))
    }

    /// Rings for requests published, of which `last` is the last.
    ///
    /// # Safety
    /// As for [`ring_one`](Self::ring_one), for all of them.
    #[inline]
    pub(super) unsafe fn ring_many(&mut self, last: Put) {
        // SAFETY: the caller vouches for what the device will do.
        self.register.ring_doorbell(|half| unsafe { half.write(last.first_word) });
    }
}

impl<T: Transport, F: FlushMode, C: BlockCopy> SendQueue<T, ExclusiveRegister<F, C>> {
    /// Sends doorbells that may still be in the CPU's write-combining buffers to the device: in the
    /// [modes](FlushMode) that leave out flushes, for queues that go idle or move to another thread. Must run on the CPU that
    /// rang.
    #[inline]
    pub fn flush(&mut self) {
        self.register.flush();
    }
}
