//! The mistakes found by strict mode, kept for the launcher. The device also logs them.

use super::settings::settings;
use std::fs::OpenOptions;
use std::io::Write;

/// Adds a complaint, as a line, to the file that the launcher reads.
pub(crate) fn complaint(what: &str) {
    let Some(path) = settings().and_then(|settings| settings.report.as_ref()) else { return };
    let line = format!("{what}\n");
    // In one write, so that lines of several devices and processes do not mix.
    let written =
        OpenOptions::new().append(true).create(true).open(path).and_then(|mut f| f.write_all(line.as_bytes()));
    if let Err(error) = written {
        log::error!("{}: {error}", path.display());
    }
}
