//! The launcher's words at the end: the mistakes found by strict mode, which the device also logs, the reasons of
//! refused and failed requests, and the timeline of the script.

use super::log;
use super::repeated::Repeated;
use super::settings::settings;
use softhca_settings::UNREAD;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// Complaints up to now.
static COMPLAINTS: Mutex<Repeated> = Mutex::new(Repeated::new());
/// Reasons up to now.
static EXPLANATIONS: Mutex<Repeated> = Mutex::new(Repeated::new());

/// Adds a complaint to the file that the launcher reads, or counts it if there were many like it. A line is the number
/// of complaints like it that were only counted before, and the complaint.
pub(crate) fn complaint(what: &str) {
    // A child never gets the lock if another thread of its parent had it.
    let held = COMPLAINTS.try_lock().map_or(Some(0), |mut complaints| complaints.take(what));
    if let Some(held) = held {
        append_complaint(what, held);
    }
}

/// Adds the reason of a refused or failed request, in the same form.
pub(crate) fn explanation(place: &str, what: &str) {
    let Some(path) = settings().and_then(|settings| settings.explanations.as_ref()) else { return };
    let line = format!("pid {} {place}: {what}", std::process::id());
    let held = EXPLANATIONS.try_lock().map_or(Some(0), |mut explanations| explanations.take(&line));
    if let Some(held) = held {
        append_explanation(path, &line, held);
    }
}

/// At the end of the process: a program has not polled an error CQE of a device.
pub(crate) fn unread_error(place: &str) {
    if let Some(path) = settings().and_then(|settings| settings.explanations.as_ref()) {
        let process = std::process::id();
        append_explanation(path, &format!("{UNREAD}pid {process} {place}: an error completion was never polled"), 0);
    }
}

/// At the end of the process: reports the events that were only counted.
pub(crate) fn end() {
    let held = |lines: &Mutex<Repeated>| lines.try_lock().map_or_else(|_| Vec::new(), |mut lines| lines.take_held());
    held(&COMPLAINTS).iter().for_each(|(what, before)| append_complaint(what, *before));
    if let Some(path) = settings().and_then(|settings| settings.explanations.as_ref()) {
        held(&EXPLANATIONS).iter().for_each(|(what, before)| append_explanation(path, what, *before));
    }
    log::end();
}

fn append_explanation(path: &Path, what: &str, before: u64) {
    // A program that has changed its root or its user cannot. Its own output is not the place to say so.
    if let Err(error) = try_append(path, &format!("{before} {what}\n")) {
        ::log::debug!("{}: {error}", path.display());
    }
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
    if let Err(error) = try_append(path, line) {
        ::log::error!("{}: {error}", path.display());
    }
}

fn try_append(path: &Path, line: &str) -> std::io::Result<()> {
    // In one write, so that lines of several devices and processes do not mix.
    OpenOptions::new().append(true).create(true).open(path).and_then(|mut f| f.write_all(line.as_bytes()))
}
