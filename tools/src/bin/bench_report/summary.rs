//! The summary: all measurements by name, for programs to read.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::measured::{Measurements, name};
use crate::verdict::{Figure, all_met};

/// A case. A field that does not apply or was not measured is null.
#[derive(Serialize, Default)]
pub(crate) struct Entry {
    /// Nanoseconds a message or completion.
    pub(crate) ns: Option<f64>,
    /// Its time over its floor's.
    pub(crate) ratio_to_floor: Option<f64>,
    /// How many times as fast as the fastest way through libmlx5 that was measured beside it.
    pub(crate) ratio_to_libmlx5: Option<f64>,
    /// Instructions an operation.
    pub(crate) instructions: Option<u64>,
    /// Every goal of the case, in words.
    pub(crate) goal: Option<String>,
    /// Whether all of them are met; null also when one was not measured and the others are met.
    pub(crate) met: Option<bool>,
}

/// Cases by name.
pub(crate) type Summary = BTreeMap<String, Entry>;

/// All cases that were measured, and all that have goals.
pub(crate) fn summary(measurements: &Measurements, figures: &[Figure<'_>]) -> Summary {
    let mut entries = Summary::new();
    for record in &measurements.records {
        let floor = measurements.floor_of(record).filter(|_| !record.is_floor());
        let libmlx5 = measurements.libmlx5_beside(record).filter(|_| !record.is_libmlx5());
        let entry = entries.entry(record.name()).or_default();
        entry.ns = Some(record.ns);
        entry.ratio_to_floor = floor.and_then(|floor| record.ratio_to(&floor.case));
        entry.ratio_to_libmlx5 = libmlx5.and_then(|libmlx5| record.ratio_to(&libmlx5.case)).map(f64::recip);
    }
    for name in measurements.counted() {
        entries.entry(name.to_owned()).or_default().instructions = measurements.instructions(name);
    }
    let mut of_case = BTreeMap::<String, Vec<&Figure<'_>>>::new();
    for figure in figures {
        of_case.entry(name(figure.goal.group, figure.goal.x, figure.goal.case)).or_default().push(figure);
    }
    for (name, figures) in of_case {
        let goals: Vec<String> = figures.iter().map(|f| format!("{} {}", f.goal.id, f.goal.bound)).collect();
        let entry = entries.entry(name).or_default();
        entry.goal = Some(goals.join("; "));
        entry.met = all_met(&figures);
    }
    entries
}

/// Writes a summary to `file`.
pub(crate) fn write(summary: &Summary, file: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(summary)?;
    fs::write(file, text + "\n").with_context(|| file.display().to_string())
}
