//! Measures the cost of a doorbell on a NIC, for owners of one.
//!
//! `./run bench --device mlx5_0` opens the device and makes a queue pair for itself, which needs no peer and no link.
//! It rings real doorbells for NOPs by 8-byte stores and by BlueFlame copies, and finds out whether write combining
//! works. It also runs on a software device, and then says that its figures mean nothing.

mod clock;
mod measure;
mod queue;
mod register;
mod report;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use blueflame::arch::copy::CopyRoutine;
use blueflame::verbs::{Device, device_names};
use clap::Parser;

use clock::Clock;
use measure::{Way, measure};
use queue::{Failure, NopQueue};
use register::Mapping;
use report::Report;
use verdict::Verdict;

/// Measure the cost of a doorbell on an mlx5 device, and whether write combining works
///
/// Makes its own queue pair, needs no peer and no link, and disturbs no other user: it posts NOPs, which move no data.
/// For steady figures bind it to one CPU near the device (taskset -c), and leave that CPU alone meanwhile.
///
/// Exit codes: 0 measured; 1 could not be measured; 2 wrong usage; 3 measured, and write combining does not work.
#[derive(Parser)]
#[command(bin_name = "./run bench", verbatim_doc_comment)]
struct Options {
    /// The device, as ibv_devices prints it
    #[arg(long, value_name = "NAME")]
    device: String,

    /// The port that the queue pair is made on; its link may be down
    #[arg(long, default_value_t = 1)]
    port: u8,

    /// Copy routines to try [default: all that this CPU has but st64b, which faults if the memory does not take it]
    #[arg(long, value_name = "ROUTINE")]
    copy: Vec<CopyRoutine>,

    /// How long to measure, in seconds
    #[arg(long, default_value_t = 3.0, value_parser = seconds)]
    seconds: f64,

    /// Writes all figures there, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// The flag that cargo bench passes
    #[arg(long, hide = true)]
    bench: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number from 0 to 3600".into()),
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error("{0}")]
    Failure(#[from] Failure),
    #[error("{path}: {error}")]
    Write { path: PathBuf, error: std::io::Error },
    #[error("the kernel does not tell what the register at {0:#x} is mapped from (/proc/self/smaps)")]
    Mapping(usize),
}

fn run(options: &Options) -> Result<Report, Problem> {
    let device = Device::open(&options.device).map_err(Failure::from)?;
    let attr = device.attr();
    let mut queue = NopQueue::new(&device, options.port)?;
    let mapping = Mapping::of(queue.register()).ok_or(Problem::Mapping(queue.register()))?;

    let mut ways = vec![Way::EightBytes];
    if queue.half_bytes != 0 {
        let routines = match &options.copy[..] {
            [] => CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b).collect(),
            chosen => chosen.to_vec(),
        };
        for routine in routines {
            routine.check().map_err(Failure::from)?;
            ways.push(Way::Copy(routine));
        }
    }
    let clock = Clock::new();
    let found = measure(&mut queue, &clock, &ways, Duration::from_secs_f64(options.seconds))?;
    let report = Report::new(device.name(), attr, queue.half_bytes, &mapping, clock.overhead_ns(), &found);
    if let Some(path) = &options.json {
        let mut text = serde_json::to_string_pretty(&report).expect("strings and numbers");
        text.push('\n');
        std::fs::write(path, text).map_err(|error| Problem::Write { path: path.clone(), error })?;
    }
    Ok(report)
}

fn main() -> ExitCode {
    // Among other benchmarks, with no device named, or with criterion's options: this one is for a NIC.
    if !std::env::args().any(|arg| arg.starts_with("--device") || arg == "--help" || arg == "-h") {
        let devices = device_names().unwrap_or_default();
        let known =
            if devices.is_empty() { "there is none here".into() } else { format!("here: {}", devices.join(", ")) };
        println!("nic: doorbells of a real NIC: cargo bench --bench nic -- --device NAME ({known}); --help for more");
        return ExitCode::SUCCESS;
    }
    let options = Options::parse();
    match run(&options) {
        Ok(report) => {
            print!("{report}");
            match report.write_combining {
                Verdict::DoesNotWork { .. } => ExitCode::from(3),
                Verdict::Works { .. } | Verdict::Unknown { .. } => ExitCode::SUCCESS,
            }
        }
        Err(problem) => {
            eprintln!("nic: {problem}");
            ExitCode::FAILURE
        }
    }
}
