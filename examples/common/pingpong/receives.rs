//! The queue to which a side posts its receives: the queue pair's own, or a shared one.

use blueflame::cq::{CqeView, Source};
use blueflame::queue::{Received, RecvQueue, SharedRecvQueue};
use blueflame::types::WrId;
use blueflame::{CompleteError, RecvError, Sge};

/// The queue, borrowed.
#[derive(Debug)]
#[expect(missing_docs, reason = "the types say it")]
pub enum Receives<'a> {
    Own(&'a mut RecvQueue),
    Shared(&'a mut SharedRecvQueue),
}

impl Receives<'_> {
    /// Posts a receive.
    ///
    /// # Errors
    /// There is no room.
    ///
    /// # Safety
    /// As [`RecvQueue::post_unchecked`].
    pub unsafe fn post(self, wr_id: WrId, buffer: Sge) -> Result<(), RecvError> {
        // SAFETY: the caller promises that the buffer stays registered, and the device's, until the receive completes.
        unsafe {
            match self {
                Self::Own(queue) => queue.post_unchecked(wr_id, &[buffer]),
                Self::Shared(queue) => queue.post_unchecked(wr_id, &[buffer]),
            }
        }
    }

    /// A receive that has completed.
    ///
    /// # Errors
    /// It failed, or was not posted.
    ///
    /// # Safety
    /// The conditions of [`SharedRecvQueue::complete`]; the queue pair's own queue checks by itself.
    pub unsafe fn complete<S: Source>(self, cqe: &CqeView<S>) -> Result<Received<WrId>, CompleteError<WrId>> {
        match self {
            Self::Own(queue) => queue.complete(cqe),
            // SAFETY: the caller promises a completion of this queue's receives, which was not given before.
            Self::Shared(queue) => unsafe { queue.complete(cqe) },
        }
    }
}
