//! Ping-pong by datagrams: this crate against itself, or against the C tool `ibv_ud_pingpong`.
//!
//! The two find each other by the C tool's TCP exchange, so either side may be either program:
//!
//! ```text
//! ud_pingpong                  # a server;   ibv_ud_pingpong localhost   is its client
//! ud_pingpong localhost        # a client;   ibv_ud_pingpong             is its server
//! ud_pingpong --local          # both
//! ```
//!
//! A lost datagram is not sent again, so on a bad network both sides fall silent. `common/pingpong` holds the exchange
//! and its verification.
//!
//! Exit codes are those of `rc_pingpong`.

use std::net::TcpStream;
use std::process::ExitCode;

use clap::Parser;
use common::pingpong::{self, Datagrams, PingPongOptions};
use common::{Failure, Role};

/// Verified ping-pong by datagrams through raw mlx5 queues, with ibv_ud_pingpong's TCP exchange.
#[derive(Parser)]
#[command(version, max_term_width = 80, mut_arg("size", |size| size.default_value("1024")))]
struct Options {
    #[command(flatten)]
    pingpong: PingPongOptions,
}

fn main() -> ExitCode {
    let Options { pingpong } = Options::parse();
    common::exit("ud_pingpong", pingpong.setup.meet(|role, stream| side(&pingpong, role, stream)))
}

fn side(options: &PingPongOptions, role: Role, stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let queues = Datagrams::new(&pd, &path, options)?;
    pingpong::run(queues, (&pd, &path), options, (role, stream))
}
