//! Batches: many requests, one doorbell. Knows no operation.
use crate::db::Register;
use crate::queue::send::error::PostError;
use crate::queue::send::place::Index;
use crate::queue::send::place::WqeInRing;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
#[cfg(feature = "std")]
use crate::types::SqPi;
use crate::types::Wqebbs;
use crate::wqe::data::{Data, NoLocalMemory};
use crate::wqe::{Erased, Request, SupportedOn};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// Starts a batch: many requests, one doorbell.
    #[inline]
    pub fn batch(&mut self) -> SendBatch<'_, T, R> {
        SendBatch { pi: self.pi, sq: self, last: WqeInRing::NONE, requests: 0 }
    }
}

/// Requests put into the ring that the device does not know of yet. [`ring_doorbell`](Self::ring_doorbell) publishes
/// them; dropping the batch takes them back.
///
/// ```
/// # use blueflame::{Remote, Sge, db::Register, queue::{PostError, SendQueue}, transport, wqe};
/// fn write_pages<R: Register>(sq: &mut SendQueue<transport::Rc, R>, pages: &[(Remote, Sge)]) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     for &(remote, sge) in pages {
///         // SAFETY: (the pages stay registered until they have completed)
///         unsafe { batch.push_unchecked(&wqe::write(remote).gather([sge]))? };
///     }
///     batch.ring_doorbell();
///     Ok(())
/// }
/// ```
///
/// A batch that was rung is gone, and the queue cannot be used beside one:
///
/// ```compile_fail,E0382
/// # use blueflame::{queue::SendQueue, transport};
/// fn twice(sq: &mut SendQueue<transport::Rc>) {
///     let batch = sq.batch();
///     batch.ring_doorbell();
///     batch.ring_doorbell();
/// }
/// ```
/// ```compile_fail,E0499
/// # use blueflame::{queue::SendQueue, transport, wqe};
/// fn beside(sq: &mut SendQueue<transport::Rc>) {
///     let batch = sq.batch();
///     let _ = sq.post(&wqe::send());
///     batch.ring_doorbell();
/// }
/// ```
#[doc(alias = "ibv_wr_start")]
#[derive(Debug)]
#[must_use = "a batch that is dropped without `ring_doorbell` posts nothing"]
pub struct SendBatch<'q, T: Transport, R: Register> {
    pub(super) sq: &'q mut SendQueue<T, R>,
    /// Index of the next WQEBB; the queue's own index still is where the batch starts.
    pub(super) pi: Index,
    /// The latest request, once there is one.
    pub(super) last: WqeInRing,
    pub(super) requests: usize,
}

impl<T: Transport, R: Register> SendBatch<'_, T, R> {
    /// Puts a request that names no memory of this side into the ring.
    ///
    /// # Errors
    /// See [`PostError`]: the request has not been put, those before it stay in the batch.
    #[inline(always)]
    pub fn push<O: SupportedOn<T>, D: NoLocalMemory>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        // SAFETY: the request names no memory.
        unsafe { self.push_unchecked(request) }
    }

    /// Puts any request into the ring.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    ///
    /// # Safety
    /// The conditions of [`SendQueue::post_unchecked`], from the time the batch is rung.
    #[inline(always)]
    pub unsafe fn push_unchecked<O: SupportedOn<T>, D: Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError> {
        let () = O::FITS;
        self.sq.put_request(self.pi, request, |_, wqe| {
            self.last = wqe;
            self.pi = self.pi.add(wqe.wqebbs());
            self.requests += 1;
        })
    }

    /// Puts a request that was chosen at run time, and that names no memory of this side, into the ring.
    ///
    /// # Errors
    /// The errors of [`SendQueue::post_erased`] and [`push`](Self::push).
    #[inline]
    pub fn push_erased(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        if request.names_memory() {
            return Err(PostError::NamesMemory);
        }
        // SAFETY: it names no memory.
        unsafe { self.push_erased_unchecked(request) }
    }

    /// Puts any request that was chosen at run time into the ring.
    ///
    /// # Errors
    /// As for [`push_erased`](Self::push_erased).
    ///
    /// # Safety
    /// As for [`push_unchecked`](Self::push_unchecked).
    #[inline]
    pub unsafe fn push_erased_unchecked(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        if !request.is_supported_on::<T>() {
            return Err(PostError::NotSupported);
        }
        self.last = self.sq.put_long(self.pi, &request.untyped, request.shape)?;
        self.pi = self.pi.add(self.last.wqebbs());
        self.requests += 1;
        Ok(())
    }

    /// The index of the next WQEBB.
    #[cfg(feature = "std")]
    pub(in crate::queue) const fn next(&self) -> SqPi {
        self.pi.get()
    }

    /// Requests in the batch. Each frame of a [session](Self::session) counts as one.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.requests
    }

    /// Whether the batch is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.requests == 0
    }

    /// WQEBBs that can still be put.
    #[inline]
    #[must_use]
    pub fn free(&self) -> Wqebbs {
        self.sq.free_from(self.pi)
    }

    /// Publishes the requests and rings once; an empty batch does nothing. A batch of one request rings as
    /// [`SendQueue::post`] does, by BlueFlame where it may.
    #[doc(alias = "ibv_wr_complete")]
    #[inline(always)]
    pub fn ring_doorbell(self) {
        let (first, last) = (self.sq.pi, self.last);
        if self.requests == 0 {
            return;
        }
        // SAFETY: all are put, then published, and `push`'s callers vouch for the memory they name.
        unsafe {
            self.sq.publish(self.pi);
            if self.requests == 1 {
                self.sq.ring_lone(first, last);
            } else {
                self.sq.register.ring_doorbell(|half| half.write(last.first_word));
            }
        }
    }
}
