//! Queues that own the buffers of their requests, from posting to completion: posting is safe.
//!
//! The `wr_id` of a request is its buffer, as an index or a pointer, so the queues keep nothing else.
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU64;

use crate::cq::{CqeView, Source};
use crate::db::Register;
use crate::queue::complete::{self, CompleteError};
use crate::queue::recv::shared::SharedRecvQueue;
use crate::queue::retire::RetireError;
use crate::queue::send::error::PostError;
use crate::queue::send::queue::SendQueue;
use crate::transport::Transport;
use crate::types::WrId;
use crate::wqe::data::{Given, NoLocalMemory, ToCarry, ToScatter};
use crate::wqe::operations::Read;
use crate::wqe::{EncodeError, Request, Sge, SupportedOn};

/// Registered memory that can become a `wr_id` and be made of that `wr_id` again: `Box<verbs::Buffer>`, a slot of an
/// application's pool.
///
/// # Safety
///
/// From [`into_wr_id`](Self::into_wr_id) to [`from_wr_id`](Self::from_wr_id), and for good if that is never called,
/// the memory named by [`sge`](Self::sge) stays valid and registered. During that time, only the device reads or
/// writes it.
pub unsafe trait DeviceBuffer: Sized {
    /// The memory.
    fn sge(&self) -> Sge;

    /// Turns the buffer into a `wr_id`.
    fn into_wr_id(self) -> NonZeroU64;

    /// Turns the `wr_id` into the buffer again.
    ///
    /// # Safety
    ///
    /// `wr_id` comes from [`into_wr_id`](Self::into_wr_id) of this type, and is used here once.
    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self;
}

/// A value that a queue takes for a request and returns with its completion. A [`DeviceBuffer`] is the request's memory.
/// With a [`WrId`], you name the memory, and vouch for it.
pub trait Posted: Sized {
    /// Makes the value again from the request's `wr_id`.
    ///
    /// # Safety
    /// If it is a buffer: `wr_id` comes from [`into_wr_id`](DeviceBuffer::into_wr_id), and is used here once.
    unsafe fn returned(wr_id: WrId) -> Self;
}

impl Posted for WrId {
    #[inline(always)]
    unsafe fn returned(wr_id: WrId) -> Self {
        wr_id
    }
}

impl<B: DeviceBuffer> Posted for B {
    #[inline(always)]
    unsafe fn returned(wr_id: WrId) -> Self {
        // SAFETY: the caller's; no buffer's `wr_id` is zero.
        unsafe { B::from_wr_id(NonZeroU64::new_unchecked(wr_id.0)) }
    }
}

/// A queue, or a value that keeps a queue together with the objects that it needs: [`Owned`](crate::queue::Owned).
///
/// # Safety
///
/// [`queue`](Self::queue) and [`queue_mut`](Self::queue_mut) always give the same queue, and no safe code reaches it
/// otherwise.
pub unsafe trait Holds {
    /// The kind of queue.
    type Queue;

    /// The queue.
    fn queue(&self) -> &Self::Queue;

    /// The queue.
    fn queue_mut(&mut self) -> &mut Self::Queue;
}

/// Implements [`Holds`] for queues, which hold themselves.
macro_rules! holds_itself {
    ($($queue:ty $(, $parameter:ident: $bound:path)*;)*) => {$(
        // SAFETY: both return `self`, which is owned by value: only the wrapper has it by `&mut`, or moves it out.
        unsafe impl<$($parameter: $bound),*> Holds for $queue {
            type Queue = Self;

            #[inline(always)]
            fn queue(&self) -> &Self {
                self
            }

            #[inline(always)]
            fn queue_mut(&mut self) -> &mut Self {
                self
            }
        }
    )*};
}

holds_itself! {
    SendQueue<T, R>, T: Transport, R: Register;
    SharedRecvQueue;
}

/// A request that was not posted, and its buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Refused<E, B> {
    /// Why.
    pub error: E,
    /// The buffer.
    pub buffer: B,
}

impl<E: fmt::Debug, B> fmt::Debug for Refused<E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<E: fmt::Display, B> fmt::Display for Refused<E, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<E: core::error::Error, B> core::error::Error for Refused<E, B> {}

/// A send queue that owns buffers of type `B` while its requests use them.
///
/// It signals every request; to [complete](Self::complete) one gives its buffer back. To get all buffers back,
/// take the queue pair to the error state: all outstanding requests complete. If a buffer's completion never comes (you
/// drop the queue, or [`forget`](crate::CompletionQueue::forget) its completions), the buffer is leaked: the device may
/// still use it.
///
/// ```
/// use blueflame::cq::CompletionQueue;
/// use blueflame::queue::{OwningSendQueue, SendQueue};
/// use blueflame::queue::owning::DeviceBuffer;
/// use blueflame::{CompleteError, Remote, transport, wqe};
///
/// fn write_back<B: DeviceBuffer>(sq: &mut OwningSendQueue<SendQueue<transport::Rc>, B>, page: B, to: Remote, free: &mut Vec<B>) {
///     if let Err(refused) = sq.gather(wqe::write(to), page, 4096) {
///         free.push(refused.buffer);
///     }
/// }
///
/// fn complete<B: DeviceBuffer>(cq: &mut CompletionQueue, sq: &mut OwningSendQueue<SendQueue<transport::Rc>, B>, free: &mut Vec<B>) {
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
/// # use blueflame::queue::{OwningSendQueue, SendQueue};
/// # use blueflame::queue::owning::DeviceBuffer;
/// # use blueflame::{Remote, transport, wqe};
/// fn twice<B: DeviceBuffer>(sq: &mut OwningSendQueue<SendQueue<transport::Rc>, B>, page: B, to: Remote) {
///     let _ = sq.gather(wqe::write(to), page, 64);
///     let _ = sq.gather(wqe::write(to), page, 64);
/// }
/// ```
pub struct OwningSendQueue<H, B> {
    holder: H,
    buffers: PhantomData<B>,
}

impl<H, B> fmt::Debug for OwningSendQueue<H, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwningSendQueue").finish_non_exhaustive()
    }
}

impl<T: Transport, R: Register, B: DeviceBuffer, H: Holds<Queue = SendQueue<T, R>>> OwningSendQueue<H, B> {
    /// # Errors
    /// The queue, if something is outstanding on it: its identifiers are not buffers.
    pub fn new(holder: H) -> Result<Self, H> {
        let queue = holder.queue();
        if queue.free() != queue.depth() {
            return Err(holder);
        }
        Ok(Self { holder, buffers: PhantomData })
    }

    /// The queue, to look at. Only [`complete`](Self::complete) takes its requests back.
    #[inline]
    pub fn queue(&self) -> &SendQueue<T, R> {
        self.holder.queue()
    }

    /// Gives the queue back. Buffers of requests that are outstanding are leaked.
    pub fn into_inner(self) -> H {
        self.holder
    }

    /// Posts a request that names no memory of this side, as [`SendQueue::post`]; its `wr_id` is not kept.
    ///
    /// # Errors
    /// See [`PostError`].
    #[inline(always)]
    pub fn post<O: SupportedOn<T>, D: NoLocalMemory>(&mut self, request: Request<'_, O, D>) -> Result<(), PostError> {
        self.holder.queue_mut().post(&request.signaled(NO_BUFFER))
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
        let posted = unsafe {
            self.holder.queue_mut().post_unchecked(&request(Sge { length: bytes, ..sge }, WrId(wr_id.get())))
        };
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
        complete::checked(cqe, buffer)
    }

    /// Like [`SendQueue::retire`], but returns the request's buffer, if it has one, for successful and failed requests.
    ///
    /// # Errors
    /// See [`RetireError`].
    #[inline]
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<B>, RetireError> {
        let wr_id = self.holder.queue_mut().retire(cqe)?.wr_id.0;
        // SAFETY: every request of this queue has the `wr_id` of a buffer of type `B`, or none: nothing was outstanding
        // in `new`, and only this value posts. The request is not outstanding any more, so its `wr_id` is used once,
        // and the device is done with the memory (see `SendQueue::retire`).
        Ok(NonZeroU64::new(wr_id).map(|wr_id| unsafe { B::from_wr_id(wr_id) }))
    }
}

/// The `wr_id` of requests without a buffer.
const NO_BUFFER: WrId = WrId(0);
