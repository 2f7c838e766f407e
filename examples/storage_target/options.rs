//! The options of the target and of its initiators.

use clap::Parser;
use common::{ReportOptions, Setup};

/// Blocks over RDMA, for several initiators.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// Queue pairs, one for each initiator
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
    pub(crate) qp: u32,
    /// Bytes of a block
    #[arg(short, long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(8..=1 << 20))]
    pub(crate) size: u32,
    /// Commands that an initiator has outstanding
    #[arg(short, long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=128))]
    pub(crate) tx_depth: u32,
    /// Seconds
    #[arg(short = 'D', long, default_value_t = 3.0)]
    pub(crate) duration: f64,
    /// Which initiator this is: each has blocks of its own
    #[arg(long, default_value_t = 0)]
    pub(crate) number: u32,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}
