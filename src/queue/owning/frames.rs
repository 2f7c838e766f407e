//! A send queue of frames that owns the buffers of its sessions, from posting to completion: posting is safe.
use core::fmt;
use core::marker::PhantomData;
use core::mem::take;
use core::num::NonZeroU64;
use std::vec;
use std::vec::Vec;

use crate::cq::{CqeView, Source};
use crate::db::Register;
use crate::queue::buffer::{DeviceBuffer, Refused};
use crate::queue::outcome::{self, CompleteError, RetireError};
use crate::queue::owned::Owned;
use crate::queue::send::batch::SendBatch;
use crate::queue::send::error::PostError;
use crate::queue::send::queue::{Done, SendQueue};
use crate::queue::send::session::Session;
use crate::transport::RawPacket;
use crate::types::{Ds, SqPi, WQEBB_DS, Wqebbs};
use crate::wqe::operations::Frame;
use crate::wqe::{EncodeError, MULTI_PACKET_HEAD_DS, Request, Sge};

/// A send queue of frames that owns buffers of type `B` while its [sessions](crate::queue::send::Session) use them.
///
/// Every WQE completes with a CQE. To [complete](Self::complete) it gives back the buffers of all its frames. To get
/// all buffers back, take the queue pair to the error state. If a buffer's completion never comes, the buffer is
/// leaked, because the device may still use it.
///
/// A WQE has one `wr_id` for all its frames. [`OwningSendQueue`](crate::queue::OwningSendQueue) keeps its buffer there.
/// This queue has a list of 32 bytes for each WQEBB of its ring.
///
/// ```
/// use blueflame::queue::owning::DeviceBuffer;
/// use blueflame::queue::{Done, Owned, OwningFrameQueue, PostError, SendQueue};
/// use blueflame::transport::RawPacket;
/// use blueflame::{CompleteError, CompletionQueue, wqe};
///
/// type Queue<H, B> = OwningFrameQueue<Owned<SendQueue<RawPacket<0>>, H>, B>;
///
/// /// Sends the first 60 bytes of each buffer; those for which there is no room stay.
/// fn send<H, B: DeviceBuffer>(sq: &mut Queue<H, B>, frames: &mut Vec<B>) -> Result<(), PostError> {
///     let mut batch = sq.batch();
///     let mut session = batch.session(&wqe::frame().l4_checksum())?;
///     while let Some(frame) = frames.pop() {
///         if let Err(refused) = session.gather(frame, 60) {
///             frames.push(refused.buffer);
///             break;
///         }
///     }
///     session.close();
///     batch.ring_doorbell();
///     Ok(())
/// }
///
/// fn complete<H, B: DeviceBuffer>(
///     cq: &mut CompletionQueue,
///     sq: &mut Queue<H, B>,
///     free: &mut Vec<B>,
/// ) -> Result<usize, CompleteError<Done>> {
///     cq.try_poll_with(16, |cqe| sq.complete(&cqe, |buffer| free.push(buffer)).map(drop))
/// }
/// ```
pub struct OwningFrameQueue<Q, B> {
    queue: Q,
    /// The `wr_id`s of buffers, at the index of a DS. The first DS of a WQE has its frames, the DS behind its head have
    /// its buffers one by one, and 0 for a frame without one.
    ids: Vec<u64>,
    buffers: PhantomData<B>,
}

impl<Q, B> fmt::Debug for OwningFrameQueue<Q, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwningFrameQueue").finish_non_exhaustive()
    }
}

/// A queue of frames and the object under it.
type OwnedFrames<R, H> = Owned<SendQueue<RawPacket<0>, R>, H>;

/// The place of a WQE's DS in a list for all DS of a ring, whose number is a power of two.
#[inline(always)]
fn place(ids: &[u64], wqe: SqPi, ds: usize) -> usize {
    (usize::from(wqe.0) * WQEBB_DS + ds) & (ids.len() - 1)
}

/// Takes the buffer of a WQE's `n`th frame, if it has one.
///
/// # Safety
/// The list has buffers of type `B` there, and the device does not use it.
#[inline(always)]
unsafe fn taken<B: DeviceBuffer>(ids: &mut [u64], wqe: SqPi, n: usize) -> Option<B> {
    let at = place(ids, wqe, MULTI_PACKET_HEAD_DS + n);
    let id = NonZeroU64::new(take(ids.get_mut(at)?))?;
    // SAFETY: of `into_wr_id`, by the caller's word, and used once: it is not in the list any more.
    Some(unsafe { B::from_wr_id(id) })
}

/// The frames of a closed session, and its WQEBBs.
fn extent(ids: &[u64], wqe: SqPi) -> (usize, Wqebbs) {
    let word = ids.get(place(ids, wqe, 0)).copied().unwrap_or_default();
    // At least one WQEBB, so that a walk ends.
    ((word >> 16) as usize, Wqebbs((word as u16).max(1)))
}

/// Closes a session of `frames` frames.
#[inline(always)]
fn set_extent(ids: &mut [u64], wqe: SqPi, frames: usize, Wqebbs(wqebbs): Wqebbs) {
    let at = place(ids, wqe, 0);
    if let Some(place) = ids.get_mut(at) {
        *place = (frames as u64) << 16 | u64::from(wqebbs);
    }
}

impl<R: Register, H, B: DeviceBuffer> OwningFrameQueue<OwnedFrames<R, H>, B> {
    /// # Errors
    /// The queue, if something is outstanding on it: it has no buffers of this type.
    pub fn new(queue: OwnedFrames<R, H>) -> Result<Self, OwnedFrames<R, H>> {
        if queue.free() != queue.depth() {
            return Err(queue);
        }
        let ids = vec![0; usize::from(queue.capacity().0) * WQEBB_DS];
        Ok(Self { queue, ids, buffers: PhantomData })
    }

    /// The queue, to look at.
    #[inline]
    pub fn queue(&self) -> &SendQueue<RawPacket<0>, R> {
        &self.queue
    }

    /// Gives the queue back. Buffers of WQEs that are outstanding are leaked.
    pub fn into_inner(self) -> OwnedFrames<R, H> {
        self.queue
    }

    /// Starts a batch: many WQEs, one doorbell.
    #[inline]
    pub fn batch(&mut self) -> OwningFrameBatch<'_, R, B> {
        let first = self.queue.pi();
        OwningFrameBatch { first, batch: Some(self.queue.batch()), ids: &mut self.ids, buffers: PhantomData }
    }

    /// Takes back the WQE that completed, and all before it. `each` gets the buffers of its frames, in their order.
    ///
    /// # Errors
    /// [`CompleteError::Failed`] if the WQE did not succeed; `each` gets its buffers all the same.
    /// [`CompleteError::Foreign`] if this is no completion of an outstanding WQE of this queue, which is unchanged
    /// then.
    #[inline]
    pub fn complete<S: Source>(&mut self, cqe: &CqeView<S>, each: impl FnMut(B)) -> Result<Done, CompleteError<Done>> {
        let done = self.retire(cqe, each)?;
        outcome::checked(cqe, done)
    }

    /// Like [`SendQueue::retire`], and `each` gets the buffers of the WQE's frames, in their order, whether the WQE
    /// succeeded or failed.
    ///
    /// # Errors
    /// See [`RetireError`].
    #[inline]
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>, mut each: impl FnMut(B)) -> Result<Done, RetireError> {
        let (wqe, retired) = self.queue.retire_wqe(cqe)?;
        for n in 0..usize::from(retired.frames) {
            // SAFETY: nothing was outstanding in `new`, and only this value posts, so the WQE is a session of this
            // queue, which has put its buffers there. The device is done with them (see `SendQueue::retire`).
            if let Some(buffer) = unsafe { taken(&mut self.ids, wqe, n) } {
                each(buffer);
            }
        }
        Ok(retired)
    }
}

/// Sessions that the device does not know of yet; made by [`OwningFrameQueue::batch`]. Dropping the batch drops their
/// buffers.
#[must_use = "a batch that is dropped without `ring_doorbell` posts nothing"]
pub struct OwningFrameBatch<'q, R: Register, B: DeviceBuffer> {
    /// `None` once it was rung.
    batch: Option<SendBatch<'q, RawPacket<0>, R>>,
    first: SqPi,
    ids: &'q mut [u64],
    buffers: PhantomData<B>,
}

impl<R: Register, B: DeviceBuffer> fmt::Debug for OwningFrameBatch<'_, R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwningFrameBatch").finish_non_exhaustive()
    }
}

impl<'q, R: Register, B: DeviceBuffer> OwningFrameBatch<'q, R, B> {
    /// Begins a WQE of several frames, as [`SendBatch::session`] does. It completes with a CQE, whatever `head` says.
    ///
    /// # Errors
    /// As for [`SendBatch::session`].
    #[inline(always)]
    pub fn session(&mut self, head: &Request<'static, Frame>) -> Result<OwningSession<'_, 'q, R, B>, PostError> {
        let Self { batch: Some(batch), ids, .. } = self else { return Err(PostError::NotReadyToSend) };
        let wqe = batch.next();
        let session = batch.session(&head.signaled(head.id()))?;
        Ok(OwningSession { session: Some(session), wqe, ids, buffers: PhantomData })
    }

    /// Publishes the WQEs and rings once; an empty batch does nothing.
    #[inline(always)]
    pub fn ring_doorbell(mut self) {
        if let Some(batch) = self.batch.take() {
            batch.ring_doorbell();
        }
    }
}

impl<R: Register, B: DeviceBuffer> Drop for OwningFrameBatch<'_, R, B> {
    fn drop(&mut self) {
        let Some(batch) = &self.batch else { return };
        let (mut wqe, end) = (self.first, batch.next());
        while wqe != end {
            let (frames, wqebbs) = extent(self.ids, wqe);
            for n in 0..frames {
                // SAFETY: the session has put its buffers there, and the device was not told of the WQE.
                drop(unsafe { taken::<B>(self.ids, wqe, n) });
            }
            wqe = wqe.add(wqebbs);
        }
    }
}

/// One WQE of several frames under construction, which owns their buffers. See [`Session`]. Dropping it without
/// [`close`](Self::close) drops them.
#[must_use = "a session that is dropped without `close` sends nothing"]
pub struct OwningSession<'b, 'q, R: Register, B: DeviceBuffer> {
    /// `None` once it was closed.
    session: Option<Session<'b, 'q, R>>,
    wqe: SqPi,
    ids: &'b mut [u64],
    buffers: PhantomData<B>,
}

impl<R: Register, B: DeviceBuffer> fmt::Debug for OwningSession<'_, '_, R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwningSession").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<R: Register, B: DeviceBuffer> OwningSession<'_, '_, R, B> {
    /// Adds a frame: the buffer's first `bytes` bytes.
    ///
    /// # Errors
    /// As for [`Session::gather_unchecked`]. [`EncodeError::SgeTooLong`] names the bytes that the buffer has.
    #[inline(always)]
    pub fn gather(&mut self, buffer: B, bytes: u32) -> Result<(), Refused<PostError, B>> {
        let sge = buffer.sge();
        if bytes > sge.length {
            let error = PostError::Encode(EncodeError::SgeTooLong { bytes, limit: sge.length });
            return Err(Refused { error, buffer });
        }
        let id = buffer.into_wr_id();
        // SAFETY: the memory is the device's until the `wr_id` becomes the buffer again. That happens in `retire`, when
        // the WQE has completed. If the device was not told of the frame, it happens below, or when the session or its
        // batch is dropped.
        let put = self.put(id.get(), |session| unsafe { session.gather_unchecked(Sge { length: bytes, ..sge }) });
        // SAFETY: of `into_wr_id` above, and used once, as no frame was added.
        put.map_err(|error| Refused { error, buffer: unsafe { B::from_wr_id(id) } })
    }

    /// Adds a frame and copies its bytes, as [`Session::inline`] does.
    ///
    /// # Errors
    /// As there.
    #[inline(always)]
    pub fn inline(&mut self, frame: &[u8]) -> Result<(), PostError> {
        self.put(0, |session| session.inline(frame))
    }

    /// Adds a frame, with the `wr_id` of its buffer, or 0.
    #[inline(always)]
    fn put(
        &mut self,
        id: u64,
        add: impl FnOnce(&mut Session<'_, '_, R>) -> Result<(), PostError>,
    ) -> Result<(), PostError> {
        let frames = self.len();
        let Some(session) = &mut self.session else { return Ok(()) };
        add(session)?;
        // Each frame has one DS at least: its place is the WQE's, and inside of the list.
        let at = place(self.ids, self.wqe, MULTI_PACKET_HEAD_DS + frames);
        if let Some(place) = self.ids.get_mut(at) {
            *place = id;
        }
        Ok(())
    }

    /// Frames in the session.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.session.as_ref().map_or(0, Session::len)
    }

    /// Whether the session has no frame.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// DS that frames can still take.
    #[inline]
    #[must_use]
    pub fn free(&self) -> Ds {
        self.session.as_ref().map_or(Ds(0), Session::free)
    }

    /// Ends the WQE; the batch has it now. A session without frames adds nothing to the batch.
    #[inline(always)]
    pub fn close(mut self) {
        let frames = self.len();
        let Some(session) = self.session.take() else { return };
        let wqebbs = session.finish();
        set_extent(self.ids, self.wqe, frames, wqebbs);
    }
}

impl<R: Register, B: DeviceBuffer> Drop for OwningSession<'_, '_, R, B> {
    fn drop(&mut self) {
        for n in 0..self.len() {
            // SAFETY: this session has put its buffers there, and the device was not told of the WQE.
            drop(unsafe { taken::<B>(self.ids, self.wqe, n) });
        }
    }
}
