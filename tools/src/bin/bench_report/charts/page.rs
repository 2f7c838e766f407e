//! The parts that all charts have in common: the page, the colours and names of contestants, and round values of an
//! axis.
use std::path::Path;

use anyhow::Result;
use plotters::style::RGBColor;

use super::canvas::{Anchor, Canvas, MARGIN, NOTE, TITLE, WIDTH, width_of};
use crate::measured::Record;
use crate::sections::Section;

/// The note on every chart.
pub(crate) const CAVEAT: &str = "software device, ordinary memory: no write-combining MMIO involved";

/// Height of a chart's title and unit.
pub(super) const HEAD: i32 = 64;
/// Height of the line below a chart.
pub(super) const FOOT: i32 = 36;

/// The contestant that does the work in a case.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Family {
    Floor,
    Blueflame,
    Libmlx5,
}

impl Family {
    pub(super) const ALL: [Self; 3] = [Self::Floor, Self::Blueflame, Self::Libmlx5];

    pub(super) fn of(record: &Record) -> Self {
        match (record.is_floor() || record.case.starts_with("by hand"), record.is_libmlx5()) {
            (true, _) => Self::Floor,
            (_, true) => Self::Libmlx5,
            _ => Self::Blueflame,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor: stores and loads by hand",
            Self::Blueflame => "blueflame",
            Self::Libmlx5 => "libmlx5",
        }
    }

    /// The colours of the family's cases, told apart where there is a line for each.
    pub(super) const fn colors(self) -> &'static [RGBColor] {
        match self {
            Self::Floor => &[RGBColor(0x80, 0x80, 0x80), RGBColor(0x30, 0x30, 0x30)],
            Self::Blueflame => &[
                RGBColor(0x00, 0x72, 0xb2),
                RGBColor(0x00, 0x9e, 0x73),
                RGBColor(0x56, 0xb4, 0xe9),
                RGBColor(0x1b, 0x2a, 0x6b),
            ],
            Self::Libmlx5 => &[RGBColor(0xd5, 0x5e, 0x00), RGBColor(0xcc, 0x79, 0xa7), RGBColor(0xe6, 0x9f, 0x00)],
        }
    }
}

/// A page with title, unit and what must be said about every figure on it.
pub(super) fn page<'a>(section: &Section, cpu: &str, body: i32, file: &'a Path) -> Result<Canvas<'a>> {
    let height = HEAD + body + FOOT;
    let canvas = Canvas::new(file, height)?;
    canvas.text(section.title, (MARGIN, 26), Anchor::Start, TITLE)?;
    let unit = format!("{}, median over rounds in turns; less is better", section.unit);
    canvas.text(&unit, (MARGIN, 48), Anchor::Start, NOTE)?;
    let foot = height - FOOT / 2;
    canvas.text(CAVEAT, (MARGIN, foot), Anchor::Start, NOTE)?;
    // The CPU's name is as long as its maker likes.
    let room = WIDTH - 3 * MARGIN - width_of(CAVEAT, NOTE);
    if width_of(cpu, NOTE) <= room {
        canvas.text(cpu, (WIDTH - MARGIN, foot), Anchor::End, NOTE)?;
    }
    Ok(canvas)
}

/// Round values from `low` or a little less to `top` or a little more, about six of them.
pub(super) fn ticks(low: f64, top: f64) -> Vec<f64> {
    let rough = (top - low) / 6.0;
    let magnitude = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * magnitude).find(|step| *step >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).floor() as u32, (top / step).ceil() as u32);
    (first..=last).map(|n| f64::from(n) * step).collect()
}

/// A tick's value, with as many digits as it needs.
pub(super) fn tick_label(value: f64) -> String {
    format!("{}", (value * 1000.0).round() / 1000.0)
}
