//! The log of a guest's mistakes is bounded, because the guest decides how many it makes.
//!
//! Messages that differ only in numbers count as one kind. Of each kind of warnings and errors the first [`ALL`] are
//! written, then those whose count is a power of two, with the count.

use log::{Level, Log, Metadata, Record};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Messages of a kind before their count matters.
const ALL: u64 = 32;
/// Kinds that are counted apart. The device has far fewer, unless a guest's words are in one.
const KINDS: usize = 1024;

/// Writes the permitted lines to `inner`.
pub(crate) struct BoundedLog<L> {
    inner: L,
    counts: Mutex<HashMap<u64, u64>>,
}

impl<L: Log> BoundedLog<L> {
    pub(crate) fn new(inner: L) -> Self {
        Self { inner, counts: Mutex::default() }
    }

    /// Counts a message; gives the count of its kind.
    fn count(&self, record: &Record<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        record.target().hash(&mut hasher);
        let text = record.args().to_string();
        text.split_whitespace()
            .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
            .for_each(|word| word.hash(&mut hasher));
        let mut counts = self.counts.lock();
        let kind = Some(hasher.finish()).filter(|kind| counts.contains_key(kind) || counts.len() < KINDS);
        let count = counts.entry(kind.unwrap_or(0)).or_default();
        *count += 1;
        *count
    }
}

impl<L: Log> Log for BoundedLog<L> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.inner.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        // A filter for more than warnings asks for all of them.
        if record.level() > Level::Warn || !self.enabled(record.metadata()) {
            return self.inner.log(record);
        }
        match self.count(record) {
            ..=ALL => self.inner.log(record),
            count if count.is_power_of_two() => {
                let mut counted = Record::builder();
                counted.metadata(record.metadata().clone());
                self.inner.log(&counted.args(format_args!("{} (the {count}th of this kind)", record.args())).build());
            }
            _ => {}
        }
    }

    fn flush(&self) {
        self.inner.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Lines(Mutex<Vec<String>>);

    impl Log for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &Record<'_>) {
            self.0.lock().push(record.args().to_string());
        }
        fn flush(&self) {}
    }

    fn say(log: &BoundedLog<Lines>, level: Level, text: &str) {
        log.log(&Record::builder().level(level).target("device").args(format_args!("{text}")).build());
    }

    #[test]
    fn what_is_said_again_and_again_is_counted() {
        let log = BoundedLog::new(Lines::default());
        for qpn in 0..1000 {
            say(&log, Level::Warn, &format!("QP {qpn:#x} does not exist"));
            say(&log, Level::Info, "all of these");
        }
        say(&log, Level::Error, "CQ 0x1 overran");
        let lines = log.inner.0.lock();
        let of = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
        // 32, and the 64th, 128th, 256th and 512th.
        assert_eq!([of("QP"), of("th of this kind)"), of("all of these"), of("CQ")], [36, 4, 1000, 1]);
        assert!(lines.contains(&"QP 0x1ff does not exist (the 512th of this kind)".to_owned()), "{lines:?}");
    }

    #[test]
    fn a_guests_words_do_not_make_it_grow() {
        let log = BoundedLog::new(Lines::default());
        for a in 'a'..='z' {
            for b in 'a'..='z' {
                for c in 'a'..='e' {
                    say(&log, Level::Warn, &format!("driver {a}{b}{c}"));
                }
            }
        }
        assert!(log.counts.lock().len() <= KINDS + 1);
        assert!(log.inner.0.lock().len() < KINDS + 64);
    }
}
