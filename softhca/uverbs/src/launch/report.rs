//! The launcher's words at the end: the mistakes found by strict mode, which the device also logs, and the timeline of
//! the script.

use super::settings::settings;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Adds a complaint, as a line, to the file that the launcher reads.
pub(crate) fn complaint(what: &str) {
    let Some(path) = settings().and_then(|settings| settings.report.as_ref()) else { return };
    append(path, &format!("{what}\n"));
}

/// Adds something that the script has done: where, and what, with its time.
pub(crate) fn happening(place: &str, what: &str) {
    let Some((_, path)) = settings().and_then(|settings| settings.script.as_ref()) else { return };
    append(path, &format!("pid {} {place} {what}\n", std::process::id()));
}

fn append(path: &Path, line: &str) {
    // In one write, so that lines of several devices and processes do not mix.
    let written =
        OpenOptions::new().append(true).create(true).open(path).and_then(|mut f| f.write_all(line.as_bytes()));
    if let Err(error) = written {
        log::error!("{}: {error}", path.display());
    }
}
