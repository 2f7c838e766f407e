//! Many messages on their way: bandwidth and rate, in one direction or in both.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use blueflame::transport::{PlainRecv, Transport};
use blueflame::verbs::VerbsTransport;
use common::Failure;

use super::lane::Lane;
use super::plan::{Figure, Limit, Plan};
use super::recorder::{Pace, Patience, Recorder};
use super::work::Work;

/// How long the device may take for a completion.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The job of a thread.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) plan: Plan,
    pub(super) size: usize,
    pub(super) sends: bool,
    pub(super) receives: bool,
    /// Whether it begins, where ends take turns.
    pub(super) begins: bool,
    /// Whether this end reports the times, where ends take turns.
    pub(super) is_timed: bool,
    /// Whether a message is counted, so that the count alone ends the run.
    pub(super) ends_by_count: bool,
}

impl Job {
    /// Messages of each queue, if they are limited.
    pub(super) const fn total(&self) -> Option<u64> {
        match self.plan.limit {
            Limit::Messages(messages) => Some(self.plan.warm_up + messages),
            Limit::Time(_) => None,
        }
    }

    /// When sending ends, if time is limited.
    pub(super) fn deadline(&self, begin: Instant) -> Option<Instant> {
        match self.plan.limit {
            Limit::Messages(_) => None,
            Limit::Time(time) => Some(begin + time),
        }
    }

    /// This thread's part of the rate.
    pub(super) fn pace(&self, begin: Instant) -> Option<Pace> {
        Pace::new(self.plan.rate.map(|rate| rate / self.plan.threads as f64), begin)
    }
}

/// Signs between the threads of a run.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// The peer has sent its last message, or is gone.
    pub(super) peer_done: AtomicBool,
    /// Threads that have sent their last message.
    pub(super) sent: AtomicUsize,
}

impl Signs {
    /// Whether the peer has sent its last message.
    #[inline]
    pub(super) fn peer_is_done(&self) -> bool {
        self.peer_done.load(Ordering::Acquire)
    }
}

/// How long a receiver has heard nothing since the peer's last message.
#[derive(Debug)]
pub(super) struct Silence {
    since: Instant,
}

impl Silence {
    /// After this time, no message is on its way.
    const LONG: Duration = Duration::from_millis(100);

    /// The peer may still send.
    pub(super) fn new() -> Self {
        Self { since: Instant::now() }
    }

    /// Whether there are no more messages, at a look for them.
    pub(super) fn is_long(&mut self, peer_is_done: bool, has_heard: bool, now: Instant) -> bool {
        if has_heard || !peer_is_done {
            self.since = now;
        }
        now - self.since > Self::LONG
    }
}

/// A queue, and the messages of it that ask for completions.
struct Sending<'a, T: VerbsTransport, W> {
    lane: &'a mut Lane<T, W>,
    /// Number, when it should have gone, and when it went.
    asked: VecDeque<(u64, Option<Instant>, Instant)>,
    counted: u64,
}

/// Runs the queues of a thread.
///
/// # Errors
/// A completion with an error, or none.
pub(super) fn run<T, W>(
    lanes: &mut [Lane<T, W>],
    job: &Job,
    recorder: &mut Recorder<'_>,
    signs: &Signs,
) -> Result<(), Failure>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    let expected = job.total().map(|total| total * lanes.len() as u64);
    let deadline = job.deadline(recorder.begin());
    let pace = job.pace(recorder.begin());
    let mut sending: Vec<_> =
        lanes.iter_mut().map(|lane| Sending { lane, asked: VecDeque::new(), counted: 0 }).collect();
    let (mut is_sending, mut posted) = (job.sends, 0);
    let mut silence = Silence::new();
    let mut patience = Patience::new(PATIENCE);
    loop {
        let now = Instant::now();
        let (mut moved, mut has_heard) = (0, false);
        for one in &mut sending {
            if is_sending {
                let due = pace.map_or(u64::MAX, |pace| pace.due(now).saturating_sub(posted));
                let ends = deadline.is_some_and(|deadline| now >= deadline);
                let count = one.post(job, due, pace.map(|pace| (pace, posted)), ends, recorder)?;
                posted += count;
                moved += count;
            }
            if job.sends {
                moved += one.poll(recorder)?;
            }
            if job.receives {
                let count = one.lane.poll_received()? as u64;
                if count > 0 {
                    (moved, has_heard) = (moved + count, true);
                    recorder.received(one.lane.received, count, Instant::now());
                }
            }
        }
        let is_silent = silence.is_long(signs.peer_is_done(), has_heard, now);
        if moved > 0 {
            patience = Patience::new(PATIENCE);
            continue;
        }
        let all_posted = match deadline {
            Some(deadline) => now >= deadline,
            None => sending.iter().all(|one| Some(one.lane.posted) == job.total()),
        };
        if is_sending && all_posted && sending.iter().all(|one| one.lane.outstanding() == 0) {
            is_sending = false;
            signs.sent.fetch_add(1, Ordering::Release);
        }
        let received = recorder.record.all_received;
        let over = !job.receives || job.ends_by_count && expected == Some(received) || is_silent;
        if !is_sending && over {
            return Ok(());
        }
        // A receiver waits for as long as its peer is there.
        if is_sending && pace.is_none() {
            patience.check()?;
        }
        thread::yield_now();
    }
}

impl<T, W> Sending<'_, T, W>
where
    T: VerbsTransport + Transport<RecvForm = PlainRecv>,
    W: Work<T>,
{
    /// Posts as many messages as there is room for, at most a list of them; how many.
    fn post(
        &mut self,
        job: &Job,
        due: u64,
        pace: Option<(Pace, u64)>,
        ends: bool,
        recorder: &mut Recorder<'_>,
    ) -> Result<u64, Failure> {
        let Plan { tx_depth, post_list, cq_mod, figure, .. } = job.plan;
        let (lane, total) = (&mut *self.lane, job.total());
        let room = u64::from(tx_depth) - lane.outstanding();
        let left = total.map_or(u64::MAX, |total| total - lane.posted);
        let list = u64::from(post_list).min(left);
        // The last message asks for a completion, so that it accounts for all messages before it.
        let is_silent = self.asked.back().map_or(lane.done, |asked| asked.0) < lane.posted;
        let count = match ends {
            true if room > 0 && is_silent => 1,
            true => 0,
            false if room >= list => list.min(due),
            false => 0,
        };
        if count == 0 {
            return Ok(0);
        }
        let first = lane.posted + 1;
        let signaled = |number: u64| number.is_multiple_of(u64::from(cq_mod)) || Some(number) == total || ends;
        let now = Instant::now();
        if figure == Figure::Rate {
            recorder.record.effort.of(|| {
                lane.post(count, signaled)?;
                Ok(count as usize)
            })?;
        } else {
            lane.post(count, signaled)?;
        }
        for number in (first..first + count).filter(|&number| signaled(number)) {
            let intended = pace.map(|(pace, posted)| pace.at(posted + number - first));
            self.asked.push_back((number, intended, now));
        }
        Ok(count)
    }

    /// Takes completions; how many messages have left.
    fn poll(&mut self, recorder: &mut Recorder<'_>) -> Result<u64, Failure> {
        let Self { lane, asked, counted } = self;
        let before = *counted;
        lane.poll_sent(|done| {
            while let Some((number, intended, posted)) = asked.pop_front_if(|asked| asked.0 <= done) {
                recorder.sent(number, number - *counted - 1, intended, posted, Instant::now());
                *counted = number;
            }
        })?;
        Ok(*counted - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_begins_with_the_last_sign_of_the_peer() {
        let mut silence = Silence::new();
        let begin = silence.since;
        let mut look =
            |at, peer_is_done, has_heard| silence.is_long(peer_is_done, has_heard, begin + Duration::from_millis(at));
        assert!(!look(5_000, false, false), "the peer has not sent yet");
        assert!(!look(5_010, true, false), "its messages may be on their way");
        assert!(!look(5_090, true, true));
        assert!(!look(5_190, true, false));
        assert!(look(5_191, true, false));
    }
}
