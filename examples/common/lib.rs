//! Code that the examples share, so that each is one page of RDMA: options by perftest's letters, the meeting over TCP,
//! the report.
//!
//! [`Setup`] is in every program: the device, its port, the peer's address. [`Latencies`] collects times, and
//! [`ReportOptions`] chooses their output: percentiles, a line of JSON, an SVG histogram. [`pingpong`] is the exchange
//! of all ping-pongs, independent of the library that made their queues.

mod failure;
mod latency;
pub mod pingpong;
mod process;
mod setup;
#[cfg(feature = "svg")]
mod svg;

pub use failure::{Failure, exit};
pub use latency::{Latencies, Percentiles, ReportOptions};
pub use process::Process;
pub use setup::{Role, Setup, listen, prepared};
