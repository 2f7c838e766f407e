//! How many instructions the data path executes: counted one by one, hence the same each time and on every machine, and
//! compared with recorded figures.
//!
//! `cargo run --release -p blueflame-instructions` prints a table and leaves it for the report; `-- --check` also fails
//! where a figure is not the recorded one, in either direction. After a change that is meant:
//! `BLESS=1 cargo run --release -p blueflame-instructions -- --check`.
//!
//! Each hot function is counted in two forms. One is inlined into a loop over messages and includes the loop's own
//! instructions (taking the next message, counting); all figures and goals of this project use this form. The other is
//! behind a call, from its first instruction to its return.
//!
//! `-- --libmlx5`, with the feature `libmlx5`, counts what libmlx5 executes for the same, under `softhca-run --sink`;
//! `./run bench` does.
mod case;
mod cases;
#[cfg(feature = "libmlx5")]
#[path = "../common/mod.rs"]
mod common;
mod floors;
mod frames;
#[path = "../hot/mod.rs"]
mod hot;
#[cfg(feature = "libmlx5")]
mod libmlx5;
mod memory;
mod record;
mod step;
#[cfg(not(feature = "libmlx5"))]
#[path = "../common/striding.rs"]
mod striding;

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Parser;

use case::Case;
use cases::cases;
#[cfg(feature = "libmlx5")]
use common::striding;
use record::{Record, compiler, report};

/// Counts the instructions of the hot functions.
#[derive(Parser)]
struct Arguments {
    /// Fail where a figure is not the recorded one; with BLESS=1 in the environment, record them.
    #[arg(long)]
    check: bool,
    /// Count libmlx5's instructions instead, for comparison: with the feature `libmlx5`, under `softhca-run --sink`.
    #[arg(long, conflicts_with_all = ["check", "filter"])]
    libmlx5: bool,
    /// Only cases with this in their names.
    filter: Option<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.libmlx5 {
        #[cfg(feature = "libmlx5")]
        return report(&libmlx5::figures()?);
        #[cfg(not(feature = "libmlx5"))]
        return Err("--libmlx5 needs the feature `libmlx5`".to_owned());
    }
    let wanted = |case: &Case| arguments.filter.as_ref().is_none_or(|part| case.name.contains(part));
    let all = arguments.filter.is_none();
    let mut found = Record { compiler: compiler()?, instructions: BTreeMap::new() };
    let mut by_element = BTreeMap::new();
    println!("{:<42} {:>9} {:>9} {:>12} {:>6}", "instructions", "in a loop", "by call", "per message", "goal");
    for case in cases().iter().filter(|case| wanted(case)) {
        let figures = case.figures()?;
        let each = figures.in_a_loop as f64 / case.elements as f64;
        print!("{:<42} {:>9} {:>9} {each:>12.1}", case.name, figures.in_a_loop, figures.by_call);
        println!(
            " {:>6}",
            case.goal
                .map_or(String::new(), |goal| format!("{} {goal}", if figures.in_a_loop <= goal { "≤" } else { ">" }))
        );
        by_element.insert(case.name.to_owned(), figures.in_a_loop.div_ceil(case.elements));
        found.instructions.insert(case.name.to_owned(), figures);
    }
    report(&by_element)?;
    if !arguments.check {
        return Ok(());
    }
    if option_env!("CARGO_INCREMENTAL") == Some("1") {
        return Err(
            "the records are of builds without CARGO_INCREMENTAL=1, which divides the code in other ways".into()
        );
    }
    if all && std::env::var_os("BLESS").is_some() {
        found.write()?;
    }
    match Record::read()?.differences(&found, all) {
        none if none.is_empty() => Ok(()),
        differences => Err(differences.join("\n")),
    }
}
