//! Removes the completions of a destroyed or reset queue pair from the ring.
use super::completion_queue::CompletionQueue;
use super::compressed::{Compression, Expand, RingAt};
use super::cqe::view::{Cqe, CqeView};
use super::layout::CqeFormat;
use super::mode::{PollMode, Publish};
use super::opcode::Side;
use super::source::Source;
use crate::arch;
use crate::types::{CqCi, Qpn};

/// Which completions to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those with this number: of a queue pair, or of a send queue that is no queue pair's.
    Number(Qpn),
    /// Completions of send requests with this number. Receives of frames may carry the same number as their flow tag.
    Sends(Qpn),
    /// Completions of receives, with any number: for a receive queue of frames, whose completions carry flow tags.
    Receives,
}

impl From<Qpn> for Whose {
    fn from(number: Qpn) -> Self {
        Self::Number(number)
    }
}

impl Whose {
    pub(super) fn covers<S: Source>(self, cqe: &CqeView<S>) -> bool {
        match self {
            Self::Number(number) => cqe.qpn() == number,
            // Completions that queues of this side take.
            Self::Sends(number) => cqe.qpn() == number && cqe.is_of_side(Side::Requester),
            Self::Receives => cqe.is_of_side(Side::Responder),
        }
    }
}

impl<M: PollMode> CompletionQueue<M> {
    /// Whether the queue holds unpolled completions of the queue pair with that number, or of receives.
    ///
    /// For code that makes a queue that will complete here: completions left by an earlier queue with the same number
    /// would pass for those of the new one.
    #[must_use]
    pub fn holds(&self, whose: impl Into<Whose>) -> bool {
        let (whose, compression) = (whose.into(), M::Compression::COMPRESSION);
        let (ring, next) = (&self.ring, self.told());
        let cqe_cnt = ring.cqe_cnt();
        let mut n = 0;
        while n < cqe_cnt {
            let index = CqCi::truncate(next).add(n);
            let place = ring.place(index);
            let tail = match compression {
                Compression::None | Compression::Basic => {
                    Some(ring.tail_at(index)).filter(|tail| tail.is_software_owned())
                }
                // The bits of the index above the ring's size are the low bits of the pass number.
                Compression::Enhanced => ring.tail_of_passes(place, (next / cqe_cnt, n + next % cqe_cnt)),
            };
            let Some(tail) = tail else { return false };
            Self::barrier();
            let compressed = tail.op_own().format() == CqeFormat::Compressed;
            let enhanced = compression == Compression::Enhanced;
            // A title's format says nothing about its completions: they belong to its queue and its side.
            let plain = if compressed { tail.without_format() } else { tail };
            // SAFETY: in this ring. The CQE is software's until an index past it is published.
            let cqe = CqeView::new(plain, self.id(), unsafe { ring.fields(place) });
            // In the enhanced layout, compressed completions belong to the queue pair of the CQE before them. If that
            // CQE is polled, they may belong to any.
            if if compressed && enhanced { n == 0 } else { whose.covers(&cqe) } {
                return true;
            }
            n += match compression {
                Compression::Basic if compressed => cqe.byte_len().clamp(1, cqe_cnt),
                Compression::Enhanced if compressed => u32::from(tail.op_own().opcode()) + 1,
                _ => 1,
            };
        }
        false
    }

    /// Removes the unpolled completions of a queue pair, named by its number. Returns how many there were. Completions
    /// of received frames carry flow tags: [`Whose::Receives`] removes these, and [`Whose::Sends`] leaves them.
    ///
    /// Call it after the queue pair has been reset or destroyed, and before a queue pair with the same number posts.
    /// The device reuses numbers. Completions left in the ring by the old queue pair would pass for those of the new
    /// one. Verbs does the same for its own completion queues (rdma-core `providers/mlx5/cq.c`, `__mlx5_cq_clean`), but
    /// not for one that mlx5dv has handed out.
    ///
    /// For a queue pair that receives from a shared receive queue, use [`forget_with`](Self::forget_with) and give
    /// the removed completions to that queue. Otherwise their WQEs never become free again.
    ///
    /// If the queue pair still works, the removed completions are lost; later ones are polled as usual. In the
    /// [enhanced layout](super::compressed::ENHANCED), completions compressed with a removed one are lost as well, and
    /// polling reports that.
    pub fn forget(&mut self, whose: impl Into<Whose>) -> usize {
        self.forget_with(whose, |_| ())
    }

    /// Like [`forget`](Self::forget), but lends each completion to `f` before removing it, the newest first: for
    /// [`SharedRecvQueue::complete`](crate::SharedRecvQueue::complete), which takes completions in any order.
    ///
    /// If `f` panics, the rest is removed without being lent.
    pub fn forget_with<F: FnMut(Cqe<'_>)>(&mut self, whose: impl Into<Whose>, f: F) -> usize {
        let whose = whose.into();
        // How many the device has written. It may write more meanwhile, but none of this queue pair.
        self.expander.flatten(RingAt { ring: &self.ring, next: self.next }, Self::barrier);
        let owned = |n| self.expander.owns(RingAt { ring: &self.ring, next: self.next }, self.later(n));
        let written = (0..self.ring.cqe_cnt()).take_while(|&n| owned(n));
        let left = written.count() as u32;
        let mut sweep = Sweep { left, removed: 0, end: self.later(left), newest_removed: false, whose, queue: self };
        sweep.run(f);
        sweep.removed as usize
    }

    /// The index `n` CQEs after the next one to come.
    fn later(&self, n: u32) -> CqCi {
        self.consumer_index().add(n)
    }
}

/// A [`CompletionQueue::forget_with`] under way. It goes from the newest CQE to the oldest. Each CQE that stays moves
/// up by as many places as have been removed. Dropping this value finishes the work, also after a panic.
struct Sweep<'a, M: PollMode> {
    /// CQEs not looked at yet.
    left: u32,
    removed: u32,
    /// The index of the CQE that the device writes next.
    end: CqCi,
    /// The last one written is removed.
    newest_removed: bool,
    whose: Whose,
    queue: &'a mut CompletionQueue<M>,
}

impl<M: PollMode> Sweep<'_, M> {
    fn run<F: FnMut(Cqe<'_>)>(&mut self, mut f: F) {
        while let Some(n) = self.left.checked_sub(1) {
            self.left = n;
            let (index, ring) = (self.queue.later(n), &self.queue.ring);
            let tail = ring.tail_at(index);
            CompletionQueue::<M>::barrier();
            // SAFETY: in this ring. The CQE is software's until an index past it is published, when this is dropped.
            let cqe = CqeView::new(tail, self.queue.id(), unsafe { ring.fields(ring.place(index)) });
            if self.whose.covers(&cqe) {
                self.newest_removed |= index.add(1) == self.end;
                self.removed += 1;
                f(cqe);
            } else if self.removed != 0 {
                let to = self.queue.later(n + self.removed);
                // SAFETY: both are software's, and no view of either lives.
                unsafe { ring.copy_cqe(index, ring, to) };
                self.queue.expander.copied(RingAt { ring: &self.queue.ring, next: self.queue.next }, to);
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
        let next = self.queue.later(self.removed);
        let barred = self.newest_removed.then_some(self.end);
        self.queue.expander.skip(RingAt { ring: &self.queue.ring, next: self.queue.next }, next, barred);
        self.queue.next = self.queue.ring.begin_at(next);
        if M::PUBLISH != Publish::Never {
            // Moved CQEs must be in their new places before the device may write to the old ones.
            arch::to_device();
            self.queue.publish();
        }
    }
}
