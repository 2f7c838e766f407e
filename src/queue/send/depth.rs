//! How much of its ring a send queue uses at a time.
use crate::hint::cold_path;

use crate::db::Register;
use crate::queue::send::error::PostError;
use crate::queue::send::parts::WqeRecord;
use crate::queue::send::place::Index;
use crate::queue::send::queue::SendQueue;
use crate::setup::SetupError;
use crate::transport::Transport;
use crate::types::{SqPi, Wqebbs, WrId};

impl<T: Transport, R: Register> SendQueue<T, R> {
    /// WQEBBs that may be outstanding at a time: posting beyond is [`PostError::Full`]. Zero: the queue takes nothing.
    #[inline]
    #[must_use]
    pub const fn depth(&self) -> Wqebbs {
        // At most 2^15, the largest ring.
        Wqebbs(self.depth as u16)
    }

    /// Bounds the WQEBBs that may be outstanding at a time: the ring, or less. A queue made of parts begins with its
    /// ring.
    ///
    /// The bound costs posting nothing: the queue compares an index with the bound, not with the end of the ring.
    ///
    /// - A request of `k` WQEBBs takes `k` of the depth. So at most as many *requests* are outstanding as the depth
    ///   has WQEBBs. No more completions than that can come: each request completes at most once. Unsignalled requests
    ///   complete as well when the queue pair goes to the error state.
    /// - With a depth of zero, [`PostError::NotReadyToSend`] refuses every request. For as long as the queue pair is
    ///   not in RTS, a doorbell must not be rung (libmlx5 refuses such requests: rdma-core `providers/mlx5/verbs.c`,
    ///   `set_qp_operational_state`). The queues of `verbs` are opened by the call that moves them to RTS. This call
    ///   does not look at the state: a queue that you open earlier takes requests, which the device may ignore, or fail
    ///   with the queue pair.
    ///
    /// # Errors
    /// [`SetupError::OutOfRange`]: the depth is larger than the ring or the [limit](Self::limit_depth), or smaller than
    /// the outstanding WQEBBs. The queue keeps the depth that it has.
    pub fn set_depth(&mut self, depth: Wqebbs) -> Result<(), SetupError> {
        let value = depth.0.into();
        let (ring, most, outstanding) = (self.capacity().0, self.most.0, self.pi.since(self.oldest()).0);
        SetupError::check_range("depth in WQEBBs, limited by the ring", value, 0, ring.into())?;
        SetupError::check_range("depth in WQEBBs, limited by the completion queue", value, 0, most.into())?;
        SetupError::check_range(
            "depth in WQEBBs, limited by those outstanding",
            value,
            outstanding.into(),
            most.min(ring).into(),
        )?;
        self.end = self.oldest().add(depth);
        self.depth = u32::from(depth.0);
        Ok(())
    }

    /// From now on, [`set_depth`](Self::set_depth) refuses a depth of more than `most`. Later calls may lower the
    /// limit. The queues of `verbs` and DevX have one: the requests whose completions their completion queue has room
    /// for. The present depth stays.
    pub fn limit_depth(&mut self, most: Wqebbs) {
        self.most = most.min(self.most);
    }

    /// Starts over at index 0: nothing outstanding, a depth of zero, a doorbell record of zero. Outstanding requests
    /// and their identifiers are forgotten.
    ///
    /// # Safety
    /// The queue pair is in RESET, so that the device will not look at the ring's contents. CQEs of it that were not
    /// polled must be [forgotten](crate::cq::CompletionQueue::forget): their indices would mean requests that are
    /// posted from here on.
    pub unsafe fn reset(&mut self) {
        for place in 0..self.capacity().0 {
            let record = self.places.record(self.places.place(Index::new(SqPi(place))));
            // SAFETY: one of the shadow.
            unsafe { record.write(WqeRecord { wr_id: WrId(0), wqebbs: 0 }) };
        }
        (self.pi, self.end, self.depth) = (Index::new(SqPi(0)), Index::new(SqPi(0)), 0);
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
    pub(in crate::queue) const fn oldest(&self) -> Index {
        self.end.sub(self.depth())
    }

    /// The oldest request outstanding: its index, and its `wr_id`.
    #[inline]
    pub(in crate::queue) fn oldest_request(&self) -> Option<(SqPi, WrId)> {
        let oldest = self.oldest();
        if oldest == self.pi {
            return None;
        }
        // SAFETY: the place is one of the shadow, all of which are written.
        let record = unsafe { self.places.record(self.places.place(oldest)).read() };
        Some((oldest.get(), record.wr_id))
    }

    /// Whether one WQEBB can be put at `pi`. Without a subtraction: it cannot only where the depth ends.
    #[inline(always)]
    pub(in crate::queue) fn check_room_for_one(&self, pi: Index) -> Result<(), PostError> {
        if pi != self.end {
            return Ok(());
        }
        cold_path();
        // In line: where nothing is called, nothing is saved for a call.
        Err(if self.depth == 0 {
            PostError::NotReadyToSend
        } else {
            PostError::Full { needed: Wqebbs(1), free: Wqebbs(0) }
        })
    }

    /// Whether so many WQEBBs can be put at `pi`.
    #[inline(always)]
    pub(in crate::queue) fn check_room(&self, pi: Index, wqebbs: Wqebbs) -> Result<(), PostError> {
        let free = self.free_from(pi);
        if wqebbs <= free { Ok(()) } else { Err(PostError::refused(wqebbs, free, self.depth(), self.capacity())) }
    }
}
