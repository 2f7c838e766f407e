//! Frames, polled and taken in one call. Mini-CQEs of a session are not expanded: their title is checked once for all.
use crate::hint::cold_path;
use core::fmt;
use core::mem::ManuallyDrop;

use crate::cq::cqe::InQueue;
use crate::cq::mode::PollMode;
use crate::cq::{CompletionQueue, CqeError, CqeView, Expand, Shared};
use crate::queue::retire::RetireError;
use crate::queue::striding::frame::LentFrame;
use crate::queue::striding::queue::StridingRecvQueue;

/// Why [`StridingRecvQueue::poll_with`] ended early. The completion is consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramesError {
    /// The device reports an error: the strides of the completion have no frame.
    Completion(CqeError),
    /// The completion is not of the strides that come next, or not of this queue.
    Strides(RetireError),
}

impl fmt::Display for FramesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completion(error) => error.fmt(f),
            Self::Strides(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for FramesError {}

/// An error ends the call.
struct Ended;

/// A run under way. Its completions go back to the queue at the end, also after a panic.
struct Taking<'a, M: PollMode> {
    cq: &'a mut CompletionQueue<M>,
    done: u32,
    /// The stride behind the last one.
    stride: u16,
}

impl<M: PollMode> Taking<'_, M> {
    /// The end without a panic. Returns how many were taken.
    #[inline(always)]
    fn finish(self) -> usize {
        let mut this = ManuallyDrop::new(self);
        let (done, stride) = (this.done, this.stride);
        this.cq.end_run(done, stride);
        done as usize
    }
}

impl<M: PollMode> Drop for Taking<'_, M> {
    /// The closure has panicked: its completion is consumed.
    fn drop(&mut self) {
        self.cq.end_run(self.done, self.stride);
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
    /// use blueflame::queue::striding::{FramesError, StridingRecvQueue};
    /// use blueflame::CompletionQueue;
    ///
    /// type Cq = CompletionQueue<Compressed<ChecksumStride>>;
    ///
    /// fn count(cq: &mut Cq, queue: &mut StridingRecvQueue, bytes: &mut usize) -> Result<(), FramesError> {
    ///     queue.poll_with(cq, 64, |frame| *bytes += frame.len())?;
    ///     queue.refill();
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`FramesError`]. Frames before it were handed over, and later completions wait for the next call.
    #[doc(alias("ibv_poll_cq", "ibv_start_poll", "rte_eth_rx_burst"))]
    #[inline(always)]
    pub fn poll_with<M: PollMode, F: FnMut(LentFrame<'_>)>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        max: usize,
        mut f: F,
    ) -> Result<usize, FramesError> {
        if const { !M::Compression::COMPRESSED } {
            let mut error = None;
            let polled = cq.poll_with(max, |cqe| self.take(&cqe, &mut f, &mut error));
            return error.map_or(Ok(polled.unwrap_or(0)), Err);
        }
        let mut polled = 0;
        while polled < max {
            let taken = self.take_run(cq, max - polled, &mut f);
            if taken != 0 {
                polled += taken;
                continue;
            }
            cold_path();
            match self.take_one(cq, &mut f)? {
                0 => break,
                _ => polled += 1,
            }
        }
        if polled != 0 {
            cq.publish_call();
        }
        Ok(polled)
    }

    /// Takes one completion of any kind, if there is one.
    #[inline(never)]
    fn take_one<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        f: &mut impl FnMut(LentFrame<'_>),
    ) -> Result<usize, FramesError> {
        let mut error = None;
        let polled = cq.poll_with(1, |cqe| self.take(&cqe, f, &mut error));
        error.map_or(Ok(polled.unwrap_or(0)), Err)
    }

    /// Takes a completion. An error is left in its place: returning it would cost every completion some instructions.
    #[inline(always)]
    fn take(
        &mut self,
        cqe: &CqeView<InQueue<'_>>,
        f: &mut impl FnMut(LentFrame<'_>),
        error: &mut Option<FramesError>,
    ) -> Result<(), Ended> {
        match self.receive(cqe) {
            Ok(Some(frame)) => {
                f(frame);
                return Ok(());
            }
            Ok(None) => *error = cqe.check().err().map(FramesError::Completion),
            Err(why) => *error = Some(FramesError::Strides(why)),
        }
        cold_path();
        if error.is_some() { Err(Ended) } else { Ok(()) }
    }

    /// Takes completions that have frames of the open WQE, and differ by their mini-CQEs alone. Returns how many: 0 if
    /// the next completion is of another kind.
    #[inline(always)]
    fn take_run<M: PollMode>(
        &mut self,
        cq: &mut CompletionQueue<M>,
        max: usize,
        f: &mut impl FnMut(LentFrame<'_>),
    ) -> usize {
        let mut taking = Taking { cq, done: 0, stride: 0 };
        let Some((title, run)) = taking.cq.run() else { return taking.finish() };
        taking.stride = run.stride();
        if !self.is_usual(&title) {
            cold_path();
            return taking.finish();
        }
        let shared = Shared::of(&title);
        let len = if max < run.len() as usize { max as u32 } else { run.len() };
        while taking.done < len {
            // SAFETY: less than the length; the queue is used again when this value goes.
            let mini = unsafe { <M::Compression as Expand>::of_run(&run, taking.done, shared, taking.stride) };
            let Some((frame, behind)) = self.lend_mini(mini) else { break };
            (taking.done, taking.stride) = (taking.done + 1, behind);
            f(frame);
        }
        taking.finish()
    }
}
