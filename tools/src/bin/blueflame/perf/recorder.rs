//! The record of a thread: how many messages in which time, how long each took, and the same of each interval.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use common::{Failure, Latencies};

use super::plan::{Limit, Plan};

/// Messages in one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) messages: u64,
    /// The times of the first measured message and of the last.
    pub(super) span: Option<(Instant, Instant)>,
}

impl Flow {
    fn count(&mut self, messages: u64, from: Instant, now: Instant) {
        self.messages += messages;
        let begin = self.span.map_or(from, |(begin, _)| begin);
        self.span = Some((begin, now));
    }

    /// Adds the messages of another thread.
    pub(super) fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.span = match (self.span, other.span) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, other) => one.or(other),
        };
    }

    /// How long they took.
    pub(super) fn time(&self) -> Duration {
        self.span.map_or(Duration::ZERO, |(begin, end)| end - begin)
    }
}

/// The messages of a thread in an interval, measured or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    pub(super) thread: usize,
    /// The interval's number, from the start of the run.
    pub(super) interval: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) times: Latencies,
}

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) sent: Flow,
    pub(super) received: Flow,
    /// Times since the post of a message.
    pub(super) times: Latencies,
    /// From when it should have been posted, if there is a rate.
    pub(super) corrected: Latencies,
    /// Messages sent and received, measured or not.
    pub(super) all_sent: u64,
    pub(super) all_received: u64,
    /// The CPU time of posting, if the rate is in question.
    pub(super) effort: common::rate::Effort,
}

impl Record {
    /// Adds that of another thread.
    pub(super) fn add(&mut self, other: &Self) {
        self.sent.add(&other.sent);
        self.received.add(&other.received);
        self.times.add(&other.times);
        self.corrected.add(&other.corrected);
        self.all_sent += other.all_sent;
        self.all_received += other.all_received;
        self.effort.add(&other.effort);
    }
}

/// Keeps the record.
pub(super) struct Recorder<'a> {
    pub(super) record: Record,
    /// The part of the run that is measured, if it is limited by time.
    window: Option<(Instant, Instant)>,
    warm_up: u64,
    begin: Instant,
    every: Duration,
    sample: Sample,
    samples: &'a Sender<Sample>,
    is_divided: bool,
}

impl<'a> Recorder<'a> {
    /// Begins a run of a thread now. Times of messages there and back are divided by two.
    pub(super) fn new(
        plan: &Plan,
        (thread, every): (usize, Duration),
        samples: &'a Sender<Sample>,
        is_divided: bool,
    ) -> Self {
        let begin = Instant::now();
        let window = match plan.limit {
            Limit::Time(time) => Some((begin + plan.margin, begin + time - plan.margin)),
            Limit::Messages(_) => None,
        };
        Self {
            record: Record::default(),
            window,
            warm_up: plan.warm_up,
            begin,
            every,
            sample: Sample { thread, ..Sample::default() },
            samples,
            is_divided,
        }
    }

    /// When the run began.
    pub(super) const fn begin(&self) -> Instant {
        self.begin
    }

    /// Whether what happens now is measured; `number` is that of the message on its queue.
    fn is_measured(&self, number: u64, now: Instant) -> bool {
        match self.window {
            Some((from, until)) => (from..until).contains(&now),
            None => number > self.warm_up,
        }
    }

    /// Messages have been sent: that of this number on its queue, and `others` before it. Returns whether they count.
    /// It was posted then.
    #[inline]
    pub(super) fn count_sent(&mut self, number: u64, others: u64, posted: Instant, now: Instant) -> bool {
        self.record.all_sent += 1 + others;
        self.turn(now);
        self.sample.sent += 1 + others;
        if !self.is_measured(number, now) {
            return false;
        }
        // The others may belong to the warm-up.
        let counted = match self.window {
            Some(_) => 1 + others,
            None => (1 + others).min(number - self.warm_up),
        };
        self.record.sent.count(counted, self.window.map_or(posted, |(from, _)| from), now);
        true
    }

    /// [Counts a sent message](Self::count_sent), and records its time. It should have been posted at `intended`.
    #[inline]
    pub(super) fn sent(&mut self, number: u64, others: u64, intended: Option<Instant>, posted: Instant, now: Instant) {
        let is_measured = self.count_sent(number, others, posted, now);
        let time = (now - posted) / if self.is_divided { 2 } else { 1 };
        let seen = intended.map_or(time, |intended| time + posted.saturating_duration_since(intended));
        self.sample.times.record(seen);
        if is_measured {
            self.record.times.record(time);
        }
        if is_measured && intended.is_some() {
            self.record.corrected.record(seen);
        }
    }

    /// Counts `count` received messages; `number` is the last one's number on its queue.
    #[inline]
    pub(super) fn received(&mut self, number: u64, count: u64, now: Instant) {
        self.record.all_received += count;
        self.turn(now);
        self.sample.received += count;
        if self.is_measured(number, now) {
            // The first ones open the time, and do not count.
            let counted = if self.record.received.span.is_some() { count } else { 0 };
            self.record.received.count(counted, now, now);
        }
    }

    /// Sends the sample, if its interval is over.
    #[inline]
    fn turn(&mut self, now: Instant) {
        if now.saturating_duration_since(self.begin) >= self.every * (self.sample.interval as u32 + 1) {
            self.next(now);
        }
    }

    #[cold]
    fn next(&mut self, now: Instant) {
        let interval = (now - self.begin).as_nanos() / self.every.as_nanos().max(1);
        let sample = Sample { interval: interval as u64, thread: self.sample.thread, ..Sample::default() };
        // Nobody listens if the run has failed.
        let _ = self.samples.send(std::mem::replace(&mut self.sample, sample));
    }

    /// The record, once the run is over.
    pub(super) fn finish(self) -> Record {
        let _ = self.samples.send(self.sample);
        self.record
    }
}

/// When messages should go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    begin: Instant,
    /// Nanoseconds from one message to the next.
    period: f64,
}

impl Pace {
    /// A pace of `rate` messages a second from now on, if there is a rate.
    pub(super) fn new(rate: Option<f64>, begin: Instant) -> Option<Self> {
        rate.map(|rate| Self { begin, period: 1e9 / rate })
    }

    /// When the message of this number, from 0, should go.
    pub(super) fn at(&self, number: u64) -> Instant {
        self.begin + Duration::from_nanos((number as f64 * self.period) as u64)
    }

    /// How many messages should have gone.
    pub(super) fn due(&self, now: Instant) -> u64 {
        (now.saturating_duration_since(self.begin).as_nanos() as f64 / self.period) as u64 + 1
    }
}

/// A wait that is too long.
pub(super) struct Patience(Instant, Duration);

impl Patience {
    /// From now on.
    pub(super) fn new(time: Duration) -> Self {
        Self(Instant::now() + time, time)
    }

    /// # Errors
    /// The time is over.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if Instant::now() < self.0 { Ok(()) } else { Err(Failure::Silence(self.1)) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::perf::plan::tests::plan;
    use crate::perf::plan::{Figure, Service, Verb};

    const US: Duration = Duration::from_micros(1);

    #[test]
    fn late_messages_count_from_when_they_should_have_gone() {
        let (samples, taken) = mpsc::channel();
        let plan = plan(Verb::Send, Figure::Bw, Service::Rc);
        let mut recorder = Recorder::new(&plan, (0, Duration::from_secs(1)), &samples, false);
        let begin = recorder.begin();
        let pace = Pace::new(Some(100_000.0), begin).expect("a rate");
        // The sender stalls for 1 ms before the second message, which then takes as long as the others.
        for (number, posted) in [(1_u64, 0_u32), (2, 1010), (3, 1012)] {
            let posted = begin + US * posted;
            recorder.sent(number, 0, Some(pace.at(number - 1)), posted, posted + 2 * US);
        }
        let record = recorder.finish();
        assert_eq!((record.times.percentiles().max, record.sent.messages), (2.0, 3));
        let corrected = record.corrected.percentiles();
        assert!((corrected.max / 1002.0 - 1.0).abs() < 0.002, "{corrected}");
        assert!((corrected.p50 / 994.0 - 1.0).abs() < 0.002, "{corrected}");
        assert_eq!(taken.try_iter().map(|sample| sample.sent).sum::<u64>(), 3);
    }

    #[test]
    fn warm_up_and_margins_do_not_count() {
        let (samples, _taken) = mpsc::channel();
        let warm = Plan { warm_up: 10, ..plan(Verb::Write, Figure::Bw, Service::Rc) };
        let mut recorder = Recorder::new(&warm, (0, Duration::from_secs(1)), &samples, false);
        let at = |us: u32| recorder.begin() + US * us;
        let times = [at(0), at(20), at(40)];
        recorder.sent(8, 7, None, times[0], times[1]);
        // Of these eight, six come after the warm-up.
        recorder.sent(16, 7, None, times[1], times[2]);
        let record = recorder.finish();
        assert_eq!((record.sent.messages, record.all_sent), (6, 16));
        assert_eq!(record.sent.time(), 20 * US);
        let second = Duration::from_secs(1);
        let timed = Plan { limit: Limit::Time(10 * second), margin: second, ..warm };
        let mut recorder = Recorder::new(&timed, (0, second), &samples, true);
        let begin = recorder.begin();
        for half in [1_u32, 3, 17, 19] {
            let now = begin + second / 2 * half;
            recorder.sent(1, 0, None, now - 2 * US, now);
        }
        let record = recorder.finish();
        assert_eq!((record.sent.messages, record.all_sent), (2, 4));
        // Half of the way there and back.
        assert_eq!(record.times.percentiles().max, 1.0);
    }
}
