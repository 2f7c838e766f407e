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
//! `common/pingpong` holds the exchange and its verification; `devx_pingpong` makes its queues in another way.
//!
//! Exit code: 0 when all went well, 1 for a failure of setup or transport, 2 for a wrong call, 3 when data was wrong, 4
//! when the peer fell silent.

use std::net::TcpStream;
use std::process::ExitCode;

use clap::Parser;
use common::pingpong::{self, PingPongOptions, Verbs};
use common::{Failure, Role};

/// Verified RC ping-pong through raw mlx5 queues, with ibv_rc_pingpong's TCP exchange.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    pingpong: PingPongOptions,
}

fn main() -> ExitCode {
    let Options { mut pingpong } = Options::parse();
    // Both sides must have the same MTU. The default is that of the C tool, which does not exchange it.
    pingpong.setup.mtu.get_or_insert(1024);
    common::exit("rc_pingpong", pingpong.setup.meet(|role, stream| side(&pingpong, role, stream)))
}

fn side(options: &PingPongOptions, role: Role, stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let queues = Verbs::new(&pd, &path, options)?;
    pingpong::run(queues, (&pd, &path), options, (role, stream))
}
