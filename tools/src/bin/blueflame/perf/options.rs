//! The options of `blueflame perf`. A letter that perftest has means the same here.

use std::path::PathBuf;
use std::time::Duration;

use blueflame::verbs::{Device, Path};
use clap::{Args, Subcommand};
use common::{Failure, Setup};

use super::plan::{Atomic, Figure, Impossible, LONGEST, Limit, Plan, Service, TOO_LONG, Verb};

const AFTER_HELP: &str = "\
Without HOST, the program is the server; with HOST, the client, which reports.
The server takes the options of its client. If the other end is perftest, both
ends need the same letters.

  blueflame perf send lat                      # the server
  blueflame perf send lat SERVER               # the client
  blueflame perf write bw -c UC -s 4096 -q 4 --threads 2 -D 10 SERVER
  blueflame perf send lat --rate 10000 -D 30 --json before.json SERVER
  blueflame perf compare before.json after.json

The other end may be perftest, over all transports but frames: ib_send_lat,
ib_write_bw and so on, with the same letters.

Exit codes: 0 if the run ended well, 1 if a call failed, 2 for a wrong call, or
if there is no such device, 4 if the peer fell silent. `compare` ends with 1 if
the second run is worse, and with 2 if the runs measured different things.";

/// Measure latency, bandwidth and rate between two ends, or compare two runs
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) what: What,
}

#[derive(Subcommand)]
pub(crate) enum What {
    /// SENDs into receives of the peer: RC, UC, UD, DC, XRC
    Send(Box<Run>),
    /// RDMA WRITEs into memory of the peer: RC, UC, DC, XRC
    Write(Box<Run>),
    /// RDMA READs of memory of the peer: RC, DC, XRC
    Read(Box<Run>),
    /// Atomics on 8 bytes of the peer: RC, DC, XRC
    Atomic(Box<Run>),
    /// Ethernet frames: RawEth
    Frame(Box<Run>),
    /// Compare two runs that --json has written
    Compare(Compare),
}

/// Two runs.
#[derive(Args)]
pub(crate) struct Compare {
    /// The run before
    pub(crate) before: PathBuf,
    /// The run after
    pub(crate) after: PathBuf,
    /// Ignore changes of up to PERCENT per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    pub(crate) within: f64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// A run.
#[derive(Args, Clone)]
pub(crate) struct Run {
    /// The figure in question
    pub(crate) figure: Figure,
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// Service level
    #[arg(short = 'S', long, default_value_t = 0)]
    pub(crate) sl: u8,
    /// Transport [default: RC; RawEth for frames]
    #[arg(short = 'c', long, value_name = "TYPE", value_enum, ignore_case = true)]
    pub(crate) connection: Option<Service>,
    /// Atomic operation
    #[arg(short = 'A', long, value_name = "TYPE", value_enum, default_value = "FETCH_AND_ADD")]
    pub(crate) atomic_type: Atomic,
    /// Bytes of a message [default: lat 2, bw 65536, rate 8; atomics 8, frames 60]
    #[arg(short, long, value_name = "BYTES")]
    pub(crate) size: Option<usize>,
    /// Sizes 2, 4, 8, ... 2^23, or up to the MTU for datagrams
    #[arg(short, long, conflicts_with = "size")]
    pub(crate) all: bool,
    /// Messages of each queue [default: 1000; write bw 5000]
    #[arg(short = 'n', long, conflicts_with = "duration")]
    pub(crate) iters: Option<u64>,
    /// Seconds of the run, margins included, in place of -n
    #[arg(short = 'D', long, value_name = "SECONDS", conflicts_with = "all")]
    pub(crate) duration: Option<f64>,
    /// Seconds at either end of -D that are not measured [default: a tenth of -D, at most 2]
    #[arg(short = 'f', long, value_name = "SECONDS", requires = "duration")]
    pub(crate) margin: Option<f64>,
    /// Messages of each queue before those of -n, not measured
    #[arg(long, value_name = "MESSAGES", default_value_t = 0, conflicts_with = "duration")]
    pub(crate) warm_up: u64,
    /// Queue pairs of all threads together [default: one for each thread]
    #[arg(short, long, value_name = "NUMBER")]
    pub(crate) qp: Option<usize>,
    /// Threads, with -q / threads queues each
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Messages on their way from a queue [default: lat 16, else 128]
    #[arg(short, long, value_name = "MESSAGES")]
    pub(crate) tx_depth: Option<u32>,
    /// Receives of a queue
    #[arg(short, long, value_name = "MESSAGES", default_value_t = 512)]
    pub(crate) rx_depth: u32,
    /// Messages that go by one doorbell
    #[arg(short = 'l', long, value_name = "MESSAGES", default_value_t = 1)]
    pub(crate) post_list: u32,
    /// One message of MESSAGES asks for a completion [default: half of -t, at most 100; with --rate 1]
    #[arg(short = 'Q', long, value_name = "MESSAGES")]
    pub(crate) cq_mod: Option<u32>,
    /// The largest message that goes inline [default: lat and rate 128, bw 0]
    #[arg(short = 'I', long, value_name = "BYTES")]
    pub(crate) inline_size: Option<usize>,
    /// READs and atomics on their way from a queue [default: the device's limit, at most 16]
    #[arg(short = 'o', long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) outs: Option<u8>,
    /// Both ends send (bw and rate)
    #[arg(short, long)]
    pub(crate) bidirectional: bool,
    /// Messages a second of all queues together; times then count from when a message should have gone
    #[arg(long, value_name = "MESSAGES")]
    pub(crate) rate: Option<f64>,
    /// Seconds of a line of the time series
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) interval: f64,
    /// Gbit/s in place of MB/s
    #[arg(long)]
    pub(crate) report_gbits: bool,
    /// Write the run there, as JSON; - is standard output, without the tables
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a line for each size there, as CSV; - is standard output, without the tables
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw the histogram of the last size there
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the run there, as one page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// perftest's margin, in seconds.
const MARGIN: f64 = 2.0;

impl Run {
    /// The plan that the options make, of an operation.
    ///
    /// # Errors
    /// [`Impossible`].
    pub(crate) fn plan(&self, verb: Verb) -> Result<Plan, Impossible> {
        let figure = self.figure;
        let service = self.connection.unwrap_or(if verb == Verb::Frame { Service::Raw } else { Service::Rc });
        let size = self.size.unwrap_or(match (verb, figure) {
            (Verb::Atomic, _) | (_, Figure::Rate) if verb != Verb::Frame => 8,
            (Verb::Frame, _) => 60,
            (_, Figure::Lat) => 2,
            _ => 1 << 16,
        });
        if self.all && matches!(verb, Verb::Atomic | Verb::Frame) {
            return Err(Impossible::Option("-a", "atomics have one size, and frames are not of powers of two"));
        }
        let limit = match self.duration {
            Some(seconds) => Limit::Time(seconds_of("-D", seconds)?),
            None if verb == Verb::Write && figure == Figure::Bw => Limit::Messages(self.iters.unwrap_or(5000)),
            None => Limit::Messages(self.iters.unwrap_or(1000)),
        };
        let margin = match (self.margin, self.duration) {
            (Some(seconds), _) => seconds,
            (None, Some(duration)) => MARGIN.min(duration / 10.0),
            (None, None) => 0.0,
        };
        let is_lat = figure == Figure::Lat;
        let tx_depth = self.tx_depth.unwrap_or(if is_lat { 16 } else { 128 });
        let queues = self.qp.unwrap_or(self.threads);
        let cq_mod = self.cq_mod.unwrap_or(if self.rate.is_some() { 1 } else { 100 });
        let plan = Plan {
            verb,
            figure,
            service,
            atomic: self.atomic_type,
            sizes: if self.all { (1..=23).map(|log| 1 << log).collect() } else { vec![size] },
            limit,
            warm_up: self.warm_up,
            margin: seconds_of("--margin", margin)?,
            queues,
            threads: self.threads,
            both_ways: self.bidirectional,
            rate: self.rate,
            tx_depth,
            rx_depth: self.rx_depth,
            post_list: self.post_list,
            // Else the queue would be full before a message asks for a completion.
            cq_mod: cq_mod.min((tx_depth / 2).max(1)),
            inline: self.inline_size.unwrap_or(if figure == Figure::Bw { 0 } else { 128 }),
        };
        seconds_of("--interval", self.interval).and_then(|_| plan.check()).map(|()| plan)
    }

    /// Opens the device; the path starts at the chosen port and GID.
    ///
    /// # Errors
    /// No such device, port, GID or MTU.
    pub(crate) fn open(&self) -> Result<(Device, Path), Failure> {
        let (device, mut path) = self.setup.open()?;
        path.service_level = self.sl;
        if let Some(outs) = self.outs {
            path.max_rd_atomic = path.max_rd_atomic.min(outs);
            path.max_dest_rd_atomic = path.max_dest_rd_atomic.min(outs);
        }
        Ok((device, path))
    }
}

fn seconds_of(option: &'static str, seconds: f64) -> Result<Duration, Impossible> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if time <= LONGEST => Ok(time),
        _ => Err(Impossible::Option(option, TOO_LONG)),
    }
}
