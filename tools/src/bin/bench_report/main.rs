//! Compares the benchmarks' figures with the goals: a table, a summary for programs, and charts.
//!
//! Nothing is measured here. The benchmark programs and the instruction counter leave files under `measured/`; this
//! program reads them and needs neither the software device nor the machine on which they ran.
mod charts;
mod goals;
mod measured;
mod page;
mod sections;
mod summary;
mod tables;
#[cfg(test)]
mod tests;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use measured::Measurements;
use verdict::Figure;

/// Print what `./run bench` measured with the goals beside it; write summary.json and charts.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    /// The folder `bench` of cargo's target directory: measurements are under `measured/`, the rest is written here
    folder: PathBuf,
    /// Fail when a goal is not met or was not measured
    #[arg(long)]
    check: bool,
    /// Copy the charts to this folder, write the tables into its tables.md, and the results into FOLDER.md
    #[arg(long, value_name = "FOLDER")]
    docs: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench_report: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let folder = &options.folder;
    let measurements = Measurements::read(&folder.join("measured"))?;
    let figures: Vec<Figure<'_>> = goals::GOALS.iter().map(|goal| Figure::new(goal, &measurements)).collect();
    let summary = summary::summary(&measurements, &figures);
    let summary_file = folder.join("summary.json");
    summary::write(&summary, &summary_file)?;
    let drawn = charts::draw(&measurements, folder)?;

    for section in sections::SECTIONS {
        if let Some(table) = tables::section(section, &measurements, &summary) {
            println!("{}, {}\n{table}\n", section.title, section.unit);
        }
    }
    if let Some(table) = tables::others(&measurements, &summary) {
        println!("More\n{table}\n");
    }
    println!("Goals\n{}", tables::goals(&figures));
    let count = |met| figures.iter().filter(|figure| figure.is_measurable() && figure.met() == met).count();
    let (met, unmet, unknown) = (count(Some(true)), count(Some(false)), count(None));
    println!("{met} figures meet their goals, {unmet} do not, {unknown} were not measured.");
    println!("{} ({})", measurements.cpu, charts::CAVEAT);
    println!("{}", summary_file.display());
    for section in &drawn {
        println!("{}", folder.join(section.file).with_extension("svg").display());
    }
    if let Some(docs) = &options.docs {
        page::update(docs, folder, &drawn, &figures, &measurements, &summary)?;
    }
    Ok(if options.check && unmet + unknown > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
