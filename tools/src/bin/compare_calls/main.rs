//! Compares the answers of a kernel and of the preloaded object to the same programs, as recorded by `record.c` of
//! `softhca/uverbs/tests/calls`.
//!
//! Exits with 1 if they differ in anything that the list of known differences does not explain.

mod calls;
mod differences;
mod explained;
mod names;

use anyhow::{Context, Result, bail};
use clap::Parser;
use comfy_table::Table;
use differences::Difference;
use explained::Explained;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Compares the calls that programs have made on a kernel with those that they have made under the preloaded object.
#[derive(Parser)]
struct Arguments {
    /// Directory with a log of each program, as the kernel has answered
    kernel: PathBuf,
    /// Directory with logs of the same names, as the preloaded object has answered
    object: PathBuf,
    /// The known differences, and why there are
    #[arg(long, value_name = "FILE")]
    explained: PathBuf,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let explained = explained::read(&read(&arguments.explained)?)?;
    let names = logs(&arguments.kernel)?;
    if names.is_empty() {
        bail!("no logs in {}", arguments.kernel.display());
    }
    if let Some(name) = logs(&arguments.object)?.difference(&names).next() {
        bail!("{name} was recorded under the object, and not on the kernel");
    }
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::NOTHING).set_header(["program", "calls", "explained", "unexplained"]);
    let mut used = BTreeSet::new();
    let mut kinds: BTreeMap<_, Kind> = BTreeMap::new();
    for name in names {
        let [kernel, object] = [&arguments.kernel, &arguments.object].map(|directory| -> Result<_> {
            let path = directory.join(&name);
            calls::parse(&read(&path)?).with_context(|| path.display().to_string())
        });
        let (kernel, object) = (kernel?, object?);
        let (mut known, mut unknown) = (0, 0);
        let places = |call: &str| explained.iter().filter_map(|row| row.name(call)).collect();
        let named = |row: &Explained| kernel.iter().any(|call| row.name(&call.name).is_some());
        used.extend(explained.iter().enumerate().filter(|(_, row)| named(row)).map(|(index, _)| index));
        for difference in differences::of(&kernel, &object, places) {
            if let Some(row) = explained.iter().position(|row| row.covers(&difference)) {
                used.insert(row);
                known += 1;
            } else {
                unknown += 1;
                let kind = kinds.entry(difference.kind()).or_insert_with(|| Kind::new(&difference));
                kind.add(&difference, &name);
            }
        }
        table.add_row([name, kernel.len().to_string(), known.to_string(), unknown.to_string()]);
    }
    for kind in kinds.values() {
        println!("{kind}");
    }
    println!("{table}");
    for (_, explanation) in explained.iter().enumerate().filter(|(row, _)| !used.contains(row)) {
        println!("no longer a difference: {explanation}");
    }
    Ok(if kinds.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Unexplained differences of one kind.
struct Kind {
    first: Difference,
    said: BTreeSet<String>,
    times: usize,
    logs: BTreeSet<String>,
}

impl Kind {
    fn new(first: &Difference) -> Self {
        Self { first: first.clone(), said: BTreeSet::new(), times: 0, logs: BTreeSet::new() }
    }

    fn add(&mut self, difference: &Difference, log: &str) {
        self.said.insert(difference.to_string());
        self.times += 1;
        self.logs.insert(log.to_owned());
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.said.len() > 1 {
            write!(f, ", and {} other values", self.said.len() - 1)?;
        }
        let shown: Vec<_> = self.logs.iter().take(LOGS_SHOWN).map(String::as_str).collect();
        let more = if self.logs.len() > LOGS_SHOWN { ", …" } else { "" };
        write!(f, "\n    {} times in {} logs: {}{more}", self.times, self.logs.len(), shown.join(", "))
    }
}

/// Logs that are named of those that a difference is in.
const LOGS_SHOWN: usize = 4;

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The names of the files in a directory.
fn logs(directory: &Path) -> Result<BTreeSet<String>> {
    let entries = std::fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
