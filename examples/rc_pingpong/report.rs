//! The outcome, for people and for scripts.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::{Failure, Options};

/// The longest round trip told from longer ones: an hour, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// The outcome.
pub(crate) struct Report {
    role: &'static str,
    size: u32,
    iters: u32,
    events: bool,
    pub(crate) bytes_verified: u64,
    pub(crate) elapsed: f64,
    /// Nanoseconds from posting a message to the arrival of the answer.
    round_trips: Histogram<u64>,
}

/// What `--json` prints: times in microseconds.
#[derive(Serialize)]
struct Line {
    role: &'static str,
    mode: &'static str,
    size: u32,
    messages: u64,
    bytes_verified: u64,
    seconds: f64,
    round_trip_us: Percentiles,
}

#[derive(Serialize)]
struct Percentiles {
    min: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Report {
    pub(crate) fn new(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            role: if options.host.is_some() { "client" } else { "server" },
            size: options.size,
            iters: options.iters,
            events: options.events,
            bytes_verified: 0,
            elapsed: 0.0,
            round_trips: Histogram::new_with_bounds(1, LONGEST, 3)?,
        })
    }

    pub(crate) fn round_trip(&mut self, time: Duration) {
        self.round_trips.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(LONGEST));
    }

    pub(crate) fn print(&self, json: bool) {
        let us = |nanos: u64| nanos as f64 / 1000.0;
        let at = |quantile| us(self.round_trips.value_at_quantile(quantile));
        let line = Line {
            role: self.role,
            mode: if self.events { "events" } else { "poll" },
            size: self.size,
            messages: 2 * u64::from(self.iters),
            bytes_verified: self.bytes_verified,
            seconds: self.elapsed,
            round_trip_us: Percentiles {
                min: us(self.round_trips.min()),
                p50: at(0.5),
                p90: at(0.9),
                p99: at(0.99),
                p999: at(0.999),
                max: us(self.round_trips.max()),
            },
        };
        if json {
            // Numbers and fixed words: there is nothing in it that could not be written.
            println!("{}", serde_json::to_string(&line).expect("plain data"));
            return;
        }
        let Line { messages, bytes_verified, seconds, round_trip_us: p, .. } = line;
        println!("{messages} messages of {} bytes in {seconds:.2} s, {bytes_verified} bytes verified", self.size);
        println!(
            "round trip in us: min {:.2}, p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.2}",
            p.min, p.p50, p.p90, p.p99, p.p999, p.max
        );
    }
}
