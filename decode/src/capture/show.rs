//! Conversations as text.

use super::Capture;
use super::conversation::{Conversation, Direction};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

impl Display for Capture {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for conversation in &self.conversations {
            writeln!(f, "{conversation}")?;
        }
        write!(f, "{} packets", self.packets)?;
        if self.others > 0 {
            write!(f, ", {} of them not of the transport", self.others)?;
        }
        writeln!(f)
    }
}

impl Display for Conversation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [first, last] = self.times;
        match &self.directions[..] {
            [one, other] => write!(
                f,
                "{}: queue pair {:#x} of {} and {:#x} of {}",
                self.service, other.qpn, other.to, one.qpn, one.to
            )?,
            [one, ..] => write!(f, "{}: from {} to queue pair {:#x} of {}", self.service, one.from, one.qpn, one.to)?,
            [] => write!(f, "{}", self.service)?,
        }
        writeln!(f, ", in {:.1?}", Duration::from_nanos(last.saturating_sub(first)))?;
        for direction in &self.directions {
            writeln!(f, "  {direction}")?;
        }
        for event in &self.events {
            writeln!(f, "  +{:.6} s  {}", seconds(event.time.saturating_sub(first)), event.text)?;
        }
        if self.more_events > 0 {
            writeln!(f, "  and {} further events", self.more_events)?;
        }
        for silence in &self.silences {
            writeln!(f, "  silence: {silence}")?;
        }
        Ok(())
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {:#x} of {}:", self.from, self.qpn, self.to)?;
        let counts = [
            (self.requests, "request packets"),
            (self.repeated, "sent again"),
            (self.answers, "answers"),
            (self.bytes, "bytes"),
            (self.dropped, "dropped on purpose"),
            (self.marked, "marked for congestion"),
            (self.notifications, "notifications of congestion"),
            (self.wrong_crcs, "with a wrong CRC"),
        ];
        let refusals = self.refusals.iter().map(|(reason, &count)| (count, reason.as_str()));
        let mut before = " ";
        for (count, name) in counts.into_iter().chain(refusals).filter(|(count, _)| *count > 0) {
            write!(f, "{before}{count} {name}")?;
            before = ", ";
        }
        Ok(())
    }
}
