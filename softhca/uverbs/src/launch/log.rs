//! The device's log on the program's standard error: warnings and errors that repeat are counted.

use super::repeated::{Repeated, more};
use crate::process::{forked, real};
use log::{Level, Log, Metadata, Record};
use std::sync::{Mutex, OnceLock};

/// The log of this process.
static LOG: OnceLock<Counted> = OnceLock::new();

struct Counted {
    to_stderr: env_logger::Logger,
    /// Warnings and errors up to now.
    lines: Mutex<Repeated>,
}

impl Log for Counted {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.to_stderr.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if forked::is_child() {
            // Another thread of the parent may have had the lock of standard error.
            if self.to_stderr.matches(record) {
                print(&format!("[{} {}] {}\n", record.level(), record.target(), record.args()));
            }
            return;
        }
        if record.level() > Level::Warn || !self.to_stderr.matches(record) {
            return self.to_stderr.log(record);
        }
        let line = record.args().to_string();
        // If another thread is logging, this line is not counted.
        let shown = self.lines.try_lock().map_or(Some(0), |mut lines| lines.take(&line));
        if let Some(held) = shown {
            let mut counted = Record::builder();
            counted.metadata(record.metadata().clone());
            self.to_stderr.log(&counted.args(format_args!("{line}{}", more(held))).build());
        }
    }

    fn flush(&self) {
        self.to_stderr.flush();
    }
}

/// Writes a text to standard error at once, without a lock.
pub(super) fn print(text: &str) {
    // SAFETY: the bytes of `text`.
    unsafe { real::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
}

/// Logs from now on what `filters` lets through.
pub(super) fn begin(filters: &str) {
    let to_stderr = env_logger::Builder::new().parse_filters(filters).build();
    let most = to_stderr.filter();
    let log = LOG.get_or_init(|| Counted { to_stderr, lines: Mutex::new(Repeated::new()) });
    // The program may have a logger of its own, but not of our copy of the crate.
    if log::set_logger(log).is_ok() {
        log::set_max_level(most);
    }
}

/// Logs the last one of the lines that were only counted, for each kind.
pub(super) fn end() {
    let Some(log) = LOG.get() else { return };
    let held = log.lines.try_lock().map_or_else(|_| Vec::new(), |mut lines| lines.take_held());
    for (line, before) in held {
        let mut record = Record::builder();
        record.level(Level::Warn).target("softhca");
        log.to_stderr.log(&record.args(format_args!("{line}{}", more(before))).build());
    }
}
