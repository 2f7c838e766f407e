//! `blueflame info`: devices, ports, addresses, capabilities, and the features of this crate on each.

pub(crate) mod device;
mod show;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use anyhow::Result;
use blueflame_decode::printable;
use clap::Args;
use serde::Serialize;

use crate::exit::{WRONG_CALL, failed, is_no_device};
use crate::machine::{self, Fact};
use crate::subject::{self, Subject};
use device::{DeviceInfo, describe};

const AFTER_HELP: &str = "\
Makes a queue pair of its own on each device, which moves no data, to look at
its doorbell register.

  blueflame info
  blueflame info -d mlx5_0 --json

Exit codes: 0 if all devices were described, 1 if one does not open, 2 for a
wrong call, or if there is no such device.";

/// Describe the mlx5 devices of this machine, and the features of this crate on each
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The device, as ibv_devices prints it; all of them by default
    #[arg(short, long, value_name = "NAME")]
    device: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Everything, for JSON.
#[derive(Serialize)]
struct Info {
    machine: Vec<Fact>,
    devices: Vec<DeviceInfo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<String>,
    /// No device is there, or none of the name that was asked for.
    #[serde(skip)]
    is_no_device: bool,
}

/// Looks, and prints.
pub(crate) fn run(arguments: &Arguments, colour: ColorChoice) -> ExitCode {
    match look(arguments).and_then(|info| print(&info, arguments.json, colour).map(|()| info)) {
        Ok(info) if info.is_no_device => ExitCode::from(WRONG_CALL),
        Ok(info) if info.failures.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn look(arguments: &Arguments) -> Result<Info> {
    let names = match &arguments.device {
        Some(name) => vec![name.clone()],
        None => subject::names()?,
    };
    let (mut devices, mut failures, mut absent) = (Vec::new(), Vec::new(), 0);
    for name in names {
        match Subject::open(Some(&name), None) {
            Ok(subject) => devices.push(describe(&subject)),
            Err(error) => {
                absent += usize::from(is_no_device(&error));
                failures.push(format!("{name}: {error:#}"));
            }
        }
    }
    if devices.is_empty() && failures.is_empty() {
        failures.push("no RDMA devices: is the kernel's driver loaded (mlx5_ib)?".into());
        absent = 1;
    }
    let is_no_device = devices.is_empty() && absent == failures.len();
    // The libraries are mapped once a device is open.
    Ok(Info { machine: machine::of_machine(), devices, failures, is_no_device })
}

fn print(info: &Info, json: bool, colour: ColorChoice) -> Result<()> {
    let mut out = AutoStream::new(io::stdout(), colour).lock();
    if json {
        serde_json::to_writer_pretty(&mut out, info).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        show::facts(&mut out, "machine", &info.machine)?;
        for device in &info.devices {
            show::device(&mut out, device)?;
        }
    }
    out.flush()?;
    for failure in &info.failures {
        eprintln!("blueflame: {}", printable(failure));
    }
    Ok(())
}
