//! Ping-pong over a reliable connection: this crate against itself, or against the C tool `ibv_rc_pingpong`.
//!
//! The two find each other by the C tool's TCP exchange, so either side may be either program:
//!
//! ```text
//! rc_pingpong                  # a server;   ibv_rc_pingpong localhost   is its client
//! rc_pingpong localhost        # a client;   ibv_rc_pingpong             is its server
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

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

use blueflame::verbs::{Device, Mtu};
use clap::Parser;

use crate::pingpong::PingPong;
use crate::report::Report;

/// Verified RC ping-pong through raw mlx5 queues, with ibv_rc_pingpong's TCP exchange.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Server to connect to; without it, be the server
    host: Option<String>,
    /// RDMA device [default: the first mlx5 device]
    #[arg(short, long)]
    device: Option<String>,
    /// TCP port of the exchange
    #[arg(short, long, default_value_t = 18515)]
    port: u16,
    /// Port of the device
    #[arg(short, long, default_value_t = 1)]
    ib_port: u8,
    /// Local GID index [default: the best GID on Ethernet, none on InfiniBand]
    #[arg(short, long)]
    gid_index: Option<u8>,
    /// Bytes per message
    #[arg(short, long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    size: u32,
    /// Messages each way
    #[arg(short = 'n', long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    iters: u32,
    /// Path MTU in bytes; both sides must have the same
    #[arg(short, long, default_value_t = 1024)]
    mtu: u32,
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
    /// Print the result as one line of JSON
    #[arg(long)]
    json: bool,
}

/// What went wrong, as the exit code tells it.
#[derive(Debug)]
enum Failure {
    Setup(Box<dyn Error>),
    Data(String),
    Silence(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Data(what) => write!(f, "wrong data: {what}"),
            Self::Silence(time) => write!(f, "no completion for {} s: is the peer still there?", time.as_secs()),
        }
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Setup(error.into())
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(report) => {
            report.print(options.json);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("rc_pingpong: {failure}");
            ExitCode::from(match failure {
                Failure::Setup(_) => 1,
                Failure::Data(_) => 3,
                Failure::Silence(_) => 4,
            })
        }
    }
}

fn run(options: &Options) -> Result<Report, Failure> {
    let device = match &options.device {
        Some(name) => Device::open(name)?,
        None => Device::open_first()?,
    };
    let mut path = device.path(options.ib_port, options.gid_index)?;
    path.mtu = Mtu::from_bytes(options.mtu).ok_or("the MTU must be 256, 512, 1024, 2048 or 4096")?;
    if path.mtu > path.port.active_mtu {
        return Err(
            format!("the port's MTU is {}, less than --mtu {}", path.port.active_mtu.bytes(), options.mtu).into()
        );
    }

    let (mut pingpong, qp) = PingPong::new(&device, options)?;
    qp.to_init(&path)?;
    pingpong.post_receives()?;
    let local = qp.endpoint(&path);
    match &options.host {
        Some(host) => {
            let remote = exchange::as_client(host, options.port, &local)?;
            pingpong.connect(&path, &local, &remote)?;
            pingpong.run(true)?;
        }
        None => {
            exchange::as_server(options.port, &local, |remote| pingpong.connect(&path, &local, remote))?;
            pingpong.run(false)?;
        }
    }
    Ok(pingpong.report)
}
