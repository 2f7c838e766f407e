//! The progress on the terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use blueflame_decode::printable;

use super::report::{Outcome, Row, Summary};

const fn style(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Passed => AnsiColor::Green.on_default(),
        Outcome::Failed => AnsiColor::Red.on_default().bold(),
        Outcome::Skipped => AnsiColor::Yellow.on_default(),
    }
}

/// A check that has ended.
pub(crate) fn row(out: &mut impl Write, row: &Row) -> io::Result<()> {
    let (style, word) = (style(row.outcome), row.outcome.word());
    writeln!(out, "{style}{word:<7}{style:#} {:<30} {}", row.id, row.title)?;
    // Errors of the driver, and what other programs have printed.
    let (seen, means) = (printable(&row.seen), printable(&row.means));
    match row.outcome {
        Outcome::Passed => writeln!(out, "        {seen}")?,
        Outcome::Skipped => writeln!(out, "        needs {}: {seen}", row.missing.unwrap_or("a capability"))?,
        Outcome::Failed => writeln!(out, "        {seen}\n        {means}")?,
    }
    for figure in &row.figures {
        writeln!(out, "        {}: {}", printable(&figure.name), printable(&figure.value))?;
    }
    out.flush()
}

/// The end.
pub(crate) fn summary(out: &mut impl Write, summary: Summary) -> io::Result<()> {
    let Summary { passed, failed, skipped } = summary;
    let of = |outcome| style(outcome);
    let (good, bad, none) = (of(Outcome::Passed), of(Outcome::Failed), of(Outcome::Skipped));
    writeln!(out, "\n{good}{passed} passed{good:#}, {bad}{failed} failed{bad:#}, {none}{skipped} skipped{none:#}")
}
