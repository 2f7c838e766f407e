//! The tables: goals with the figures reached, and everything measured.
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::iter::once;

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, Table};

use crate::goals::MEANINGS;
use crate::measured::{Measurements, Record, name};
use crate::sections::{Form, SECTIONS, Section};
use crate::summary::{Entry, Summary};
use crate::verdict::{Figure, Value};

/// A table.
pub(crate) struct Grid {
    header: Vec<String>,
    /// Columns before the first of numbers.
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Grid {
    fn new(header: impl IntoIterator<Item = impl Into<String>>, words: usize) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), words, rows: Vec::new() }
    }

    fn table(&self, preset: &str) -> Table {
        let mut table = Table::new();
        table.set_header(&self.header).load_preset(preset).add_rows(&self.rows);
        for column in table.column_iter_mut().skip(self.words) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    /// For a page.
    pub(crate) fn markdown(&self) -> String {
        let mut lines: Vec<String> = self.table(ASCII_MARKDOWN).lines().collect();
        // The line below the header tells how columns are aligned.
        let rules = lines[1].trim_matches('|').split('|').enumerate();
        let rules = rules.map(|(n, rule)| if n < self.words { rule.to_owned() } else { format!("{}:", &rule[1..]) });
        lines[1] = format!("|{}|", rules.collect::<Vec<_>>().join("|"));
        lines.join("\n")
    }
}

/// For a terminal.
impl Display for Grid {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.table(UTF8_FULL_CONDENSED).fmt(f)
    }
}

/// Every goal, its measured figures, and whether it is met.
pub(crate) fn goals(figures: &[Figure<'_>]) -> Grid {
    let mut grid = Grid::new(["", "case", "goal", "ns", "measured", "its floor", "met"], 3);
    for figure in figures {
        let goal = figure.goal;
        // Show the time from which a ratio comes; beside a count a time would mean nothing.
        let ns = figure.ns.filter(|_| matches!(figure.value, Some(Value::Ratio(_) | Value::Speedup(_))));
        let met = match figure.met() {
            Some(true) => "yes",
            Some(false) => "NO",
            None if figure.is_measurable() => "not measured",
            None => "see the test",
        };
        grid.rows.push(vec![
            goal.id.to_owned(),
            name(goal.group, goal.x, goal.case),
            goal.bound.to_string(),
            ns.map_or_else(String::new, |ns| format!("{ns:.2}")),
            figure.value.map_or_else(String::new, value),
            figure.floor.map_or_else(String::new, value),
            met.to_owned(),
        ]);
    }
    grid
}

/// A row for each goal: its meaning, and how many of its figures are met.
pub(crate) fn verdicts(figures: &[Figure<'_>]) -> Grid {
    let mut grid = Grid::new(["goal", "what it asks", "figures met"], 2);
    for &(id, meaning) in MEANINGS {
        let of_goal = || figures.iter().filter(|figure| figure.goal.id == id && figure.is_measurable());
        let met = of_goal().filter(|figure| figure.met() == Some(true)).count();
        let met = match of_goal().count() {
            0 => "see the test".to_owned(),
            count => format!("{met} of {count}"),
        };
        grid.rows.push(vec![id.to_owned(), meaning.to_owned(), met]);
    }
    grid
}

/// The cases that readers ask about first: group, case, and description.
pub(crate) const HEADLINES: &[(&str, &str, &str)] = &[
    ("post", "typed two fences", "a WRITE of 8 bytes inline, posted by BlueFlame"),
    ("post", "prepared two fences", "the same, prepared"),
    ("post doorbell", "typed two fences", "the same, by the 8-byte doorbell"),
    ("burst of 64", "batch", "each of 64 such requests with one doorbell"),
    ("burst of 64 and poll", "blueflame", "the same, and polling its completion"),
    ("poll", "poll_with(1) fields", "a completion polled, three fields read"),
    ("poll", "poll_with(16) fields", "each of 16 completions polled by one call"),
];

/// A row for each of [`HEADLINES`].
pub(crate) fn headlines(summary: &Summary) -> Grid {
    let mut grid = Grid::new(["", "ns", "× floor", "× as fast as libmlx5", "instructions"], 1);
    for &(group, case, words) in HEADLINES {
        let nothing = Entry::default();
        let entry = summary.get(&name(group, None, case)).unwrap_or(&nothing);
        grid.rows.push(once(words.to_owned()).chain(cells(entry)).collect());
    }
    grid
}

/// An entry's figures, as cells.
fn cells(entry: &Entry) -> [String; 4] {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    [
        number(entry.ns),
        number(entry.ratio_to_floor),
        number(entry.ratio_to_libmlx5),
        entry.instructions.map_or_else(String::new, |count| count.to_string()),
    ]
}

fn value(value: Value) -> String {
    match value {
        // One digit more than the goal has, so that a goal missed by little does not look met.
        Value::Ratio(ratio) => format!("{ratio:.3}×"),
        Value::Speedup(times) => format!("{times:.2}×"),
        Value::Nanoseconds(ns) => format!("{ns:.2} ns"),
        Value::Instructions(count) => count.to_string(),
    }
}

/// The figures of a section; nothing if it was not measured.
pub(crate) fn section(section: &Section, measurements: &Measurements, summary: &Summary) -> Option<Grid> {
    let grid = match section.form {
        Form::Bars(panels) => {
            let of = |group| measurements.records.iter().filter(move |record| record.group == group);
            cases(panels.iter().flat_map(|(group, _)| of(*group)), summary)
        }
        Form::Lines(group, _) => lines(group, measurements),
    };
    (!grid.rows.is_empty()).then_some(grid)
}

/// The figures of groups that are in no section; nothing if there are none.
pub(crate) fn others(measurements: &Measurements, summary: &Summary) -> Option<Grid> {
    let shown: BTreeSet<&str> = SECTIONS.iter().flat_map(Section::groups).collect();
    let grid = cases(measurements.records.iter().filter(|record| !shown.contains(record.group.as_str())), summary);
    (!grid.rows.is_empty()).then_some(grid)
}

/// A row for each case.
fn cases<'a>(records: impl Iterator<Item = &'a Record>, summary: &Summary) -> Grid {
    let mut grid = Grid::new(["", "case", "ns", "× floor", "× as fast as libmlx5", "instructions"], 2);
    for record in records {
        let group = record.x.map_or_else(|| record.group.clone(), |x| format!("{} {x}", record.group));
        grid.rows.push([group, record.case.clone()].into_iter().chain(cells(&summary[&record.name()])).collect());
    }
    grid
}

/// A row for each case, a column for each place on the axis.
fn lines(group: &str, measurements: &Measurements) -> Grid {
    let records = || measurements.records.iter().filter(|record| record.group == group);
    let places: BTreeSet<u64> = records().filter_map(|record| record.x).collect();
    let mut grid = Grid::new(once(group.to_owned()).chain(places.iter().map(u64::to_string)), 1);
    let mut done = BTreeSet::new();
    for case in records().map(|record| &record.case).filter(|case| done.insert(*case)) {
        let at = |x: &u64| measurements.find(group, Some(*x), case);
        let figures = places.iter().map(|x| at(x).map_or_else(String::new, |record| format!("{:.2}", record.ns)));
        grid.rows.push(once(case.clone()).chain(figures).collect());
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn numbers_are_aligned_on_their_right() {
        let mut grid = Grid::new(["", "ns"], 1);
        grid.rows.push(vec!["a case".to_owned(), "10.00".to_owned()]);
        assert_eq!(grid.markdown(), "|        |    ns |\n|--------|------:|\n| a case | 10.00 |");
    }
}
