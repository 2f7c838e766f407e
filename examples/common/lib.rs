//! Code that the examples share, so that each is one page of RDMA: options by perftest's letters, the meeting over TCP,
//! the report.
//!
//! [`Setup`] is in every program: the device, its port, the peer's address. [`Latencies`] collects times, and
//! [`ReportOptions`] chooses their output: percentiles, a line of JSON, an SVG histogram. [`pingpong`] is the exchange
//! of all ping-pongs, independent of the library that made their queues. [`feed`], [`Lines`] and [`FeedOptions`] are a
//! multicast feed, its receiver and its publisher. [`frames`] and [`burst`] receive and send frames in bulk.

pub mod burst;
mod failure;
pub mod feed;
pub mod frames;
mod latency;
mod lines;
mod nic;
pub mod pingpong;
mod process;
mod publisher;
pub mod rate;
mod setup;
#[cfg(feature = "svg")]
pub mod svg;

pub use failure::{Failure, exit, is_no_device, told};
pub use latency::{Latencies, Percentiles, ReportOptions, since};
pub use lines::{Lines, Received};
pub use nic::NicOptions;
pub use process::Process;
pub use publisher::FeedOptions;
pub use setup::{PATIENCE, Role, Setup, limited, listen, prepared};
