//! Receives a feed that two lines of multicast send, A and B, and takes each message from the line that has it first.
//!
//! ```text
//! market_data --interface eth0 -A 239.1.1.1:5001 -B 239.1.2.1:5001   # receive
//! market_data --interface eth0 --publish                             # send such a feed
//! market_data --local                                                # both
//! ```
//!
//! ```text
//!   line A  --- 1 --- 2 --- 3 --------- 5 ---->  \
//!                                                 one receive queue: 1 2 3 4 5, and how far B was behind A
//!   line B  ------- 1 --- 2 ------- 4 --- 5 --->  /
//! ```
//!
//! The device steers the frames of both groups to one queue, with a flow tag for each line, and stamps each with its
//! clock. A packet is MoldUDP64's: session, number of the first message, count. A message that neither line has is
//! reported.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use common::feed::{Arbiter, Verdict};
use common::{Failure, FeedOptions, Latencies, Lines, Percentiles, ReportOptions};
use serde::Serialize;

/// A multicast feed on two lines, by hardware timestamps.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    feed: FeedOptions,
    #[command(flatten)]
    report: ReportOptions,
}

/// The output with `--json`.
#[derive(Serialize)]
struct Report {
    messages: u64,
    /// Frames of each line.
    frames: [u64; 2],
    /// Messages that each line had first.
    first: [u64; 2],
    /// The numbers that neither line had, from and to.
    gaps: Vec<[u64; 2]>,
    /// How far the later line was behind, by the device's clock.
    behind_us: Percentiles,
    /// From the frame's hardware timestamp until this program has it, and how far that may be off.
    wire_to_program_us: Percentiles,
    error_us: f64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("market_data", options.feed.run(|ready| receive(&options, ready)))
}

/// Receives until the publisher ends the session, or for the time asked for.
fn receive(options: &Options, ready: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let (device, interface) = options.feed.nic.open()?;
    let pd = device.protection_domain()?;
    let mut lines = Lines::new(&device, &pd, &interface, &options.feed)?;
    ready()?;
    let (mut arbiter, mut frames) = (Arbiter::default(), [0; 2]);
    let (mut behind, mut delay, mut error) = (Latencies::default(), Latencies::default(), 0);
    while lines.is_open() {
        // ANCHOR: arbitrate
        lines.poll(|packet| {
            delay.record(common::since(packet.time.nanoseconds));
            error = error.max(packet.time.error);
            frames[packet.line] += 1;
            match arbiter.take(packet.line, packet.number, packet.time.nanoseconds) {
                Verdict::New => {} // Here a program would use the message.
                Verdict::Copy(after) => behind.record(Duration::from_nanos(after)),
                Verdict::Repeated => {}
            }
            Ok(())
        })?;
        // ANCHOR_END: arbitrate
    }
    let first = arbiter.first;
    let gaps = arbiter.finish(lines.end.unwrap_or(0));
    let report = Report {
        messages: first[0] + first[1],
        frames,
        first,
        gaps: gaps.iter().map(|gap| [*gap.start(), *gap.end()]).collect(),
        behind_us: behind.percentiles(),
        wire_to_program_us: delay.percentiles(),
        error_us: error as f64 / 1000.0,
    };
    if options.report.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        println!("{} messages; frames of A and B: {frames:?}; first by A and B: {first:?}", report.messages);
        println!("lost on both lines: {:?}", report.gaps);
        println!("the later line was behind, in us: {}", report.behind_us);
        println!("from the wire to the program, in us (+-{:.1}): {}", report.error_us, report.wire_to_program_us);
    }
    delay.draw("market data, from the wire to the program", &options.report)
}
