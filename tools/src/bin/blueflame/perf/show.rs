//! The run on the terminal: a table, a line for each interval, and a bar while it runs.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use blueflame_decode::printable;
use common::Failure;
use indicatif::{ProgressBar, ProgressStyle};

use super::plan::{Figure, Limit, Plan};
use super::quantiles::Quantiles;
use super::report::{Outcome, Report};
use super::series::Line;
use super::stream::Job;

const HEAD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// Where the run is shown.
pub(super) struct Show {
    out: Option<AutoStream<io::Stdout>>,
    gbits: bool,
    /// Lines of intervals before the table's rows.
    is_long: bool,
    has_head: bool,
    bar: Option<(ProgressBar, Instant)>,
    figure: Figure,
}

impl Show {
    /// On the terminal, unless standard output is wanted for other things.
    pub(super) fn new(is_wanted: bool, gbits: bool, plan: &Plan, interval: f64, colour: ColorChoice) -> Self {
        let is_long = matches!(plan.limit, Limit::Time(time) if time.as_secs_f64() > interval);
        let out = is_wanted.then(|| AutoStream::new(io::stdout(), colour));
        Self { out, gbits, is_long, has_head: false, bar: None, figure: plan.figure }
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let mut write = || writeln!(out, "{text}").and_then(|()| out.flush());
        match &self.bar {
            Some((bar, _)) => Ok(bar.suspend(write)?),
            None => Ok(write()?),
        }
    }

    /// The run.
    pub(super) fn begin(&mut self, report: &Report) -> Result<(), Failure> {
        let Report { title, role, mtu, plan, omission, .. } = report;
        let (device, peer) = (printable(&report.device), printable(&report.peer));
        let mut text = format!("{HEAD}{title}{HEAD:#}, {role} on {device}, MTU {mtu}; peer: {peer}\n");
        let _ = write!(text, "queues {}, threads {}", plan.queues, plan.threads);
        if let Some(rate) = plan.rate {
            let _ = write!(text, ", {rate} messages a second");
        }
        if plan.figure == Figure::Lat {
            let what = if plan.takes_turns() { "half of the time there and back" } else { "to the completion" };
            let _ = write!(text, "\ntimes in us, {what};\n{omission}");
        }
        self.print(&text)
    }

    fn head(&mut self) -> Result<(), Failure> {
        let mut text = format!("{HEAD}{:>9} {:>11}", "bytes", "messages");
        match self.figure {
            Figure::Lat => Quantiles::NAMES.iter().for_each(|name| _ = write!(text, " {name:>9}")),
            Figure::Bw | Figure::Rate => {
                let unit = if self.gbits { "Gbit/s" } else { "MB/s" };
                let _ = write!(text, " {unit:>11} {:>11} {:>9} {:>9}", "Mmsg/s", "p50 us", "p99 us");
            }
        }
        self.print(&format!("{text}{HEAD:#}"))
    }

    /// A size.
    pub(super) fn row(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        if outcome.stream().is_some() && !std::mem::replace(&mut self.has_head, true) {
            self.head()?;
        }
        for (is_other, stream) in [(false, outcome.sent.as_ref()), (true, outcome.received.as_ref())] {
            let Some(stream) = stream else { continue };
            if is_other && self.figure == Figure::Lat {
                self.print(&format!("{:>9} {:>11}  answered", outcome.bytes, stream.messages))?;
                continue;
            }
            let mut text = format!("{:>9} {:>11}", outcome.bytes, stream.messages);
            let times = outcome.times().filter(|_| !is_other);
            match (self.figure, times) {
                (Figure::Lat, Some(times)) => {
                    for (name, value) in Quantiles::NAMES.iter().zip(times.values()) {
                        // Too few times tell nothing of the tail.
                        let _ = match times.has(name) {
                            true => write!(text, " {value:>9.2}"),
                            false => write!(text, " {:>9}", "-"),
                        };
                    }
                }
                (Figure::Lat, None) => {}
                (Figure::Bw | Figure::Rate, times) => {
                    let bytes = stream.bytes_per_second;
                    let speed = if self.gbits { bytes * 8.0 / 1e9 } else { bytes / f64::from(1 << 20) };
                    let _ = write!(text, " {speed:>11.2} {:>11.6}", stream.messages_per_second / 1e6);
                    if let Some(times) = times {
                        let _ = write!(text, " {:>9.2} {:>9.2}", times.p50, times.p99);
                    }
                    text += if is_other { "  received" } else { "" };
                }
            }
            self.print(&text)?;
        }
        if let Some(posting) = &outcome.posting {
            let (ns, cycles) = (posting.ns_per_message, posting.cycles_per_message);
            self.print(&format!("{:>9} posting a message: {ns:.1} ns, {cycles:.0} cycles", ""))?;
        }
        if let Some(lost) = outcome.lost.filter(|&lost| lost > 0) {
            self.print(&format!("{:>9} the peer has not received {lost} messages", ""))?;
        }
        Ok(())
    }

    /// An interval of a run that is longer than one.
    pub(super) fn line(&mut self, line: &Line) -> Result<(), Failure> {
        if !self.is_long {
            return Ok(());
        }
        let Line { seconds, per_second, us, .. } = line;
        let times =
            us.map_or(String::new(), |us| format!(", p50 {:.2} us, p99 {:.2}, max {:.2}", us.p50, us.p99, us.max));
        self.print(&format!("{FAINT}{seconds:>8.1} s {per_second:>11.0} messages a second{times}{FAINT:#}"))
    }

    /// How far the run is.
    pub(super) fn progress(&mut self, job: &Job, sent: u64) {
        if self.out.is_none() || !io::stderr().is_terminal() || !job.sends {
            return;
        }
        let (bar, begin) = self.bar.get_or_insert_with(|| {
            let length = match job.plan.limit {
                Limit::Messages(messages) => messages * job.plan.queues as u64,
                Limit::Time(time) => time.as_millis() as u64,
            };
            let style = ProgressStyle::with_template("{spinner} {bar:40} {percent:>3} % {elapsed} of {duration}");
            let bar = ProgressBar::new(length);
            (bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())), Instant::now())
        });
        match job.plan.limit {
            Limit::Messages(_) => bar.set_position(sent),
            Limit::Time(_) => bar.set_position(begin.elapsed().as_millis() as u64),
        }
    }

    /// The end of a size.
    pub(super) fn progress_over(&mut self) {
        if let Some((bar, _)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
