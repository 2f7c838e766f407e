//! The report about one device, for JSON and for the page.

use serde::Serialize;

use super::found::Figure;
use crate::info::device::DeviceInfo;
use crate::machine::Fact;

/// Counts up when fields change their meaning.
pub(crate) const FORMAT: u32 = 1;

/// Everything that was found.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) format: u32,
    /// Version of the crate.
    pub(crate) version: &'static str,
    pub(crate) device: DeviceInfo,
    pub(crate) port: u8,
    pub(crate) machine: Vec<Fact>,
    pub(crate) summary: Summary,
    pub(crate) checks: Vec<Row>,
}

/// How many checks ended in each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

impl Outcome {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// A check, and how it ended.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) id: &'static str,
    pub(crate) theme: &'static str,
    pub(crate) title: &'static str,
    pub(crate) outcome: Outcome,
    /// The observation, or the reason of the skip.
    pub(crate) seen: String,
    /// The meaning of both.
    pub(crate) means: String,
    /// The capability that is missing, if it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) figures: Vec<Figure>,
    pub(crate) seconds: f64,
}

impl Summary {
    pub(crate) fn of(rows: &[Row]) -> Self {
        let count = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
        Self { passed: count(Outcome::Passed), failed: count(Outcome::Failed), skipped: count(Outcome::Skipped) }
    }
}
