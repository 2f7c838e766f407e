//! The measurements: files that the benchmark programs and the instruction counter leave behind.
//!
//! Each program writes one file, of cases that it has measured in turns. The instruction counter writes
//! `instructions.json`. Any of them may be missing, as a filter leaves programs out; a file that is there and cannot be
//! understood is an error.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// The instruction counter's file.
const INSTRUCTIONS: &str = "instructions.json";

/// A benchmark program's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    cpu: String,
    records: Vec<Record>,
}

/// One case, measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// The operation, the same for all compared cases: `post`.
    pub(crate) group: String,
    /// How it is done: `typed two fences`.
    pub(crate) case: String,
    /// Nanoseconds a message or completion, median over the rounds.
    pub(crate) ns: f64,
    /// This case's time over that of each other case of the group, medians over the rounds.
    ratios: BTreeMap<String, f64>,
    /// In a sweep, what differs between its points: `ring depth`.
    #[expect(dead_code, reason = "it is the group's name once more; read so that a misspelt field does not pass")]
    axis: Option<String>,
    /// In a sweep, where on the axis.
    pub(crate) x: Option<u64>,
}

impl Record {
    /// The case's name in the instruction counter and in the summary: group, place on the axis, case.
    pub(crate) fn name(&self) -> String {
        name(&self.group, self.x, &self.case)
    }

    /// This case's time over that of another case of its group, at the same place on the axis.
    pub(crate) fn ratio_to(&self, case: &str) -> Option<f64> {
        self.ratios.get(case).copied()
    }

    /// Whether the case is a floor: stores and loads by hand.
    pub(crate) fn is_floor(&self) -> bool {
        words(&self.case).contains("floor")
    }

    /// Whether only the last request of a burst asks for a completion.
    fn is_moderated(&self) -> bool {
        words(&self.case).contains("moderated")
    }

    /// Whether the case is libmlx5: its name is then that of the function called.
    pub(crate) fn is_libmlx5(&self) -> bool {
        self.case.starts_with("ibv_")
    }
}

/// Group, place on the axis, case.
pub(crate) fn name(group: &str, x: Option<u64>, case: &str) -> String {
    x.map_or_else(|| format!("{group} {case}"), |x| format!("{group} {x} {case}"))
}

/// Everything measured.
#[derive(Default)]
pub(crate) struct Measurements {
    /// The CPU on which it was.
    pub(crate) cpu: String,
    pub(crate) records: Vec<Record>,
    instructions: BTreeMap<String, u64>,
}

impl Measurements {
    /// Reads every file in `folder`.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let entries = fs::read_dir(folder).with_context(|| format!("{}: nothing was measured", folder.display()))?;
        let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        ensure!(!files.is_empty(), "{}: no measurements in it", folder.display());
        let mut measurements = Self::default();
        for file in &files {
            measurements.add(file).with_context(|| file.display().to_string())?;
        }
        Ok(measurements)
    }

    fn add(&mut self, file: &Path) -> Result<()> {
        let text = fs::read_to_string(file)?;
        if file.ends_with(INSTRUCTIONS) {
            self.instructions = serde_json::from_str(&text).context("not instruction counts by case")?;
            return Ok(());
        }
        let program: Program = serde_json::from_str(&text).context("not the measurements of a benchmark program")?;
        if self.cpu.is_empty() {
            self.cpu = program.cpu;
        } else {
            ensure!(self.cpu == program.cpu, "measured on `{}`, other files on `{}`", program.cpu, self.cpu);
        }
        for record in program.records {
            let name = record.name();
            for (of, value) in record.ratios.iter().chain([(&"itself".to_owned(), &record.ns)]) {
                ensure!(value.is_finite() && *value > 0.0, "{name}: {value} is no time, or ratio to {of}");
            }
            ensure!(record.x != Some(0), "{name}: 0 has no place on an axis of powers of two");
            if self.find(&record.group, record.x, &record.case).is_some() {
                bail!("{name}: measured twice");
            }
            self.records.push(record);
        }
        Ok(())
    }

    pub(crate) fn find(&self, group: &str, x: Option<u64>, case: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.group == group && record.x == x && record.case == case)
    }

    /// Instructions of the case with that [`name`].
    pub(crate) fn instructions(&self, name: &str) -> Option<u64> {
        self.instructions.get(name).copied()
    }

    /// Names of all cases of which instructions were counted.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &str> {
        self.instructions.keys().map(String::as_str)
    }

    /// The floor of a case. A floor of its group qualifies if the case's name has all words of the floor's name except
    /// "floor"; the one with the most words wins. So `floor fields 16` is the floor of `poll_with(16) fields`.
    pub(crate) fn floor_of(&self, record: &Record) -> Option<&Record> {
        let wanted = words(&record.case);
        let said = |floor: &Record| {
            let mut said = words(&floor.case);
            said.remove("floor");
            said.is_subset(&wanted).then_some(said.len())
        };
        let floors = self.beside(record).filter(|other| other.is_floor());
        floors.filter_map(|floor| Some((said(floor)?, floor))).max_by_key(|(said, _)| *said).map(|(_, floor)| floor)
    }

    /// The fastest libmlx5 case of a case's group that asks for as many completions.
    pub(crate) fn libmlx5_beside(&self, record: &Record) -> Option<&Record> {
        let alike = |other: &&Record| other.is_libmlx5() && other.is_moderated() == record.is_moderated();
        self.beside(record).filter(alike).min_by(|a, b| a.ns.total_cmp(&b.ns))
    }

    fn beside(&self, record: &Record) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|other| other.group == record.group && other.x == record.x)
    }
}

/// The words of a case's name; `poll_with(16) fields` has three.
fn words(case: &str) -> BTreeSet<&str> {
    case.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}
