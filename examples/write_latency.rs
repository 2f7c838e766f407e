//! One-way latency of RDMA WRITEs, measured as perftest's `ib_write_lat` does: half the time from a WRITE to the
//! answer.
//!
//! ```text
//! write_latency                  # the server
//! write_latency SERVER           # the client
//! write_latency --local -a       # both, all sizes
//! ```
//!
//! ```text
//!   client                                   server
//!     |  ---- WRITE, last byte = mark ----->   |   polls the last byte of its buffer
//!     |  <--- WRITE, last byte = mark ------   |
//! ```
//!
//! Neither side waits for a completion: each sees the other's message in its own memory. The request is prepared
//! once. Each post supplies the mark, and one of eight asks for a completion, so that the
//! queue's space comes back. Sizes of a power of two up to `-I` go inline, others from registered memory.

use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::memory_polling::InOrder;
use blueflame::queue::{Moderation, Owned, PostError, SendQueue};
use blueflame::types::Wqebbs;
use blueflame::verbs::{Access, Buffer, OwnedCq, Pool, Qp, handshake};
use blueflame::{Remote, WrId, transport, wqe};
use clap::Parser;
use common::{Failure, Latencies, Percentiles, ReportOptions, Role, Setup, limited};
use serde::Serialize;

/// Latency of RDMA WRITEs: prepared requests against memory polling.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    setup: Setup,
    /// Bytes per message
    #[arg(short, long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1 << 23))]
    size: u32,
    /// Sizes 2, 4, 8, ... 2^23
    #[arg(short, long, conflicts_with_all = ["size", "svg"])]
    all: bool,
    /// Exchanges per size
    #[arg(short = 'n', long, default_value_t = 1000)]
    iters: u64,
    /// Seconds per size, in place of -n
    #[arg(short = 'D', long, conflicts_with = "iters")]
    duration: Option<f64>,
    /// The largest message that goes inline
    #[arg(short = 'I', long, visible_alias = "inline_size", default_value_t = 128)]
    inline_size: u32,
    /// Poll the last byte even if the device does not promise that it comes last
    #[arg(long)]
    assume_order: bool,
    #[command(flatten)]
    report: ReportOptions,
}

/// The client's output for one size with `--json`.
#[derive(Serialize)]
struct Line {
    bytes: u32,
    iterations: u64,
    latency_us: Percentiles,
}

/// Marks count up to this one, and begin again.
const LAST_MARK: u8 = 254;
/// The client has all it wants.
const END: u8 = 255;
/// One request of this many asks for a completion.
const SIGNAL_EVERY: u16 = 8;
/// This many looks at the memory take microseconds. A NIC answers before that.
const LOOKS: u32 = 128;
/// How long the peer may be silent.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("write_latency", options.setup.meet(|role, stream| side(&options, role, stream)))
}

fn side(options: &Options, role: Role, mut stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let sizes: Vec<u32> = if options.all { (1..=23).map(|log| 1 << log).collect() } else { vec![options.size] };
    let largest = sizes.last().copied().unwrap_or(1) as usize;
    let pd = device.protection_domain()?;
    let mut pool = Pool::new(&pd, 2 * largest + 8192, Access::REMOTE_WRITE)?;
    let (incoming, outgoing) = (pool.take(largest)?, pool.take(largest)?);
    let cq = device.completion_queue(64).build()?;
    let mut pair =
        pd.queue_pair::<transport::Rc>(&cq, &cq).sends(32).no_receives().inline(options.inline_size).build()?;
    let peer = pair.connect_over(&mut limited(&mut stream), &path, &incoming.remote().to_bytes())?;
    // ANCHOR: order
    let order = pair.qp.writes_in_order().or(options.assume_order.then_some(InOrder::assumed()));
    let order = order.ok_or("the device does not promise that the last byte comes last: see --assume-order")?;
    // ANCHOR_END: order
    let mut side = Side { cq, sq: pair.sq, incoming, order, outgoing, theirs: Remote::from_bytes(&peer.data)?, role };
    for size in sizes {
        side.incoming.fill(0);
        // Both buffers are clear before the first message of this size.
        handshake::ready(&mut limited(&mut stream))?;
        let latencies = side.measure(size, options)?;
        if role == Role::Client {
            let line = Line { bytes: size, iterations: latencies.count(), latency_us: latencies.percentiles() };
            if options.report.json {
                println!("{}", serde_json::to_string(&line)?);
            } else {
                println!("{size} bytes, {} exchanges, one way in us: {}", line.iterations, line.latency_us);
            }
            latencies.draw(&format!("WRITE of {size} bytes, one way"), &options.report)?;
        }
    }
    // The queue pair stays until the peer has seen the last message.
    Ok(handshake::ready(&mut limited(&mut stream))?)
}

type Sq = Owned<SendQueue<transport::Rc>, Qp>;

struct Side {
    sq: Sq,
    cq: OwnedCq,
    /// Where the peer writes.
    incoming: Buffer,
    order: InOrder,
    outgoing: Buffer,
    theirs: Remote,
    role: Role,
}

impl Side {
    /// Exchanges messages of one size, each of them prepared once.
    fn measure(&mut self, size: u32, options: &Options) -> Result<Latencies, Failure> {
        /// The request is a type, so each size that goes inline has its own code.
        macro_rules! inline {
            ($($bytes:literal)*) => {
                match size {
                    $($bytes if size <= options.inline_size => {
                        let write = self.sq.prepare::<_, _, $bytes, 0>(&wqe::write(self.theirs))?;
                        let mut message = [0; $bytes];
                        let wqebbs = write.inline(&message).wqebbs();
                        self.exchange(size, options, wqebbs, |sq, mark, signaled| {
                            message[$bytes - 1] = mark;
                            sq.post(&write.signaled_if(signaled, WrId(0)).inline(&message))
                        })
                    })*
                    _ => self.gather(size, options),
                }
            };
        }
        inline!(2 4 8 16 32 64 128)
    }

    /// [Measures](Self::measure) a message in registered memory.
    fn gather(&mut self, size: u32, options: &Options) -> Result<Latencies, Failure> {
        // ANCHOR: prepare
        let write = self.sq.prepare::<_, _, 0, 1>(&wqe::write(self.theirs))?;
        let write = write.gather([self.outgoing.sge_of(0..size as usize)]);
        let last = self.outgoing.as_ptr();
        self.exchange(size, options, write.wqebbs(), |sq, mark, signaled| {
            // SAFETY: inside the buffer, which lives as long as the queue. The peer has answered the last message, so
            // the device has read it; and should it send it again, then with a mark that the peer does not wait for.
            unsafe {
                last.add(size as usize - 1).write_volatile(mark);
                sq.post_unchecked(&write.signaled_if(signaled, WrId(0)))
            }
        })
        // ANCHOR_END: prepare
    }

    /// The client writes and waits for the answer; the server waits and answers.
    fn exchange(
        &mut self,
        size: u32,
        options: &Options,
        wqebbs: Wqebbs,
        mut fire: impl FnMut(&mut Sq, u8, bool) -> Result<(), PostError>,
    ) -> Result<Latencies, Failure> {
        let mut moderation = Moderation::new(SIGNAL_EVERY, self.sq.depth(), wqebbs)?;
        let mut write = |side: &mut Self, mark| {
            loop {
                // The last request is signalled, so that its completion accounts for all requests before it.
                match moderation.post(wqebbs, |signaled| fire(&mut side.sq, mark, signaled || mark == END)) {
                    // A completion may lag behind the answer.
                    Err(PostError::Full { .. }) => side.complete()?,
                    posted => return Ok::<_, Failure>(posted?),
                }
            }
        };
        let mut latencies = Latencies::default();
        let end = options.duration.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let mut mark = 0;
        loop {
            mark = if mark == LAST_MARK { 1 } else { mark + 1 };
            if self.role == Role::Server {
                let seen = self.wait(size as usize, mark)?;
                write(self, seen)?;
                if seen == END {
                    return Ok(latencies);
                }
                continue;
            }
            let enough = end.map_or(latencies.count() == options.iters, |end| Instant::now() >= end);
            let begin = Instant::now();
            let sent = if enough { END } else { mark };
            write(self, sent)?;
            self.wait(size as usize, sent)?;
            if enough {
                return Ok(latencies);
            }
            latencies.record(begin.elapsed() / 2);
        }
    }

    /// Waits until the peer has written `mark`, or [`END`], to the last byte of its message, and returns that byte.
    fn wait(&mut self, size: usize, mark: u8) -> Result<u8, Failure> {
        let (mut spins, begin) = (0_u32, Instant::now());
        let seen = loop {
            // ANCHOR: wait
            let place = self.incoming.polled(0..size, self.order);
            if let Some(seen) = [mark, END].into_iter().find(|&flag| place.arrived(flag)) {
                break seen;
            }
            // ANCHOR_END: wait
            std::hint::spin_loop();
            spins += 1;
            // A NIC would have written. A request may have failed, or others need this CPU.
            if spins.is_multiple_of(LOOKS) {
                self.complete()?;
                if begin.elapsed() > PATIENCE {
                    return Err(Failure::Silence(PATIENCE));
                }
                std::thread::yield_now();
            }
        };
        self.complete()?;
        Ok(seen)
    }

    /// Takes completed requests back.
    fn complete(&mut self) -> Result<(), Failure> {
        self.cq.try_poll_with(16, |cqe| {
            self.sq.complete(&cqe)?;
            Ok::<_, Failure>(())
        })?;
        Ok(())
    }
}
