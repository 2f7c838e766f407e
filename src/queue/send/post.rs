//! The whole post, from a request to its doorbell. Knows requests by their size only, never their operations.
//!
//! ```text
//!                 up to four WQEBBs by type             long: of any size
//!
//!   compose       in CPU registers                       ┐ put_long: through a cursor into the ring,
//!   store         put: to the ring, and the wr_id        ┘ around its end; and the wr_id
//!   publish       publish: the producer index to the doorbell record
//!   doorbell      a BlueFlame copy or 8 bytes,           ring_lone: a BlueFlame copy read back
//!                 from the same CPU registers            from the ring, or 8 bytes
//! ```
//!
//! [`post`](SendQueue::post) takes one of the two ways from top to bottom. A [batch](crate::queue::SendBatch) and a
//! [staged request](crate::queue::Staged) go as far as the store, many times or once, and publish and ring the doorbell
//! later.
use crate::arch;
use crate::arch::copy::BlockCopy;
use crate::arch::ds::{DsWords, HeldDs as _};
use crate::db::register::{Half, Register, Stored};
use crate::queue::send::error::PostError;
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::Index;
use crate::queue::send::place::{WqeInRing, composed_ds, composed_wqebbs};
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::{WQEBB_DS, Wqebbs};
use crate::wqe::data::{Data, NoLocalMemory};
use crate::wqe::operations::{Operation, Prepared};
use crate::wqe::{
    EncodeError, Erased, MAX_STORED_DS, Request, RingCursor, Shape, SupportedOn, Untyped, signed_in_ring,
};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Posts one request that names no memory of this side, and rings the doorbell: by BlueFlame where the
    /// [policy](crate::queue::BlueFlamePolicy) and the register allow. The peer consents to effects on its memory by
    /// handing out its key.
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
    #[doc(alias = "ibv_post_send")]
    #[inline(always)]
    pub fn post<O: SupportedOn<T>, D: NoLocalMemory>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        // SAFETY: the request names no memory.
        unsafe { self.post_unchecked(request) }
    }

    /// Prepares a request for data of `BYTES` inline bytes and `ENTRIES` entries: checks it, and puts together all that
    /// does not change. Posting it is cheaper than posting one that is kept otherwise.
    ///
    /// It may change in the place in the peer's memory ([`at`](Request::at)), in its `wr_id` and whether it asks for a
    /// completion ([`signaled_if`](Request::signaled_if)), and in a frame's inline headers.
    ///
    /// ```
    /// # use blueflame::{PostError, Remote, SendQueue, WrId, db::Register, queue::Moderation, transport, wqe};
    /// /// Writes messages one after the other into a buffer of the peer's, with a completion now and then.
    /// fn stream<R: Register>(
    ///     sq: &mut SendQueue<transport::Rc, R>, to: Remote, messages: &[[u8; 32]], moderation: &mut Moderation,
    /// ) -> Result<(), PostError> {
    ///     let write = sq.prepare::<_, _, 32, 0>(&wqe::write(to))?;
    ///     for (message, n) in messages.iter().zip(0..) {
    ///         let write = write.at(to.at(32 * n)).inline(message);
    ///         moderation.post(write.wqebbs(), |signaled| sq.post(&write.signaled_if(signaled, WrId(n))))?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// Other data does not compile:
    ///
    /// ```compile_fail,E0080
    /// # use blueflame::{PostError, Remote, SendQueue, transport, wqe};
    /// fn longer(sq: &mut SendQueue<transport::Rc>, to: Remote) -> Result<(), PostError> {
    ///     let write = sq.prepare::<_, _, 8, 0>(&wqe::write(to))?;
    ///     sq.post(&write.inline(b"9 bytes.."))
    /// }
    /// # let _ = longer as fn(_, _) -> _;
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use blueflame::{PostError, Remote, SendQueue, transport, wqe};
    /// fn longer(sq: &mut SendQueue<transport::Rc>, to: Remote) -> Result<(), PostError> {
    ///     let write = sq.prepare::<_, _, 200, 0>(&wqe::write(to))?;
    ///     sq.batch().push(&write.inline(&[0; 201]))
    /// }
    /// # let _ = longer as fn(_, _) -> _;
    /// ```
    ///
    /// More than four WQEBBs are not prepared:
    ///
    /// ```compile_fail,E0080
    /// # use blueflame::{Remote, SendQueue, transport, wqe};
    /// fn long(sq: &mut SendQueue<transport::Rc>, to: Remote) -> bool {
    ///     sq.prepare::<_, _, 300, 0>(&wqe::write(to)).is_ok()
    /// }
    /// # let _ = long as fn(_, _) -> _;
    /// ```
    ///
    /// Choose its [`completion`](Request::completion) before: a mode that is set later holds even on a queue that signals
    /// all requests.
    ///
    /// Other queues whose transport has the operation can post it as well, if they have the same limits. Whether each
    /// request asks for a completion ([`SqParts::signal_all`]) is that of the queue that has prepared it.
    ///
    /// # Errors
    /// The queue does not take the request.
    ///
    /// [`SqParts::signal_all`]: crate::queue::send::SqParts::signal_all
    pub fn prepare<'d, O: SupportedOn<T>, D: Data, const BYTES: usize, const ENTRIES: usize>(
        &self,
        request: &Request<'d, O, D>,
    ) -> Result<Request<'d, Prepared<O, BYTES, ENTRIES>, D>, EncodeError> {
        let () = O::FITS;
        request.prepared(&self.limits, self.ring.signal_all)
    }

    /// Posts any request as [`post`](Self::post) does.
    ///
    /// # Errors
    /// See [`PostError`]; nothing has been written then.
    ///
    /// # Safety
    /// Until the request has completed, memory that it names by scatter/gather entries must stay registered and alive.
    /// Uses of this memory must not conflict with the device's. Nothing may write memory that is gathered, and nothing
    /// may touch memory that is scattered into.
    ///
    /// The effect of some requests outlasts their completion: what [`bind_window`](crate::wqe::bind_window) and
    /// [`configure_key`](crate::wqe::configure_key) put behind a key stays the device's and the peers' until the key is
    /// taken back or its memory deregistered. [`tag_append`](crate::wqe::tag_append) and its like change a list. Their
    /// documentation says what you vouch for.
    #[doc(alias = "ibv_post_send")]
    #[inline(always)]
    pub unsafe fn post_unchecked<O: SupportedOn<T>, D: Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError> {
        let () = O::FITS;
        // SAFETY: the caller promises that the request's memory stays registered, and the device's, until it completes.
        unsafe { self.post_composed(request) }
    }

    /// Posts a request that was chosen at run time, and that names no memory of this side.
    ///
    /// # Errors
    /// [`PostError::NotSupported`]: the transport does not have the operation. [`PostError::NamesMemory`]: see
    /// [`post_erased_unchecked`](Self::post_erased_unchecked). Others as for [`post`](Self::post); nothing has been
    /// written then.
    #[inline]
    pub fn post_erased(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        if request.names_memory() {
            return Err(PostError::NamesMemory);
        }
        // SAFETY: it names no memory.
        unsafe { self.post_erased_unchecked(request) }
    }

    /// Posts any request that was chosen at run time.
    ///
    /// # Errors
    /// As for [`post_erased`](Self::post_erased).
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked).
    #[inline]
    pub unsafe fn post_erased_unchecked(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        if !request.is_supported_on::<T>() {
            return Err(PostError::NotSupported);
        }
        // SAFETY: the caller promises that the request's memory stays registered, and the device's, until it completes.
        unsafe { self.post_long(&request.untyped, request.shape) }
    }

    /// Chooses the way:
    /// - A prepared request, or one of up to four WQEBBs by type, goes by the short way.
    /// - One WQEBB has its own form of that: whether BlueFlame carries it is known before it is composed.
    /// - Every other request goes through the ring, and so does a request that lacks the size its type promises.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked).
    #[inline(always)]
    unsafe fn post_composed<O: Operation, D: Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        let () = Request::<'_, O, D>::IS_AS_PREPARED;
        if const { O::PREPARED.is_some() } {
            if !request.is_regular(&self.limits) {
                return Err(PostError::Encode(request.irregularity(&self.limits)));
            }
            // SAFETY: the caller promises the request's memory until it completes; the queue takes what it prepared.
            return unsafe { self.post_short::<O, D>(request) };
        }
        if const { composed_wqebbs::<O, D>() != 0 } && request.is_regular(&self.limits) {
            if const { R::HAS_BLUEFLAME && composed_wqebbs::<O, D>() == 1 } && self.blueflame.carry_one::<O, D>() {
                // SAFETY: the caller promises the request's memory until it completes. BlueFlame takes the request, so
                // the register has a size of at least 64 bytes.
                return unsafe { self.post_one(request, |half, wqe: &[Held<R>; WQEBB_DS]| half.copy_held(wqe)) };
            }
            if self.limits.cover(Request::<'_, O, D>::NEEDS) {
                // SAFETY: the caller promises the request's memory until it completes; the queue takes the request.
                return unsafe {
                    if const { composed_wqebbs::<O, D>() == 1 } {
                        self.post_one(request, |half, wqe: &[Held<R>; WQEBB_DS]| half.write(wqe[0].first_word()))
                    } else {
                        self.post_short::<O, D>(request)
                    }
                };
            }
        }
        if const { composed_wqebbs::<O, D>() == 0 } {
            // A copy, which can stay in CPU registers where the request itself cannot.
            let request = request.untyped;
            // SAFETY: the caller promises the request's memory to the device until the request completes.
            return unsafe { self.post_long(&request, const { Request::<'_, O, D>::SHAPE }) };
        }
        // SAFETY: the caller promises that the request's memory stays registered, and the device's, until it completes.
        out_of_line(request, move |request, shape| unsafe { self.post_long(request, shape) })
    }

    /// The short way.
    ///
    /// # Safety
    /// The conditions of [`post_unchecked`](Self::post_unchecked); the queue takes the request.
    #[inline(always)]
    unsafe fn post_short<O: Operation, D: Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        // SAFETY: the caller promises the request's memory until it completes, and that the queue takes the request.
        unsafe {
            match const { composed_wqebbs::<O, D>() } {
                1 => self.post_wqebbs::<O, D, WQEBB_DS>(request),
                2 => self.post_wqebbs::<O, D, { 2 * WQEBB_DS }>(request),
                3 => self.post_wqebbs::<O, D, { 3 * WQEBB_DS }>(request),
                _ => self.post_wqebbs::<O, D, { 4 * WQEBB_DS }>(request),
            }
        }
    }

    /// The short way of a request of `N` DS, whole WQEBBs.
    ///
    /// # Safety
    /// As for [`post_short`](Self::post_short).
    #[inline(always)]
    unsafe fn post_wqebbs<O: Operation, D: Data, const N: usize>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError> {
        let (pi, wqebbs) = (self.pi, const { Wqebbs((N / WQEBB_DS) as u16) });
        if const { N == WQEBB_DS } {
            self.check_room_for_one(pi)?;
        } else {
            self.check_room(pi, wqebbs)?;
        }
        // SAFETY: there is room, and the caller vouches for the request.
        let wqe: [Held<R>; N] = unsafe { self.ring.put::<T, _, _, _, N>(pi, request) };
        // SAFETY: just put; the caller vouches for the memory that the request names.
        unsafe { self.publish(pi.add(wqebbs)) };
        if R::HAS_BLUEFLAME && self.blueflame.carry(const { composed_ds::<O, D>() }, Request::<'_, O, D>::INLINE) {
            // SAFETY: published, and BlueFlame takes the size.
            self.register.ring_doorbell(|half| unsafe { half.copy_held(&wqe) });
        } else {
            // SAFETY: just published; the caller promises the memory that the request names.
            self.register.ring_doorbell(|half| unsafe { half.write(wqe[0].first_word()) });
        }
        Ok(())
    }

    /// The short way of a request of one WQEBB, by a doorbell that is known to fit.
    ///
    /// # Safety
    /// The conditions of [`post_unchecked`](Self::post_unchecked); the queue takes the request, and the register takes
    /// what `doorbell` stores.
    #[inline(always)]
    unsafe fn post_one<O: Operation, D: Data>(
        &mut self,
        request: &Request<'_, O, D>,
        doorbell: impl FnOnce(Half<'_, R::Copy>, &[Held<R>; WQEBB_DS]) -> Stored,
    ) -> Result<(), PostError> {
        let pi = self.pi;
        self.check_room_for_one(pi)?;
        // SAFETY: there is room, and the caller vouches for the request.
        let wqe = unsafe { self.ring.put::<T, _, _, _, WQEBB_DS>(pi, request) };
        // SAFETY: just put; the caller vouches for the memory that the request names.
        unsafe { self.publish(pi.add(Wqebbs(1))) };
        self.register.ring_doorbell(|half| doorbell(half, &wqe));
        Ok(())
    }

    /// The long way.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked).
    #[inline(always)]
    unsafe fn post_long(&mut self, request: &Untyped<'_>, shape: Shape) -> Result<(), PostError> {
        let pi = self.pi;
        let wqe = self.put_long(pi, request, shape)?;
        // SAFETY: just put, the only request; the caller vouches for the memory that it names.
        unsafe {
            self.publish(pi.add(wqe.wqebbs()));
            self.ring_lone(pi, wqe);
        }
        Ok(())
    }

    /// Encodes a request of any size into the ring at `pi`, around its end if need be.
    #[inline(always)]
    pub(in crate::queue) fn put_long(
        &mut self,
        pi: Index,
        request: &Untyped<'_>,
        shape: Shape,
    ) -> Result<WqeInRing, PostError> {
        let ds = request.check(shape, &self.limits)?;
        let wqebbs = ds.wqebbs();
        self.check_room(pi, wqebbs)?;
        let ring = self.ring;
        let place = ring.place(pi);
        // SAFETY: `from_parts`' caller vouches for the ring; the place is below its size; as many WQEBBs as the WQE
        // takes are free.
        let cursor = || unsafe { RingCursor::new(ring.start, ring.wqebbs() as usize, place.number()) };
        request.encode(shape, ring.first_word(pi), ring.signal_all, ds, &mut cursor());
        if const { T::SIGNS } {
            cursor().ds(signed_in_ring(cursor(), ds));
        }
        for n in 0..wqebbs.0 {
            // No WQE starts in the other WQEBBs that it covers.
            let record =
                WqeRecord { wr_id: request.id(), size_and_frames: if n == 0 { u64::from(wqebbs.0) } else { 0 } };
            // SAFETY: the record is one of the shadow, which `from_parts`' caller vouches for.
            unsafe { record.store::<DsWords>(ring.record(ring.place(pi.add(Wqebbs(n))))) };
        }
        // SAFETY: a word of the ring, which has just been stored.
        let first_word = unsafe { ring.wqebb(place).read() };
        Ok(WqeInRing::new(first_word, ds, shape.is_inline))
    }

    /// Puts a request into the ring at `pi`, for a doorbell that is rung later, and goes on with `then`. It takes the
    /// short way as far as the store where possible, otherwise the long one. Each way has a `then` of its own, so that
    /// facts about the request stay in CPU registers, or are known at compile time.
    #[inline(always)]
    pub(in crate::queue) fn put_request<'q, O: Operation, D: Data, Z>(
        &'q mut self,
        pi: Index,
        request: &Request<'_, O, D>,
        then: impl FnOnce(&'q mut Self, WqeInRing) -> Z,
    ) -> Result<Z, PostError> {
        let () = Request::<'_, O, D>::IS_AS_PREPARED;
        if const { O::PREPARED.is_some() } && !request.is_regular(&self.limits) {
            return Err(PostError::Encode(request.irregularity(&self.limits)));
        }
        let is_covered = || {
            if const { O::PREPARED.is_some() } {
                return true;
            }
            let is_covered = self.limits.cover(Request::<'_, O, D>::NEEDS);
            is_covered && request.is_regular(&self.limits)
        };
        if const { composed_wqebbs::<O, D>() != 0 } && is_covered() {
            let wqebbs = const { Wqebbs(composed_wqebbs::<O, D>()) };
            if wqebbs == Wqebbs(1) {
                self.check_room_for_one(pi)?;
            } else {
                self.check_room(pi, wqebbs)?;
            }
            // SAFETY: there is room, and the queue takes the request.
            let first_word = unsafe { self.ring.put_for_later::<T, _, _>(pi, request) };
            return Ok(then(self, WqeInRing::composed::<O, D>(first_word)));
        }
        let wqe = if const { composed_wqebbs::<O, D>() == 0 } {
            let request = request.untyped;
            self.put_long(pi, &request, const { Request::<'_, O, D>::SHAPE })
        } else {
            let queue = &mut *self;
            out_of_line(request, move |request, shape| queue.put_long(pi, request, shape))
        }?;
        Ok(then(self, wqe))
    }

    /// Makes everything put before `pi` the device's: the WQEs visible first, then the doorbell record, if there is one.
    ///
    /// # Safety
    /// All before `pi` are put, and name memory that stays valid until they complete.
    #[inline(always)]
    pub(in crate::queue) unsafe fn publish(&mut self, pi: Index) {
        self.pi = pi;
        arch::to_device();
        if R::HAS_RECORD {
            // SAFETY: the caller promises that all before `pi` are put, and that their memory stays valid.
            unsafe { self.doorbell_record.store(pi.get().0) };
        }
    }

    /// Rings the doorbell of the only request published, which lies in the ring at `pi`: by BlueFlame where the policy
    /// and the register allow (rdma-core `providers/mlx5/qp.c`, `post_send_db`).
    ///
    /// # Safety
    /// `wqe` is published, starts at `pi`, and nothing else is published that was not rung for; the memory that it
    /// names stays valid until it completes.
    #[inline(always)]
    pub(in crate::queue) unsafe fn ring_lone(&mut self, pi: Index, wqe: WqeInRing) {
        if self.blueflame.carry_one_in_ring(wqe) {
            let wqebb = self.ring.wqebb(self.ring.place(pi));
            // SAFETY: the WQE is one WQEBB of the ring; BlueFlame takes it; the caller vouches for the rest.
            self.register.ring_doorbell(|half| unsafe { half.copy_wqebb(wqebb) });
        } else {
            // SAFETY: the caller promises that only `wqe` waits for a doorbell, and that its memory stays valid.
            unsafe { self.ring_other(pi, wqe) };
        }
    }

    /// Rings the doorbell of a WQE of more WQEBBs, or without BlueFlame. Out of line, to keep its loop away from the
    /// common case.
    ///
    /// # Safety
    /// As for [`ring_lone`](Self::ring_lone).
    #[inline(never)]
    pub(in crate::queue) unsafe fn ring_other(&mut self, pi: Index, wqe: WqeInRing) {
        if self.blueflame.carry(wqe.ds(), wqe.is_inline()) {
            let (start, capacity) = (self.ring.start, usize::from(self.capacity().0));
            let (place, wqebbs) = (self.ring.place(pi).number(), usize::from(wqe.wqebbs().0));
            // SAFETY: the WQE is in the ring that `from_parts`' caller vouches for, at a place inside; BlueFlame takes
            // its size; the caller vouches for the rest.
            self.register.ring_doorbell(|half| unsafe { half.copy_from_ring(start, capacity, place, wqebbs) });
        } else {
            // SAFETY: the caller vouches for the device's actions.
            self.register.ring_doorbell(|half| unsafe { half.write(wqe.first_word) });
        }
    }
}

/// Runs `exception`, for a request that has a fixed size by type, but has less in it than its type says, or more than
/// the queue takes. That is rare, and so it runs out of line, where it takes no CPU registers from the common case. It
/// gets a copy of the few fields that such a request has, so that the request need not be in memory.
#[inline(always)]
fn out_of_line<'d, O: Operation, D: Data, Z>(
    request: &Request<'d, O, D>,
    exception: impl FnOnce(&Untyped<'d>, Shape) -> Z,
) -> Z {
    const FEW: usize = 4;
    let shape = const { Request::<'d, O, D>::SHAPE };
    if const { Request::<'d, O, D>::SHAPE.all_stored() <= FEW } {
        let cold_request = request.untyped.for_cold_code::<FEW>(shape);
        return cold(move || exception(&cold_request.untyped(), shape));
    }
    if const { Request::<'d, O, D>::SHAPE.all_stored() <= 2 * FEW } {
        let cold_request = request.untyped.for_cold_code::<{ 2 * FEW }>(shape);
        return cold(move || exception(&cold_request.untyped(), shape));
    }
    let cold_request = request.untyped.for_cold_code::<MAX_STORED_DS>(shape);
    cold(move || exception(&cold_request.untyped(), shape))
}

#[cold]
#[inline(never)]
fn cold<Z>(work: impl FnOnce() -> Z) -> Z {
    work()
}

/// The form in which a request is composed for the register `R`.
type Held<R> = <<R as Register>::Copy as BlockCopy>::Held;
