//! A histogram of times as SVG: over a logarithmic axis, so that the tail shows.

use std::fmt::Display;

use hdrhistogram::Histogram;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Failure;

const SIZE: (u32, u32) = (960, 400);
/// The plot's edges, in pixels.
const LEFT: i32 = 70;
const RIGHT: i32 = 930;
const TOP: i32 = 80;
const BOTTOM: i32 = 350;
const BARS: usize = 120;
const BAR: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const RULE: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws `times`, nanoseconds.
///
/// # Errors
/// They cannot be drawn.
pub fn drawn(times: &Histogram<u64>, title: &str) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(times, title, &mut svg)?;
    Ok(svg)
}

fn draw(times: &Histogram<u64>, title: &str, svg: &mut String) -> Result<(), Failure> {
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(broken)?;
    text(&area, title, (LEFT, 24), HPos::Left, 17.0)?;
    // The axis is logarithmic, with some room at either side.
    let first = times.min().max(1) as f64 * 0.9;
    let ratio = (times.max() as f64 * 1.2 / first).max(1.5);
    let bar = |ns: f64| ((ns / first).ln() / ratio.ln() * BARS as f64).max(0.0);
    let across = |bar: f64| LEFT + (bar / BARS as f64 * f64::from(RIGHT - LEFT)).round() as i32;

    let mut bars = [0_u64; BARS];
    for value in times.iter_recorded() {
        bars[(bar(value.value_iterated_to() as f64) as usize).min(BARS - 1)] += value.count_at_value();
    }
    let highest = bars.iter().copied().max().unwrap_or(0).max(1);
    let up = |count: u64| BOTTOM - (count as f64 / highest as f64 * f64::from(BOTTOM - TOP)).round() as i32;
    for count in [0, highest.div_ceil(2), highest] {
        line(&area, (LEFT, up(count)), (RIGHT, up(count)), RULE)?;
        text(&area, &count.to_string(), (LEFT - 8, up(count)), HPos::Right, 12.0)?;
    }
    for ns in ticks(first, ratio) {
        let x = across(bar(ns));
        line(&area, (x, BOTTOM), (x, BOTTOM + 5), INK)?;
        text(&area, &format!("{} us", ns / 1000.0), (x, BOTTOM + 18), HPos::Center, 12.0)?;
    }
    for (n, &count) in bars.iter().enumerate().filter(|&(_, &count)| count > 0) {
        // At least one pixel, so that rare values show.
        let corners = [(across(n as f64), up(count).min(BOTTOM - 1)), (across(n as f64 + 1.0) - 1, BOTTOM)];
        area.draw(&Rectangle::new(corners, BAR.filled())).map_err(broken)?;
    }
    for (n, (name, quantile)) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].into_iter().enumerate() {
        let ns = times.value_at_quantile(quantile).max(1) as f64;
        let (x, y) = (across(bar(ns)), TOP - 28 + 14 * n as i32);
        line(&area, (x, y), (x, BOTTOM), INK)?;
        // The label is left of its line if the right side has no room.
        let (side, gap) = if x < RIGHT - 120 { (HPos::Left, 4) } else { (HPos::Right, -4) };
        text(&area, &format!("{name} {:.2} us", ns / 1000.0), (x + gap, y), side, 12.0)?;
    }
    area.present().map_err(broken)
}

/// Round times from `first` to `first * ratio`: 1, 2 and 5 of each power of ten, or the powers alone where those are
/// many.
fn ticks(first: f64, ratio: f64) -> impl Iterator<Item = f64> {
    let steps: &[f64] = if ratio > 1e4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let of_decade = |exponent| steps.iter().map(move |step| step * 10_f64.powi(exponent));
    (0..13).flat_map(of_decade).filter(move |ns| (first..=first * ratio).contains(ns))
}

fn line(area: &Area<'_>, from: (i32, i32), to: (i32, i32), color: RGBColor) -> Result<(), Failure> {
    area.draw(&PathElement::new([from, to], color)).map_err(broken)
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos, pixels: f64) -> Result<(), Failure> {
    // The backend divides sizes by 1.24, to turn the nominal size of a font into CSS pixels.
    let style =
        TextStyle::from(("sans-serif", pixels * 1.24).into_font()).color(&INK).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text.to_owned(), at, style)).map_err(broken)
}

fn broken(error: impl Display) -> Failure {
    format!("cannot draw: {error}").into()
}
