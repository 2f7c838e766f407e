//! The outcome, for people and for scripts.

use common::{Failure, Latencies, Percentiles, ReportOptions, Role};
use serde::Serialize;

use crate::Options;

/// The outcome.
pub(crate) struct Report {
    role: &'static str,
    size: u32,
    iters: u32,
    events: bool,
    pub(crate) bytes_verified: u64,
    pub(crate) elapsed: f64,
    /// From posting a message to the arrival of the answer.
    pub(crate) round_trips: Latencies,
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

impl Report {
    pub(crate) fn new(options: &Options, role: Role) -> Self {
        Self {
            role: role.name(),
            size: options.size,
            iters: options.iters,
            events: options.events,
            bytes_verified: 0,
            elapsed: 0.0,
            round_trips: Latencies::default(),
        }
    }

    pub(crate) fn print(&self, options: &ReportOptions) -> Result<(), Failure> {
        let line = Line {
            role: self.role,
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
            let Line { role, messages, bytes_verified, seconds, round_trip_us, .. } = line;
            println!(
                "{role}: {messages} messages of {} bytes in {seconds:.2} s, {bytes_verified} bytes verified",
                self.size
            );
            println!("round trip in us: {round_trip_us}");
        }
        let title = format!("{}: round trips of {} bytes, {}", line.role, line.size, line.mode);
        self.round_trips.draw(&title, options)
    }
}
