//! A receive queue of either kind.

use blueflame::cq::{CqeView, Source};
use blueflame::queue::{Owned, Received};
use blueflame::transport::{PlainRecv, RecvForm};
use blueflame::{CompleteError, RecvError, RecvQueue, RetireError, Sge, SharedRecvQueue, WrId};

use crate::handle::Handle;

/// The receive queue of an [`End`](crate::End), of the kind that its [`Shape`](crate::Shape) asked for.
#[derive(Debug)]
pub enum Receives<F: RecvForm = PlainRecv> {
    /// None.
    None,
    /// The queue pair's own.
    Own(Owned<RecvQueue<F>, Handle>),
    /// A shared receive queue.
    Shared(Owned<SharedRecvQueue, Handle>),
}

impl<F: RecvForm> Receives<F> {
    /// Posts a receive.
    ///
    /// # Errors
    /// As [`RecvQueue::post_unchecked`]. Where there is no queue, it is full.
    ///
    /// # Safety
    /// The conditions of [`RecvQueue::post_unchecked`]: the memory stays registered and unused until the receive has
    /// completed. As long as something is posted to a shared queue, [`complete`](Self::complete) and
    /// [`retire`](Self::retire) are given completions of queue pairs that receive from there alone, and each once.
    pub unsafe fn post_unchecked(&mut self, wr_id: WrId, sges: &[Sge]) -> Result<(), RecvError> {
        // SAFETY: the caller promises that the memory stays registered and unused until the receive has completed.
        unsafe {
            match self {
                Self::None => Err(RecvError::Full(0)),
                Self::Own(queue) => queue.post_unchecked(wr_id, sges),
                Self::Shared(queue) => queue.post_unchecked(wr_id, sges),
            }
        }
    }

    /// Takes back the receive that completed, and returns the facts about its message.
    ///
    /// # Errors
    /// As [`RecvQueue::complete`]. Where there is no queue, nothing is outstanding.
    pub fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Received<WrId>, CompleteError<WrId>> {
        match self {
            Self::None => Err(nothing(cqe.wqe_counter()).into()),
            Self::Own(queue) => queue.complete(cqe),
            // SAFETY: as in `retire`.
            Self::Shared(queue) => unsafe { queue.complete(cqe) },
        }
    }

    /// Retires the receive that a completion is for, successful or not.
    ///
    /// # Errors
    /// As [`RecvQueue::retire`]. Where there is no queue, nothing is outstanding.
    pub fn retire<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<WrId, RetireError> {
        match self {
            Self::None => Err(nothing(cqe.wqe_counter())),
            Self::Own(queue) => queue.retire(cqe),
            // SAFETY: the caller of `post_unchecked` vouched for each posted receive; nothing else can be retired.
            Self::Shared(queue) => unsafe { queue.retire(cqe) },
        }
    }

    /// [Retires](Self::retire) by index, for a completion that is not at hand any more.
    ///
    /// # Errors
    /// As [`retire`](Self::retire).
    ///
    /// # Safety
    /// The condition of [`RecvQueue::retire_index`]: the index comes from a completion of this queue, and is given here
    /// once.
    pub unsafe fn retire_index(&mut self, wqe_counter: u16) -> Result<WrId, RetireError> {
        // SAFETY: the caller promises the index of a completion of this queue, given here once.
        unsafe {
            match self {
                Self::None => Err(nothing(wqe_counter)),
                Self::Own(queue) => queue.retire_index(wqe_counter),
                Self::Shared(queue) => queue.retire_index(wqe_counter),
            }
        }
    }

    /// How many receives are posted and not retired.
    #[must_use]
    pub fn posted(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Own(queue) => queue.posted(),
            Self::Shared(queue) => queue.posted(),
        }
    }

    /// How many receives can be posted.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::Own(queue) => queue.capacity(),
            Self::Shared(queue) => queue.capacity(),
        }
    }
}

fn nothing(wqe_counter: u16) -> RetireError {
    RetireError::NotOutstanding { wqe_counter, oldest: 0, next: 0 }
}
