//! RDMA in an async program: tasks post requests and await their completions.
//!
//! ```text
//! tokio                  # the server, which has the memory
//! tokio SERVER           # the client: tasks that WRITE there and READ it back
//! tokio --local          # both
//! ```
//!
//! ```text
//!   task ── link.write(buffer, to).await ──┐                       ┌── Completions: a stream, by the completion channel's descriptor
//!   task ── link.read(buffer, from).await ─┼── SendQueue ... CQ ── drive() ── wakes the task whose request completed
//!   task ── sleep(1 ms).await              │  (another task: the thread is never blocked)
//! ```
//!
//! A request owns its buffer until it has completed, and then gives it back. So posting is safe here: a cancelled task
//! drops its future, but not the memory that the device still uses.

mod link;

use std::cell::Cell;
use std::net::TcpStream;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use blueflame::Remote;
use blueflame::verbs::memory::POOL_ALIGN;
use blueflame::verbs::{Access, Buffer, Pool, handshake};
use clap::Parser;
use common::{Failure, Latencies, Percentiles, ReportOptions, Role, Setup, limited};
use serde::Serialize;
use tokio::runtime::Builder;
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

use crate::link::{CQ_CONTEXT, Link, drive};

/// Async WRITEs and READs, each verified.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    setup: Setup,
    /// Bytes per message
    #[arg(short, long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    size: u32,
    /// Tasks
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    tasks: u32,
    /// Requests outstanding; tasks wait for their turn
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    tx_depth: u32,
    /// Round trips (WRITE, then READ) of each task
    #[arg(short = 'n', long, default_value_t = 200)]
    iters: u32,
    #[command(flatten)]
    report: ReportOptions,
}

/// The client's output with `--json`.
#[derive(Serialize)]
struct Report {
    round_trips: u64,
    bytes_verified: u64,
    /// How often another task slept meanwhile: the thread was never blocked.
    ticks: u64,
    latency_us: Percentiles,
}

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("tokio", options.setup.meet(|role, stream| side(&options, role, stream)))
}

fn side(options: &Options, role: Role, mut stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let bytes = options.tasks as usize * (options.size as usize).next_multiple_of(POOL_ALIGN);
    let mut pool = Pool::new(&pd, bytes, Access::ALL)?;
    let channel = device.completion_channel()?;
    let cq = device.completion_queue(options.tx_depth + 1).channel(&channel).context(CQ_CONTEXT).build()?;
    let mut pair = pd.queue_pair(&cq, &cq).sends(options.tx_depth).no_receives().build()?;
    if role == Role::Server {
        let memory = pool.take(bytes)?;
        pair.connect_over(&mut limited(&mut stream), &path, &memory.remote().to_bytes())?;
        // The client does the rest, and says when it is done.
        stream.set_read_timeout(None)?;
        return Ok(handshake::ready(&mut stream)?);
    }
    let buffers = (0..options.tasks).map(|_| pool.take(options.size as usize)).collect::<Result<Vec<_>, _>>()?;
    let peer = pair.connect_over(&mut limited(&mut stream), &path, &[])?;
    let memory = Remote::from_bytes(&peer.data)?;
    let link = Rc::new(Link::new(pair.sq, options.tx_depth));
    // One thread, as data planes have it. Futures that stay on it need no locks.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let driver = drive(Rc::clone(&link), cq, channel, device.async_events());
    runtime.block_on(LocalSet::new().run_until(client(options, link, driver, memory, buffers)))?;
    Ok(handshake::ready(&mut limited(&mut stream))?)
}

async fn client(
    options: &Options,
    link: Rc<Link>,
    driver: impl Future<Output = Result<(), Failure>> + 'static,
    memory: Remote,
    buffers: Vec<Buffer>,
) -> Result<(), Failure> {
    let mut driver = tokio::task::spawn_local(driver);
    let ticks = Rc::new(Cell::new(0));
    let ticker = Rc::clone(&ticks);
    tokio::task::spawn_local(async move {
        loop {
            sleep(Duration::from_millis(1)).await;
            ticker.set(ticker.get() + 1);
        }
    });
    let stride = (options.size as u64).next_multiple_of(POOL_ALIGN as u64);
    let tasks: Vec<_> = (0..)
        .zip(buffers)
        .map(|(n, buffer)| {
            let (link, iters) = (Rc::clone(&link), options.iters);
            tokio::task::spawn_local(async move { task(&link, n, iters, memory.at(n * stride), buffer).await })
        })
        .collect();
    let mut latencies = Latencies::default();
    for task in tasks {
        tokio::select! {
            // Ends with an error alone.
            ended = &mut driver => ended??,
            times = task => times??.into_iter().for_each(|time| latencies.record(time)),
        }
    }
    let round_trips = latencies.count();
    let bytes_verified = round_trips * u64::from(options.size);
    let report = Report { round_trips, bytes_verified, ticks: ticks.get(), latency_us: latencies.percentiles() };
    if options.report.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        println!("{round_trips} round trips, {bytes_verified} bytes verified; another task had {} turns", report.ticks);
        println!("WRITE and READ in us: {}", report.latency_us);
    }
    latencies.draw(&format!("WRITE and READ of {} bytes", options.size), &options.report)
}

/// Writes to its place in the server's memory and reads it back. Returns the time of each round trip.
async fn task(link: &Link, n: u64, iters: u32, place: Remote, mut buffer: Buffer) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::new();
    for k in 0..iters {
        let fill = (n as u8).wrapping_mul(31).wrapping_add(k as u8);
        buffer.fill(fill);
        let begin = Instant::now();
        buffer = timeout(PATIENCE, link.write(buffer, place)).await??;
        buffer.fill(!fill);
        buffer = timeout(PATIENCE, link.read(buffer, place)).await??;
        times.push(begin.elapsed());
        let mut bytes = vec![0; buffer.len()];
        buffer.read(0, &mut bytes);
        if bytes.iter().any(|&byte| byte != fill) {
            return Err(Failure::Data(format!("task {n}, round trip {k}: not what was written")));
        }
    }
    Ok(times)
}
