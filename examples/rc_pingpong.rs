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

use std::error::Error;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::cq::{Notify, Side};
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::types::{Psn, Qpn, WrId};
use blueflame::verbs::{
    Access, Buffer, CompletionChannel, Device, Endpoint, Gid, LinkLayer, Mtu, Owned, OwnedCq, Path, Pool, Qp, QueuePair,
};
use blueflame::wqe::{Rc, Send};
use clap::Parser;
use hdrhistogram::Histogram;
use serde::Serialize;

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
    let port = device.port(options.ib_port)?;
    let sgid = match options.gid_index {
        Some(index) => {
            let gid = device.gid(port.number, index)?;
            Some(gid.ok_or_else(|| format!("entry {index} of the GID table is empty"))?)
        }
        None if port.link_layer == LinkLayer::Ethernet => Some(device.default_gid(&port)?),
        None => None,
    };
    let mut path = Path::new(port, sgid);
    path.mtu = Mtu::from_bytes(options.mtu).ok_or("the MTU must be 256, 512, 1024, 2048 or 4096")?;
    if path.mtu > port.active_mtu {
        return Err(format!("the port's MTU is {}, less than --mtu {}", port.active_mtu.bytes(), options.mtu).into());
    }

    let (mut pingpong, qp) = PingPong::new(&device, options)?;
    qp.to_init(&path)?;
    pingpong.post_receives()?;
    let psn = Psn::truncate(RandomState::new().hash_one(0) as u32);
    let local = qp.endpoint(&path, psn);
    match &options.host {
        Some(host) => {
            let remote = exchange_as_client(host, options.port, &local)?;
            qp.connect(&path, &local, &remote)?;
            pingpong.run(true)?;
        }
        None => {
            exchange_as_server(options.port, &local, |remote| qp.connect(&path, &local, remote))?;
            pingpong.run(false)?;
        }
    }
    Ok(pingpong.report)
}

/// An endpoint as the C tool writes it: `LLLL:QPQPQP:PSNPSN:GID`, hexadecimal, with the C string's final zero byte.
const MESSAGE_BYTES: usize = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

/// What the client says when it has read the server's message; again a C string.
const DONE: &[u8; 5] = b"done\0";

fn to_message(endpoint: &Endpoint) -> [u8; MESSAGE_BYTES] {
    let gid = u128::from_be_bytes(endpoint.gid.0);
    let text = format!("{:04x}:{:06x}:{:06x}:{gid:032x}\0", endpoint.lid, endpoint.qpn.get(), endpoint.psn.get());
    text.into_bytes().try_into().expect("every field has a fixed width")
}

/// The MTU is not exchanged: both are started with the same.
fn from_message(message: &[u8; MESSAGE_BYTES]) -> Result<Endpoint, Box<dyn Error>> {
    let text = std::str::from_utf8(message)?.trim_end_matches('\0');
    let bad = || format!("not an endpoint: {text:?}");
    let fields: Vec<&str> = text.split(':').collect();
    let [lid, qpn, psn, gid] = fields[..] else { return Err(bad().into()) };
    let number = |field| u32::from_str_radix(field, 16).map_err(|_| bad());
    Ok(Endpoint {
        lid: number(lid)?.try_into().map_err(|_| bad())?,
        gid: Gid(u128::from_str_radix(gid, 16).map_err(|_| bad())?.to_be_bytes()),
        qpn: Qpn::new(number(qpn)?).ok_or_else(bad)?,
        psn: Psn::new(number(psn)?).ok_or_else(bad)?,
        mtu: Mtu::B4096,
    })
}

fn show(side: &str, endpoint: &Endpoint) {
    let Endpoint { lid, gid, qpn, psn, .. } = endpoint;
    eprintln!("{side:>8} address: LID {lid:#06x}, QPN {:#08x}, PSN {:#08x}, GID {gid}", qpn.get(), psn.get());
}

fn exchange_as_client(host: &str, port: u16, local: &Endpoint) -> Result<Endpoint, Box<dyn Error>> {
    show("local", local);
    let mut stream = TcpStream::connect((host, port)).map_err(|error| format!("connect to {host}:{port}: {error}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(&to_message(local))?;
    let mut message = [0; MESSAGE_BYTES];
    stream.read_exact(&mut message).map_err(|error| format!("the server's endpoint did not come: {error}"))?;
    stream.write_all(DONE)?;
    let remote = from_message(&message)?;
    show("remote", &remote);
    Ok(remote)
}

/// The server connects before it answers, for the client sends as soon as it has the answer.
fn exchange_as_server<E: Error + 'static>(
    port: u16,
    local: &Endpoint,
    connect: impl FnOnce(&Endpoint) -> Result<(), E>,
) -> Result<(), Box<dyn Error>> {
    // The C client takes the first address of its host name that answers, of either family.
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
        .or_else(|_| TcpListener::bind(("0.0.0.0", port)))
        .map_err(|error| format!("listen on port {port}: {error}"))?;
    show("local", local);
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut message = [0; MESSAGE_BYTES];
    stream.read_exact(&mut message).map_err(|error| format!("the client's endpoint did not come: {error}"))?;
    let remote = from_message(&message)?;
    show("remote", &remote);
    connect(&remote)?;
    stream.write_all(&to_message(local))?;
    let mut done = [0; DONE.len()];
    stream.read_exact(&mut done).map_err(|error| format!("the client did not confirm: {error}"))?;
    if &done != DONE { Err(format!("the client answered {done:?}").into()) } else { Ok(()) }
}

/// What the C tool fills its buffer with.
const C_FILL: u8 = 0x7b;
/// Bytes per page of the C tool's machine: where its `-c` marks the message.
const C_PAGE: usize = 4096;

/// Writes message `k`.
fn fill_pattern(k: u32, message: &mut [u8]) {
    for (word, chunk) in message.chunks_mut(8).enumerate() {
        // Weyl sequences with a multiplication: every bit depends on place and message.
        let mixed = (word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ u64::from(k + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
    }
    message.iter_mut().step_by(C_PAGE).for_each(|first| *first = 0);
}

/// What the peer's messages are to be.
#[derive(Clone, Copy, PartialEq)]
enum Peer {
    /// A server does not know its client before the first message.
    Unknown,
    /// Sends message k as its k-th: our client, and whatever server, for a server sends back what it gets.
    Counts,
    /// Begins with its own fill and then sends back what it got, one behind: the C client.
    LagsBehind,
}

/// One side of the exchange.
struct PingPong {
    cq: OwnedCq,
    sq: Owned<SendQueue<Rc>, Qp>,
    rq: Owned<RecvQueue, Qp>,
    channel: Option<CompletionChannel>,
    /// Two, so that the next message is ready while the last is on its way.
    send: [Buffer; 2],
    receive: Vec<Buffer>,
    peer: Peer,
    verify: bool,
    timeout: Duration,
    iters: u32,
    /// Where messages are put together and taken apart.
    expected: Vec<u8>,
    arrived: Vec<u8>,
    report: Report,
}

impl PingPong {
    fn new(device: &Device, options: &Options) -> Result<(Self, Qp), Failure> {
        let channel = if options.events { Some(device.completion_channel()?) } else { None };
        let mut cq = device.completion_queue(options.rx_depth + 2);
        if let Some(channel) = &channel {
            cq = cq.channel(channel);
        }
        let cq = cq.build()?;
        let pd = device.protection_domain()?;
        let pair = pd.queue_pair::<Rc>(cq.handle(), cq.handle()).sends(2).receives(options.rx_depth).build()?;
        let QueuePair { qp, sq, rq } = pair;
        let size = options.size as usize;
        let buffers = options.rx_depth as usize + 2;
        let mut pool = Pool::new(&pd, buffers * (size + blueflame::verbs::POOL_ALIGN), Access::LOCAL_WRITE)?;
        let pingpong = Self {
            cq,
            sq,
            rq: rq.ok_or("the queue pair has no receive queue")?,
            channel,
            send: [pool.take(size)?, pool.take(size)?],
            receive: (0..options.rx_depth).map(|_| pool.take(size)).collect::<Result<_, _>>()?,
            peer: if options.host.is_some() { Peer::Counts } else { Peer::Unknown },
            verify: !options.no_verify,
            timeout: Duration::from_secs(options.timeout),
            iters: options.iters,
            expected: vec![0; size],
            arrived: vec![0; size],
            report: Report::new(options)?,
        };
        Ok((pingpong, qp))
    }

    fn post_receives(&mut self) -> Result<(), Failure> {
        for (tag, buffer) in self.receive.iter().enumerate() {
            // SAFETY: the buffer is read only after its completion, and lives as long as the queue.
            unsafe { self.rq.post(WrId(tag as u64), &[buffer.sge()]) }?;
        }
        Ok(())
    }

    /// Makes message `k` ready to be sent.
    fn prepare(&mut self, k: u32) {
        fill_pattern(k, &mut self.expected);
        self.send[k as usize % 2].write(0, &self.expected);
    }

    fn post_send(&mut self, k: u32) -> Result<(), Failure> {
        let message = [self.send[k as usize % 2].sge()];
        // SAFETY: the buffer is written again for message k + 2 only, which is prepared after the completion of this one was
        // seen, and lives as long as the queue.
        unsafe { self.sq.post(&Send::new().gather(message).signaled(WrId(k.into()))) }?;
        Ok(())
    }

    /// Exchanges all messages: the client begins, the server answers.
    fn run(&mut self, client: bool) -> Result<(), Failure> {
        let begin = Instant::now();
        let (mut sent, mut received, mut posted) = (0, 0, 0);
        self.prepare(0);
        let mut sent_at = Instant::now();
        if client {
            self.post_send(0)?;
            posted = 1;
            self.prepare(1);
        }
        while received < self.iters || sent < self.iters {
            let (side, tag) = self.next_completion()?;
            let mut to_verify = None;
            match side {
                Side::Requester => sent += 1,
                Side::Responder => {
                    // Of the server, the time begins with its answer, and there is none before the first message.
                    if posted > 0 {
                        self.report.round_trip(sent_at.elapsed());
                    }
                    to_verify = Some((received, tag));
                    received += 1;
                }
            }
            // The next one goes when the last was answered (client) or arrived (server), and has left its buffer. At once, for
            // the peer waits: what arrived is looked at afterwards.
            let due = if client { received } else { received.saturating_sub(1) };
            if posted < self.iters && received > 0 && due == posted && sent == posted {
                sent_at = Instant::now();
                self.post_send(posted)?;
                posted += 1;
                // Overwrites `expected`; hence verification prepares its own.
                self.prepare_unless_last(posted);
            }
            if let Some((k, tag)) = to_verify {
                self.look_at(k, tag)?;
            }
        }
        self.report.elapsed = begin.elapsed().as_secs_f64();
        Ok(())
    }

    fn prepare_unless_last(&mut self, k: u32) {
        if k < self.iters {
            self.prepare(k);
        }
    }

    /// Verifies the `k`-th message, in receive buffer `tag`, and posts the buffer again.
    fn look_at(&mut self, k: u32, tag: WrId) -> Result<(), Failure> {
        let index = usize::try_from(tag.0).ok().filter(|&index| index < self.receive.len());
        let buffer = &self.receive[index.ok_or("a receive completed that was not posted")?];
        if self.verify {
            buffer.read(0, &mut self.arrived);
            if self.peer == Peer::Unknown {
                self.peer = if is_c_fill(&self.arrived) { Peer::LagsBehind } else { Peer::Counts };
            }
            match (self.peer, k) {
                // What the first message of a C client is was just found out.
                (Peer::LagsBehind, 0) => {}
                (Peer::LagsBehind, k) => compare(k, k - 1, &self.arrived, &mut self.expected)?,
                _ => compare(k, k, &self.arrived, &mut self.expected)?,
            }
            self.report.bytes_verified += self.arrived.len() as u64;
        }
        let buffer = buffer.sge();
        // SAFETY: the message in it was dealt with; otherwise as in `post_receives`.
        unsafe { self.rq.post(tag, &[buffer]) }?;
        Ok(())
    }

    /// Waits for a completion: which queue's, and the tag of the request.
    fn next_completion(&mut self) -> Result<(Side, WrId), Failure> {
        let mut idle = 0_u32;
        let mut since = None;
        loop {
            if let Some(cqe) = self.cq.poll() {
                let side = cqe.check()?;
                let tag = match side {
                    Side::Requester => self.sq.retire(cqe.wqe_counter())?.wr_id,
                    Side::Responder => {
                        let (len, expected) = (cqe.byte_len(), self.expected.len());
                        if len as usize != expected {
                            return Err(Failure::Data(format!("a message of {len} bytes, not {expected}")));
                        }
                        self.rq.retire()?
                    }
                };
                return Ok((side, tag));
            }
            match &self.channel {
                // Armed and found empty: what comes from here on raises an event.
                Some(channel) if idle > 0 => {
                    channel.wait_timeout(self.timeout)?.ok_or(Failure::Silence(self.timeout))?;
                    self.cq.event_received();
                    idle = 0;
                }
                Some(_) => {
                    self.cq.arm(Notify::Any);
                    idle = 1;
                }
                None => {
                    idle += 1;
                    std::hint::spin_loop();
                    // Now and then: the clock, and a chance for the peer if it is on the same CPU.
                    if idle.is_multiple_of(1024) {
                        let since: &Instant = since.get_or_insert_with(Instant::now);
                        if since.elapsed() > self.timeout {
                            return Err(Failure::Silence(self.timeout));
                        }
                        std::thread::yield_now();
                    }
                }
            }
        }
    }
}

/// Whether this is what a C client begins with: its fill, and with `-c` a zero at the start of each page.
fn is_c_fill(message: &[u8]) -> bool {
    let fill = |(place, &byte): (usize, &u8)| byte == C_FILL || (place % C_PAGE == 0 && byte == 0);
    // Of a message of one byte nothing but the mark is left, and zero is ours.
    message.iter().enumerate().all(fill) && message != [0]
}

/// Compares the `k`-th message with pattern `pattern`, which is put together in `expected`.
fn compare(k: u32, pattern: u32, message: &[u8], expected: &mut [u8]) -> Result<(), Failure> {
    fill_pattern(pattern, expected);
    match message.iter().zip(&*expected).position(|(is, should)| is != should) {
        None => Ok(()),
        Some(place) => Err(Failure::Data(format!(
            "message {k}, byte {place}: {:#04x} in place of {:#04x}",
            message[place], expected[place]
        ))),
    }
}

/// The outcome.
struct Report {
    role: &'static str,
    size: u32,
    iters: u32,
    events: bool,
    bytes_verified: u64,
    elapsed: f64,
    /// Nanoseconds from posting a message to the arrival of the answer.
    round_trips: Histogram<u64>,
}

/// What `--json` prints: times in microseconds.
#[derive(Serialize)]
struct Line {
    role: &'static str,
    mode: &'static str,
    size: u32,
    messages: u64,
    bytes_verified: u64,
    seconds: f64,
    round_trip_us: Percentiles,
}

#[derive(Serialize)]
struct Percentiles {
    min: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Report {
    fn new(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            role: if options.host.is_some() { "client" } else { "server" },
            size: options.size,
            iters: options.iters,
            events: options.events,
            bytes_verified: 0,
            elapsed: 0.0,
            round_trips: Histogram::new(3)?,
        })
    }

    fn round_trip(&mut self, time: Duration) {
        // An auto-resizing histogram takes any value.
        self.round_trips.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    fn print(&self, json: bool) {
        let us = |nanos: u64| nanos as f64 / 1000.0;
        let at = |quantile| us(self.round_trips.value_at_quantile(quantile));
        let line = Line {
            role: self.role,
            mode: if self.events { "events" } else { "poll" },
            size: self.size,
            messages: 2 * u64::from(self.iters),
            bytes_verified: self.bytes_verified,
            seconds: self.elapsed,
            round_trip_us: Percentiles {
                min: us(self.round_trips.min()),
                p50: at(0.5),
                p90: at(0.9),
                p99: at(0.99),
                p999: at(0.999),
                max: us(self.round_trips.max()),
            },
        };
        if json {
            // Numbers and fixed words: there is nothing in it that could not be written.
            println!("{}", serde_json::to_string(&line).expect("plain data"));
            return;
        }
        let Line { messages, bytes_verified, seconds, round_trip_us: p, .. } = line;
        println!("{messages} messages of {} bytes in {seconds:.2} s, {bytes_verified} bytes verified", self.size);
        println!(
            "round trip in us: min {:.2}, p50 {:.2}, p90 {:.2}, p99 {:.2}, p99.9 {:.2}, max {:.2}",
            p.min, p.p50, p.p90, p.p99, p.p999, p.max
        );
    }
}
