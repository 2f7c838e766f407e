//! Times, and their report.

#[cfg(feature = "svg")]
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The longest recorded time: an hour, in nanoseconds. Longer times count as this one.
const LONGEST: u64 = 3_600_000_000_000;

/// The output of the result.
#[derive(Args, Clone, Debug)]
pub struct ReportOptions {
    /// Print the result as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// Draw a histogram of the times
    #[cfg(feature = "svg")]
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// How long ago this was, a number of nanoseconds since 1970; zero for times to come.
#[must_use]
pub fn since(nanoseconds: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_nanos(nanoseconds))
}

/// Times of one kind, each to three digits.
#[derive(Clone, Debug)]
pub struct Latencies(Histogram<u64>);

/// Quantiles in microseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Percentiles {
    pub min: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds that hdrhistogram takes"))
    }
}

impl Latencies {
    /// Takes a time in.
    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(LONGEST));
    }

    /// Takes in the times of another collection.
    pub fn add(&mut self, other: &Self) {
        self.0 += &other.0;
    }

    /// The histogram, of nanoseconds.
    #[must_use]
    pub const fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The quantiles.
    #[must_use]
    pub fn percentiles(&self) -> Percentiles {
        let at = |quantile| us(self.0.value_at_quantile(quantile));
        Percentiles {
            min: us(self.0.min()),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: us(self.0.max()),
        }
    }

    /// Draws the histogram, if the options ask for one.
    ///
    /// # Errors
    /// The file cannot be written.
    #[cfg_attr(not(feature = "svg"), expect(unused_variables, reason = "nothing draws"))]
    pub fn draw(&self, title: &str, options: &ReportOptions) -> Result<(), Failure> {
        #[cfg(feature = "svg")]
        if let Some(file) = &options.svg {
            std::fs::write(file, crate::svg::drawn(&self.0, title)?)?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Percentiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { min, p50, p90, p99, p999, max } = self;
        write!(f, "min {min:.2}, p50 {p50:.2}, p90 {p90:.2}, p99 {p99:.2}, p99.9 {p999:.2}, max {max:.2}")
    }
}

fn us(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

#[cfg(all(test, feature = "svg"))]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_recorded_and_the_histogram_is_drawn() {
        let mut latencies = Latencies::default();
        for n in 1..=1000 {
            latencies.record(Duration::from_micros(n));
        }
        let Percentiles { min, p50, p99, max, .. } = latencies.percentiles();
        for (is, should) in [(min, 1.0), (p50, 500.0), (p99, 990.0), (max, 1000.0)] {
            assert!((is / should - 1.0_f64).abs() < 0.002, "{is} in place of {should}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("histogram.svg");
        let options = ReportOptions { json: false, svg: Some(file.clone()) };
        latencies.draw("a title", &options).expect("drawn");
        let drawn = std::fs::read_to_string(file).expect("the file");
        for text in ["<svg", "a title", "p50", "p99.9", "us"] {
            assert!(drawn.contains(text), "no {text:?} in {drawn}");
        }
        // No time at all, and one only.
        let mut few = Latencies::default();
        few.draw("none", &options).expect("drawn");
        few.record(Duration::from_nanos(1));
        few.draw("one", &options).expect("drawn");
    }
}
