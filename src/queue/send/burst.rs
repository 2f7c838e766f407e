//! Bursts: a given number of requests of one type, whose room and limits are checked once. Knows no operation.
use core::marker::PhantomData;

use crate::db::Register;
use crate::queue::send::error::PostError;
use crate::queue::send::place::Index;
use crate::queue::send::place::{SendRing, WqeInRing, composed_ds};
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::Wqebbs;
use crate::wqe::data::{Data, NoLocalMemory};
use crate::wqe::operations::Operation;
use crate::wqe::{EncodeError, Request, SupportedOn};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Starts a batch of at most `n` requests of one type, with room for all of them.
    ///
    /// The type tells the size, up to four WQEBBs, and the limits that the request needs. So both are checked here,
    /// once for all requests, and putting a request is little more than its stores. Use [`batch`](Self::batch) for
    /// requests of several types, or of a size that only the value tells:
    ///
    /// ```compile_fail,E0080
    /// # use blueflame::{SendQueue, queue::PostError, transport::Rc, wqe};
    /// # fn any_length(sq: &mut SendQueue<Rc>, data: &[u8]) -> Result<(), PostError> {
    /// let mut burst = sq.batch_of(1)?;
    /// burst.push(&wqe::send().inline_slice(data))?;
    /// burst.ring_doorbell();
    /// # Ok(())
    /// # }
    /// # let _ = any_length as fn(_, _) -> _;
    /// ```
    ///
    /// # Errors
    /// See [`PostError`]: the queue has no room for all of them, or takes no request of the type.
    #[inline(always)]
    pub fn batch_of<O: SupportedOn<T>, D: Data>(&mut self, n: usize) -> Result<Burst<'_, T, R, O, D>, PostError> {
        let () = O::FITS;
        let each = const {
            let wqebbs = composed_ds::<O, D>().wqebbs();
            assert!(wqebbs.0 != 0, "the type does not tell a size of at most four WQEBBs: use `batch`");
            wqebbs
        };
        let needs = Request::<'_, O, D>::NEEDS;
        if !self.limits.cover(needs) {
            return Err(PostError::Encode(EncodeError::uncovered(self.limits, needs)));
        }
        let free = self.free_from(self.pi);
        if n > usize::from(free.0 / each.0) {
            let needed = u16::try_from(n).unwrap_or(u16::MAX).saturating_mul(each.0);
            return Err(PostError::refused(Wqebbs(needed), free, self.depth(), self.capacity()));
        }
        Ok(Burst { ring: self.ring, pi: self.pi, left: n, sq: self, requests: PhantomData })
    }
}

/// Requests of one operation and kind of data in the ring that the device does not know of yet; made by
/// [`SendQueue::batch_of`].
/// [`ring_doorbell`](Self::ring_doorbell) publishes them; dropping the burst takes them back.
///
/// ```
/// # use blueflame::{Remote, db::Register, queue::{PostError, SendQueue}, transport::Rc, types::WrId, wqe};
/// fn tell<R: Register>(sq: &mut SendQueue<Rc, R>, places: &[Remote], price: &[u8; 8]) -> Result<(), PostError> {
///     let mut burst = sq.batch_of(places.len())?;
///     for (&place, n) in places.iter().zip(0..) {
///         burst.push(&wqe::write(place).inline(price).signaled(WrId(n)))?;
///     }
///     burst.ring_doorbell();
///     Ok(())
/// }
/// ```
#[derive(Debug)]
#[must_use = "a burst that is dropped without `ring_doorbell` posts nothing"]
pub struct Burst<'q, T: Transport, R: Register, O, D> {
    sq: &'q mut SendQueue<T, R>,
    ring: SendRing,
    /// Index of the next WQEBB; the queue's own index still is where the burst starts.
    pi: Index,
    /// Requests that can still be put.
    left: usize,
    requests: PhantomData<fn(O, D)>,
}

impl<T: Transport, R: Register, O: Operation, D: Data> Burst<'_, T, R, O, D> {
    const WQEBBS: Wqebbs = composed_ds::<O, D>().wqebbs();

    /// Puts a request that names no memory of this side into the ring.
    ///
    /// # Errors
    /// [`PostError::Full`] after as many requests as the burst was made for. [`PostError::Encode`] for a request of
    /// another size than the type tells, which is one with a scatter/gather entry of zero bytes, or of too many, and
    /// for a large send out of its limits. The request has not been put, those before it stay in the burst.
    #[inline(always)]
    pub fn push(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError>
    where
        D: NoLocalMemory,
    {
        // SAFETY: the request names no memory.
        unsafe { self.push_unchecked(request) }
    }

    /// Puts any request into the ring.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    ///
    /// # Safety
    /// The conditions of [`SendQueue::post_unchecked`], from the time the burst is rung.
    #[inline(always)]
    pub unsafe fn push_unchecked(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        if self.left == 0 {
            return Err(PostError::all_put(Self::WQEBBS));
        }
        // SAFETY: there is room for one more; the caller's.
        unsafe { self.put(request) }?;
        self.left -= 1;
        Ok(())
    }

    /// Puts requests that name no memory of this side until the burst is full. `request` makes each of them: it is
    /// called with 0, 1, 2, ….
    ///
    /// It takes fewer instructions than a loop over [`push`](Self::push), which counts both the requests and the room.
    ///
    /// ```
    /// # use blueflame::{Remote, db::Register, queue::{PostError, SendQueue}, transport::Rc, types::WrId, wqe};
    /// # fn tell<R: Register>(sq: &mut SendQueue<Rc, R>, places: &[Remote], price: &[u8; 8]) -> Result<(), PostError> {
    /// let mut burst = sq.batch_of(places.len())?;
    /// burst.fill(|n| wqe::write(places[n]).inline(price).signaled(WrId(n as u64)))?;
    /// burst.ring_doorbell();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PostError::Encode`], as for [`push`](Self::push).
    #[inline(always)]
    pub fn fill<'d>(&mut self, request: impl FnMut(usize) -> Request<'d, O, D>) -> Result<(), PostError>
    where
        D: NoLocalMemory,
    {
        // SAFETY: the requests name no memory.
        unsafe { self.fill_unchecked(request) }
    }

    /// Puts any requests until the burst is full, as [`fill`](Self::fill) does.
    ///
    /// # Errors
    /// As for [`fill`](Self::fill).
    ///
    /// # Safety
    /// The conditions of [`SendQueue::post_unchecked`], from the time the burst is rung.
    #[inline(always)]
    pub unsafe fn fill_unchecked<'d>(
        &mut self,
        mut request: impl FnMut(usize) -> Request<'d, O, D>,
    ) -> Result<(), PostError> {
        // If `request` panics, the burst is full.
        let left = core::mem::take(&mut self.left);
        for n in 0..left {
            // SAFETY: there is room for so many; the caller's.
            if let Err(error) = unsafe { self.put(&request(n)) } {
                self.left = left - n;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Puts a request.
    ///
    /// # Safety
    /// As for [`push_unchecked`](Self::push_unchecked). There is room for it.
    #[inline(always)]
    unsafe fn put(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        if !request.is_regular(&self.sq.limits) {
            return Err(PostError::Encode(request.irregularity(&self.sq.limits)));
        }
        // SAFETY: `batch_of` has reserved the room, and checked the limits; the request has the size of its type.
        unsafe {
            self.ring.put_for_later::<T, _, _>(self.pi, request);
        }
        self.pi = self.pi.add(Self::WQEBBS);
        Ok(())
    }

    /// Requests in the burst.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        (self.pi.since(self.sq.pi).0 / Self::WQEBBS.0) as usize
    }

    /// Whether the burst is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Publishes the requests and rings once; an empty burst does nothing. A burst of one request rings as
    /// [`SendQueue::post`] does, by BlueFlame where it may.
    #[inline(always)]
    pub fn ring_doorbell(self) {
        let first = self.sq.pi;
        let put = self.pi.since(first);
        if put == Wqebbs(0) {
            return;
        }
        let last = self.ring.wqebb(self.ring.place(self.pi.sub(Self::WQEBBS)));
        // SAFETY: a word of the ring that `push_unchecked` has stored.
        let first_word = unsafe { last.read() };
        // SAFETY: all are put, then published, and `push_unchecked`'s callers vouch for the memory they name.
        unsafe {
            self.sq.publish(self.pi);
            if put == Self::WQEBBS {
                self.sq.ring_lone(first, WqeInRing::composed::<O, D>(first_word));
            } else {
                self.sq.register.ring_doorbell(|half| half.write(first_word));
            }
        }
    }
}
