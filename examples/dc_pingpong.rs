//! Ping-pong by dynamic connections (DC): each side has an initiator, which sends, and a target, which receives.
//!
//! ```text
//! dc_pingpong                  # a server
//! dc_pingpong localhost        # its client
//! dc_pingpong --local          # both
//! ```
//!
//! The two sides find each other like those of `ud_pingpong`, and exchange the numbers of their targets. rdma-core has
//! no such program. `common/pingpong` holds the exchange and its verification.
//!
//! Exit codes are those of `rc_pingpong`.

use std::net::TcpStream;
use std::process::ExitCode;

use clap::Parser;
use common::pingpong::{self, Dynamic, PingPongOptions};
use common::{Failure, Role};

/// Verified ping-pong by dynamic connections through raw mlx5 queues.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    pingpong: PingPongOptions,
}

fn main() -> ExitCode {
    let Options { pingpong } = Options::parse();
    common::exit("dc_pingpong", pingpong.setup.meet(|role, stream| side(&pingpong, role, stream)))
}

fn side(options: &PingPongOptions, role: Role, stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let queues = Dynamic::new(&pd, &path, options)?;
    pingpong::run(queues, (&pd, &path), options, (role, stream))
}
