//! Completions of received frames, for a queue that takes them apart itself.
use super::completion_queue::{CompletionQueue, Walk};
use super::compressed::{Expand, MiniFrame, Minis, Part, RingAt, Run, Shared};
use super::cqe::view::{Cqe, CqeView};
use super::layout::Tail;
use super::mode::{PollMode, Publish};
use super::parts::RECORD_CI;

impl<M: PollMode> CompletionQueue<M> {
    /// Hands up to `max` whole CQEs to `take`, as [`poll_with`](Self::poll_with) does, until one is no success of a
    /// frame's receive, or `take` refuses it. That one stays the next. Returns how many were taken.
    #[inline(always)]
    pub(crate) fn take_frames(&mut self, max: usize, mut take: impl FnMut(Cqe<'_>) -> bool) -> usize {
        let mut walk = Walk { next: self.next, queue: self };
        let mut taken = 0;
        while taken < max {
            // SAFETY: in this ring.
            let tail = unsafe { walk.queue.ring.any_tail(walk.next) };
            if !tail.is_frame() {
                break;
            }
            Self::prefetch_and_barrier(&walk.queue.ring, walk.next);
            // SAFETY: in this ring. The CQE is software's until an index past it is published, after this.
            if !take(CqeView::new(tail, walk.queue.id, unsafe { walk.queue.ring.fields(walk.next) })) {
                break;
            }
            walk.advance();
            taken += 1;
            if const { matches!(M::PUBLISH, Publish::Each) } {
                // As in `walk`.
                walk.queue.store_record(RECORD_CI, walk.next.ci());
            }
        }
        walk.finish();
        taken
    }

    /// The completions of frames in strides that are next in one session, and their title. [`end_run`](Self::end_run)
    /// goes on. The caller chooses the lifetime: until the next completion is looked for.
    #[inline(always)]
    pub(crate) fn run<'a>(&mut self) -> Option<(Cqe<'a>, Run<'a>)> {
        let Self { next, ring, expander, id, .. } = self;
        let here = *next;
        let run = expander.run(RingAt { ring, next: here }, || Self::prefetch_and_barrier(ring, here))?;
        let (title, op_own) = run.title();
        Some((CqeView::new(Tail::expanded(0, op_own), *id, title), run))
    }

    /// The mini-CQEs from completion `n` of a run on, as far as they are in one array: `most` at most. It is the first
    /// one of the run, or of an array.
    #[inline(always)]
    pub(crate) fn minis<'a>(&self, run: Run<'a>, n: u32, most: u32) -> Minis<'a> {
        run.minis(n, most, || self.ring.ahead(self.next, n))
    }

    /// The completion of a mini-CQE, which one load has read.
    #[inline(always)]
    pub(crate) fn mini(mini: u64, shared: Shared) -> MiniFrame {
        M::Compression::mini(mini, shared)
    }

    /// Ends a run of which `done` completions were taken. The stride behind them is `stride`.
    #[inline(always)]
    pub(crate) fn end_run(&mut self, part: Part, done: u32, stride: u16) {
        let Self { next, ring, expander, .. } = self;
        if done == part.len() && expander.end_run((ring, next), part, stride) {
            self.publish_session();
        } else if done != 0 {
            self.leave_run(part.split(), done, stride);
        }
    }

    /// Ends a run after which the session goes on, or at which the ring ends.
    #[inline(never)]
    fn leave_run(&mut self, part: (u64, u8), done: u32, stride: u16) {
        let part = Part::join(part);
        let Self { next, ring, expander, .. } = self;
        expander.leave_run((ring, next), part, done, stride);
        if done == part.len() {
            self.publish_session();
        }
    }

    /// Tells the device the consumer index behind a session, in the mode that does so for each completion.
    #[inline(always)]
    fn publish_session(&mut self) {
        if const { matches!(M::PUBLISH, Publish::Each) } {
            self.store_record(RECORD_CI, self.next.ci());
        }
    }

    /// Whether no completion is there.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.expander.is_idle(RingAt { ring: &self.ring, next: self.next })
    }

    /// Tells the device the consumer index, in the mode that does so once per call.
    #[inline(always)]
    pub(crate) fn publish_call(&mut self) {
        if const { matches!(M::PUBLISH, Publish::Call) } {
            self.publish();
        }
    }
}
