//! Ping-pong over a reliable connection: this crate against itself, or against the C tool `ibv_rc_pingpong`.
//!
//! The two find each other by the C tool's TCP exchange, so either side may be either program:
//!
//! ```text
//! rc_pingpong                  # a server;   ibv_rc_pingpong localhost   is its client
//! rc_pingpong localhost        # a client;   ibv_rc_pingpong             is its server
//! rc_pingpong --local          # both
//! ```
//!
//! Every message is verified. Message k carries a pattern of k, and either side sends back what it was sent: the C tool
//! does so by nature, for it receives into the buffer it sends from. The first byte of each page is zero, which is what the
//! C server's `-c` looks for.
//!
//! Exit code: 0 when all went well, 1 for a failure of setup or transport, 2 for a wrong call, 3 when data was wrong, 4
//! when the peer fell silent.

mod exchange;
mod pattern;
mod pingpong;
mod report;

use std::net::TcpStream;
use std::process::ExitCode;

use clap::Parser;
use common::{Failure, ReportOptions, Role, Setup};

use crate::pingpong::PingPong;

/// Verified RC ping-pong through raw mlx5 queues, with ibv_rc_pingpong's TCP exchange.
#[derive(Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    setup: Setup,
    /// Bytes per message
    #[arg(short, long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    size: u32,
    /// Messages each way
    #[arg(short = 'n', long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    iters: u32,
    /// Receives kept posted
    #[arg(short, long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=4096))]
    rx_depth: u32,
    /// Sleep on completion events instead of polling
    #[arg(short, long)]
    events: bool,
    /// Do not look at what arrives
    #[arg(long)]
    no_verify: bool,
    /// Seconds without a completion after which the peer counts as gone
    #[arg(long, default_value_t = 20)]
    timeout: u64,
    #[command(flatten)]
    report: ReportOptions,
}

fn main() -> ExitCode {
    let mut options = Options::parse();
    // Both sides must have the same; by default that of the C tool, which does not exchange it.
    options.setup.mtu.get_or_insert(1024);
    common::exit("rc_pingpong", options.setup.meet(|role, stream| side(&options, role, stream)))
}

fn side(options: &Options, role: Role, stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let (mut pingpong, qp) = PingPong::new(&device, options, role)?;
    qp.to_init(&path)?;
    pingpong.post_receives()?;
    let local = qp.endpoint(&path);
    match role {
        Role::Client => {
            let remote = exchange::as_client(stream, &local)?;
            pingpong.connect(&path, &local, &remote)?;
        }
        Role::Server => exchange::as_server(stream, &local, |remote| pingpong.connect(&path, &local, remote))?,
    }
    pingpong.run(role)?;
    // With --local, the client's report says it all.
    if role == Role::Server && options.setup.local { Ok(()) } else { pingpong.report.print(&options.report) }
}
