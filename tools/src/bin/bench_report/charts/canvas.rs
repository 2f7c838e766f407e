//! A page to draw on: plotters' SVG backend, with the few marks that the charts are made of.
//!
//! Places are pixels from the upper left corner. Texts are set by the viewer in its own sans-serif face, so that
//! [`width_of`] is an upper estimate.
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Where a text is, seen from its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub(crate) struct Face {
    pub(crate) pixels: i32,
    pub(crate) bold: bool,
    pub(crate) color: RGBColor,
}

pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0x5f, 0x5f, 0x5f);
const RULE: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);
pub(crate) const TITLE: Face = Face { pixels: 19, bold: true, color: INK };
pub(crate) const HEADING: Face = Face { pixels: 14, bold: true, color: INK };
pub(crate) const LABEL: Face = Face { pixels: 13, bold: false, color: INK };
pub(crate) const NOTE: Face = Face { pixels: 12, bold: false, color: FAINT };

/// Left and right margin.
pub(crate) const MARGIN: i32 = 24;
/// Width of every chart.
pub(crate) const WIDTH: i32 = 960;

/// Pixels that a text is wide, at most.
pub(crate) fn width_of(text: &str, face: Face) -> i32 {
    text.chars().count() as i32 * face.pixels * if face.bold { 64 } else { 58 } / 100
}

pub(crate) struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

impl<'a> Canvas<'a> {
    /// A white page of [`WIDTH`] that will be written to `file`.
    pub(crate) fn new(file: &'a Path, height: i32) -> Result<Self> {
        let area = SVGBackend::new(file, (WIDTH as u32, height as u32)).into_drawing_area();
        area.fill(&WHITE).map_err(broken)?;
        Ok(Self(area))
    }

    /// Writes the file.
    pub(crate) fn finish(self) -> Result<()> {
        self.0.present().map_err(broken)
    }

    /// A line of text, its middle at height `y`.
    pub(crate) fn text(&self, text: &str, (x, y): (i32, i32), anchor: Anchor, face: Face) -> Result<()> {
        let side = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let weight = if face.bold { FontStyle::Bold } else { FontStyle::Normal };
        // The backend divides sizes by this, to turn the nominal size of a font into CSS pixels.
        let size = f64::from(face.pixels) * 1.24;
        let style = TextStyle::from(("sans-serif", size).into_font().style(weight))
            .color(&face.color)
            .pos(Pos::new(side, VPos::Center));
        self.0.draw(&Text::new(text.to_owned(), (x, y), style)).map_err(broken)
    }

    /// A filled rectangle between two corners.
    pub(crate) fn rectangle(&self, from: (i32, i32), to: (i32, i32), color: RGBColor) -> Result<()> {
        self.0.draw(&Rectangle::new([from, to], color.filled())).map_err(broken)
    }

    /// A thin grey line.
    pub(crate) fn rule(&self, from: (i32, i32), to: (i32, i32)) -> Result<()> {
        self.0.draw(&PathElement::new([from, to], RULE.stroke_width(1))).map_err(broken)
    }

    /// A line through points, with the `n`th kind of mark on each.
    pub(crate) fn line(&self, points: &[(i32, i32)], color: RGBColor, n: usize) -> Result<()> {
        self.0.draw(&PathElement::new(points, color.stroke_width(2))).map_err(broken)?;
        for &(x, y) in points {
            match n % 4 {
                0 => self.0.draw(&Circle::new((x, y), 4, color.filled())),
                1 => self.0.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], color.filled())),
                2 => self.0.draw(&TriangleMarker::new((x, y), 6, color.filled())),
                _ => self.0.draw(&Polygon::new([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], color.filled())),
            }
            .map_err(broken)?;
        }
        Ok(())
    }
}

fn broken(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}
