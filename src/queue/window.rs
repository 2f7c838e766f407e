//! How much of its ring a send queue uses at a time.
use core::fmt;
use core::hint::cold_path;

use super::parts::WqeRecord;
use super::send::SendQueue;
use super::send_error::PostError;
use super::slot::Index;
use crate::db::Register;
use crate::transport::Transport;
use crate::types::{SqPi, Wqebbs, WrId};

/// An invalid window. The queue keeps the one it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WindowError {
    /// The window is larger than the ring.
    LargerThanRing {
        /// WQEBBs of the window asked for.
        window: Wqebbs,
        /// WQEBBs of the ring.
        ring: Wqebbs,
    },
    /// More is outstanding already.
    Outstanding {
        /// WQEBBs of the window asked for.
        window: Wqebbs,
        /// WQEBBs outstanding.
        outstanding: Wqebbs,
    },
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LargerThanRing { window, ring } => {
                write!(f, "a window of {} WQEBBs, but the whole ring has {}", window.0, ring.0)
            }
            Self::Outstanding { window, outstanding } => {
                write!(f, "a window of {} WQEBBs while {} are outstanding", window.0, outstanding.0)
            }
        }
    }
}

impl core::error::Error for WindowError {}

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// WQEBBs that may be outstanding at a time: posting beyond is [`PostError::Full`]. Zero: the queue takes nothing.
    #[inline]
    #[must_use]
    pub const fn window(&self) -> Wqebbs {
        // At most 2^15, the largest ring.
        Wqebbs(self.window as u16)
    }

    /// Bounds the WQEBBs that may be outstanding at a time: the ring, or less. A queue made of parts begins with its
    /// ring.
    ///
    /// The bound costs posting nothing: the queue compares with the end of its window in place of the end of the ring.
    ///
    /// - A request of `k` WQEBBs takes `k` of the window. So at most as many *requests* are outstanding as the window
    ///   has WQEBBs. No more completions than that can come: each request completes at most once. Unsignalled requests
    ///   complete as well when the queue pair goes to the error state.
    /// - With a window of zero, [`PostError::NotReadyToSend`] refuses every request. For as long as the queue pair is
    ///   not in RTS, a doorbell must not be rung (libmlx5 refuses such requests: rdma-core `providers/mlx5/verbs.c`,
    ///   `set_qp_operational_state`). The queues of `verbs` are opened by the call that moves them to RTS. This call
    ///   does not look at the state: a queue that you open earlier takes requests, which the device may ignore, or fail
    ///   with the queue pair.
    ///
    /// # Errors
    /// The window is larger than the ring, or smaller than the outstanding WQEBBs.
    pub fn set_window(&mut self, window: Wqebbs) -> Result<(), WindowError> {
        let (ring, outstanding) = (self.capacity(), self.pi.since(self.oldest()));
        if window > ring {
            return Err(WindowError::LargerThanRing { window, ring });
        }
        if window < outstanding {
            return Err(WindowError::Outstanding { window, outstanding });
        }
        self.end = self.oldest().add(window);
        self.window = u32::from(window.0);
        Ok(())
    }

    /// Starts over at index 0: nothing outstanding, a window of zero, a doorbell record of zero. Outstanding requests
    /// and their tags are forgotten.
    ///
    /// # Safety
    /// The queue pair is in RESET, so that the device will not look at the ring's contents. CQEs of it that were not
    /// polled must be [forgotten](crate::cq::CompletionQueue::forget): their indices would mean requests that are
    /// posted from here on.
    pub unsafe fn reset(&mut self) {
        for slot in 0..self.capacity().0 {
            let record = self.record(self.slot(Index::new(SqPi(slot))));
            // SAFETY: one of the shadow.
            unsafe { record.write(WqeRecord { wr_id: WrId(0), wqebbs: 0 }) };
        }
        (self.pi, self.end, self.window) = (Index::new(SqPi(0)), Index::new(SqPi(0)), 0);
        // SAFETY: nothing is posted, and the device takes nothing in this state.
        unsafe { self.db.store(0) };
    }

    /// Whether the doorbell record still has the value that this queue has stored there.
    #[cfg(feature = "verbs")]
    pub(crate) fn is_recorded(&self) -> bool {
        self.db.load() == self.pi().0
    }

    /// The oldest WQEBB outstanding; the one to be posted next, if none is.
    #[inline(always)]
    pub(super) const fn oldest(&self) -> Index {
        self.end.sub(self.window())
    }

    /// The oldest request outstanding: its index, and its tag.
    #[inline]
    pub(super) fn oldest_request(&self) -> Option<(SqPi, WrId)> {
        let oldest = self.oldest();
        if oldest == self.pi {
            return None;
        }
        // SAFETY: the slot is one of the shadow, all of which are written.
        let record = unsafe { self.record(self.slot(oldest)).read() };
        Some((oldest.get(), record.wr_id))
    }

    /// Whether one WQEBB can be put at `pi`. Without a subtraction: it cannot only where the window ends.
    #[inline(always)]
    pub(super) fn check_room_for_one(&self, pi: Index) -> Result<(), PostError> {
        if pi != self.end {
            return Ok(());
        }
        cold_path();
        // In line: where nothing is called, nothing is saved for a call.
        Err(if self.window == 0 {
            PostError::NotReadyToSend
        } else {
            PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }
        })
    }

    /// Whether so many WQEBBs can be put at `pi`.
    #[inline(always)]
    pub(super) fn check_room(&self, pi: Index, wqebbs: Wqebbs) -> Result<(), PostError> {
        let free = self.free_from(pi);
        if wqebbs <= free { Ok(()) } else { Err(PostError::refused(wqebbs, free, self.window(), self.capacity())) }
    }
}
