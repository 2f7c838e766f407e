//! The charts.
//!
//! Colours are Okabe and Ito's and a dark blue, which colour-blind people can also tell apart; lines also differ by their marks, and
//! everything is named where it is. One colour means one thing in all charts: grey is a floor, blue and green are this
//! crate, orange and purple libmlx5.
mod bars;
mod canvas;
mod lines;
mod page;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::measured::Measurements;
use crate::sections::{Form, SECTIONS, Section};
pub(crate) use page::CAVEAT;

/// Draws every section that was measured into `folder`; the sections drawn.
pub(crate) fn draw(measurements: &Measurements, folder: &Path) -> Result<Vec<&'static Section>> {
    let mut drawn = Vec::new();
    for section in SECTIONS {
        let file = folder.join(section.file).with_extension("svg");
        let is_drawn = match section.form {
            Form::Bars(panels) => bars::draw(section, panels, measurements, &file),
            Form::Lines(group, axis) => lines::draw(section, group, axis, measurements, &file),
        };
        if is_drawn.with_context(|| file.display().to_string())? {
            drawn.push(section);
        } else if file.exists() {
            // An earlier report's.
            fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
    }
    Ok(drawn)
}
