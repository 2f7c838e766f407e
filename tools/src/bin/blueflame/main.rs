//! `blueflame`: the tool for people who examine mlx5 NICs and their drivers.

mod decode;
#[cfg(feature = "device")]
mod doctor;
mod exit;
#[cfg(feature = "device")]
mod files;
#[cfg(feature = "device")]
mod info;
#[cfg(feature = "device")]
mod machine;
#[cfg(feature = "device")]
mod need;
#[cfg(feature = "device")]
mod nic;
#[cfg(feature = "device")]
mod pages;
#[cfg(feature = "device")]
mod perf;
#[cfg(feature = "device")]
mod subject;
#[cfg(feature = "device")]
mod top;
mod words;
mod written;

use anstream::ColorChoice;
use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Examine mlx5 NICs and their drivers.
#[derive(Parser)]
#[command(name = "blueflame", version, max_term_width = 80)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_parser = colour())]
    #[arg(help = COLOUR_HELP, hide_possible_values = true, hide_default_value = true)]
    color: ColorChoice,
}

const COLOUR_HELP: &str = "\
Colours: always, never, or auto (the default): on a
terminal, unless NO_COLOR is set";

#[derive(Subcommand)]
enum Command {
    /// Explain lines of logs, dumps of CQEs and WQEs, and captures
    Decode(decode::Arguments),
    #[cfg(feature = "device")]
    Info(info::Arguments),
    #[cfg(feature = "device")]
    Doctor(doctor::Arguments),
    #[cfg(feature = "device")]
    Perf(Box<perf::Arguments>),
    #[cfg(feature = "device")]
    Top(top::Arguments),
    Completions(written::Completions),
    Man(written::Man),
}

fn colour() -> impl clap::builder::TypedValueParser<Value = ColorChoice> {
    words::named(&[("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)])
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    match arguments.command {
        Command::Decode(decode) => Ok(decode::run(&decode, arguments.color)),
        #[cfg(feature = "device")]
        Command::Info(info) => Ok(info::run(&info, arguments.color)),
        #[cfg(feature = "device")]
        Command::Doctor(doctor) => Ok(doctor::run(&doctor, arguments.color)),
        #[cfg(feature = "device")]
        Command::Perf(perf) => Ok(perf::run(&perf, arguments.color)),
        #[cfg(feature = "device")]
        Command::Top(top) => Ok(top::run(&top, arguments.color)),
        Command::Completions(completions) => written::completions(&completions, Arguments::command()),
        Command::Man(man) => written::man(&man, Arguments::command()),
    }
}
