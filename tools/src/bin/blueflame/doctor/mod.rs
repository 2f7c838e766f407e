//! `blueflame doctor`: acceptance of a NIC, its driver and this crate, by one command, with no peer.

mod chains;
mod check;
mod clocks;
mod completions;
mod compressed;
mod devx;
mod doorbells;
mod environment;
mod errors;
mod ethernet;
mod examine;
mod found;
mod keys;
mod lab;
mod loopback;
mod pacing;
mod page;
mod programs;
mod progress;
mod report;
mod services;
mod shared;
mod tags;
mod twins;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anyhow::Result;
use blueflame_decode::printable;
use clap::Args;

use crate::exit::{WRONG_CALL, complain};
use crate::files::{is_stdout, put};
use crate::info::device::describe;
use crate::machine;
use crate::subject::Subject;
use check::Check;
use examine::examine;
use lab::Lab;
use report::{FORMAT, Report, Summary};

const AFTER_HELP: &str = "\
Sends from a port of the device to itself: it needs no peer, and changes nothing
that stays. Checks of frames need CAP_NET_RAW. Checks that the device, its port
or this process has no capability for are skipped, with its name.

  blueflame doctor
  blueflame doctor -d mlx5_0 --json report.json --html report.html
  blueflame doctor --only loopback --only errors.flush

Attach both files to an issue. They have the names of this machine's kernel,
CPU, addresses and MLX5_* variables.

Exit codes: 0 if no check has failed, 1 if one has, 2 for a wrong call, or if
there is no such device, or none that opens.";

/// Check a NIC, its driver and this crate with no peer, and write a report
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The device, as ibv_devices prints it; the first mlx5 device by default
    #[arg(short, long, value_name = "NAME")]
    device: Option<String>,
    /// The port; by default the first that is up, or port 1
    #[arg(short, long, value_name = "NUMBER")]
    port: Option<u8>,
    /// Only checks of this name or theme; may be given several times
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// Try the port's traffic even if its link is down
    #[arg(long)]
    even_down: bool,
    /// Write the report there, as JSON; - is standard output, and the rows go to standard error
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report there, as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// How long to wait for a completion, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    patience: f64,
    /// List the checks, and run none
    #[arg(long)]
    list: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number from 0.01 to 600".into()),
    }
}

/// All checks, in order.
fn checks() -> impl Iterator<Item = &'static Check> {
    [
        environment::CHECKS,
        doorbells::CHECKS,
        loopback::CHECKS,
        services::CHECKS,
        shared::CHECKS,
        twins::CHECKS,
        completions::CHECKS,
        compressed::CHECKS,
        clocks::CHECKS,
        errors::CHECKS,
        keys::CHECKS,
        tags::CHECKS,
        chains::CHECKS,
        ethernet::CHECKS,
        pacing::CHECKS,
        compressed::OF_FRAMES,
        devx::CHECKS,
        programs::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// Examines, and prints.
pub(crate) fn run(arguments: &Arguments, colour: ColorChoice) -> ExitCode {
    match examined(arguments, colour) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            complain(&error);
            ExitCode::from(WRONG_CALL)
        }
    }
}

/// How many checks have failed.
fn examined(arguments: &Arguments, colour: ColorChoice) -> Result<usize> {
    if arguments.list {
        let mut out = io::stdout().lock();
        checks().try_for_each(|check| writeln!(out, "{:<32} {}", check.id, check.title))?;
        return Ok(0);
    }
    for name in &arguments.only {
        anyhow::ensure!(
            checks().any(|check| check.id == name || check.theme() == name),
            "no check or theme is named {name}: --list has the names"
        );
    }
    let is_wanted = |check: &&Check| {
        arguments.only.is_empty() || arguments.only.iter().any(|name| check.id == name || check.theme() == name)
    };
    let report_to_stdout = is_stdout(arguments.json.as_ref()) || is_stdout(arguments.html.as_ref());
    let mut out: Box<dyn Write> = match report_to_stdout {
        true => Box::new(AutoStream::new(io::stderr(), colour).lock()),
        false => Box::new(AutoStream::new(io::stdout(), colour).lock()),
    };
    let subject = Subject::open(arguments.device.as_deref(), arguments.port)?;
    let device = describe(&subject);
    let port = subject.port;
    writeln!(
        out,
        "{}, device {}, firmware {}; port {}: {}, {:?}\n",
        printable(&device.name),
        device.vendor_part_id,
        printable(&device.firmware),
        port.number,
        port.link_layer,
        port.state
    )?;
    let measure = Duration::from_millis(200);
    let lab = Lab { subject, patience: Duration::from_secs_f64(arguments.patience), measure };
    let mut rows = Vec::new();
    for check in checks().filter(is_wanted) {
        let row = examine(check, &lab, arguments.even_down);
        progress::row(&mut out, &row)?;
        rows.push(row);
    }
    let summary = Summary::of(&rows);
    progress::summary(&mut out, summary)?;
    let report = Report {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        device,
        port: port.number,
        machine: machine::of_machine(),
        summary,
        checks: rows,
    };
    if let Some(path) = &arguments.json {
        let mut text = serde_json::to_string_pretty(&report)?;
        text.push('\n');
        put(path, &text)?;
    }
    if let Some(path) = &arguments.html {
        put(path, &page::page(&report))?;
    }
    Ok(summary.failed)
}
