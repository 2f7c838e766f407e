//! Lines over an axis of powers of two: one for each case.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, Canvas, Face, LABEL, MARGIN, NOTE, WIDTH, width_of};
use super::page::{Family, HEAD, page, tick_label, ticks};
use crate::measured::Measurements;
use crate::sections::Section;

/// Top of the plot, its bottom, and the height of the area below it.
const TOP: i32 = HEAD + 10;
const BOTTOM: i32 = TOP + 360;
const AXES: i32 = 60;
/// Room for the figures of the vertical axis.
const FIGURES: i32 = 44;
/// Distance between names beside the lines, at least.
const NAME_PITCH: i32 = 18;

/// A line, and the name beside its end.
struct Line<'a> {
    case: &'a str,
    /// Place on the axis, nanoseconds; in order of places.
    points: Vec<(u64, f64)>,
    color: RGBColor,
}

/// Draws the group, if it was measured, to `file`; false if it was not.
pub(super) fn draw(section: &Section, group: &str, axis: &str, measured: &Measurements, file: &Path) -> Result<bool> {
    let lines = lines(measured, group);
    let points = || lines.iter().flat_map(|line| &line.points);
    let places = || points().map(|point| point.0);
    let (Some(first), Some(last)) = (places().min(), places().max()) else { return Ok(false) };
    let canvas = page(section, &measured.cpu, BOTTOM - HEAD + AXES, file)?;

    let names = lines.iter().map(|line| width_of(line.case, LABEL)).max().unwrap_or(0);
    let (left, right) = (MARGIN + FIGURES, WIDTH - MARGIN - names - 16);
    let figures = || points().map(|point| point.1);
    let (low, most) = (figures().fold(f64::MAX, f64::min), figures().fold(0.0, f64::max));
    // Lines that lie close together would be one, if the axis began at 0.
    let ticks = ticks(if low > most / 2.0 { low } else { 0.0 }, most);
    let (base, top) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
    // A single place has no width: the line is then a mark at the left.
    let octaves = (last as f64 / first as f64).log2().max(1.0);
    let across = |x: u64| left + ((x as f64 / first as f64).log2() / octaves * f64::from(right - left)).round() as i32;
    let up = |ns: f64| BOTTOM - ((ns - base) / (top - base) * f64::from(BOTTOM - TOP)).round() as i32;

    for &tick in &ticks {
        canvas.rule((left, up(tick)), (right, up(tick)))?;
        canvas.text(&tick_label(tick), (left - 8, up(tick)), Anchor::End, NOTE)?;
    }
    let mut labelled = i32::MIN;
    for x in places().collect::<BTreeSet<_>>() {
        let (place, label) = (across(x), x.to_string());
        canvas.rule((place, TOP), (place, BOTTOM + 5))?;
        let half = width_of(&label, NOTE) / 2;
        if place - half > labelled {
            canvas.text(&label, (place, BOTTOM + 16), Anchor::Middle, NOTE)?;
            labelled = place + half + 6;
        }
    }
    let from = if base > 0.0 { format!("; times begin at {}", tick_label(base)) } else { String::new() };
    let title = format!("{axis} (logarithmic){from}");
    canvas.text(&title, ((left + right) / 2, BOTTOM + 38), Anchor::Middle, LABEL)?;
    for (n, line) in lines.iter().enumerate() {
        let points: Vec<(i32, i32)> = line.points.iter().map(|&(x, ns)| (across(x), up(ns))).collect();
        canvas.line(&points, line.color, n)?;
    }
    name_lines(&canvas, &lines, right, up)?;
    canvas.finish()?;
    Ok(true)
}

/// Writes each line's name beside its end, as near as the other names allow.
fn name_lines(canvas: &Canvas<'_>, lines: &[Line<'_>], right: i32, up: impl Fn(f64) -> i32) -> Result<()> {
    let mut ends: Vec<(i32, usize)> =
        lines.iter().enumerate().filter_map(|(n, line)| Some((up(line.points.last()?.1), n))).collect();
    ends.sort_unstable();
    let wanted: Vec<i32> = ends.iter().map(|end| end.0).collect();
    for (y, (_, n)) in spread(&wanted, BOTTOM).into_iter().zip(ends) {
        let face = Face { color: lines[n].color, bold: true, ..LABEL };
        canvas.text(lines[n].case, (right + 12, y), Anchor::Start, face)?;
    }
    Ok(())
}

/// Moves heights, sorted from the top, until they are [`NAME_PITCH`] apart: down first, and where that leads below
/// `bottom`, up again.
fn spread(wanted: &[i32], bottom: i32) -> Vec<i32> {
    let mut heights = wanted.to_vec();
    for n in 1..heights.len() {
        heights[n] = heights[n].max(heights[n - 1] + NAME_PITCH);
    }
    let mut limit = bottom;
    for height in heights.iter_mut().rev() {
        *height = limit.min(*height);
        limit = *height - NAME_PITCH;
    }
    heights
}

/// A group's lines: floors, this crate, libmlx5, each family with a colour for every case.
fn lines<'a>(measured: &'a Measurements, group: &str) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    for family in Family::ALL {
        let mut of_family = BTreeMap::<&str, Vec<(u64, f64)>>::new();
        for record in measured.records.iter().filter(|r| r.group == group && Family::of(r) == family) {
            of_family.entry(&record.case).or_default().extend(record.x.map(|x| (x, record.ns)));
        }
        for ((case, mut points), color) in of_family.into_iter().zip(family.colors().iter().cycle()) {
            points.sort_by_key(|point| point.0);
            lines.push(Line { case, points, color: *color });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::spread;
    use crate::charts::page::ticks;

    #[test]
    fn an_axis_begins_where_its_lines_are() {
        assert_eq!(ticks(0.0, 5.5), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        // The times of setting up: six lines within a third of their height.
        assert_eq!(ticks(49_677.0, 68_548.0), [45_000.0, 50_000.0, 55_000.0, 60_000.0, 65_000.0, 70_000.0]);
    }

    #[test]
    fn names_keep_their_distance_and_stay_on_the_page() {
        assert_eq!(spread(&[10, 100, 200], 300), [10, 100, 200]);
        assert_eq!(spread(&[10, 12, 200], 300), [10, 28, 200]);
        assert_eq!(spread(&[280, 295, 299], 300), [264, 282, 300]);
    }
}
