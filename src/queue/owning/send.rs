//! A send queue that owns the buffers of its requests, from posting to completion: posting is safe.
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU64;

use crate::cq::{CqeView, Source};
use crate::db::Register;
use crate::queue::buffer::{DeviceBuffer, Refused};
use crate::queue::outcome::{self, CompleteError, RetireError};
use crate::queue::owned::Owned;
use crate::queue::send::error::PostError;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::WrId;
use crate::wqe::data::{Given, NoLocalMemory, ToCarry, ToScatter};
use crate::wqe::operations::Read;
use crate::wqe::{EncodeError, Request, Sge, SupportedOn};

/// A send queue that owns buffers of type `B` while its requests use them.
///
/// It signals every request; to [complete](Self::complete) one gives its buffer back. To get all buffers back,
/// take the queue pair to the error state: all outstanding requests complete. If a buffer's completion never comes (you
/// drop the queue, or [`forget`](crate::CompletionQueue::forget) its completions), the buffer is leaked: the device may
/// still use it.
///
/// ```
/// use blueflame::cq::CompletionQueue;
/// use blueflame::queue::{Owned, OwningSendQueue, SendQueue};
/// use blueflame::queue::owning::DeviceBuffer;
/// use blueflame::{CompleteError, Remote, transport, wqe};
///
/// type Queue<H, B> = OwningSendQueue<Owned<SendQueue<transport::Rc>, H>, B>;
///
/// fn write_back<H, B: DeviceBuffer>(sq: &mut Queue<H, B>, page: B, to: Remote, free: &mut Vec<B>) {
///     if let Err(refused) = sq.gather(wqe::write(to), page, 4096) {
///         free.push(refused.buffer);
///     }
/// }
///
/// fn complete<H, B: DeviceBuffer>(cq: &mut CompletionQueue, sq: &mut Queue<H, B>, free: &mut Vec<B>) {
///     cq.poll_with(16, |cqe| match sq.complete(&cqe) {
///         Ok(page) => free.extend(page),
///         Err(CompleteError::Failed { done: page, error }) => {
///             eprintln!("{error}");
///             free.extend(page);
///         }
///         Err(CompleteError::Foreign(error)) => eprintln!("{error}"), // not of this queue
///     });
/// }
/// ```
///
/// A buffer that was posted is gone:
///
/// ```compile_fail,E0382
/// # use blueflame::queue::{Owned, OwningSendQueue, SendQueue};
/// # use blueflame::queue::owning::DeviceBuffer;
/// # use blueflame::{Remote, transport, wqe};
/// type Queue<H, B> = OwningSendQueue<Owned<SendQueue<transport::Rc>, H>, B>;
///
/// fn twice<H, B: DeviceBuffer>(sq: &mut Queue<H, B>, page: B, to: Remote) {
///     let _ = sq.gather(wqe::write(to), page, 64);
///     let _ = sq.gather(wqe::write(to), page, 64);
/// }
/// ```
pub struct OwningSendQueue<Q, B> {
    queue: Q,
    buffers: PhantomData<B>,
}

impl<Q, B> fmt::Debug for OwningSendQueue<Q, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwningSendQueue").finish_non_exhaustive()
    }
}

impl<T: Transport, R: Register, H, B: DeviceBuffer> OwningSendQueue<Owned<SendQueue<T, R>, H>, B> {
    /// # Errors
    /// The queue, if something is outstanding on it: its identifiers are not buffers.
    pub fn new(queue: Owned<SendQueue<T, R>, H>) -> Result<Self, Owned<SendQueue<T, R>, H>> {
        if queue.free() != queue.depth() {
            return Err(queue);
        }
        Ok(Self { queue, buffers: PhantomData })
    }

    /// The queue, to look at. Only [`complete`](Self::complete) takes its requests back.
    #[inline]
    pub fn queue(&self) -> &SendQueue<T, R> {
        &self.queue
    }

    /// Gives the queue back. Buffers of requests that are outstanding are leaked.
    pub fn into_inner(self) -> Owned<SendQueue<T, R>, H> {
        self.queue
    }

    /// Posts a request that names no memory of this side, as [`SendQueue::post`]; its `wr_id` is not kept.
    ///
    /// # Errors
    /// See [`PostError`].
    #[inline(always)]
    pub fn post<O: SupportedOn<T>, D: NoLocalMemory>(&mut self, request: Request<'_, O, D>) -> Result<(), PostError> {
        self.queue.post(&request.signaled(NO_BUFFER))
    }

    /// Posts a message or a WRITE of the buffer's first `bytes` bytes.
    ///
    /// # Errors
    /// See [`PostError`]; [`EncodeError::SgeTooLong`] names the bytes the buffer has.
    #[inline(always)]
    pub fn gather<O: SupportedOn<T>>(
        &mut self,
        request: Request<'_, O, ToCarry>,
        buffer: B,
        bytes: u32,
    ) -> Result<(), Refused<PostError, B>> {
        self.with_buffer(buffer, bytes, |sge, wr_id| request.gather([sge]).signaled(wr_id))
    }

    /// Posts a READ into the buffer's first `bytes` bytes.
    ///
    /// # Errors
    /// As for [`gather`](Self::gather).
    #[inline(always)]
    pub fn read(
        &mut self,
        request: Request<'_, Read, ToScatter>,
        buffer: B,
        bytes: u32,
    ) -> Result<(), Refused<PostError, B>>
    where
        Read: SupportedOn<T>,
    {
        self.with_buffer(buffer, bytes, |sge, wr_id| request.scatter([sge]).signaled(wr_id))
    }

    /// Posts the request that `request` makes of a buffer's memory and `wr_id`.
    #[inline(always)]
    fn with_buffer<'d, O: SupportedOn<T>>(
        &mut self,
        buffer: B,
        bytes: u32,
        request: impl FnOnce(Sge, WrId) -> Request<'d, O, Given<0, 1>>,
    ) -> Result<(), Refused<PostError, B>> {
        let sge = buffer.sge();
        if bytes > sge.length {
            let error = PostError::Encode(EncodeError::SgeTooLong { bytes, limit: sge.length });
            return Err(Refused { error, buffer });
        }
        let wr_id = buffer.into_wr_id();
        // SAFETY: the memory is the device's until the `wr_id` is turned into the buffer again: below, if nothing was
        // posted, or in `retire`, when the request has completed.
        let posted = unsafe { self.queue.post_unchecked(&request(Sge { length: bytes, ..sge }, WrId(wr_id.get()))) };
        // SAFETY: of `into_wr_id` above, and used once, as nothing was posted.
        posted.map_err(|error| Refused { error, buffer: unsafe { B::from_wr_id(wr_id) } })
    }

    /// Takes back the request that completed, and all before it. Returns the request's buffer, if it has one.
    ///
    /// # Errors
    /// [`CompleteError::Failed`] if the request did not succeed, with its buffer. [`CompleteError::Foreign`] if this is
    /// no completion of an outstanding request of this queue, which is unchanged then.
    #[inline]
    pub fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<B>, CompleteError<Option<B>>> {
        let buffer = self.retire(cqe)?;
        outcome::checked(cqe, buffer)
    }

    /// Like [`SendQueue::retire`], but returns the request's buffer, if it has one, for successful and failed requests.
    ///
    /// # Errors
    /// See [`RetireError`].
    #[inline]
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<B>, RetireError> {
        let wr_id = self.queue.retire(cqe)?.wr_id.0;
        // SAFETY: every request of this queue has the `wr_id` of a buffer of type `B`, or none: nothing was outstanding
        // in `new`, and only this value posts. The request is not outstanding any more, so its `wr_id` is used once,
        // and the device is done with the memory (see `SendQueue::retire`).
        Ok(NonZeroU64::new(wr_id).map(|wr_id| unsafe { B::from_wr_id(wr_id) }))
    }
}

/// The `wr_id` of requests without a buffer.
const NO_BUFFER: WrId = WrId(0);
