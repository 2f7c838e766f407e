//! Horizontal bars: a panel for each group, a bar for each case.
use std::path::Path;

use anyhow::Result;

use super::canvas::{Anchor, HEADING, LABEL, MARGIN, NOTE, WIDTH, width_of};
use super::page::{Family, HEAD, page, tick_label, ticks};
use crate::measured::{Measurements, Record};
use crate::sections::Section;

const BAR: i32 = 16;
const BAR_PITCH: i32 = 22;
const PANEL_HEAD: i32 = 30;
/// Between families.
const FAMILY_GAP: i32 = 6;
const PANEL_GAP: i32 = 14;
const LEGEND: i32 = 30;
const AXIS: i32 = 26;
/// Room for a figure at the end of the longest bar.
const FIGURE: i32 = 56;

/// Draws the panels that were measured to `file`; false if none was.
pub(super) fn draw(section: &Section, panels: &[(&str, &str)], measured: &Measurements, file: &Path) -> Result<bool> {
    let panels: Vec<(&str, Vec<&Record>)> = panels
        .iter()
        .map(|(group, title)| (*title, cases(measured, group)))
        .filter(|(_, records)| !records.is_empty())
        .collect();
    let all = || panels.iter().flat_map(|(_, records)| records);
    let Some(longest) = all().map(|record| record.ns).max_by(f64::total_cmp) else { return Ok(false) };
    let heights = panels.iter().map(|(title, records)| panel_head(title) + height(records) + PANEL_GAP);
    let canvas = page(section, &measured.cpu, LEGEND + heights.sum::<i32>() + AXIS, file)?;

    let mut x = MARGIN;
    for family in Family::ALL.into_iter().filter(|family| all().any(|record| Family::of(record) == *family)) {
        canvas.rectangle((x, HEAD), (x + 12, HEAD + 12), family.colors()[0])?;
        canvas.text(family.name(), (x + 18, HEAD + 6), Anchor::Start, LABEL)?;
        x += 18 + width_of(family.name(), LABEL) + 24;
    }

    let left = MARGIN + all().map(|record| width_of(&record.case, LABEL)).max().unwrap_or(0) + 8;
    let right = WIDTH - MARGIN - FIGURE;
    let ticks = ticks(0.0, longest);
    let top = ticks.last().copied().unwrap_or(longest);
    let place = |ns: f64| left + (ns / top * f64::from(right - left)).round() as i32;
    let mut y = HEAD + LEGEND;
    for (title, records) in &panels {
        if !title.is_empty() {
            canvas.text(title, (MARGIN, y + PANEL_HEAD / 2), Anchor::Start, HEADING)?;
        }
        y += panel_head(title);
        let bottom = y + height(records);
        for &tick in &ticks {
            canvas.rule((place(tick), y), (place(tick), bottom))?;
        }
        for (n, record) in records.iter().enumerate() {
            let middle = y + height(&records[..=n]) - BAR_PITCH / 2;
            canvas.text(&record.case, (left - 8, middle), Anchor::End, LABEL)?;
            let color = Family::of(record).colors()[0];
            // At least one pixel, so that the shortest times show.
            let end = place(record.ns).max(left + 1);
            canvas.rectangle((left, middle - BAR / 2), (end, middle + BAR / 2), color)?;
            canvas.text(&format!("{:.2}", record.ns), (end + 6, middle), Anchor::Start, LABEL)?;
        }
        y = bottom + PANEL_GAP;
    }
    for &tick in &ticks {
        canvas.text(&tick_label(tick), (place(tick), y), Anchor::Middle, NOTE)?;
    }
    canvas.text("ns", (right + 20, y), Anchor::Start, NOTE)?;
    canvas.finish()?;
    Ok(true)
}

fn panel_head(title: &str) -> i32 {
    if title.is_empty() { 0 } else { PANEL_HEAD }
}

/// Height of a panel's first bars.
fn height(records: &[&Record]) -> i32 {
    let gaps = records.windows(2).filter(|pair| Family::of(pair[0]) != Family::of(pair[1])).count();
    records.len() as i32 * BAR_PITCH + gaps as i32 * FAMILY_GAP
}

/// A group's cases: floors, then this crate, then libmlx5, each in the order in which they were measured.
fn cases<'a>(measured: &'a Measurements, group: &str) -> Vec<&'a Record> {
    let of = |family| measured.records.iter().filter(move |r| r.group == group && Family::of(r) == family);
    Family::ALL.into_iter().flat_map(of).collect()
}
