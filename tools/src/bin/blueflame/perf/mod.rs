//! `blueflame perf`: latency, bandwidth and rate between two ends, of which one may be perftest.

mod chart;
mod compare;
mod ends;
mod frames;
mod keys;
mod lane;
mod meeting;
mod options;
mod page;
mod plan;
mod quantiles;
mod recorder;
mod report;
mod run;
mod series;
mod show;
mod stream;
mod turns;
mod work;

use std::process::ExitCode;
use std::sync::Mutex;

use anstream::ColorChoice;
use common::{Failure, Role};

use crate::exit::{WRONG_CALL, complain};
use crate::files::{is_stdout, put};

pub(crate) use options::Arguments;
use options::{Run, What};
use plan::{Plan, Verb};
use report::Report;
use show::Show;

/// Measures, or compares, and prints.
pub(crate) fn run(arguments: &Arguments, colour: ColorChoice) -> ExitCode {
    let (verb, options) = match &arguments.what {
        What::Send(run) => (Verb::Send, run),
        What::Write(run) => (Verb::Write, run),
        What::Read(run) => (Verb::Read, run),
        What::Atomic(run) => (Verb::Atomic, run),
        What::Frame(run) => (Verb::Frame, run),
        What::Compare(compare) => return compare::run(compare, colour).unwrap_or_else(|error| wrong(&error)),
    };
    match options.plan(verb) {
        Ok(plan) => common::exit("blueflame", measure(options, &plan, colour)),
        Err(error) => wrong(&error.into()),
    }
}

fn wrong(error: &anyhow::Error) -> ExitCode {
    complain(error);
    ExitCode::from(WRONG_CALL)
}

/// Runs one end, or both; the client writes the files.
fn measure(options: &Run, plan: &Plan, colour: ColorChoice) -> Result<(), Failure> {
    let shown = !is_stdout(options.json.as_ref()) && !is_stdout(options.csv.as_ref());
    let report = Mutex::new(None);
    options.setup.meet(|role, stream| {
        // With --local, the client's report says it all.
        let is_told = role == Role::Client || !options.setup.local;
        let mut show = Show::new(shown && is_told, options.report_gbits, plan, options.interval, colour);
        let made = run::run(options, plan, (role, stream), &mut show)?;
        if is_told && let Ok(mut report) = report.lock() {
            *report = Some(made);
        }
        Ok(())
    })?;
    let report = report.into_inner().ok().flatten().ok_or("no report")?;
    write(options, &report)
}

fn write(options: &Run, report: &Report) -> Result<(), Failure> {
    if let Some(path) = &options.json {
        put(path, &(serde_json::to_string_pretty(report)? + "\n"))?;
    }
    if let Some(path) = &options.csv {
        put(path, &report.csv())?;
    }
    if let Some(path) = &options.svg {
        put(path, &common::svg::drawn(report.times().histogram(), &report.histogram_title())?)?;
    }
    if let Some(path) = &options.html {
        put(path, &page::page(report)?)?;
    }
    Ok(())
}
