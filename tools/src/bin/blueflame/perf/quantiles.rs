//! Quantiles of times.

use common::Latencies;
use serde::{Deserialize, Serialize};

/// Quantiles in microseconds, each to three digits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quantiles {
    pub(crate) count: u64,
    pub(crate) min: f64,
    pub(crate) mean: f64,
    pub(crate) stdev: f64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) p9999: f64,
    pub(crate) p99999: f64,
    pub(crate) max: f64,
}

impl Quantiles {
    /// Names in tables, in the order of [`values`](Self::values).
    pub(crate) const NAMES: [&'static str; 8] = ["min", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max"];

    /// Those of times, if there are any.
    pub(crate) fn of(times: &Latencies) -> Option<Self> {
        let times = times.histogram();
        let us = |nanoseconds: u64| nanoseconds as f64 / 1000.0;
        let at = |quantile| us(times.value_at_quantile(quantile));
        (!times.is_empty()).then(|| Self {
            count: times.len(),
            min: us(times.min()),
            mean: times.mean() / 1000.0,
            stdev: times.stdev() / 1000.0,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            p9999: at(0.9999),
            p99999: at(0.99999),
            max: us(times.max()),
        })
    }

    /// The values, in the order of [`NAMES`](Self::NAMES).
    pub(crate) const fn values(&self) -> [f64; 8] {
        [self.min, self.p50, self.p90, self.p99, self.p999, self.p9999, self.p99999, self.max]
    }

    /// Whether there are enough times for the quantile of this name: at least ten beyond it.
    pub(crate) fn has(&self, name: &str) -> bool {
        let beyond = match name {
            "p90" => 0.1,
            "p99" => 0.01,
            "p99.9" => 0.001,
            "p99.99" => 0.0001,
            "p99.999" => 0.00001,
            _ => 1.0,
        };
        self.count as f64 * beyond >= 10.0 || beyond == 1.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_tail_is_to_five_nines() {
        let mut times = Latencies::default();
        assert_eq!(Quantiles::of(&times), None);
        for n in 1..=1_000_000 {
            times.record(Duration::from_nanos(n * 10));
        }
        let quantiles = Quantiles::of(&times).expect("times");
        let expected = [0.01, 5000.0, 9000.0, 9900.0, 9990.0, 9999.0, 9999.9, 10000.0];
        for (value, expected) in quantiles.values().into_iter().zip(expected) {
            assert!((value / expected - 1.0).abs() < 0.002, "{value} in place of {expected}");
        }
        assert!((quantiles.mean / 5000.0 - 1.0).abs() < 0.002);
        assert!(Quantiles::NAMES.iter().all(|name| quantiles.has(name)));
        let few = Quantiles { count: 999, ..quantiles };
        assert!(few.has("p50") && few.has("p90") && !few.has("p99") && few.has("max"));
    }
}
