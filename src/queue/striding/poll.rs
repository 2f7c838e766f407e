//! Frames, polled and taken in one call. The next strides are in registers meanwhile. Mini-CQEs of a session are not
//! expanded: their title is checked once for all.
use crate::hint::cold_path;
use core::mem::ManuallyDrop;

use crate::cq::mode::PollMode;
use crate::cq::{CompletionQueue, Expand, Part, Shared};
use crate::queue::outcome::CompleteError;
use crate::queue::striding::filling::Filling;
use crate::queue::striding::frame::{FrameBytes, LentFrame};
use crate::queue::striding::queue::StridingRecvQueue;

/// Frames that are being taken. The queues go on behind them at the end, also after a panic.
struct Taking<'a, M: PollMode> {
    cq: &'a mut CompletionQueue<M>,
    /// The queue's next stride.
    next: &'a mut u32,
    filling: Filling,
    part: Part,
    done: u32,
}

impl<M: PollMode> Taking<'_, M> {
    #[inline(always)]
    fn end(&mut self) {
        *self.next = self.filling.next();
        self.cq.end_run(self.part, self.done, self.filling.next() as u16);
    }

    /// The end without a panic. Returns how many were taken.
    #[inline(always)]
    fn finish(self) -> usize {
        let mut this = ManuallyDrop::new(self);
        this.end();
        this.done as usize
    }
}

impl<M: PollMode> Drop for Taking<'_, M> {
    /// The closure has panicked: its completion is consumed.
    fn drop(&mut self) {
        self.end();
    }
}

impl StridingRecvQueue {
    /// Polls up to `max` completions of `cq`, this queue's completion queue, and hands their frames to `f`. Returns how
    /// many completions there were: some may have no frame. Call [`refill`](Self::refill) afterwards.
    ///
    /// It does the same as [`CompletionQueue::poll_with`] and [`receive`](Self::receive), and gives `f` no completion:
    /// use those for hashes and timestamps. Where the device compresses completions, this takes a fraction of their
    /// instructions.
    ///
    /// ```
    /// use blueflame::cq::compressed::ChecksumStride;
    /// use blueflame::cq::mode::Compressed;
    /// use blueflame::queue::striding::StridingRecvQueue;
    /// use blueflame::{CompleteError, CompletionQueue};
    ///
    /// type Cq = CompletionQueue<Compressed<ChecksumStride>>;
    ///
    /// fn count(cq: &mut Cq, queue: &mut StridingRecvQueue, bytes: &mut usize) -> Result<(), CompleteError<()>> {
    ///     queue.poll_with(cq, 64, |frame| *bytes += frame.len())?;
    ///     queue.refill();
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`CompleteError::Failed`]: the device reports an error, and the strides of the completion have no frame.
    /// [`CompleteError::Foreign`]: the completion is not of the strides that come next, or not of this queue. The
    /// completion is consumed. Frames before it were handed over, and later completions wait for the next call.
    #[doc(alias("ibv_poll_cq", "ibv_start_poll", "rte_eth_rx_burst"))]
    #[inline(always)]
    pub fn poll_with<M: PollMode, F: FnMut(LentFrame<'_>)>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        max: usize,
        mut f: F,
    ) -> Result<usize, CompleteError<()>> {
        if !self.completes_to(cq) {
            cold_path();
            return self.refuse(cq, max);
        }
        let mut polled = 0;
        while polled < max {
            let taken = if const { M::Compression::COMPRESSED } {
                self.take_run(cq, max - polled, &mut f)
            } else {
                self.take_whole(cq, max - polled, &mut f)
            };
            if taken != 0 {
                polled += taken;
                continue;
            }
            if cq.is_idle() {
                break;
            }
            cold_path();
            if let Some(bytes) = self.take_one(cq)? {
                // SAFETY: a frame of the open buffer, as `receive` has lent it. It is lent once more, and for the last
                // time.
                f(unsafe { LentFrame::new(bytes, (self.open, &mut self.kept)) });
            }
            polled += 1;
        }
        if polled != 0 {
            cq.publish_call();
        }
        Ok(polled)
    }

    /// Takes a completion of another queue's, if there is one: it is an error.
    #[cold]
    #[inline(never)]
    fn refuse<M: PollMode>(&mut self, cq: &mut CompletionQueue<M>, max: usize) -> Result<usize, CompleteError<()>> {
        if max == 0 || cq.is_idle() {
            return Ok(0);
        }
        self.take_one(cq).map(|_| 1)
    }

    /// Takes a completion of any kind: there is one. Returns the frame that is to be lent, if it has one.
    #[inline(never)]
    fn take_one<M: PollMode>(&mut self, cq: &mut CompletionQueue<M>) -> Result<Option<FrameBytes>, CompleteError<()>> {
        let mut taken = Ok(None);
        cq.poll_with(1, |cqe| {
            taken = match self.receive(&cqe) {
                Ok(Some(frame)) => Ok(Some(frame.into_bytes())),
                Ok(None) => cqe.check().map(|_| None).map_err(|error| CompleteError::Failed { done: (), error }),
                Err(error) => Err(CompleteError::Foreign(error)),
            };
        });
        taken
    }

    /// Takes whole CQEs that have frames in the next strides of the open WQE. Returns how many: 0 if the next
    /// completion has another kind.
    #[inline(always)]
    fn take_whole<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        max: usize,
        f: &mut impl FnMut(LentFrame<'_>),
    ) -> usize {
        let mut filling = self.filling();
        cq.take_frames(max, |cqe| {
            let (first, word) = (cqe.wqe_counter(), cqe.byte_len());
            if !(self.is_of_open(&cqe) && filling.is_next(first)) {
                return false;
            }
            let Some(start) = filling.fill::<true>(word) else { return false };
            self.next = filling.next();
            // SAFETY: `fill` has checked the strides, which are in the open buffer.
            f(unsafe {
                let bytes = FrameBytes::new(start, word, (cqe.flow_tag(), cqe.packet_info()), cqe.verdicts());
                LentFrame::new(bytes, (self.open, &mut self.kept))
            });
            true
        })
    }

    /// Takes completions that have frames in the next strides of the open WQE, and differ by their mini-CQEs alone.
    /// Returns how many: 0 if the next completion has another kind.
    #[inline(always)]
    fn take_run<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        max: usize,
        f: &mut impl FnMut(LentFrame<'_>),
    ) -> usize {
        let Some((title, run)) = cq.run() else { return 0 };
        let filling = self.filling();
        if !self.is_of_open(&title) || run.stride().is_some_and(|first| !filling.is_next(first)) {
            cold_path();
            return 0;
        }
        let shared = Shared::of(&title);
        let len = run.part().len();
        let len = if max < len as usize { max as u32 } else { len };
        let mut taking = Taking { cq, next: &mut self.next, filling, part: run.part(), done: 0 };
        'run: while taking.done < len {
            for mini in taking.cq.minis(run, taking.done, len - taking.done) {
                let mini = CompletionQueue::<M>::mini(mini, shared);
                if mini.first.is_some_and(|first| !taking.filling.is_next(first)) {
                    break 'run;
                }
                let start = if const { M::Compression::COUNTS_STRIDES } {
                    taking.filling.fill::<true>(mini.word)
                } else {
                    taking.filling.fill::<false>(mini.word)
                };
                let Some(start) = start else { break 'run };
                taking.done += 1;
                // SAFETY: as in `take_whole`.
                f(unsafe {
                    let bytes = FrameBytes::new(start, mini.word, (mini.flow_tag, mini.packet_info), mini.verdicts);
                    LentFrame::new(bytes, (self.open, &mut self.kept))
                });
            }
        }
        taking.finish()
    }
}
