//! A peer that dies, and what follows: the error is seen, every request is accounted for, and the same queue pair is connected
//! anew. What was lost is sent again.
//!
//! ```text
//! reconnect                  # the server; kill it and start it again while the client runs
//! reconnect SERVER           # the client
//! reconnect --local          # the client, and servers as processes, of which the first is killed
//! ```
//!
//! The client SENDs numbers. A message whose completion was a success has arrived; of the others nobody knows, so the next
//! connection begins with the first of them: each number arrives at least once, and in order.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::cq::CqeError;
use blueflame::types::Wqebbs;
use blueflame::verbs::{Access, Drained, OwnedCq, POOL_ALIGN, Path, Pool, QueuePair};
use blueflame::{WrId, transport, wqe};
use clap::Parser;
use common::{Failure, Latencies, Percentiles, Process, ReportOptions, Setup, listen, prepared};
use serde::Serialize;

/// Numbers for a peer that may die.
#[derive(Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    setup: Setup,
    /// Seconds
    #[arg(short = 'D', long, default_value_t = 3.0)]
    duration: f64,
    #[command(flatten)]
    report: ReportOptions,
}

/// What the client prints with `--json`.
#[derive(Serialize)]
struct Report {
    /// Completed with success.
    messages: u64,
    deaths: Vec<Death>,
    latency_us: Percentiles,
}

/// A connection that failed.
#[derive(Serialize)]
struct Death {
    error: String,
    /// Requests that completed with an error.
    lost: usize,
    /// The number that the next connection begins with.
    resumed_at: u64,
    /// From the last success to the next connection.
    silent_ms: f64,
}

type Pair = QueuePair<transport::Rc>;

/// Requests outstanding.
const DEPTH: u32 = 32;
/// Bytes of a message: a number.
const BYTES: usize = 8;
/// How long the server may take to come back.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("reconnect", run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let setup = &options.setup;
    if let Some(host) = &setup.host {
        return client(options, || setup.connect(host));
    }
    if !setup.local {
        return server(options, &listen(setup.port)?);
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
        let outcome = client(options, || setup.connect("localhost"));
        let server = servers.join().map_err(|_| "the thread of the servers has panicked")?;
        outcome.and(server.map(drop))
    })
}

/// What sends, over one connection after the other.
struct Client {
    pair: Pair,
    cq: OwnedCq,
    /// Completed with success: as many numbers have arrived.
    messages: u64,
    latencies: Latencies,
    /// The last success.
    last: Instant,
}

/// Sends numbers until the time is over, by as many connections as it takes.
fn client(options: &Options, reach: impl Fn() -> Result<TcpStream, Failure>) -> Result<(), Failure> {
    let (device, mut path) = options.setup.open()?;
    // A dead peer is known after four unanswered tries and not after eight.
    path.retry_cnt = 3;
    let pd = device.protection_domain()?;
    let cq = device.completion_queue(DEPTH + 1).build()?;
    let pair = pd.queue_pair(cq.handle(), cq.handle()).sends(DEPTH).receives(0).build()?;
    let mut client = Client { pair, cq, messages: 0, latencies: Latencies::default(), last: Instant::now() };
    let end = Instant::now() + Duration::from_secs_f64(options.duration);
    let mut deaths: Vec<Death> = Vec::new();
    loop {
        let mut stream = client.connect(&path, &reach)?;
        if let Some(death) = deaths.last_mut() {
            death.silent_ms = client.last.elapsed().as_secs_f64() * 1e3;
            eprintln!("connected again, {:.0} ms after the last success", death.silent_ms);
        }
        let Err(error) = client.send_until(end)? else {
            // Good-bye: so many must have arrived.
            stream.write_all(&client.messages.to_be_bytes())?;
            break;
        };
        let lost = client.drain()?;
        eprintln!("{error}; {lost} requests lost, number {} is the first to send again", client.messages);
        deaths.push(Death { error: error.to_string(), lost, resumed_at: client.messages, silent_ms: 0.0 });
    }
    let Client { messages, latencies, .. } = client;
    let report = Report { messages, deaths, latency_us: latencies.percentiles() };
    if options.report.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        println!("{messages} messages by {} connections", report.deaths.len() + 1);
        println!("from posting to completion in us: {}", report.latency_us);
    }
    latencies.draw("SEND, from posting to completion", &options.report)
}

impl Client {
    /// Connects with the server, as soon as there is one, and tells it which number comes first.
    fn connect(&mut self, path: &Path, reach: impl Fn() -> Result<TcpStream, Failure>) -> Result<TcpStream, Failure> {
        let begin = Instant::now();
        let mut stream = loop {
            match reach() {
                Ok(stream) => break stream,
                Err(error) if begin.elapsed() > PATIENCE => return Err(error),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        };
        self.pair.sq.connect_over(&mut stream, path, &self.messages.to_be_bytes())?;
        Ok(stream)
    }

    /// Sends until the time is over and all has completed, or until a request fails.
    fn send_until(&mut self, end: Instant) -> Result<Result<(), CqeError>, Failure> {
        let mut outstanding = VecDeque::new();
        loop {
            let over = Instant::now() >= end;
            if over && outstanding.is_empty() {
                return Ok(Ok(()));
            }
            while !over && self.pair.sq.free() > Wqebbs(0) {
                let number = self.messages + outstanding.len() as u64;
                self.pair.sq.post(&wqe::send().inline(&number.to_be_bytes()).signaled(WrId(number)))?;
                outstanding.push_back(Instant::now());
            }
            let Some(cqe) = self.cq.poll() else {
                thread::yield_now();
                continue;
            };
            self.pair.sq.retire(&cqe)?;
            if let Err(error) = cqe.check() {
                return Ok(Err(error));
            }
            self.last = Instant::now();
            self.messages += 1;
            self.latencies.record(outstanding.pop_front().ok_or("more completions than requests")?.elapsed());
        }
    }

    /// Takes back every request that is outstanding, and resets the queue pair. How many failed, the first one included.
    fn drain(&mut self) -> Result<usize, Failure> {
        let mut lost = 1;
        let mut drain = self.pair.drain()?;
        while !drain.is_done() {
            self.cq.poll_with(16, |cqe| {
                match (drain.take(&cqe)?, cqe.check()) {
                    (Some(Drained::Send(_)), Ok(_)) => self.messages += 1,
                    (Some(Drained::Send(_)), Err(_)) => lost += 1,
                    _ => {}
                }
                Ok::<_, Failure>(())
            })?;
        }
        self.pair.reset(&mut [&mut self.cq], |_| ())?;
        Ok(lost)
    }
}

/// Receives numbers from one client after the other, until one says good-bye.
fn server(options: &Options, listener: &TcpListener) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let mut pool = Pool::new(&pd, DEPTH as usize * POOL_ALIGN, Access::LOCAL_WRITE)?;
    let buffers = (0..DEPTH).map(|_| pool.take(BYTES)).collect::<Result<Vec<_>, _>>()?;
    let mut cq = device.completion_queue(DEPTH + 2).build()?;
    let mut pair: Pair = pd.queue_pair(cq.handle(), cq.handle()).sends(1).receives(DEPTH).build()?;
    loop {
        let mut stream = prepared(listener.accept()?.0)?;
        pair.qp.to_init(&path)?;
        let rq = pair.rq.as_mut().ok_or("the queue pair has no receive queue")?;
        for (n, buffer) in buffers.iter().enumerate() {
            // SAFETY: here and below, the buffer is read when its receive has completed, and lives as long as the queue.
            unsafe { rq.post(WrId(n as u64), &[buffer.sge()])? };
        }
        let peer = pair.sq.connect_over(&mut stream, &path, &[])?;
        let first = u64::from_be_bytes(peer.data[..].try_into()?);
        let (mut next, mut total) = (first, None);
        while total.is_none_or(|total| next < total) {
            let received = cq.poll_with(16, |cqe| {
                cqe.check()?;
                let tag = rq.retire(&cqe)?;
                let buffer = &buffers[tag.0 as usize];
                let mut number = [0; BYTES];
                buffer.read(0, &mut number);
                // SAFETY: as above.
                unsafe { rq.post(tag, &[buffer.sge()])? };
                let number = u64::from_be_bytes(number);
                if number != next {
                    return Err(Failure::Data(format!("number {number} in place of {next}")));
                }
                next += 1;
                Ok(())
            })?;
            if received == 0 && total.is_none() && !quiet(&stream)? {
                // The total; or the client has ended without one, or connects anew.
                let mut bytes = [0; BYTES];
                if stream.read_exact(&mut bytes).is_err() {
                    break;
                }
                total = Some(u64::from_be_bytes(bytes));
            }
        }
        println!("{} numbers from {first} on have arrived", next - first);
        if total.is_some() {
            return Ok(());
        }
        // As new for the next client; receives that completed meanwhile are sent again.
        pair.reset(&mut [&mut cq], |_| ())?;
    }
}

/// Whether the stream has neither bytes nor an end.
fn quiet(stream: &TcpStream) -> Result<bool, Failure> {
    stream.set_nonblocking(true)?;
    let quiet = stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    stream.set_nonblocking(false)?;
    thread::yield_now();
    Ok(quiet)
}
