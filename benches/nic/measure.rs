//! Measures each way of storing a doorbell: its cost, the time to its completion, and whether copies are taken.

use std::ptr::NonNull;
use std::time::{Duration, Instant};

use blueflame::arch;
use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use hdrhistogram::Histogram;

use super::clock::Clock;
use super::queue::{DEPTH, Failure, NopQueue};

/// NOPs whose doorbells are rung one after the other, and timed together: a doorbell is shorter than some clocks'
/// ticks.
pub(crate) const BURST: usize = DEPTH as usize / 8;
/// Single NOPs whose completion is timed, in a round.
const LATENCIES: u32 = 8;
/// A device that takes longer is not going to answer.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Copies by which to find out whether the device takes them.
pub(crate) const CHECKS: u32 = 64;
/// How long a copy's completion is waited for. A device completes a NOP in a few microseconds.
const CHECK_WAIT: Duration = Duration::from_micros(200);
/// Parts of a nanosecond that histograms count in.
const PARTS: f64 = 10.0;

/// A way to ring the register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The first 8 bytes of the WQE: the device fetches it from the ring.
    EightBytes,
    /// The WQE itself.
    Copy(CopyRoutine),
}

impl Way {
    pub(crate) fn name(self) -> String {
        match self {
            Self::EightBytes => "8 bytes".into(),
            Self::Copy(routine) => format!("copy {routine}"),
        }
    }

    /// Whether its stores become one 64-byte write on the bus only if the CPU combines them. A single store of 64 bytes
    /// may be one write on the bus with any memory type.
    pub(crate) fn needs_combining(self) -> bool {
        use CopyRoutine::{Avx, Neon, Sse, Words};
        matches!(self, Self::Copy(Words | Sse | Avx | Neon))
    }
}

/// The stores of a [`Way`].
trait Stores: Copy {
    /// Stores `words`, or the first of them, to the half that is due.
    ///
    /// # Safety
    /// The half belongs to a queue pair's register, is due, and has room for the stored words. `words` are a NOP that
    /// was put.
    unsafe fn store(self, half: NonNull<u64>, words: &[u64; 8]);
}

#[derive(Clone, Copy)]
struct EightBytes;

impl Stores for EightBytes {
    #[inline(always)]
    unsafe fn store(self, half: NonNull<u64>, words: &[u64; 8]) {
        // SAFETY: the caller promises a NOP that was put, and a due half with room for it, of a queue pair's register.
        unsafe { arch::mmio_write64(half.as_ptr(), words[0]) }
    }
}

#[derive(Clone, Copy)]
struct Block<C>(C);

impl<C: BlockCopy> Stores for Block<C> {
    #[inline(always)]
    unsafe fn store(self, half: NonNull<u64>, words: &[u64; 8]) {
        // SAFETY: the caller promises a NOP that was put, and a due half with room, aligned to 64 bytes at least.
        unsafe { self.0.copy(half.as_ptr(), words) }
    }
}

/// Nanoseconds of one thing, many times.
pub(crate) struct Samples(Histogram<u64>);

impl Samples {
    /// No values yet; a value longer than any wait here counts as the longest wait.
    fn new() -> Self {
        let longest = 2.0 * TIMEOUT.as_nanos() as f64 * PARTS;
        Self(Histogram::new_with_max(longest as u64, 3).expect("such a histogram can be had"))
    }

    fn add(&mut self, ns: f64) {
        self.0.saturating_record((ns * PARTS) as u64);
    }

    /// The value that `percent` of the samples do not exceed.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        self.0.value_at_percentile(percent) as f64 / PARTS
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }
}

/// The measurements of one way.
pub(crate) struct Found {
    pub(crate) way: Way,
    /// Record, fence, store, fence.
    pub(crate) two_fences: Samples,
    /// Record, fence, store.
    pub(crate) one_fence: Samples,
    /// The stores to the register alone.
    pub(crate) stores: Samples,
    /// From before the record to the CQE.
    pub(crate) latency: Samples,
    /// Copies, of [`CHECKS`], that the device executed in place of the WQE in the ring. `None` for a way that does not
    /// copy.
    pub(crate) taken: Option<u32>,
}

impl Found {
    fn new(way: Way) -> Self {
        let [two_fences, one_fence, stores, latency] = core::array::from_fn(|_| Samples::new());
        Self { way, two_fences, one_fence, stores, latency, taken: None }
    }
}

/// Measures all `ways` in turns until `time` is over, five times at least, and then checks which copies are taken.
pub(crate) fn measure(
    queue: &mut NopQueue,
    clock: &Clock,
    ways: &[Way],
    time: Duration,
) -> Result<Vec<Found>, Failure> {
    const LEAST_ROUNDS: u32 = 5;
    let mut all: Vec<Found> = ways.iter().map(|&way| Found::new(way)).collect();
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < LEAST_ROUNDS || begin.elapsed() < time {
        for found in &mut all {
            let way = found.way;
            way.visit(Round { queue, clock, found })?;
        }
        rounds += 1;
    }
    for found in all.iter_mut().filter(|found| found.way != Way::EightBytes) {
        found.taken = Some(found.way.visit(Check { queue })?);
    }
    Ok(all)
}

/// A job done by one way.
trait Job {
    type Output;
    fn run<S: Stores>(self, stores: S) -> Result<Self::Output, Failure>;
}

/// A job, to be done by the copy routine it is given.
struct ByCopy<J>(J);

impl<J: Job> CopyVisitor for ByCopy<J> {
    type Output = Result<J::Output, Failure>;

    fn run<C: BlockCopy>(self, copy: C) -> Self::Output {
        self.0.run(Block(copy))
    }
}

impl Way {
    fn visit<J: Job>(self, job: J) -> Result<J::Output, Failure> {
        match self {
            Self::EightBytes => job.run(EightBytes),
            Self::Copy(routine) => routine.dispatch(ByCopy(job))?,
        }
    }
}

/// Puts a burst of NOPs, of which the last asks for a completion. Returns the first one's index, and the words for the
/// register.
fn put_burst(queue: &mut NopQueue) -> (u16, [[u64; 8]; BURST]) {
    let first = queue.end();
    (first, core::array::from_fn(|n| queue.put(n + 1 == BURST, n + 1 == BURST)))
}

/// A round of timing.
struct Round<'a> {
    queue: &'a mut NopQueue,
    clock: &'a Clock,
    found: &'a mut Found,
}

impl Job for Round<'_> {
    type Output = ();

    fn run<S: Stores>(self, stores: S) -> Result<(), Failure> {
        let Self { queue, clock, found } = self;
        let per_doorbell = |ns: f64| ns / BURST as f64;

        let (first, burst) = put_burst(queue);
        found.two_fences.add(per_doorbell(clock.span(|| {
            for (n, words) in (1..).zip(&burst) {
                queue.publish(first.wrapping_add(n));
                arch::mmio_wc_start();
                // SAFETY: NOPs of this queue, to the half that is due.
                unsafe { stores.store(queue.half(), words) };
                arch::mmio_flush_writes();
                queue.alternate();
            }
        })));
        queue.wait(TIMEOUT)?;

        let (first, burst) = put_burst(queue);
        found.one_fence.add(per_doorbell(clock.span(|| {
            for (n, words) in (1..).zip(&burst) {
                queue.publish(first.wrapping_add(n));
                arch::mmio_wc_start();
                // SAFETY: NOPs of this queue, to the half that is due.
                unsafe { stores.store(queue.half(), words) };
                queue.alternate();
            }
        })));
        arch::mmio_flush_writes();
        queue.wait(TIMEOUT)?;

        let (first, burst) = put_burst(queue);
        // The record is ahead of the register then, as it is when one thread posts while the device works.
        queue.publish(first.wrapping_add(BURST as u16));
        arch::mmio_wc_start();
        found.stores.add(per_doorbell(clock.span(|| {
            for words in &burst {
                // SAFETY: NOPs of this queue, to the half that is due.
                unsafe { stores.store(queue.half(), words) };
                queue.alternate();
            }
        })));
        arch::mmio_flush_writes();
        queue.wait(TIMEOUT)?;

        for _ in 0..LATENCIES {
            let words = queue.put(true, true);
            let mut completed = Ok(());
            let ns = clock.span(|| {
                queue.publish(queue.end());
                arch::mmio_wc_start();
                // SAFETY: the NOP put last, to the half that is due.
                unsafe { stores.store(queue.half(), &words) };
                arch::mmio_flush_writes();
                completed = queue.wait(TIMEOUT);
            });
            completed?;
            found.latency.add(ns);
            queue.alternate();
        }
        Ok(())
    }
}

/// Counts the copies that the device takes, as Linux finds out whether write combining works
/// (`drivers/net/ethernet/mellanox/mlx5/core/wc.c`): only the copy asks for a completion, the same NOP in the ring does
/// not. A completion shows that the device executed the copy, which it does if the copy came in one piece. Otherwise
/// the device fetches the NOP from the ring, and no completion follows. The last NOP asks in both places, so that the
/// end is seen.
///
/// softhca executes the WQE in the ring, independent of the bytes that reached the register. In its strict mode it
/// reports a difference.
struct Check<'a> {
    queue: &'a mut NopQueue,
}

impl Job for Check<'_> {
    type Output = u32;

    fn run<S: Stores>(self, stores: S) -> Result<u32, Failure> {
        let queue = self.queue;
        let mut taken = 0;
        for n in 0..=CHECKS {
            let last = n == CHECKS;
            let words = queue.put(last, true);
            queue.publish(queue.end());
            arch::mmio_wc_start();
            // SAFETY: the NOP put last, which may ask for a completion or not, to the half that is due.
            unsafe { stores.store(queue.half(), &words) };
            arch::mmio_flush_writes();
            queue.alternate();
            if last {
                break;
            }
            if queue.completion(CHECK_WAIT)?.is_some() {
                taken += 1;
            }
        }
        // Completions that came late are before the last.
        loop {
            match queue.completion(TIMEOUT)? {
                Some(index) if index == queue.last() => return Ok(taken),
                Some(_) => taken += 1,
                None => return Err(Failure::Timeout(TIMEOUT)),
            }
        }
    }
}
