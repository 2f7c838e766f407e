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
//! Exit code: 0 when all went well, 1 for a failure of setup or transport, 2 for a wrong call, 3 when a message was wrong, 4 when
//! the peer fell silent.

use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::cq::{Notify, Side};
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::verbs::{Access, Buffer, CompletionChannel, Owned, OwnedCq, Pool, Qp, QueuePair, handshake};
use blueflame::wqe::{self, WorkRequest};
use blueflame::{Remote, WrId, transport};
use clap::{Parser, ValueEnum};
use common::{Failure, Role, Setup};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// SEND, RDMA READ and RDMA WRITE of a message, each verified.
#[derive(Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    setup: Setup,
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

const SENT: &[u8] = b"SEND operation\0";
const TO_READ: &[u8] = b"RDMA read operation\0";
const WRITTEN: &[u8] = b"RDMA write operation\0";

/// How long a completion may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("rdma_operations", options.setup.meet(|role, stream| side(&options, role, stream)))
}

fn side(options: &Options, role: Role, mut stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;

    // The two buffers: what peers may reach, and what is only for this side.
    let pd = device.protection_domain()?;
    let mut pool = Pool::new(&pd, 4096, Access::ALL)?;
    let (mut shared, mut private) = (pool.take(64)?, pool.take(64)?);

    let channel = if options.wait == Wait::Spin { None } else { Some(device.completion_channel()?) };
    let mut cq = device.completion_queue(8);
    if let Some(channel) = &channel {
        cq = cq.channel(channel);
    }
    let cq = cq.build()?;
    let pair = pd.queue_pair::<transport::Rc>(cq.handle(), cq.handle()).sends(4).receives(4).build()?;
    let QueuePair { qp, sq, rq } = pair;
    let mut queues =
        Queues { sq, rq: rq.ok_or("the queue pair has no receive queue")?, cq, channel, wait: options.wait };
    qp.to_init(&path)?;
    if role == Role::Client {
        // SAFETY: `private` lives to the end of this function, and is looked at when the receive has completed.
        unsafe { queues.rq.post(WrId(1), &[private.sge()]) }?;
    }

    let peer = queues.sq.connect_over(&mut stream, &path, &shared.remote().to_bytes())?;
    let target = Remote::from_bytes(&peer.data)?;

    if role == Role::Client {
        queues.wait_for(Side::Responder)?;
        expect("SEND", &private, SENT)?;
        // Both sides have come as far: the server has put the next message where we may read it.
        handshake::ready(&mut stream)?;
        let into = private.sge_of(0..TO_READ.len());
        // SAFETY: here and below, `private` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::read(target).scatter([into]).signaled(WrId(2))) }?;
        expect("RDMA READ", &private, TO_READ)?;
        private.write(0, WRITTEN);
        // SAFETY: as above.
        unsafe { queues.perform(&wqe::write(target).gather([private.sge_of(0..WRITTEN.len())]).signaled(WrId(3))) }?;
        println!("RDMA WRITE completed");
        Ok(handshake::ready(&mut stream)?)
    } else {
        shared.write(0, SENT);
        // SAFETY: `shared` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::send().gather([shared.sge_of(0..SENT.len())]).signaled(WrId(1))) }?;
        println!("SEND completed");
        shared.write(0, TO_READ);
        handshake::ready(&mut stream)?;
        // The client reads and writes meanwhile, and this side does nothing but wait for its word.
        handshake::ready(&mut stream)?;
        expect("RDMA WRITE", &shared, WRITTEN)
    }
}

/// Compares what an operation brought with what it should have.
fn expect(operation: &str, buffer: &Buffer, message: &[u8]) -> Result<(), Failure> {
    let mut arrived = vec![0; message.len()];
    buffer.read(0, &mut arrived);
    let text = String::from_utf8_lossy(arrived.strip_suffix(&[0]).unwrap_or(&arrived));
    if arrived != message {
        return Err(Failure::Data(format!("the {operation} brought {text:?}")));
    }
    println!("verified {} bytes of the {operation}: {text:?}", message.len());
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
    /// That of [`SendQueue::post_unchecked`], until this returns.
    unsafe fn perform(&mut self, request: &impl WorkRequest<transport::Rc>) -> Result<(), Failure> {
        // SAFETY: the caller's.
        unsafe { self.sq.post_unchecked(request) }?;
        self.wait_for(Side::Requester)
    }

    /// Waits for a completion, which must be of `side`, and gives its request back to the queue.
    fn wait_for(&mut self, side: Side) -> Result<(), Failure> {
        let begin = Instant::now();
        let mut armed = false;
        loop {
            if let Some(cqe) = self.cq.poll() {
                match cqe.check()? {
                    Side::Requester => _ = self.sq.retire(&cqe)?,
                    Side::Responder => _ = self.rq.retire(&cqe)?,
                }
                return if cqe.check()? == side { Ok(()) } else { Err("a completion of the other queue".into()) };
            }
            if begin.elapsed() > PATIENCE {
                return Err(Failure::Silence(PATIENCE));
            }
            match (&self.channel, armed) {
                (None, _) => std::thread::yield_now(),
                // What completes from here on raises an event; what completed before is found by polling once more.
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
