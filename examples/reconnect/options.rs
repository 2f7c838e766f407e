//! The options of both sides, and the depth of their queues.

use clap::Parser;
use common::{ReportOptions, Setup};

/// Numbers for a peer that may die.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) setup: Setup,
    /// Seconds
    #[arg(short = 'D', long, default_value_t = 3.0)]
    pub(crate) duration: f64,
    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// Requests outstanding.
pub(crate) const DEPTH: u32 = 32;
