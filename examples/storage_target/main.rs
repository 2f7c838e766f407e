//! A storage target in memory: it serves blocks to several initiators, and goes on when one of them dies.
//!
//! ```text
//! storage_target                 # the target, for up to -q initiators at a time
//! storage_target TARGET          # an initiator
//! storage_target --local         # the target and -q initiators, each a process; one is killed and replaced
//! ```
//!
//! ```text
//!   initiator                                  target
//!     |  -- SEND: read or write, block, rkey -->  |   into a receive that all initiators share (SRQ)
//!     |  <-- RDMA WRITE or RDMA READ: the block --|   the initiator's CPU does nothing
//!     |  <-- SEND, immediate = tag ---------------|   behind the WRITE, fenced behind the READ
//! ```

mod command;
mod initiator;
mod options;
mod service;
mod session;
mod target;

use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use clap::Parser;
use common::{Failure, Process, listen};
use serde_json::json;

use crate::initiator::Outcome;
use crate::options::Options;
use crate::service::Death;
use crate::target::{Control, Target};

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("storage_target", run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    match &options.setup.host {
        Some(host) => initiator::run(options, options.setup.connect(host)?),
        None if options.setup.local => stage(options),
        None => {
            // For ever, until it is killed.
            let target = Target::new(options, listen(options.setup.port)?)?;
            target.serve(&Control::default()).map(drop)
        }
    }
}

/// The target on a thread, initiators as processes: the last one is killed after a third of the time, and replaced.
fn stage(options: &Options) -> Result<(), Failure> {
    let listener = listen(0)?;
    let port = listener.local_addr()?.port();
    let target = Target::new(options, listener)?;
    let third = Duration::from_secs_f64(options.duration / 3.0);
    let initiator = |number: u32, duration: Duration| {
        let mut arguments = options.setup.arguments(port);
        arguments.extend([format!("-s{}", options.size), format!("-t{}", options.tx_depth)]);
        arguments.extend([format!("-D{}", duration.as_secs_f64()), format!("--number={number}"), "--json".into()]);
        let svg = options.report.svg.iter().filter(|_| number == 0);
        arguments.extend(svg.map(|file| format!("--svg={}", file.display())));
        Process::start(arguments)
    };
    let control = Control::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| target.serve(&control));
        let outcome = (|| {
            let mut initiators: Vec<Process> =
                (0..options.qp).map(|number| initiator(number, 3 * third)).collect::<Result<_, _>>()?;
            while control.connected.load(Relaxed) < options.qp && !serving.is_finished() {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(third);
            let mut last = initiators.pop().ok_or("no initiator")?;
            last.kill()?;
            thread::sleep(third / 4);
            initiators.push(initiator(options.qp - 1, third)?);
            let finished = initiators.into_iter().map(|one| Ok(serde_json::from_str(&one.finish()?)?));
            finished.collect::<Result<Vec<Outcome>, Failure>>()
        })();
        control.stop.store(true, Relaxed);
        let deaths = serving.join().map_err(|_| "the target has panicked")??;
        report(options, &outcome?, &deaths)
    })
}

fn report(options: &Options, initiators: &[Outcome], deaths: &[Death]) -> Result<(), Failure> {
    if options.report.json {
        println!("{}", json!({ "initiators": initiators, "deaths": deaths }));
        return Ok(());
    }
    initiators.iter().for_each(|one| println!("{one}"));
    for Death { number, flushed, freed_after_ms, others_meanwhile, .. } in deaths {
        print!("initiator {number} died: {flushed} requests flushed, queue pair free after {freed_after_ms:.1} ms; ");
        println!("until its replacement came the others had {} commands done", others_meanwhile.unwrap_or(0));
    }
    Ok(())
}
