//! `blueflame perf compare`: two runs beside each other.

use std::io::{self, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use anyhow::{Result, ensure};
use blueflame_decode::printable;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::options::Compare;
use super::report::{Outcome, Report};

const BETTER: Style = AnsiColor::Green.on_default();
const WORSE: Style = AnsiColor::Red.on_default().bold();

/// The verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Better,
    Same,
    Worse,
}

/// A figure of both runs.
#[derive(Clone, Debug, Serialize)]
struct Change {
    bytes: usize,
    figure: &'static str,
    before: f64,
    after: f64,
    /// Of the figure before.
    percent: f64,
    verdict: Verdict,
}

/// Everything, for JSON.
#[derive(Serialize)]
struct Comparison<'a> {
    title: &'a str,
    within_percent: f64,
    changes: Vec<Change>,
}

/// Compares, and prints. The exit code tells whether a figure is worse.
///
/// # Errors
/// Files of other runs.
pub(super) fn run(options: &Compare, colour: ColorChoice) -> Result<ExitCode> {
    let (before, after) = (Report::read(&options.before)?, Report::read(&options.after)?);
    ensure!(before.title == after.title, "{} and {} cannot be compared", before.title, after.title);
    if before.plan != after.plan {
        eprintln!("blueflame: the runs have different options, which may explain a difference");
    }
    let changes = changes(&before, &after, options.within);
    ensure!(!changes.is_empty(), "the runs have no size in common");
    let is_worse = changes.iter().any(|change| change.verdict == Verdict::Worse);
    let mut out = AutoStream::new(io::stdout(), colour).lock();
    if options.json {
        let all = Comparison { title: &before.title, within_percent: options.within, changes };
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}\n{}", printable(&before.title), table(&changes))?;
    }
    Ok(if is_worse { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn table(changes: &[Change]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(["bytes", "figure", "before", "after", "change", ""]);
    for change in changes {
        let word = match change.verdict {
            Verdict::Better => format!("{BETTER}better{BETTER:#}"),
            Verdict::Same => String::new(),
            Verdict::Worse => format!("{WORSE}worse{WORSE:#}"),
        };
        let Change { bytes, figure, before, after, percent, .. } = change;
        let numbers = [format!("{before:.2}"), format!("{after:.2}"), format!("{percent:+.1} %")];
        let [before, after, percent] = numbers;
        table.add_row([bytes.to_string(), (*figure).to_owned(), before, after, percent, word]);
    }
    for column in [0, 2, 3, 4] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Figures that both runs have, of sizes that both have.
fn changes(before: &Report, after: &Report, within: f64) -> Vec<Change> {
    type Value = fn(&Outcome) -> Option<f64>;
    /// A figure, and whether less of it is better.
    const FIGURES: [(&str, bool, Value); 8] = [
        ("messages/s sent", false, |outcome| Some(outcome.sent?.messages_per_second)),
        ("messages/s received", false, |outcome| Some(outcome.received?.messages_per_second)),
        ("posting, ns", true, |outcome| Some(outcome.posting?.ns_per_message)),
        ("min, us", true, |outcome| Some(outcome.times()?.min)),
        ("p50, us", true, |outcome| Some(outcome.times()?.p50)),
        ("p99, us", true, |outcome| outcome.times().filter(|times| times.has("p99")).map(|times| times.p99)),
        ("p99.9, us", true, |outcome| outcome.times().filter(|times| times.has("p99.9")).map(|times| times.p999)),
        ("p99.99, us", true, |outcome| outcome.times().filter(|times| times.has("p99.99")).map(|times| times.p9999)),
    ];
    let mut changes = Vec::new();
    for old in &before.results {
        let Some(new) = after.results.iter().find(|new| new.bytes == old.bytes) else { continue };
        for (figure, less, value) in FIGURES {
            let (Some(before), Some(after)) = (value(old), value(new)) else { continue };
            let percent = if before == 0.0 { 0.0 } else { (after / before - 1.0) * 100.0 };
            let verdict = match percent {
                _ if percent.abs() <= within => Verdict::Same,
                _ if (percent < 0.0) == less => Verdict::Better,
                _ => Verdict::Worse,
            };
            changes.push(Change { bytes: old.bytes, figure, before, after, percent, verdict });
        }
    }
    changes
}
