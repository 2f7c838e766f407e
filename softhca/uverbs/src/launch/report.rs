//! The launcher's words at the end: the mistakes found by strict mode, which the device also logs, and the timeline of
//! the script.

use super::log;
use super::repeated::Repeated;
use super::settings::settings;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// Complaints up to now.
static COMPLAINTS: Mutex<Repeated> = Mutex::new(Repeated::new());

/// Adds a complaint to the file that the launcher reads, or counts it if there were many like it. A line is the number
/// of complaints like it that were only counted before, and the complaint.
pub(crate) fn complaint(what: &str) {
    // A child never gets the lock if another thread of its parent had it.
    let held = COMPLAINTS.try_lock().map_or(Some(0), |mut complaints| complaints.take(what));
    if let Some(held) = held {
        append_complaint(what, held);
    }
}

/// At the end of the process: tells what was only counted.
pub(crate) fn end() {
    let held = COMPLAINTS.try_lock().map_or_else(|_| Vec::new(), |mut complaints| complaints.take_held());
    held.iter().for_each(|(what, before)| append_complaint(what, *before));
    log::end();
}

fn append_complaint(what: &str, before: u64) {
    let Some(path) = settings().and_then(|settings| settings.report.as_ref()) else { return };
    append(path, &format!("{before} {what}\n"));
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
        ::log::error!("{}: {error}", path.display());
    }
}
