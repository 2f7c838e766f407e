//! The report of a run, for JSON, CSV, tables and pages.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use blueflame::verbs::{Device, Path};
use common::{Latencies, Role};
use serde::{Deserialize, Serialize};

use super::meeting::{Rates, Seen};
use super::plan::{Figure, Plan};
use super::quantiles::Quantiles;
use super::recorder::{Flow, Record};
use super::series::{Line, Series};

/// The format of the JSON file. A reader refuses others.
const FORMAT: &str = "blueflame-perf-1";

/// The time of a message, if messages take turns.
const CLOSED: &str = "each message goes when the last one is done: a stall delays the next messages, and its cost is \
    left out (coordinated omission). --rate tells the cost";
/// The time of a message, if many are on their way.
const FULL: &str = "a message goes when there is room: a stall delays the next messages, and its cost is left out \
    (coordinated omission). --rate tells the cost";
/// The time of a message, at a rate.
const OPEN: &str = "corrected: each time counts from when the message should have gone by --rate";

/// A run of one end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) format: String,
    pub(crate) version: String,
    pub(crate) title: String,
    pub(crate) role: String,
    pub(crate) peer: String,
    pub(crate) device: String,
    pub(crate) firmware: String,
    pub(crate) mtu: u32,
    pub(crate) plan: Plan,
    /// Whether the times leave stalls out.
    pub(crate) omission: String,
    pub(crate) results: Vec<Outcome>,
    /// The times of the last size.
    #[serde(skip)]
    times: Latencies,
}

/// A direction.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Stream {
    /// Messages that were measured.
    pub(crate) messages: u64,
    pub(crate) seconds: f64,
    pub(crate) messages_per_second: f64,
    pub(crate) bytes_per_second: f64,
}

/// The CPU time of posting.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Effort {
    pub(crate) ns_per_message: f64,
    /// By the time stamp counter; 0 on CPUs without one.
    pub(crate) cycles_per_message: f64,
}

/// A size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Bytes of a message.
    pub(crate) bytes: usize,
    pub(crate) sent: Option<Stream>,
    pub(crate) received: Option<Stream>,
    /// Messages of this end that the peer did not receive, if both are this tool.
    pub(crate) lost: Option<u64>,
    /// Times from the post of a message; of turns, half of the time there and back.
    pub(crate) us: Option<Quantiles>,
    /// Times from when the message should have gone, if there is a rate.
    pub(crate) corrected_us: Option<Quantiles>,
    pub(crate) posting: Option<Effort>,
    pub(crate) series: Vec<Line>,
}

impl Report {
    pub(super) fn new(plan: &Plan, role: Role, device: &Device, path: &Path, peer: String) -> Self {
        Self {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            title: plan.title(),
            role: role.name().into(),
            peer,
            device: device.name().into(),
            firmware: device.attr().fw_ver.clone(),
            mtu: path.mtu.bytes(),
            plan: plan.clone(),
            omission: match (plan.rate, plan.figure) {
                (Some(_), _) => OPEN,
                (None, Figure::Lat) => CLOSED,
                (None, Figure::Bw | Figure::Rate) => FULL,
            }
            .into(),
            results: Vec::new(),
            times: Latencies::default(),
        }
    }

    /// Adds a size.
    pub(super) fn add(&mut self, outcome: Outcome, record: Record) {
        self.results.push(outcome);
        self.times = if record.corrected.count() > 0 { record.corrected } else { record.times };
    }

    /// The times of the last size.
    pub(super) const fn times(&self) -> &Latencies {
        &self.times
    }

    /// The title of their histogram.
    pub(super) fn histogram_title(&self) -> String {
        let bytes = self.results.last().map_or(0, |outcome| outcome.bytes);
        format!("{} of {bytes} bytes", self.title)
    }

    /// Reads a file that `--json` has written.
    ///
    /// # Errors
    /// Another file.
    pub(crate) fn read(path: &std::path::Path) -> Result<Self> {
        let name = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(name)?;
        let report: Self = serde_json::from_str(&text).with_context(name)?;
        anyhow::ensure!(report.format == FORMAT, "{}: format {}, not {FORMAT}", name(), report.format);
        Ok(report)
    }

    /// A line for each size.
    pub(super) fn csv(&self) -> String {
        let mut text = "verb,figure,transport,bytes,direction,messages,seconds,messages_per_second,bytes_per_second,\
            lost,min_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,p99.999_us,max_us\n"
            .to_owned();
        let [verb, figure, service] = self.plan.names();
        for outcome in &self.results {
            for (direction, stream) in [("sent", &outcome.sent), ("received", &outcome.received)] {
                let Some(stream) = stream else { continue };
                let Stream { messages, seconds, messages_per_second, bytes_per_second } = stream;
                let lost = outcome.lost.filter(|_| direction == "sent").map_or(String::new(), |lost| lost.to_string());
                let _ = write!(
                    text,
                    "{verb},{figure},{service},{},{direction},{messages},{seconds},{messages_per_second},\
                    {bytes_per_second},{lost}",
                    outcome.bytes
                );
                let times = outcome.times().filter(|_| direction == "sent").map(|times| times.values());
                for at in 0..Quantiles::NAMES.len() {
                    let _ = match times {
                        Some(times) => write!(text, ",{}", times[at]),
                        None => write!(text, ","),
                    };
                }
                text.push('\n');
            }
        }
        text
    }
}

impl Outcome {
    /// The results of a size.
    pub(super) fn new(plan: &Plan, size: usize, record: &Record, series: Series, peer: Option<Seen>) -> Self {
        let stream = |flow: &Flow| {
            let seconds = flow.time().as_secs_f64();
            (flow.messages > 0 && seconds > 0.0).then(|| Stream {
                messages: flow.messages,
                seconds,
                messages_per_second: flow.messages as f64 / seconds,
                bytes_per_second: flow.messages as f64 * size as f64 / seconds,
            })
        };
        let effort = &record.effort;
        let posting = (plan.figure == Figure::Rate && effort.frames > 0).then(|| Effort {
            ns_per_message: effort.busy.as_nanos() as f64 / effort.frames as f64,
            cycles_per_message: effort.cycles as f64 / effort.frames as f64,
        });
        let lost = peer.filter(|_| plan.is_received()).map(|seen| record.all_sent.saturating_sub(seen.received));
        Self {
            bytes: size,
            sent: stream(&record.sent),
            received: stream(&record.received),
            lost: lost.filter(|_| record.all_sent > 0),
            us: Quantiles::of(&record.times),
            corrected_us: Quantiles::of(&record.corrected),
            posting,
            series: series.into_lines(plan.limit),
        }
    }

    /// The times that tell the most: corrected ones, if there are any.
    pub(crate) fn times(&self) -> Option<&Quantiles> {
        self.corrected_us.as_ref().or(self.us.as_ref())
    }

    /// The direction that this end has measured: sent messages, or those that came.
    pub(crate) fn stream(&self) -> Option<&Stream> {
        self.sent.as_ref().or(self.received.as_ref())
    }

    /// The figures for a peer that is perftest.
    pub(super) fn rates(&self) -> Rates {
        let Some(stream) = self.stream() else { return Rates::default() };
        Rates {
            bytes: self.bytes as u64,
            messages: stream.messages,
            megabytes: stream.bytes_per_second / f64::from(1 << 20),
            millions: stream.messages_per_second / 1e6,
        }
    }
}
