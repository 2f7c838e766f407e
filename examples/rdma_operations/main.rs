//! SEND, RDMA READ and RDMA WRITE between two processes, each verified: the classic first RDMA program.
//!
//! ```text
//! rdma_operations              # the server: sends, then its memory is read and written
//! rdma_operations localhost    # the client: receives, reads, writes
//! rdma_operations --local      # both
//! ```
//!
//! ```text
//!   server                                       client
//!     |  <--- TCP: endpoints, memory of the server --> |
//!     |  ------------------ SEND --------------------> |   into the posted receive
//!     |  <----------------- READ --------------------- |   the server's CPU does nothing
//!     |  <----------------- WRITE -------------------- |   nor here; TCP tells it when to look
//! ```
//!
//! Either side may be `RDMA_RC_example`, the C program of Mellanox' *RDMA Aware Networks Programming User Manual*: its
//! TCP exchange is in `manual.rs`. With `--handshake` both sides meet by this crate's own protocol instead, which also
//! checks that they fit together.
//!
//! Exit code: 0 when all went well, 1 for a failure of setup or transport, 2 for a wrong call, 3 when a message was
//! wrong, 4 when the peer fell silent.

mod manual;

use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::cq::{Notify, Side};
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::verbs::{Access, Buffer, CompletionChannel, Owned, OwnedCq, Path, Pool, Qp, QueuePair, handshake};
use blueflame::wqe::data::Data;
use blueflame::wqe::{self, Request, SupportedOn};
use blueflame::{Remote, WrId, transport};
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use common::{Failure, Role, Setup, limited};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// SEND, RDMA READ and RDMA WRITE of a message, each verified.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    setup: Setup,
    /// Meet by blueflame's own handshake, not by the exchange of RDMA_RC_example
    #[arg(long)]
    handshake: bool,
    /// How to wait for completions
    #[arg(short, long, value_enum, default_value_t = Wait::Spin)]
    wait: Wait,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Wait {
    /// Poll the completion queue without pause
    Spin,
    /// Block in the completion channel
    Block,
    /// Wait in poll(2) on the channel's descriptor, as an event loop would
    Fd,
}

const SENT: &str = "SEND operation ";
const TO_READ: &str = "RDMA read operation ";
const WRITTEN: &str = "RDMA write operation";

/// Bytes of a buffer.
const BUFFER: usize = 64;

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    // RDMA_RC_example's port in place of perftest's.
    let command = Options::command().mut_arg("port", |port| port.default_value("19875"));
    let mut options = Options::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    if !options.handshake {
        options.setup.mtu.get_or_insert(manual::MTU);
    }
    common::exit("rdma_operations", options.setup.meet(|role, stream| side(&options, role, stream)))
}

fn side(options: &Options, role: Role, stream: TcpStream) -> Result<(), Failure> {
    let (device, mut path) = options.setup.open()?;
    // RDMA_RC_example answers one READ at a time.
    (path.max_rd_atomic, path.max_dest_rd_atomic) = (1, 1);

    // Two buffers: peers may reach the first, only this side uses the second.
    let pd = device.protection_domain()?;
    let mut pool = Pool::new(&pd, 4096, Access::ALL)?;
    let (mut shared, mut private) = (pool.take(BUFFER)?, pool.take(BUFFER)?);

    let channel = if options.wait == Wait::Spin { None } else { Some(device.completion_channel()?) };
    let mut cq = device.completion_queue(8);
    if let Some(channel) = &channel {
        cq = cq.channel(channel);
    }
    let cq = cq.build()?;
    let mut pair = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(4).receives(4).build()?;
    pair.qp.to_init(&path)?;
    if role == Role::Client {
        let rq = &mut pair.rq;
        // SAFETY: `private` lives to the end of this function, and is looked at when the receive has completed.
        unsafe { rq.post_unchecked(WrId(1), &[private.sge()]) }?;
    }

    let mut peer = if options.handshake { Peer::Handshake(stream) } else { Peer::Manual(stream) };
    let target = peer.connect(&mut pair, &path, shared.remote())?;
    let QueuePair { sq, rq, .. } = pair;
    let mut queues = Queues { sq, rq, cq, channel, wait: options.wait };

    if role == Role::Client {
        let bytes = queues.wait_for(Side::Responder)?.min(BUFFER);
        expect("SEND", &private, SENT, bytes)?;
        // Both sides have reached this step: the server has put the next message where the client may read it.
        peer.step(b'R')?;
        let into = private.sge_of(0..bytes);
        // SAFETY: here and below, `private` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::read(target).scatter([into]).signaled(WrId(2))) }?;
        expect("RDMA READ", &private, TO_READ, bytes)?;
        put(&mut private, WRITTEN);
        // SAFETY: `private` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::write(target).gather([private.sge_of(0..bytes)]).signaled(WrId(3))) }?;
        println!("RDMA WRITE completed");
        peer.step(b'W')
    } else {
        let bytes = if options.handshake { TO_READ.len() + 1 } else { manual::MESSAGE };
        put(&mut shared, SENT);
        // SAFETY: `shared` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::send().gather([shared.sge_of(0..bytes)]).signaled(WrId(1))) }?;
        println!("SEND completed");
        put(&mut shared, TO_READ);
        peer.step(b'R')?;
        // The client reads and writes meanwhile; this side only waits for its message over TCP.
        peer.step(b'W')?;
        expect("RDMA WRITE", &shared, WRITTEN, bytes)
    }
}

/// The other side, by TCP, and the protocol that it speaks.
enum Peer {
    Manual(TcpStream),
    Handshake(TcpStream),
}

impl Peer {
    /// Connects the queue pair, and tells the peer where `memory` is. Returns the peer's memory, once both sides take
    /// requests.
    fn connect(&mut self, pair: &mut QueuePair<transport::Rc>, path: &Path, memory: Remote) -> Result<Remote, Failure> {
        match self {
            Self::Manual(stream) => manual::connect(&mut limited(stream), pair, path, memory),
            Self::Handshake(stream) => {
                let peer = pair.connect_over(&mut limited(stream), path, &memory.to_bytes())?;
                Ok(Remote::from_bytes(&peer.data)?)
            }
        }
    }

    /// Waits until both sides have reached the same step.
    fn step(&mut self, name: u8) -> Result<(), Failure> {
        match self {
            Self::Manual(stream) => manual::step(&mut limited(stream), name),
            Self::Handshake(stream) => Ok(handshake::ready(&mut limited(stream))?),
        }
    }
}

/// Writes a text, and zeros up to the buffer's end.
fn put(buffer: &mut Buffer, text: &str) {
    let mut message = [0; BUFFER];
    message[..text.len()].copy_from_slice(text.as_bytes());
    buffer.write(0, &message);
}

/// Compares the text that arrived in a message of `bytes` bytes with the expected one, which may be longer than the
/// message. Spaces at the end do not count: programs differ in them.
fn expect(operation: &str, buffer: &Buffer, text: &str, bytes: usize) -> Result<(), Failure> {
    let mut arrived = vec![0; bytes];
    buffer.read(0, &mut arrived);
    let arrived = String::from_utf8_lossy(arrived.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
    if arrived.trim_end() != text[..text.len().min(bytes)].trim_end() {
        return Err(Failure::Data(format!("the {operation} brought {arrived:?}")));
    }
    println!("verified {bytes} bytes of the {operation}: {:?}", arrived.trim_end());
    Ok(())
}

/// A queue pair's queues, and how to wait for them.
struct Queues {
    sq: Owned<SendQueue<transport::Rc>, Qp>,
    rq: Owned<RecvQueue, Qp>,
    cq: OwnedCq,
    channel: Option<CompletionChannel>,
    wait: Wait,
}

impl Queues {
    /// Posts a request and waits for its completion.
    ///
    /// # Safety
    /// That of [`SendQueue::post_unchecked`], until this succeeds. After an error, as long as the queue pair lives: the
    /// request may still be outstanding.
    unsafe fn perform<O: SupportedOn<transport::Rc>, D: Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), Failure> {
        // SAFETY: the caller promises that the request's memory stays registered, and the device's, until it has completed.
        unsafe { self.sq.post_unchecked(request) }?;
        self.wait_for(Side::Requester)?;
        Ok(())
    }

    /// Waits for a completion, which must belong to `side`, and gives its request back to the queue. Returns the
    /// message's bytes.
    fn wait_for(&mut self, side: Side) -> Result<usize, Failure> {
        let begin = Instant::now();
        let mut armed = false;
        loop {
            if let Some(cqe) = self.cq.poll() {
                let done = match cqe.side() {
                    Some(Side::Responder) => self.rq.complete(&cqe).map(|_| Side::Responder)?,
                    Some(Side::Requester) | None => self.sq.complete(&cqe).map(|_| Side::Requester)?,
                };
                let bytes = cqe.byte_len() as usize;
                return if done == side { Ok(bytes) } else { Err("a completion of the other queue".into()) };
            }
            if begin.elapsed() > PATIENCE {
                return Err(Failure::Silence(PATIENCE));
            }
            // ANCHOR: wait
            match (&self.channel, armed) {
                (None, _) => std::thread::yield_now(),
                // Later completions raise an event; polling once more finds the earlier ones.
                (Some(_), false) => {
                    self.cq.arm(Notify::Any);
                    armed = true;
                }
                (Some(channel), true) => {
                    if self.wait == Wait::Fd {
                        readable(channel)?;
                    }
                    channel.wait()?;
                    self.cq.event_received();
                    armed = false;
                }
            }
            // ANCHOR_END: wait
        }
    }
}

/// Waits until the channel's descriptor is readable.
fn readable(channel: &CompletionChannel) -> Result<(), Failure> {
    let mut fds = [PollFd::new(channel, PollFlags::IN)];
    let timeout = Timespec { tv_sec: PATIENCE.as_secs().try_into()?, tv_nsec: 0 };
    match poll(&mut fds, Some(&timeout))? {
        0 => Err("no event on the completion channel".into()),
        _ => Ok(()),
    }
}
