//! The project's main job, shown: processes exchange verified messages over the software mlx5 device.
//!
//! Each row is a server and a client, two processes. Each process is this crate's example, over the raw queues that
//! unmodified libmlx5 created, or rdma-core's own C tool, over libmlx5. This crate's side checks the messages and
//! measures the bytes and times of a row. Where the C tool takes part, it also runs its own check (`-c`).
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use comfy_table::{Table, presets::UTF8_FULL_CONDENSED};
use serde::Deserialize;
use wait_timeout::ChildExt;

/// Exchange verified messages over the software mlx5 device, and print who talked to whom.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The launcher `softhca-run`
    #[arg(long)]
    launcher: PathBuf,
    /// Folder with the built programs `rc_pingpong` and `rdma_operations`
    #[arg(long)]
    examples: PathBuf,
    /// Messages each way, per row; a quarter of them where each store to a doorbell register is trapped
    #[arg(short = 'n', long, default_value_t = 1000)]
    iters: u32,
    /// Bytes per message
    #[arg(short, long, default_value_t = 4096)]
    size: u32,
    /// Seconds after which a row counts as hung
    #[arg(long, default_value_t = 60)]
    timeout: u64,
}

/// A program that takes one end of a row.
#[derive(Clone, Copy, PartialEq)]
enum Program {
    /// This crate's ping-pong, polling.
    Poll,
    /// This crate's ping-pong, sleeping on completion events.
    Events,
    /// rdma-core's C ping-pong.
    IbvRcPingpong,
    /// This crate's SEND, READ and WRITE.
    Operations,
}

impl Program {
    const fn name(self) -> &'static str {
        match self {
            Self::Poll => "blueflame, polling",
            Self::Events => "blueflame, events",
            Self::IbvRcPingpong => "ibv_rc_pingpong (C, libmlx5)",
            Self::Operations => "blueflame, SEND+READ+WRITE",
        }
    }
}

/// A row of the demo.
struct Pair {
    server: Program,
    client: Program,
    /// Every store to a doorbell register is trapped and checked.
    strict: bool,
}

impl Pair {
    /// Messages each way. Where each store is trapped, a quarter of them: they take as long as all others together.
    fn messages(&self, options: &Options) -> u32 {
        if self.strict { options.iters.div_ceil(4) } else { options.iters }
    }
}

const PAIRS: [Pair; 6] = [
    Pair { server: Program::IbvRcPingpong, client: Program::Poll, strict: false },
    Pair { server: Program::Poll, client: Program::IbvRcPingpong, strict: false },
    Pair { server: Program::Poll, client: Program::Poll, strict: false },
    Pair { server: Program::Events, client: Program::Events, strict: false },
    Pair { server: Program::IbvRcPingpong, client: Program::Poll, strict: true },
    Pair { server: Program::Operations, client: Program::Operations, strict: false },
];

/// The ping-pong's output with `--json`.
#[derive(Deserialize)]
struct Report {
    messages: u64,
    bytes_verified: u64,
    round_trip_us: Percentiles,
}

#[derive(Deserialize)]
struct Percentiles {
    p50: f64,
    p99: f64,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    for program in [&options.launcher, &options.examples.join("rc_pingpong"), &options.examples.join("rdma_operations")]
    {
        ensure!(program.exists(), "{} is not there; `./run demo` builds it", program.display());
    }
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED).set_header([
        "server",
        "client",
        "doorbells",
        "messages",
        "bytes verified",
        "round trip p50 (us)",
        "p99 (us)",
    ]);
    for (number, pair) in PAIRS.iter().enumerate() {
        eprintln!("{}/{} {} <- {}", number + 1, PAIRS.len(), pair.server.name(), pair.client.name());
        let outcome = exchange(options, pair)
            .with_context(|| format!("server {}, client {}", pair.server.name(), pair.client.name()))?;
        let number = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let doorbells = if pair.strict { "each one trapped" } else { "by record" };
        table.add_row([
            pair.server.name().to_owned(),
            pair.client.name().to_owned(),
            doorbells.to_owned(),
            outcome.messages.to_string(),
            outcome.bytes_verified.to_string(),
            number(outcome.p50.map(|us| format!("{us:.1}"))),
            number(outcome.p99.map(|us| format!("{us:.1}"))),
        ]);
    }
    println!("{table}");
    println!("Times are those of a software device on this CPU; they say nothing about a NIC.");
    Ok(())
}

/// The figures of a row.
struct Outcome {
    messages: u64,
    bytes_verified: u64,
    p50: Option<f64>,
    p99: Option<f64>,
}

/// Runs a row: both programs must succeed, and this crate's side must have verified every byte.
fn exchange(options: &Options, pair: &Pair) -> Result<Outcome> {
    let port = free_port()?;
    let mut server = Running(start(options, pair, pair.server, port, None)?);
    wait_for_listener(port, &mut server.0, Duration::from_secs(options.timeout))?;
    let mut client = Running(start(options, pair, pair.client, port, Some("localhost"))?);
    let deadline = Instant::now() + Duration::from_secs(options.timeout);
    let client_said = finish(&mut client.0, "client", deadline)?;
    let server_said = finish(&mut server.0, "server", deadline)?;

    if pair.client == Program::Operations {
        // Each side verifies its received messages. The messages are fixed, and a program fails if one differs.
        return Ok(Outcome {
            messages: 3,
            bytes_verified: verified_bytes(&[&client_said, &server_said])?,
            p50: None,
            p99: None,
        });
    }
    let reports: Vec<Report> = [(pair.client, &client_said), (pair.server, &server_said)]
        .into_iter()
        .filter(|(program, _)| *program != Program::IbvRcPingpong)
        .map(|(_, said)| report(said))
        .collect::<Result<_>>()?;
    let first = reports.first().context("no side of this crate in the row")?;
    let messages = pair.messages(options);
    for report in &reports {
        ensure!(
            report.bytes_verified == u64::from(messages) * u64::from(options.size),
            "{} bytes verified, {messages} messages of {} bytes arrived",
            report.bytes_verified,
            options.size
        );
    }
    Ok(Outcome {
        messages: first.messages,
        bytes_verified: reports.iter().map(|report| report.bytes_verified).sum(),
        p50: Some(first.round_trip_us.p50),
        p99: Some(first.round_trip_us.p99),
    })
}

/// A process that does not outlive the demo.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Fails when it has exited, which is the good case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(options: &Options, pair: &Pair, program: Program, port: u16, server: Option<&str>) -> Result<Child> {
    let mut command = Command::new(&options.launcher);
    if pair.strict {
        command.arg("--strict");
    }
    command.arg("--");
    let example = |name: &str| options.examples.join(name);
    match program {
        Program::Poll | Program::Events => {
            command.arg(example("rc_pingpong")).arg("--json");
            if program == Program::Events {
                command.arg("--events");
            }
        }
        Program::IbvRcPingpong => drop(command.args(["ibv_rc_pingpong", "-c"])),
        Program::Operations => drop(command.arg(example("rdma_operations"))),
    }
    if program != Program::Operations {
        command.args(["-n", &pair.messages(options).to_string(), "-s", &options.size.to_string()]);
    }
    command.args(["-p", &port.to_string()]).args(server);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().with_context(|| format!("cannot start {}", options.launcher.display()))
}

/// A TCP port that was free a moment ago.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("::", 0)).or_else(|_| TcpListener::bind(("0.0.0.0", 0)))?.local_addr()?.port())
}

/// Waits until something listens on `port`, without connecting: the servers take one connection.
fn wait_for_listener(port: u16, server: &mut Child, patience: Duration) -> Result<()> {
    let wanted = format!(":{port:04X} ");
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline {
        let listening = ["/proc/net/tcp", "/proc/net/tcp6"].iter().any(|table| {
            // Columns: slot, local address, remote address, state; 0A is LISTEN.
            fs::read_to_string(Path::new(table)).is_ok_and(|table| {
                table.lines().any(|line| line.contains(&wanted) && line.split_whitespace().nth(3) == Some("0A"))
            })
        });
        if listening {
            return Ok(());
        }
        if server.try_wait()?.is_some() {
            finish(server, "server", deadline)?;
            bail!("the server ended before it listened");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    bail!("the server does not listen on port {port}")
}

/// Waits for a program to succeed; its output.
fn finish(child: &mut Child, role: &str, deadline: Instant) -> Result<String> {
    let left = deadline.saturating_duration_since(Instant::now());
    let Some(status) = child.wait_timeout(left)? else { bail!("the {role} hangs") };
    // The programs print a few lines, which fit the pipe; so waiting before reading cannot block them.
    let read = |pipe: Option<&mut dyn std::io::Read>| -> Result<String> {
        let mut text = String::new();
        if let Some(pipe) = pipe {
            pipe.read_to_string(&mut text)?;
        }
        Ok(text)
    };
    let said = read(child.stdout.as_mut().map(|pipe| pipe as _))?;
    let complained = read(child.stderr.as_mut().map(|pipe| pipe as _))?;
    ensure!(status.success(), "the {role} failed ({status}):\n{said}{complained}");
    Ok(said)
}

fn report(said: &str) -> Result<Report> {
    let line = said.lines().find(|line| line.starts_with('{')).context("no JSON line in the ping-pong's output")?;
    serde_json::from_str(line).with_context(|| format!("not a report: {line}"))
}

/// The bytes that `rdma_operations` says it verified, over both sides.
fn verified_bytes(outputs: &[&String]) -> Result<u64> {
    let mut total = 0;
    for line in outputs.iter().flat_map(|said| said.lines()) {
        if let Some(rest) = line.strip_prefix("verified ") {
            let bytes = rest.split(' ').next().unwrap_or_default();
            total += bytes.parse::<u64>().with_context(|| format!("not a number of bytes: {line}"))?;
        }
    }
    ensure!(total > 0, "rdma_operations verified nothing");
    Ok(total)
}
