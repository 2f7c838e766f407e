//! The time series: a line for each interval of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::plan::Limit;
use super::quantiles::Quantiles;
use super::recorder::Sample;

/// An interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Line {
    /// The end of the interval, seconds from the start.
    pub(crate) seconds: f64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// Messages a second, of both directions.
    pub(crate) per_second: f64,
    /// Corrected, if there is a rate.
    pub(crate) us: Option<Quantiles>,
}

/// The intervals of all threads.
pub(super) struct Series {
    every: Duration,
    /// The interval that each thread is in.
    threads: Vec<u64>,
    open: BTreeMap<u64, Sample>,
    lines: Vec<Line>,
}

impl Series {
    /// None yet.
    pub(super) fn new(every: Duration, threads: usize) -> Self {
        Self { every, threads: vec![0; threads], open: BTreeMap::new(), lines: Vec::new() }
    }

    /// Takes a thread's sample, and returns the intervals that are over in all threads.
    pub(super) fn add(&mut self, sample: Sample) -> Vec<Line> {
        if let Some(thread) = self.threads.get_mut(sample.thread) {
            *thread = sample.interval + 1;
        }
        let all = self.open.entry(sample.interval).or_default();
        all.sent += sample.sent;
        all.received += sample.received;
        all.times.add(&sample.times);
        let over = self.threads.iter().copied().min().unwrap_or(0);
        let open = self.open.split_off(&over);
        let done = std::mem::replace(&mut self.open, open);
        self.close(done)
    }

    /// The rest, once all threads have ended.
    pub(super) fn finish(&mut self) -> Vec<Line> {
        let done = std::mem::take(&mut self.open);
        self.close(done)
    }

    fn close(&mut self, done: BTreeMap<u64, Sample>) -> Vec<Line> {
        let every = self.every.as_secs_f64();
        let line = |(interval, sample): (u64, Sample)| Line {
            seconds: (interval + 1) as f64 * every,
            sent: sample.sent,
            received: sample.received,
            per_second: (sample.sent + sample.received) as f64 / every,
            us: Quantiles::of(&sample.times),
        };
        // The end of a run may reach into an interval of which nothing is left.
        let lines: Vec<Line> = done.into_iter().map(line).filter(|line| line.per_second > 0.0).collect();
        self.lines.extend(lines.clone());
        lines
    }

    /// The lines of whole intervals: that in which a run ends is cut short, unless `limit` ends with it.
    pub(super) fn into_lines(self, limit: Limit) -> Vec<Line> {
        let mut lines = self.lines;
        match limit {
            Limit::Messages(_) => _ = lines.pop(),
            Limit::Time(time) => lines.retain(|line| line.seconds <= time.as_secs_f64() * 1.001),
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_over_when_all_threads_have_left_it() {
        let mut series = Series::new(Duration::from_millis(500), 2);
        let sample = |thread, interval, sent| Sample { thread, interval, sent, ..Sample::default() };
        assert!(series.add(sample(0, 0, 10)).is_empty());
        assert!(series.add(sample(0, 1, 20)).is_empty());
        // The second thread slept through the first interval.
        let lines = series.add(sample(1, 1, 5));
        let seen: Vec<_> = lines.iter().map(|line| (line.seconds, line.sent, line.per_second)).collect();
        assert_eq!(seen, [(0.5, 10, 20.0), (1.0, 25, 50.0)]);
        assert!(series.add(sample(0, 2, 1)).is_empty());
        assert_eq!(series.finish().len(), 1);
        assert_eq!(series.into_lines(Limit::Time(Duration::from_secs(1))).len(), 2);
    }
}
