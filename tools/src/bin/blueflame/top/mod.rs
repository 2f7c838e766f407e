//! `blueflame top`: counters of ports, or queues, live in the terminal, or one sample for scripts.

mod counters;
mod key;
mod queues;
mod view;

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use anyhow::{Result, ensure};
use blueflame_decode::printable;
use clap::Args;
use ratatui::crossterm::event::{self, Event, KeyCode};
use serde::Serialize;

use crate::exit::failed;
use counters::{Activity, Place, Reading, places};
use key::Key;
use queues::{Source, Wanted};
use view::View;

const AFTER_HELP: &str = "\
Reads counters and hw_counters of ports and devices in sysfs, and the statistics
of their network interfaces. It opens no device, and needs no right.

With --queues, it shows queue pairs and completion queues. The software device
counts the work of each, for all programs of one launcher. A NIC's kernel tells
numbers, types, states, peers and processes by RDMA netlink, as `rdma resource
show` does. It has no counters of single queues. Queues of raw frames are not
among them: see their completion queues.

  blueflame top
  blueflame top -d mlx5_0 --delay 0.5
  blueflame top --queues --pid 1234
  blueflame top --json | jq '.ports[0].sent.bytes_per_second'

Exit codes: 0 if all went well, 1 if a call failed, 2 for a wrong call, or if
there is no such device.";

/// Show the counters of ports, or queues, live
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The device, as ibv_devices prints it; all of them by default
    #[arg(short, long, value_name = "NAME")]
    device: Option<String>,
    /// Show queues in place of ports
    #[arg(long)]
    queues: bool,
    /// Only the queues of this process
    #[arg(long, value_name = "PID", requires = "queues")]
    pid: Option<u32>,
    /// Seconds from one sample to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    delay: f64,
    /// Print one sample, with the speeds of one delay
    #[arg(long)]
    once: bool,
    /// Print one sample, as one JSON object
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.05..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number from 0.05 to 600".into()),
    }
}

/// How long a software device sleeps at most when it is idle, and looks for readers of its queues.
const ANSWER: Duration = Duration::from_millis(100);

/// A sample, for JSON.
#[derive(Serialize)]
struct Sample {
    ports: Vec<Activity>,
}

/// Shows, or prints.
pub(crate) fn run(arguments: &Arguments, colour: ColorChoice) -> ExitCode {
    match show(arguments, colour) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

/// Shows the queues.
fn show_queues(arguments: &Arguments, colour: ColorChoice) -> Result<()> {
    let source = Source::open();
    let wanted = Wanted { device: arguments.device.clone(), pid: arguments.pid };
    let delay = Duration::from_secs_f64(arguments.delay);
    if !arguments.once && !arguments.json {
        ensure!(io::stdout().is_terminal(), "standard output is no terminal: use --once or --json");
        return queues::live(&source, &wanted, delay);
    }
    // Programs of the software device answer at their next look.
    source.read(&wanted)?;
    thread::sleep(ANSWER);
    let before = source.read(&wanted)?;
    thread::sleep(delay);
    let queues = source.read(&wanted)?.since(&before);
    let mut out = AutoStream::new(io::stdout(), colour).lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &queues::Sample { source: source.says(), queues: &queues })
            .map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    Ok(queues::print(&mut out, &source, &queues)?)
}

fn show(arguments: &Arguments, colour: ColorChoice) -> Result<()> {
    if arguments.queues {
        return show_queues(arguments, colour);
    }
    let root: PathBuf = env::var_os("SYSFS_PATH").unwrap_or_else(|| "/sys".into()).into();
    let places = places(&root, arguments.device.as_deref())?;
    let delay = Duration::from_secs_f64(arguments.delay);
    if !arguments.once && !arguments.json {
        ensure!(io::stdout().is_terminal(), "standard output is no terminal: use --once or --json");
        return live(&places, delay);
    }
    let before = read(&places);
    thread::sleep(delay);
    let ports = since(&read(&places), &before);
    let mut out = AutoStream::new(io::stdout(), colour).lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &Sample { ports }).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    for activity in &ports {
        print(&mut out, activity)?;
    }
    Ok(())
}

fn read(places: &[Place]) -> Vec<Reading> {
    places.iter().map(Place::read).collect()
}

fn since(now: &[Reading], before: &[Reading]) -> Vec<Activity> {
    now.iter().zip(before).map(|(now, before)| now.since(before)).collect()
}

fn print(out: &mut impl Write, activity: &Activity) -> io::Result<()> {
    let port = activity.port.map_or(String::new(), |port| format!(" port {port}"));
    let or_none = |text: &Option<String>| text.as_ref().map_or(String::new(), |text| format!(", {}", printable(text)));
    writeln!(out, "{}{port}{}{}", printable(&activity.device), or_none(&activity.state), or_none(&activity.rate))?;
    for (direction, speed) in [("sent", &activity.sent), ("received", &activity.received)] {
        if let Some(speed) = speed {
            let (gigabits, packets) = (speed.bytes_per_second * 8.0 / 1e9, speed.packets_per_second);
            writeln!(out, "  {direction:<34} {gigabits:.3} Gbit/s, {packets:.0} packets a second")?;
        }
    }
    for counter in &activity.counters {
        let name = printable(&counter.name);
        writeln!(out, "  {name:<34} {:<22} {:.1} a second", counter.value, counter.per_second)?;
    }
    Ok(())
}

/// The screen, until it is left.
fn live(places: &[Place], delay: Duration) -> Result<()> {
    let mut terminal = ratatui::try_init()?;
    let mut view = View::new(delay.as_secs_f64());
    let mut before = read(places);
    view.take(since(&before, &before));
    let outcome = (|| -> Result<()> {
        let mut next = Instant::now() + delay;
        loop {
            terminal.draw(|frame| view.draw(frame))?;
            if event::poll(next.saturating_duration_since(Instant::now()))? && !obey(&mut view, &event::read()?) {
                return Ok(());
            }
            if Instant::now() < next {
                continue;
            }
            next += delay;
            if !view.is_paused {
                let now = read(places);
                view.take(since(&now, &before));
                before = now;
            }
        }
    })();
    ratatui::try_restore()?;
    outcome
}

/// Obeys a key; false to leave.
fn obey(view: &mut View, event: &Event) -> bool {
    let code = match Key::of(event) {
        None => return true,
        Some(Key::Leave) => return false,
        Some(Key::Of(code)) => code,
    };
    match code {
        KeyCode::Up => view.ports.select_previous(),
        KeyCode::Down => {
            let last = view.activities.len().saturating_sub(1);
            let next = view.ports.selected().map_or(0, |at| (at + 1).min(last));
            view.ports.select(Some(next));
        }
        KeyCode::PageUp => view.scroll = view.scroll.saturating_sub(10),
        KeyCode::PageDown => view.scroll += 10,
        KeyCode::Char('a') => view.all = !view.all,
        KeyCode::Char('s') => view.by_speed = !view.by_speed,
        KeyCode::Char(' ') => view.is_paused = !view.is_paused,
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{KeyEvent, KeyModifiers};

    use super::*;

    #[test]
    fn keys_change_the_view() {
        let mut view = View::new(1.0);
        let mut press = |code| obey(&mut view, &Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        for key in ['a', 's', ' '] {
            assert!(press(KeyCode::Char(key)));
        }
        assert!(press(KeyCode::PageDown));
        assert!(!press(KeyCode::Char('q')) && !press(KeyCode::Esc));
        assert!(!view.all && view.by_speed && view.is_paused);
        assert_eq!(view.scroll, 10);
        let copy = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert!(!obey(&mut view, &Event::Key(copy)));
    }
}
