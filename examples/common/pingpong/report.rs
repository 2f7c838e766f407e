//! The outcome, for people and for scripts.

use serde::Serialize;

use super::PingPongOptions;
use crate::{Failure, Latencies, Percentiles, ReportOptions, Role};

/// The outcome.
pub(super) struct Report {
    role: &'static str,
    /// The library that made the queues.
    queues: &'static str,
    size: u32,
    iters: u32,
    events: bool,
    pub(super) bytes_verified: u64,
    pub(super) elapsed: f64,
    /// From posting a message to the arrival of the answer.
    pub(super) round_trips: Latencies,
}

/// The output of `--json`, with times in microseconds.
#[derive(Serialize)]
struct Line {
    role: &'static str,
    queues: &'static str,
    mode: &'static str,
    size: u32,
    messages: u64,
    bytes_verified: u64,
    seconds: f64,
    round_trip_us: Percentiles,
}

impl Report {
    pub(super) fn new(options: &PingPongOptions, role: Role, queues: &'static str) -> Self {
        Self {
            role: role.name(),
            queues,
            size: options.size,
            iters: options.iters,
            events: options.events,
            bytes_verified: 0,
            elapsed: 0.0,
            round_trips: Latencies::default(),
        }
    }

    pub(super) fn print(&self, options: &ReportOptions) -> Result<(), Failure> {
        let line = Line {
            role: self.role,
            queues: self.queues,
            mode: if self.events { "events" } else { "poll" },
            size: self.size,
            messages: 2 * u64::from(self.iters),
            bytes_verified: self.bytes_verified,
            seconds: self.elapsed,
            round_trip_us: self.round_trips.percentiles(),
        };
        if options.json {
            println!("{}", serde_json::to_string(&line)?);
        } else {
            let Line { role, queues, messages, bytes_verified, seconds, round_trip_us, .. } = line;
            println!(
                "{role}, queues by {queues}: {messages} messages of {} bytes in {seconds:.2} s, {bytes_verified} \
                bytes verified",
                self.size
            );
            println!("round trip in us: {round_trip_us}");
        }
        let title = format!("{}: round trips of {} bytes, {}", line.role, line.size, line.mode);
        self.round_trips.draw(&title, options)
    }
}
