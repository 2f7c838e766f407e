//! Posting receives whose WQEs begin with a signature. Knows no completions: those are the [queue's](super::recv).
use core::mem::MaybeUninit;

use super::recv::RecvQueue;
use super::scatter::{self, RecvError};
use crate::types::WrId;
use crate::wqe::Sge;

impl RecvQueue {
    /// Starts a batch of requests on a queue whose WQEs have signatures
    /// ([`from_signed_parts`](Self::from_signed_parts)). On such a queue, [`post`](Self::post) and
    /// [`batch`](Self::batch) take nothing. `None` on other queues. Dropped without
    /// [`ring_doorbell`](SignedRecvBatch::ring_doorbell), the batch leaves nothing posted.
    ///
    /// ```
    /// # use blueflame::{RecvError, RecvQueue, Sge, types::WrId};
    /// unsafe fn receive(rq: &mut RecvQueue, buffer: Sge) -> Result<(), RecvError> {
    ///     let mut batch = rq.signed_batch().expect("a queue of a `Signed` transport");
    ///     // SAFETY: the caller's: the buffer stays registered, and is not used, until a message has come
    ///     unsafe { batch.push(WrId(1), &[buffer])? };
    ///     batch.ring_doorbell();
    ///     Ok(())
    /// }
    /// ```
    #[inline]
    pub fn signed_batch(&mut self) -> Option<SignedRecvBatch<'_>> {
        if self.signed { Some(SignedRecvBatch { head: self.head, queue: self }) } else { None }
    }
}

/// Receive requests with signatures, in the ring, not yet published to the device.
#[must_use = "a batch that is dropped without `ring_doorbell` posts nothing"]
#[derive(Debug)]
pub struct SignedRecvBatch<'a> {
    queue: &'a mut RecvQueue,
    /// The queue's head once the doorbell is rung.
    head: u32,
}

impl SignedRecvBatch<'_> {
    /// Adds one request.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; nothing is written then, and the batch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`RecvQueue::post`], from the call of [`ring_doorbell`](Self::ring_doorbell) on.
    pub unsafe fn push(&mut self, wr_id: WrId, sges: &[Sge]) -> Result<(), RecvError> {
        let Self { queue, head } = self;
        if head.wrapping_sub(queue.tail) >= queue.room {
            return Err(RecvError::Full(queue.room));
        }
        let max = queue.max_sge();
        scatter::check(sges, max)?;
        let index = (*head & queue.mask) as usize;
        let numbers = u64::from(queue.qpn().get()) << 32 | u64::from(*head as u16);
        // SAFETY: the masked index is within the ring, each WQE is `stride` = 16 * (max + 1) bytes, and `sges` was checked; the index is
        // within the tags.
        unsafe {
            scatter::write_signed(queue.buf.add(index << queue.shift), sges, max, numbers);
            queue.shadow.add(index).write(MaybeUninit::new(wr_id.0));
        }
        *head = head.wrapping_add(1);
        Ok(())
    }

    /// Tells the device of all requests in the batch, by one store to the doorbell record.
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
