//! The tables: goals with what was reached, and everything measured.
use std::collections::BTreeSet;
use std::fmt::Display;
use std::iter::once;

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, Table};

use crate::measured::{Measurements, name};
use crate::sections::{Form, Section};
use crate::summary::Summary;
use crate::verdict::{Figure, Value};

/// Where a table goes.
#[derive(Clone, Copy)]
pub(crate) enum Medium {
    Terminal,
    Markdown,
}

/// A table whose columns from the `numbers`th on are numbers.
fn table(medium: Medium, header: &[impl Display], numbers: usize) -> Table {
    let mut table = Table::new();
    table.set_header(header).load_preset(match medium {
        Medium::Terminal => UTF8_FULL_CONDENSED,
        Medium::Markdown => ASCII_MARKDOWN,
    });
    for column in table.column_iter_mut().skip(numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Every goal, what was measured, and whether it is met.
pub(crate) fn goals(figures: &[Figure<'_>], medium: Medium) -> Table {
    let mut table = table(medium, &["", "case", "goal", "ns", "measured", "met"], 3);
    for figure in figures {
        let goal = figure.goal;
        // Beside a ratio, what it is a ratio of; beside a count it would mean nothing.
        let ns = figure.ns.filter(|_| matches!(figure.value, Some(Value::Ratio(_) | Value::Speedup(_))));
        let met = match figure.met() {
            Some(true) => "yes",
            Some(false) => "NO",
            None if figure.is_measurable() => "not measured",
            None => "see the test",
        };
        table.add_row([
            goal.id.to_owned(),
            name(goal.group, goal.x, goal.case),
            goal.bound.to_string(),
            ns.map_or_else(String::new, |ns| format!("{ns:.2}")),
            figure.value.map_or_else(String::new, value),
            met.to_owned(),
        ]);
    }
    table
}

fn value(value: Value) -> String {
    match value {
        // A digit more than the goal has, so that what is just not met does not look as if it were.
        Value::Ratio(ratio) => format!("{ratio:.3}×"),
        Value::Speedup(times) => format!("{times:.2}×"),
        Value::Nanoseconds(ns) => format!("{ns:.2} ns"),
        Value::Instructions(count) => count.to_string(),
    }
}

/// The figures of a section; nothing if it was not measured.
pub(crate) fn section(
    section: &Section,
    measurements: &Measurements,
    summary: &Summary,
    medium: Medium,
) -> Option<Table> {
    let table = match section.form {
        Form::Bars(_) => bars(section, measurements, summary, medium),
        Form::Lines(group, _) => lines(group, measurements, medium),
    };
    (table.row_count() > 0).then_some(table)
}

/// A row for each case.
fn bars(section: &Section, measurements: &Measurements, summary: &Summary, medium: Medium) -> Table {
    let mut table = table(medium, &["", "case", "ns", "× floor", "× as fast as libmlx5", "instructions"], 2);
    for group in section.groups() {
        for record in measurements.records.iter().filter(|record| record.group == group) {
            let entry = &summary[&record.name()];
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
            table.add_row([
                record.group.clone(),
                record.case.clone(),
                number(entry.ns),
                number(entry.ratio_to_floor),
                number(entry.ratio_to_libmlx5),
                entry.instructions.map_or_else(String::new, |count| count.to_string()),
            ]);
        }
    }
    table
}

/// A row for each case, a column for each place on the axis.
fn lines(group: &str, measurements: &Measurements, medium: Medium) -> Table {
    let records = || measurements.records.iter().filter(|record| record.group == group);
    let places: BTreeSet<u64> = records().filter_map(|record| record.x).collect();
    let header: Vec<String> = once(group.to_owned()).chain(places.iter().map(u64::to_string)).collect();
    let mut table = table(medium, &header, 1);
    let mut done = BTreeSet::new();
    for case in records().map(|record| &record.case).filter(|case| done.insert(*case)) {
        let at = |x: &u64| measurements.find(group, Some(*x), case);
        let figures = places.iter().map(|x| at(x).map_or_else(String::new, |record| format!("{:.2}", record.ns)));
        table.add_row(once(case.clone()).chain(figures));
    }
    table
}
