//! `rc_pingpong` over queues made by DevX: a firmware command makes each object, then the data path is the same.
//!
//! The peer sees no difference: it may be this program, `rc_pingpong` with queues made by verbs, or rdma-core's C tool.
//!
//! ```text
//! devx_pingpong                       # a server;   ibv_rc_pingpong localhost, or rc_pingpong localhost, is its client
//! devx_pingpong localhost             # a client;   ibv_rc_pingpong, or rc_pingpong, is its server
//! devx_pingpong --local               # both
//! devx_pingpong --local --peer verbs  # both; the server's queues are made by verbs
//! ```
//!
//! Exit codes are those of `rc_pingpong`.

mod queues;

use std::net::TcpStream;
use std::process::ExitCode;

use blueflame_devx::Context;
use clap::{Parser, ValueEnum};
use common::pingpong::{self, PingPongOptions, Verbs};
use common::{Failure, Role};
use queues::Devx;

/// Verified RC ping-pong through queues made by DevX, with ibv_rc_pingpong's TCP exchange.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    pingpong: PingPongOptions,
    /// With --local: the maker of the server's queues
    #[arg(long, value_enum, default_value_t = Maker::Devx, requires = "local")]
    peer: Maker,
}

/// Who makes queues.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Maker {
    Devx,
    Verbs,
}

fn main() -> ExitCode {
    let mut options = Options::parse();
    // Both sides must have the same MTU. The default is that of the C tool, which does not exchange it.
    options.pingpong.setup.mtu.get_or_insert(1024);
    common::exit("devx_pingpong", options.pingpong.setup.meet(|role, stream| side(&options, role, stream)))
}

fn side(Options { pingpong: options, peer }: &Options, role: Role, stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open_with(blueflame::verbs::Device::options().devx(true))?;
    let pd = device.protection_domain()?;
    if role == Role::Server && *peer == Maker::Verbs {
        let queues = Verbs::new(&pd, &path, options)?;
        return pingpong::run(queues, (&pd, &path), options, (role, stream));
    }
    let queues = Devx::new(&Context::over(device), &pd, &path, options)?;
    pingpong::run(queues, (&pd, &path), options, (role, stream))
}
