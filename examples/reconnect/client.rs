//! The client: sends numbers until the time is over, by as many connections as it takes.

use std::collections::VecDeque;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::cq::CqeError;
use blueflame::types::Wqebbs;
use blueflame::verbs::{Drained, OwnedCq, Path, QueuePair};
use blueflame::{CompleteError, WrId, transport, wqe};
use common::{Failure, Latencies, Percentiles, limited};
use serde::Serialize;

use crate::options::{DEPTH, Options};

/// How long the server may take to come back.
const PATIENCE: Duration = Duration::from_secs(20);

/// The client's output with `--json`.
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
    /// Milliseconds between the last success and the next connection.
    silent_ms: f64,
}

/// The sending side, over one connection after the other.
struct Client {
    pair: QueuePair<transport::Rc>,
    cq: OwnedCq,
    /// Completed with success: as many numbers have arrived.
    messages: u64,
    latencies: Latencies,
    /// The last success.
    last: Instant,
}

/// Sends numbers; `reach` makes a TCP connection with the server, if there is one.
pub(crate) fn run(options: &Options, reach: impl Fn() -> Result<TcpStream, Failure>) -> Result<(), Failure> {
    let (device, mut path) = options.setup.open()?;
    // Four unanswered tries mean a dead peer, instead of eight.
    path.retry_cnt = 3;
    let pd = device.protection_domain()?;
    let cq = device.completion_queue(DEPTH + 1).build()?;
    let pair = pd.queue_pair(&cq, &cq).sends(DEPTH).no_receives().build()?;
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
            // Good-bye: this many must have arrived.
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
        // ANCHOR: connect
        self.pair.connect_over(&mut limited(&mut stream), path, &self.messages.to_be_bytes())?;
        // ANCHOR_END: connect
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
            // ANCHOR: check
            let Some(cqe) = self.cq.poll() else {
                thread::yield_now();
                continue;
            };
            match self.pair.sq.complete(&cqe) {
                Ok(_) => {}
                Err(CompleteError::Failed { error, .. }) => return Ok(Err(error)),
                Err(CompleteError::Foreign(error)) => return Err(error.into()),
            }
            // ANCHOR_END: check
            self.last = Instant::now();
            self.messages += 1;
            self.latencies.record(outstanding.pop_front().ok_or("more completions than requests")?.elapsed());
        }
    }

    /// Takes back every outstanding request, and resets the queue pair. Returns how many failed, the first one
    /// included.
    fn drain(&mut self) -> Result<usize, Failure> {
        // ANCHOR: drain
        let mut lost = 1;
        let mut drain = self.pair.drain()?;
        while !drain.is_done() {
            self.cq.try_poll_with(16, |cqe| {
                match (drain.take(&cqe)?, cqe.check()) {
                    (Some(Drained::Send(_)), Ok(_)) => self.messages += 1,
                    (Some(Drained::Send(_)), Err(_)) => lost += 1,
                    _ => {}
                }
                Ok::<_, Failure>(())
            })?;
        }
        self.pair.reset(&mut [&mut self.cq], |_| ())?;
        // ANCHOR_END: drain
        Ok(lost)
    }
}
