//! The options of a ping-pong, and the depths of its queues.

use clap::Args;

use crate::{ReportOptions, Setup};

/// The options of a ping-pong.
#[derive(Args, Clone, Debug)]
pub struct PingPongOptions {
    #[command(flatten)]
    #[expect(missing_docs, reason = "the type says it")]
    pub setup: Setup,
    /// Bytes per message
    #[arg(short, long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub size: u32,
    /// Messages each way
    #[arg(short = 'n', long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub iters: u32,
    /// Receives kept posted
    #[arg(short, long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub rx_depth: u32,
    /// Sleep on completion events instead of polling
    #[arg(short, long)]
    pub events: bool,
    /// Do not verify received messages
    #[arg(long)]
    pub no_verify: bool,
    /// Seconds without a completion after which the peer counts as gone
    #[arg(long, default_value_t = 20)]
    pub timeout: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the type says it")]
    pub report: ReportOptions,
}

/// Completions that a side can have outstanding.
#[must_use]
pub fn completions(options: &PingPongOptions) -> u32 {
    // A ring has room for up to twice as many receives, and a request may take several WQEBBs.
    2 * options.rx_depth + 4 * SENDS
}

/// Sends that a side can have outstanding.
pub const SENDS: u32 = 2;
