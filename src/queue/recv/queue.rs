//! The receive queue of a queue pair: you post buffers in order, and the device consumes them in order, unless the
//! queue pair was made otherwise.
//!
//! ```text
//!        tail                              head
//!         |                                 |
//!         v                                 v
//!   free [5] [6: done] [7] [8: done] ... [12] free
//! ```
//!
//! The device writes into a completion which WQE it consumed. As a rule that is the oldest one, at the tail. On a queue
//! pair with out-of-order data placement (rdma-core's `MLX5DV_QP_CREATE_OOO_DP`) it can be any that is posted. Such a
//! WQE is marked done by one bit in private memory. It is written again when all WQEs before it are done.
//!
//! It has a doorbell record and no register: the device reads the record when it needs a buffer.
use core::fmt;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ptr::NonNull;

use crate::arch;
use crate::cq::{CqeView, Origin, Side, Source};
use crate::db::DoorbellRecord;
use crate::queue::buffer::{DeviceBuffer, Posted, Refused};
use crate::queue::outcome::{self, CompleteError, Received, RetireError};
use crate::queue::recv::parts::RqParts;
use crate::queue::recv::scatter::{self, RecvError, SCATTER_BYTES};
use crate::setup::SetupError;
use crate::transport::{PlainRecv, RecvForm};
use crate::types::{Qpn, WrId};
use crate::wqe::Sge;

/// The most WQEs of a receive queue: half of the values of its 16-bit counter.
const MAX_WQES: u32 = 1 << 15;

/// The receive queue of one queue pair. `F` is the form of its WQEs, with or without a signature:
/// [`Transport::RecvForm`](crate::transport::Transport::RecvForm) of the queue pair's service.
///
/// If `B` is a [buffer](DeviceBuffer), the queue owns the buffers from posting to completion, and [posting](Self::post)
/// is safe. If a buffer's completion never comes (you drop the queue, or [`forget`](crate::CompletionQueue::forget) its
/// completions), the buffer is leaked: the device may still use it.
///
/// If `B` is [`WrId`], you name the memory, and vouch for it: [`post_unchecked`](Self::post_unchecked).
#[doc(alias = "RQ")]
pub struct RecvQueue<F: RecvForm = PlainRecv, B = WrId> {
    pub(in crate::queue) buf: NonNull<u8>,
    record: DoorbellRecord,
    /// The identifiers, then the bits of WQEs that are done.
    pub(in crate::queue) shadow: NonNull<MaybeUninit<u64>>,
    /// Number of WQEs, less one, modulo 2^32.
    pub(in crate::queue) mask: u32,
    /// How many may be outstanding at a time, and the most that this may be: at most the ring's.
    depth: u32,
    most: u32,
    /// How far the head may be from the tail: `depth` and `early`, but at most the ring's.
    pub(in crate::queue) room: u32,
    /// log2 of the stride in bytes.
    pub(in crate::queue) shift: u32,
    /// Requests posted ever, and those before the oldest outstanding one; both count on modulo 2^32.
    pub(in crate::queue) head: u32,
    pub(in crate::queue) tail: u32,
    /// Requests behind the tail that are done. Theirs are the only bits set.
    early: u32,
    /// Whose completions are this queue's, and the bits of it that count.
    origin: Origin,
    origin_bits: u64,
    form: PhantomData<(F, B)>,
}

// SAFETY: the pointers are to memory promised for the queue's life, not bound to a thread; all access goes through
// `&mut self`. The buffers move along.
unsafe impl<F: RecvForm, B: Send> Send for RecvQueue<F, B> {}

impl<F: RecvForm, B> fmt::Debug for RecvQueue<F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, head, tail, .. } = self;
        let mut out = f.debug_struct("RecvQueue");
        out.field("qpn", &self.qpn()).field("capacity", &self.capacity()).field("depth", depth);
        out.field("head", head).field("tail", tail).finish_non_exhaustive()
    }
}

impl<F: RecvForm, B: Posted> RecvQueue<F, B> {
    /// A queue over raw parts, with nothing posted.
    ///
    /// # Errors
    ///
    /// [`SetupError`] names the invalid part.
    ///
    /// # Safety
    ///
    /// For as long as the queue lives:
    /// - `buf` is `wqe_cnt * stride` writable bytes and `dbrec` one writable word, known to the device as this receive
    ///   queue's, or to nobody;
    /// - `shadow` is [`RqParts::shadow_words`] words of memory that nothing else, and no device,
    ///   touches;
    /// - no reference to any of them lives;
    /// - nothing else in the process posts to this queue (libibverbs included), and nothing is posted at the start;
    /// - it completes to the completion queue with the identity `cq`, and of that no completion of an earlier queue
    ///   pair with the same number is left, as for [`SendQueue::from_parts`](crate::queue::SendQueue::from_parts);
    /// - with `flow_tags`, no other receive completes to that completion queue, and none of an earlier queue is left
    ///   there;
    /// - it was created with WQE signatures (libmlx5's `MLX5_QP_SIGNATURE`) if `F` is
    ///   [`SignedRecv`](crate::transport::SignedRecv), and without if it is `PlainRecv`.
    pub unsafe fn from_parts(parts: RqParts) -> Result<Self, SetupError> {
        let RqParts { buf, wqe_cnt, stride, dbrec, qpn, cq, flow_tags, head, shadow } = parts;
        let least = (SCATTER_BYTES << F::SIGNATURE_UNITS) as u32;
        let (checked, stride) = if wqe_cnt == 0 {
            // Neither is used.
            (NonNull::<u128>::dangling().cast(), least)
        } else {
            SetupError::check_power_of_two(scatter::WQES, wqe_cnt, 1, MAX_WQES)?;
            (buf, stride)
        };
        scatter::check_parts(checked, dbrec, shadow, stride, least)?;
        let (mask, shift, head) = (wqe_cnt.wrapping_sub(1), stride.trailing_zeros(), u32::from(head));
        // SAFETY: the caller promises the word, and that nothing else posts.
        let record = unsafe { DoorbellRecord::receive(dbrec) };
        let origin = Origin::new(cq, qpn);
        let origin_bits = if flow_tags { Origin::ANY_NUMBER } else { Origin::NUMBERED };
        // SAFETY: the caller promises the memory.
        unsafe { unmark_all(shadow, wqe_cnt) };
        let (depth, most, room) = (wqe_cnt, wqe_cnt, wqe_cnt);
        Ok(Self {
            buf,
            record,
            shadow,
            mask,
            depth,
            most,
            room,
            shift,
            head,
            tail: head,
            early: 0,
            origin,
            origin_bits,
            form: PhantomData,
        })
    }
}

impl<F: RecvForm> RecvQueue<F> {
    /// Posts one receive request and tells the device.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; nothing is written then.
    ///
    /// # Safety
    ///
    /// The device may write to the memory of `sges` from now until the request completes, or the queue pair is reset or
    /// destroyed. During that time the memory stays registered, and nothing else reads, writes, frees or reuses it.
    #[doc(alias("ibv_post_recv", "ibv_post_wq_recv"))]
    #[inline]
    pub unsafe fn post_unchecked(&mut self, wr_id: WrId, sges: &[Sge]) -> Result<(), RecvError> {
        let mut batch = self.batch();
        // SAFETY: the caller promises the memory of `sges` to the device until the request completes.
        unsafe { batch.push_unchecked(wr_id, sges)? };
        batch.ring_doorbell();
        Ok(())
    }

    /// Starts a batch of requests that are published together. Dropped without
    /// [`ring_doorbell`](RecvBatch::ring_doorbell), the batch leaves nothing posted.
    #[inline]
    pub fn batch(&mut self) -> RecvBatch<'_, F> {
        RecvBatch { head: self.head, queue: self }
    }
}

impl<F: RecvForm, B: DeviceBuffer> RecvQueue<F, B> {
    /// Posts the whole buffer, and tells the device.
    ///
    /// ```
    /// use blueflame::queue::owning::DeviceBuffer;
    /// use blueflame::transport::PlainRecv;
    /// use blueflame::{CompleteError, CompletionQueue, RecvQueue};
    ///
    /// /// Looks at each message, and posts its buffer again.
    /// fn serve<B: DeviceBuffer>(
    ///     cq: &mut CompletionQueue, rq: &mut RecvQueue<PlainRecv, B>, mut look: impl FnMut(&B, u32),
    /// ) {
    ///     cq.poll_with(16, |cqe| {
    ///         let buffer = match rq.complete(&cqe) {
    ///             Ok(message) => {
    ///                 look(&message.buffer, message.bytes);
    ///                 message.buffer
    ///             }
    ///             Err(CompleteError::Failed { done, error }) => {
    ///                 eprintln!("{error}");
    ///                 done
    ///             }
    ///             Err(CompleteError::Foreign(error)) => return eprintln!("{error}"), // not of this queue
    ///         };
    ///         if let Err(refused) = rq.post(buffer) {
    ///             eprintln!("{refused}");
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`RecvError`]; the buffer comes back.
    #[doc(alias("ibv_post_recv", "ibv_post_wq_recv"))]
    #[inline]
    pub fn post(&mut self, buffer: B) -> Result<(), Refused<RecvError, B>> {
        let sge = buffer.sge();
        let wr_id = buffer.into_wr_id();
        // SAFETY: a buffer promises that its memory stays valid, registered and untouched until the `wr_id` becomes the
        // buffer again. That happens below if the queue has not taken it, or else when its receive has completed.
        match unsafe { self.push(self.head, WrId(wr_id.get()), &[sge]) } {
            Ok(head) => {
                self.head = head;
                // SAFETY: just written, and as above.
                unsafe { self.publish() };
                Ok(())
            }
            // SAFETY: made of the buffer above, and not posted.
            Err(error) => Err(Refused { error, buffer: unsafe { B::from_wr_id(wr_id) } }),
        }
    }
}

impl<F: RecvForm, B: Posted> RecvQueue<F, B> {
    /// Takes back the request that completed. Returns its buffer, or its `wr_id`, and the completion's facts about the
    /// message.
    ///
    /// # Errors
    ///
    /// [`CompleteError::Failed`] if the request did not succeed, or its data is not in the buffer: it is taken back all
    /// the same. [`CompleteError::Foreign`] if this is no completion of an outstanding request of this queue, which is
    /// unchanged then.
    #[inline(always)]
    pub fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Received<B>, CompleteError<B>> {
        let buffer = self.retire(cqe)?;
        outcome::received(cqe, buffer)
    }

    /// Takes back the request that completed, successfully or not, and returns its buffer, or its `wr_id`.
    /// [`complete`](Self::complete) says which it was as well; after this call, [`CqeView::check`] does.
    ///
    /// The completion names the request. That is the oldest one, unless the queue pair was made for out-of-order data
    /// placement. Then it may be any, and its place in the ring becomes free when all older ones have completed as
    /// well.
    ///
    /// # Errors
    ///
    /// See [`RetireError`]; the queue is unchanged then. The completion belongs to a send, to another queue pair or to
    /// another completion queue, or no outstanding request has its index. The queue does not trust the device's writes.
    #[inline(always)]
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<B, RetireError> {
        // While the view lives, no other receive of this queue can be retired; see `SendQueue::retire`. If the view is
        // given once more, its index names a finished WQE, or is at most 2^15 before the oldest outstanding one, where
        // none is.
        outcome::check_side(cqe, Side::Responder)?;
        outcome::check_origin(cqe, self.origin, self.origin_bits)?;
        // SAFETY: of a completion of this queue, as argued.
        unsafe { self.retire_index(cqe.wqe_counter()) }
    }

    /// Takes back the request whose index, counted from the first ever posted and modulo 2^16, is `wqe_counter`.
    ///
    /// # Errors
    ///
    /// [`RetireError::NotOutstanding`], [`RetireError::CompletedTwice`]; the queue is as before then.
    ///
    /// # Safety
    ///
    /// The request has completed: `wqe_counter` comes from a completion of this queue, which has not been used before.
    /// Else the device may still be reading the WQE that a later request overwrites.
    #[inline]
    pub unsafe fn retire_index(&mut self, wqe_counter: u16) -> Result<B, RetireError> {
        // One comparison for both: the oldest, and none behind it is done.
        let unusual = (self.tail as u16 ^ wqe_counter) as u32 | self.early;
        if self.tail == self.head || unusual != 0 {
            return self.retire_any(wqe_counter);
        }
        // SAFETY: outstanding.
        let buffer = unsafe { self.buffer(self.tail) };
        self.tail = self.tail.wrapping_add(1);
        Ok(buffer)
    }

    /// Like [`retire_index`](Self::retire_index), for a request that may not be the oldest.
    #[cold]
    fn retire_any(&mut self, wqe_counter: u16) -> Result<B, RetireError> {
        let older = wqe_counter.wrapping_sub(self.tail as u16).into();
        if older >= self.head.wrapping_sub(self.tail) {
            return Err(RetireError::not_outstanding(wqe_counter, self.tail as u16, self.head as u16));
        }
        let index = self.tail.wrapping_add(older);
        if !self.mark(index, true) {
            return Err(RetireError::CompletedTwice { wqe_counter });
        }
        self.early += 1;
        // If the oldest is done, free its place, and the places behind it up to one that is not done.
        while self.early != 0 && self.mark(self.tail, false) {
            self.early -= 1;
            self.tail = self.tail.wrapping_add(1);
        }
        self.set_room();
        // SAFETY: between the tail and the head when this began, and not done before.
        Ok(unsafe { self.buffer(index) })
    }

    /// The buffer, or the `wr_id`, that was posted at an index.
    ///
    /// # Safety
    ///
    /// It was posted, and no other to the same place since. It is asked for once.
    #[inline(always)]
    unsafe fn buffer(&self, index: u32) -> B {
        // SAFETY: the masked index is within the identifiers; this one was written when the request was posted, and is
        // a buffer's if `B` is one: nothing was posted when it was chosen.
        unsafe { B::returned(WrId(self.shadow.add((index & self.mask) as usize).read().assume_init())) }
    }

    /// Starts over at index 0, with nothing posted and a doorbell record of zero. Buffers that are posted are dropped,
    /// and other identifiers forgotten. A buffer whose `drop` panics ends the process.
    ///
    /// # Safety
    /// As for [`SendQueue::reset`](crate::queue::SendQueue::reset).
    pub unsafe fn reset(&mut self) {
        let whole = Whole;
        let (tail, head) = (self.tail, self.head);
        for index in (0..head.wrapping_sub(tail)).map(|n| tail.wrapping_add(n)) {
            if self.mark(index, true) {
                // SAFETY: outstanding until now. The device has given it up.
                drop(unsafe { self.buffer(index) });
            }
        }
        (self.head, self.tail, self.early) = (0, 0, 0);
        self.set_room();
        // SAFETY: `from_parts` was promised the memory.
        unsafe { unmark_all(self.shadow, self.capacity()) };
        // SAFETY: nothing is posted, and the device takes nothing in this state.
        unsafe { self.record.store(0) };
        mem::forget(whole);
    }
}

/// Ends the process if a panic drops it. A reset that ends half-way would leave completions in the completion queue
/// that count for requests posted later, whose buffers are still the device's.
struct Whole;

impl Drop for Whole {
    fn drop(&mut self) {
        panic!("a buffer has panicked while a reset dropped it"); // the second panic, which aborts
    }
}

impl<F: RecvForm, B> RecvQueue<F, B> {
    /// Turns the queue into one to which you post buffers of type `C`, or [`WrId`]s.
    ///
    /// # Errors
    /// The queue, if something is posted to it: that is no `C`.
    pub fn posting<C: Posted>(self) -> Result<RecvQueue<F, C>, Self> {
        if self.posted() == 0 { Ok(self.converted()) } else { Err(self) }
    }

    /// The same queue. Nothing is posted.
    pub(in crate::queue) fn converted<C>(self) -> RecvQueue<F, C> {
        let Self {
            buf,
            record,
            shadow,
            mask,
            depth,
            most,
            room,
            shift,
            head,
            tail,
            early,
            origin,
            origin_bits,
            form: _,
        } = self;
        let form = PhantomData;
        RecvQueue { buf, record, shadow, mask, depth, most, room, shift, head, tail, early, origin, origin_bits, form }
    }

    /// Marks the WQE at an index as done, or as not done; `false` if it was so already.
    fn mark(&mut self, index: u32, done: bool) -> bool {
        let place = index & self.mask;
        let bit = 1 << (place % u64::BITS);
        // SAFETY: behind the identifiers there is a bit for each WQE; `unmark_all` has written them all.
        let word = unsafe { self.shadow.add((self.capacity() + place / u64::BITS) as usize).cast::<u64>().as_mut() };
        let changes = (*word & bit != 0) != done;
        if changes {
            *word ^= bit;
        }
        changes
    }

    fn set_room(&mut self) {
        self.room = (self.depth + self.early).min(self.capacity());
    }

    /// Bounds how many requests may be outstanding at a time: posting beyond fails with [`RecvError::Full`]. A queue
    /// made of parts begins with its whole ring, and no bound exceeds that, or the [limit](Self::limit_depth). Requests
    /// already posted stay posted.
    ///
    /// For out-of-order data placement, libmlx5 makes a ring of twice the bound: it has room while WQEs that are done
    /// wait for an older one.
    pub fn set_depth(&mut self, requests: u32) {
        self.depth = requests.min(self.most);
        self.set_room();
    }

    /// From now on, at most `requests` may be outstanding at a time, whatever [`set_depth`](Self::set_depth) asks for.
    /// Later calls may lower the limit. The queues of `verbs` and DevX have one: the requests whose completions their
    /// completion queue has room for.
    pub fn limit_depth(&mut self, requests: u32) {
        self.most = requests.min(self.most);
        self.set_depth(self.depth);
    }

    /// Whether a completion's origin is this queue's.
    #[cfg(feature = "verbs")]
    pub(crate) fn takes<S: Source>(&self, cqe: &CqeView<S>) -> bool {
        cqe.is_of(self.origin, self.origin_bits)
    }

    /// Stores a count of zero to the record, until [`ring_again`](Self::ring_again): the device takes no request.
    ///
    /// # Safety
    /// The device has taken none since the queue was at index 0, and takes none in its present state. Otherwise it has
    /// counted beyond zero, and executes old WQEs.
    #[cfg(feature = "verbs")]
    pub(crate) unsafe fn withhold(&mut self) {
        // SAFETY: the caller promises that the device has taken no request, and takes none now; 0 names no WQE.
        unsafe { self.record.store(0) };
    }

    /// Stores the count of posted requests to the record again, after something else has stored there.
    #[cfg(feature = "verbs")]
    pub(crate) fn ring_again(&mut self) {
        // SAFETY: what `RecvBatch::ring_doorbell` has stored before, or the count the queue began with.
        unsafe { self.publish() };
    }

    /// Writes a request behind the last one, which ends at `head`, and returns where this one ends. The device does not
    /// know of it yet.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; nothing is written then.
    ///
    /// # Safety
    ///
    /// The conditions of [`post_unchecked`](Self::post_unchecked), beginning when the doorbell record is stored.
    #[inline(always)]
    unsafe fn push(&mut self, head: u32, wr_id: WrId, sges: &[Sge]) -> Result<u32, RecvError> {
        if head.wrapping_sub(self.tail) >= self.room {
            return Err(RecvError::Full(self.room));
        }
        let max = self.max_sge();
        scatter::check(sges, max)?;
        let index = (head & self.mask) as usize;
        // SAFETY: the masked index is within the ring, and `sges` was checked. Each WQE is `stride` bytes: 16 for each
        // of `max` entries, and for its signature. The index is within the identifiers.
        unsafe {
            let wqe = self.buf.add(index << self.shift);
            if F::SIGNATURE_UNITS == 0 {
                scatter::write(wqe, sges, max);
            } else {
                let numbers = u64::from(self.qpn().get()) << 32 | u64::from(head as u16);
                scatter::write_signed(wqe, sges, max, numbers);
            }
            self.shadow.add(index).write(MaybeUninit::new(wr_id.0));
        }
        Ok(head.wrapping_add(1))
    }

    /// Hands everything before the head to the device: first the WQEs become visible, then the doorbell record.
    ///
    /// # Safety
    ///
    /// All WQEs before the head are written, and name memory that stays valid until they complete.
    #[inline(always)]
    pub(in crate::queue) unsafe fn publish(&mut self) {
        arch::to_device();
        // SAFETY: the caller promises that the WQEs before the head are written, and that their memory stays valid.
        unsafe { self.record.store(self.head as u16) };
    }

    /// The number of the queue pair.
    pub(in crate::queue) const fn qpn(&self) -> Qpn {
        self.origin.qpn()
    }

    /// The producer index, as the record has it.
    pub(in crate::queue) const fn head(&self) -> u16 {
        self.head as u16
    }

    /// The ring's address, which tells queues apart.
    #[must_use]
    pub fn ring_addr(&self) -> usize {
        self.buf.addr().get()
    }

    /// Requests posted and not completed.
    #[must_use]
    pub fn posted(&self) -> u32 {
        self.head.wrapping_sub(self.tail) - self.early
    }

    /// Requests the ring holds; zero if there is no ring.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.mask.wrapping_add(1)
    }

    /// Scatter entries one request holds.
    #[inline]
    #[must_use]
    pub fn max_sge(&self) -> usize {
        (1 << self.shift) / SCATTER_BYTES - F::SIGNATURE_UNITS
    }
}

/// Marks no WQE as done.
///
/// # Safety
///
/// `shadow` belongs to a queue of `wqe_cnt` WQEs, and nothing else uses it.
unsafe fn unmark_all(shadow: NonNull<MaybeUninit<u64>>, wqe_cnt: u32) {
    for word in wqe_cnt..RqParts::shadow_words(wqe_cnt) {
        // SAFETY: within the shadow.
        unsafe { shadow.add(word as usize).write(MaybeUninit::new(0)) };
    }
}

/// Receive requests in the ring that are not yet published to the device.
#[must_use = "a batch that is dropped without `ring_doorbell` posts nothing"]
#[derive(Debug)]
pub struct RecvBatch<'a, F: RecvForm = PlainRecv> {
    queue: &'a mut RecvQueue<F>,
    /// The queue's head once the doorbell is rung.
    head: u32,
}

impl<F: RecvForm> RecvBatch<'_, F> {
    /// Adds one request.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; nothing is written then, and the batch stays as it was.
    ///
    /// # Safety
    ///
    /// The conditions of [`RecvQueue::post_unchecked`], from the call of [`ring_doorbell`](Self::ring_doorbell) on.
    #[inline]
    pub unsafe fn push_unchecked(&mut self, wr_id: WrId, sges: &[Sge]) -> Result<(), RecvError> {
        // SAFETY: the caller promises the memory of `sges` to the device from the doorbell until the request completes.
        self.head = unsafe { self.queue.push(self.head, wr_id, sges) }?;
        Ok(())
    }

    /// Tells the device of all requests in the batch, by one store to the doorbell record.
    #[inline]
    pub fn ring_doorbell(self) {
        let Self { queue, head } = self;
        if head == queue.head {
            return;
        }
        queue.head = head;
        // SAFETY: all WQEs before `head` are written, and `push`'s callers vouch for the memory they name.
        unsafe { queue.publish() };
    }
}
