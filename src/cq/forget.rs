//! Removes the completions of a destroyed or reset queue pair from the ring.
use super::completion_queue::CompletionQueue;
use super::mode::{PollMode, Publish};
use super::view::{Cqe, CqeView};
use super::{parts::CqParts, ring::Ring};
use crate::arch;
use crate::types::{CqCi, Qpn};

impl<M: PollMode> CompletionQueue<M> {
    /// Removes the completions of queue pair `qpn` that have not been polled. Returns how many there were.
    ///
    /// Call it when the queue pair has been reset or destroyed, and before a queue pair with the same number posts. The
    /// device gives numbers out again, and what the old queue pair left in the ring would pass for completions of the new
    /// one. Verbs does the same for its own completion queues (rdma-core `providers/mlx5/cq.c`, `__mlx5_cq_clean`), but not
    /// for one that mlx5dv has handed out.
    ///
    /// For a queue pair that receives from a shared receive queue use [`forget_with`](Self::forget_with) and retire what it
    /// removes: else those WQEs never become free again.
    ///
    /// If the queue pair still works, the completions removed are lost; those that it writes later are polled as usual.
    pub fn forget(&mut self, qpn: Qpn) -> usize {
        self.forget_with(qpn, |_| ())
    }

    /// As [`forget`](Self::forget), and lends each completion to `f` before it is removed, the newest first: for
    /// [`SharedRecvQueue::retire`](crate::SharedRecvQueue::retire), which takes completions in any order.
    ///
    /// If `f` panics, the rest is removed without being lent.
    pub fn forget_with<F: FnMut(Cqe<'_>)>(&mut self, qpn: Qpn, f: F) -> usize {
        // How many the device has written. It may write more meanwhile, but none of this queue pair.
        let written = (0..self.ring.cqe_cnt()).take_while(|&n| self.ring.tail_at(self.later(n)).is_software_owned());
        let mut sweep = Sweep { left: written.count() as u32, removed: 0, qpn, queue: self };
        sweep.run(f);
        sweep.removed as usize
    }

    /// The index `n` CQEs after the next one to come.
    fn later(&self, n: u32) -> CqCi {
        self.consumer_index().add(n)
    }
}

/// Whether the ring has completions of queue pair `qpn` that nobody has polled: from the consumer index in the record on.
///
/// For code that makes a queue pair while another thread may poll. A completion that is being polled may count or not.
///
/// # Safety
///
/// As for [`CompletionQueue::from_parts`], but the queue may be polled meanwhile, by this crate; the parts have passed its checks.
#[must_use]
pub unsafe fn holds(parts: &CqParts, qpn: Qpn) -> bool {
    // SAFETY: the record's first word; volatile: others write it, and it is no memory of Rust's.
    let ci = CqCi::truncate(u32::from_be(unsafe { parts.dbrec.read_volatile() }));
    // SAFETY: the caller's.
    let (ring, _) = unsafe { Ring::new(parts.buf, parts.cqe_cnt, parts.cqe_size as usize, ci) };
    let written = (0..parts.cqe_cnt).map(|n| ci.add(n)).take_while(|&index| ring.tail_at(index).is_software_owned());
    written.into_iter().any(|index| {
        // SAFETY: in this ring. What is read may be of a later CQE by now, and then it is of no queue pair that is not there yet.
        CqeView::new(ring.tail_at(index), unsafe { ring.fields(ring.place(index)) }).qpn() == qpn
    })
}

/// A [`CompletionQueue::forget_with`] under way: from the newest CQE to the oldest, each one that stays moves up by as many
/// places as have been removed. Dropping it does what is left, be it after a panic.
struct Sweep<'a, M: PollMode> {
    /// CQEs not looked at yet.
    left: u32,
    removed: u32,
    qpn: Qpn,
    queue: &'a mut CompletionQueue<M>,
}

impl<M: PollMode> Sweep<'_, M> {
    fn run<F: FnMut(Cqe<'_>)>(&mut self, mut f: F) {
        while let Some(n) = self.left.checked_sub(1) {
            self.left = n;
            let (index, ring) = (self.queue.later(n), &self.queue.ring);
            let tail = ring.tail_at(index);
            arch::from_device();
            // SAFETY: in this ring. The CQE is software's until an index past it is published, when this is dropped.
            let cqe = CqeView::new(tail, unsafe { ring.fields(ring.place(index)) });
            if cqe.qpn() == self.qpn {
                self.removed += 1;
                f(cqe);
            } else if self.removed != 0 {
                let to = self.queue.later(n + self.removed);
                // SAFETY: both are software's, and no view of either lives.
                unsafe { self.queue.ring.copy_cqe(index, to) };
            }
        }
    }
}

impl<M: PollMode> Drop for Sweep<'_, M> {
    fn drop(&mut self) {
        self.run(|_| ());
        if self.removed == 0 {
            return;
        }
        self.queue.next = self.queue.ring.begin_at(self.queue.later(self.removed));
        if M::PUBLISH != Publish::Never {
            // What moved must be in its new place before the device may write to the old one.
            arch::to_device();
            self.queue.publish();
        }
    }
}
