//! The whole post, from a request to its doorbell. Knows requests by their size only, never their operations.
//!
//! ```text
//!                 short, pair: one or two WQEBBs by type  long: of any size
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
//! later. A [template](crate::queue::Template) composes otherwise, and goes on as the short way does.
use crate::arch::copy::BlockCopy;
use crate::arch::{self, Wide};
use crate::db::register::{Half, Register, Stored};
use crate::queue::send::blueflame::copy::{CopiedDs, copy};
use crate::queue::send::error::PostError;
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::in_ring::WqeInRing;
use crate::queue::send::place::places::Places as _;
use crate::queue::send::place::short::{composed_ds, is_short, takes_pair, takes_short, unless_composed};
use crate::queue::send::place::wqebb_place::Index;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::{Ds, Wqebbs};
use crate::wqe::operations::NoLocalMemory;
use crate::wqe::{Composed, DsWords, HeldDs, RingCursor, Signing, WorkRequest};

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
    pub unsafe fn post_unchecked<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        // SAFETY: the caller's.
        unsafe {
            // In the form that the register's copy routine wants.
            if const { <R::Copy as BlockCopy>::WIDE } {
                self.post_composed::<Wide, _>(request)
            } else {
                self.post_composed::<DsWords, _>(request)
            }
        }
    }

    /// Takes one of the two ways, the short one with a WQE composed in form `D`.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked).
    #[inline(always)]
    unsafe fn post_composed<D: CopiedDs, W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        if is_short::<T, W>(&self.limits, request) {
            if self.blueflame.take_short::<T, W>() {
                // SAFETY: the caller's; BlueFlame takes the request, so the register has a size of at least 64 bytes.
                return unsafe { self.post_short(request, |half, wqe: &Composed<D>| copy(half, &[*wqe])) };
            }
            if self.limits.cover(W::NEEDS) {
                // SAFETY: the caller's.
                return unsafe { self.post_short(request, |half, wqe: &Composed<D>| half.write(wqe.first_word())) };
            }
        }
        if takes_pair::<T, W>(&self.limits, request) {
            // SAFETY: the caller's; the queue takes the request.
            return unsafe { self.post_pair::<D, W>(request) };
        }
        let request = *request;
        // SAFETY: the caller's.
        unless_composed::<T, W, _>(move || unsafe { self.post_long(&request) })
    }

    /// The short way.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked); the queue takes the request, and the register takes what
    /// `doorbell` stores.
    #[inline(always)]
    unsafe fn post_short<D: HeldDs, W: WorkRequest<T>, S: Stored>(
        &mut self,
        request: &W,
        doorbell: impl FnOnce(Half<'_, R::Copy>, &Composed<D>) -> S,
    ) -> Result<(), PostError> {
        let pi = self.pi;
        self.check_room_for_one(pi)?;
        // SAFETY: there is room, and the caller vouches for the request.
        let wqe = unsafe { self.put_short(pi, request) };
        // SAFETY: just put; the caller vouches for the memory that the request names.
        unsafe { self.publish(pi.add(Wqebbs(1))) };
        self.register.ring_doorbell(|half| doorbell(half, &wqe));
        Ok(())
    }

    /// The short way of a request of two WQEBBs, such as a datagram with an address of 48 bytes.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked); the queue [takes](takes_pair) the request.
    #[inline(always)]
    unsafe fn post_pair<D: CopiedDs, W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        let pi = self.pi;
        self.check_room(pi, Wqebbs(2))?;
        // SAFETY: there is room, and the caller vouches for the request.
        let wqebbs: [Composed<D>; 2] = unsafe { self.put_pair(pi, request) };
        // SAFETY: just put; the caller vouches for the memory that the request names.
        unsafe { self.publish(pi.add(Wqebbs(2))) };
        if self.blueflame.take(const { composed_ds::<T, W>() }, Wqebbs(2), W::INLINE) {
            // SAFETY: published, and BlueFlame takes the size.
            self.register.ring_doorbell(|half| unsafe { copy(half, &wqebbs) });
        } else {
            // SAFETY: as above.
            self.register.ring_doorbell(|half| unsafe { half.write(wqebbs[0].first_word()) });
        }
        Ok(())
    }

    /// The long way.
    ///
    /// # Safety
    /// As for [`post_unchecked`](Self::post_unchecked).
    #[inline(always)]
    unsafe fn post_long<W: WorkRequest<T>>(&mut self, request: &W) -> Result<(), PostError> {
        let pi = self.pi;
        let wqe = self.put_long(pi, request)?;
        // SAFETY: just put, the only request; the caller vouches for the memory that it names.
        unsafe {
            self.publish(pi.add(wqe.wqebbs()));
            self.ring_lone(pi, wqe);
        }
        Ok(())
    }

    /// Encodes a request of any size into the ring at `pi`, around its end if need be.
    #[inline(always)]
    fn put_long<W: WorkRequest<T>>(&mut self, pi: Index, request: &W) -> Result<WqeInRing, PostError> {
        // `WorkRequest::ds` says at most 63.
        let ds = Ds(request.ds(&self.limits)? as u8);
        let wqebbs = ds.wqebbs();
        self.check_room(pi, wqebbs)?;
        let (place, ring_wqebbs) = (self.place(pi), usize::from(self.capacity().0));
        // SAFETY: `from_parts`' caller vouches for the ring; the place is below its size; as many WQEBBs as the WQE
        // takes are free.
        let mut cursor = unsafe { RingCursor::new(self.ring, ring_wqebbs, place.number()) };
        if const { T::SIGNS } {
            let mut signing = Signing::new(&mut cursor);
            request.encode(&self.control(pi), ds, &mut signing);
            let DsWords([_, second]) = signing.control();
            // SAFETY: the second word of the control segment, in the ring.
            unsafe { self.wqebb(place).add(1).write(second) };
        } else {
            request.encode(&self.control(pi), ds, &mut cursor);
        }
        for n in 0..wqebbs.0 {
            // No WQE starts in the other WQEBBs that it covers.
            let record = WqeRecord { wr_id: request.id(), wqebbs: if n == 0 { u64::from(wqebbs.0) } else { 0 } };
            // SAFETY: the record is one of the shadow, which `from_parts`' caller vouches for.
            unsafe { record.store::<DsWords>(self.record(self.place(pi.add(Wqebbs(n))))) };
        }
        // SAFETY: a word of the ring, which has just been stored.
        let first_word = unsafe { self.wqebb(place).read() };
        Ok(WqeInRing::new(first_word, ds, W::INLINE))
    }

    /// Puts a request into the ring at `pi`, for a doorbell that is rung later, and goes on with `then`. It takes the
    /// short way as far as the store where possible, otherwise the long one. Each way has a `then` of its own, so that
    /// facts about the request stay in CPU registers, or are known at compile time.
    #[inline(always)]
    pub(in crate::queue) fn put_request<'q, W: WorkRequest<T>, O>(
        &'q mut self,
        pi: Index,
        request: &W,
        then: impl FnOnce(&'q mut Self, WqeInRing) -> O,
    ) -> Result<O, PostError> {
        // Composed in words: cheaper for a WQE that is stored only once.
        if takes_short(&self.limits, request) {
            self.check_room_for_one(pi)?;
            // SAFETY: there is room, and the queue takes the request.
            let wqe: Composed<DsWords> = unsafe { self.put_short(pi, request) };
            return Ok(then(self, WqeInRing::composed::<T, W, _>(&wqe)));
        }
        if takes_pair::<T, W>(&self.limits, request) {
            self.check_room(pi, Wqebbs(2))?;
            // SAFETY: there is room, and the queue takes the request.
            let [first, _]: [Composed<DsWords>; 2] = unsafe { self.put_pair(pi, request) };
            return Ok(then(self, WqeInRing::composed::<T, W, _>(&first)));
        }
        let request = *request;
        let queue = &mut *self;
        let wqe = unless_composed::<T, W, _>(move || queue.put_long(pi, &request))?;
        Ok(then(self, wqe))
    }

    /// Makes everything put before `pi` the device's: the WQEs visible first, then the doorbell record.
    ///
    /// # Safety
    /// All before `pi` are put, and name memory that stays valid until they complete.
    #[inline(always)]
    pub(in crate::queue) unsafe fn publish(&mut self, pi: Index) {
        self.pi = pi;
        arch::to_device();
        if R::RINGS {
            // SAFETY: the caller's.
            unsafe { self.db.store(pi.get().0) };
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
        if wqe.wqebbs() == Wqebbs(1) && self.blueflame.take(wqe.ds(), Wqebbs(1), wqe.is_inline()) {
            let wqebb = self.wqebb(self.place(pi));
            // SAFETY: the WQE is one WQEBB of the ring; BlueFlame takes it; the caller vouches for the rest.
            self.register.ring_doorbell(|half| unsafe { half.copy_wqebb(wqebb) });
        } else {
            // SAFETY: the caller's.
            unsafe { self.ring_other(pi, wqe) };
        }
    }

    /// The same for a WQE of more WQEBBs, or without BlueFlame. Out of line, to keep its loop away from the common
    /// case.
    ///
    /// # Safety
    /// As for [`ring_lone`](Self::ring_lone).
    #[inline(never)]
    pub(in crate::queue) unsafe fn ring_other(&mut self, pi: Index, wqe: WqeInRing) {
        if self.blueflame.take(wqe.ds(), wqe.wqebbs(), wqe.is_inline()) {
            let (ring, capacity) = (self.ring, usize::from(self.capacity().0));
            let (place, wqebbs) = (self.place(pi).number(), usize::from(wqe.wqebbs().0));
            // SAFETY: the WQE is in the ring that `from_parts`' caller vouches for, at a place inside; BlueFlame takes
            // its size; the caller vouches for the rest.
            self.register.ring_doorbell(|half| unsafe { half.copy_from_ring(ring, capacity, place, wqebbs) });
        } else {
            // SAFETY: the caller vouches for the device's actions.
            self.register.ring_doorbell(|half| unsafe { half.write(wqe.first_word) });
        }
    }
}
