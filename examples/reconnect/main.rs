//! Recovery from a peer that dies. The client sees the error, accounts for every request, connects the same queue pair
//! again, and repeats the lost requests.
//!
//! ```text
//! reconnect                  # the server; kill it and start it again while the client runs
//! reconnect SERVER           # the client
//! reconnect --local          # the client, and servers as processes, of which the first is killed
//! ```
//!
//! The client SENDs numbers. A message whose completion was a success has arrived. The others may have arrived or not,
//! so the next connection begins with the first of them: each number arrives at least once, and in order.

mod client;
mod options;
mod server;

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Parser;
use common::{Failure, Process, Setup, listen};

use crate::options::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("reconnect", run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let setup = &options.setup;
    if let Some(host) = &setup.host {
        return client::run(options, || setup.connect(host));
    }
    if !setup.local {
        return server::run(options, &listen(setup.port)?);
    }
    // A port that is free now; the servers listen there, one after the other.
    let port = listen(0)?.local_addr()?.port();
    let arguments: Vec<String> = setup.arguments(port).split_off(1);
    let setup = Setup { port, ..setup.clone() };
    thread::scope(|scope| {
        let servers = scope.spawn(|| {
            let mut first = Process::start(arguments.clone())?;
            thread::sleep(Duration::from_secs_f64(options.duration / 3.0));
            first.kill()?;
            Process::start(arguments.clone())?.finish()
        });
        let outcome = client::run(options, || setup.connect("localhost"));
        let server = servers.join().map_err(|_| "the thread of the servers has panicked")?;
        outcome.and(server.map(drop))
    })
}
