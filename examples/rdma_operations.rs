//! SEND, RDMA READ and RDMA WRITE between two processes, each verified: the classic first RDMA program.
//!
//! ```text
//! rdma_operations              # the server: sends, then its memory is read and written
//! rdma_operations localhost    # the client: receives, reads, writes
//! ```
//!
//! ```text
//!   server                                   client
//!     |  <--- TCP: address, rkey, QPN, LID, GID ---> |
//!     |  ------------------ SEND ------------------> |   into the posted receive
//!     |  <----------------- READ ------------------- |   the server's CPU does nothing
//!     |  <----------------- WRITE ------------------ |   nor here; TCP tells it when to look
//! ```
//!
//! The TCP exchange is that of Mellanox' `RDMA_RC_example`: 34 packed bytes in big endian, then one byte at each step.
//! Exit code: 0 when every message was as expected, 1 otherwise, 2 for a wrong call.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{Ipv6Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::cq::{Notify, Side};
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::types::{Psn, Qpn, Rkey, WrId};
use blueflame::verbs::{
    Access, Buffer, CompletionChannel, Device, Endpoint, Gid, LinkLayer, Mtu, Owned, OwnedCq, Path, Pool, Qp, QueuePair,
};
use blueflame::wqe::{self, WorkRequest};
use blueflame::{Remote, transport};
use clap::{Parser, ValueEnum};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// SEND, RDMA READ and RDMA WRITE of a message, each verified.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Server to connect to; without it, be the server
    host: Option<String>,
    /// RDMA device [default: the first mlx5 device]
    #[arg(short, long)]
    device: Option<String>,
    /// TCP port of the exchange
    #[arg(short, long, default_value_t = 19875)]
    port: u16,
    /// Port of the device
    #[arg(short, long, default_value_t = 1)]
    ib_port: u8,
    /// Local GID index [default: the best GID on Ethernet, none on InfiniBand]
    #[arg(short, long)]
    gid_index: Option<u8>,
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
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rdma_operations: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let device = match &options.device {
        Some(name) => Device::open(name)?,
        None => Device::open_first()?,
    };
    let port = device.port(options.ib_port)?;
    let sgid = match options.gid_index {
        Some(index) => Some(device.gid(port.number, index)?.ok_or("this entry of the GID table is empty")?),
        None if port.link_layer == LinkLayer::Ethernet => Some(device.default_gid(&port)?),
        None => None,
    };
    let mut path = Path::new(port, sgid);
    path.mtu = Mtu::B256;
    (path.max_rd_atomic, path.max_dest_rd_atomic) = (1, 1);

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
    if options.host.is_some() {
        // SAFETY: `private` lives to the end of this function, and is looked at when the receive has completed.
        unsafe { queues.rq.post(WrId(1), &[private.sge()]) }?;
    }

    let mut peer = Peer::find(options)?;
    let local = qp.endpoint_with(&path, Psn::truncate(0));
    let (remote, target) = peer.exchange(&local, shared.remote())?;
    queues.sq.connect(&path, &local, &remote)?;
    peer.step(b'Q')?;

    if options.host.is_some() {
        queues.wait_for(Side::Responder)?;
        expect("SEND", &private, SENT)?;
        // The server has put the next message where we may read it.
        peer.step(b'R')?;
        let into = private.sge_of(0..TO_READ.len());
        // SAFETY: here and below, `private` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::read(target).scatter([into]).signaled(WrId(2))) }?;
        expect("RDMA READ", &private, TO_READ)?;
        private.write(0, WRITTEN);
        // SAFETY: as above.
        unsafe { queues.perform(&wqe::write(target).gather([private.sge_of(0..WRITTEN.len())]).signaled(WrId(3))) }?;
        println!("RDMA WRITE completed");
        peer.step(b'W')
    } else {
        shared.write(0, SENT);
        // SAFETY: `shared` is left alone until the request has completed, and lives longer.
        unsafe { queues.perform(&wqe::send().gather([shared.sge_of(0..SENT.len())]).signaled(WrId(1))) }?;
        println!("SEND completed");
        shared.write(0, TO_READ);
        peer.step(b'R')?;
        // The client reads and writes meanwhile, and this side does nothing but wait for its word.
        peer.step(b'W')?;
        expect("RDMA WRITE", &shared, WRITTEN)
    }
}

/// Compares what an operation brought with what it should have.
fn expect(operation: &str, buffer: &Buffer, message: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut arrived = vec![0; message.len()];
    buffer.read(0, &mut arrived);
    let text = String::from_utf8_lossy(arrived.strip_suffix(&[0]).unwrap_or(&arrived));
    if arrived != message {
        return Err(format!("the {operation} brought {text:?}").into());
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
    unsafe fn perform(&mut self, request: &impl WorkRequest<transport::Rc>) -> Result<(), Box<dyn Error>> {
        // SAFETY: the caller's.
        unsafe { self.sq.post_unchecked(request) }?;
        self.wait_for(Side::Requester)
    }

    /// Waits for a completion, which must be of `side`, and gives its request back to the queue.
    fn wait_for(&mut self, side: Side) -> Result<(), Box<dyn Error>> {
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
                return Err(format!("no completion for {} s: is the peer still there?", PATIENCE.as_secs()).into());
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
fn readable(channel: &CompletionChannel) -> Result<(), Box<dyn Error>> {
    let mut fds = [PollFd::new(channel, PollFlags::IN)];
    let timeout = Timespec { tv_sec: PATIENCE.as_secs().try_into()?, tv_nsec: 0 };
    match poll(&mut fds, Some(&timeout))? {
        0 => Err("no event on the completion channel".into()),
        _ => Ok(()),
    }
}

/// The TCP connection to the other side.
struct Peer(TcpStream);

/// Bytes of what the sides tell each other: address, rkey, QPN, LID, GID.
const EXCHANGE_BYTES: usize = 8 + 4 + 4 + 2 + 16;

impl Peer {
    fn find(options: &Options) -> Result<Self, Box<dyn Error>> {
        let stream = match &options.host {
            Some(host) => TcpStream::connect((host.as_str(), options.port))
                .map_err(|error| format!("connect to {host}:{}: {error}", options.port))?,
            None => {
                let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, options.port))
                    .or_else(|_| TcpListener::bind(("0.0.0.0", options.port)))
                    .map_err(|error| format!("listen on port {}: {error}", options.port))?;
                listener.accept()?.0
            }
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self(stream))
    }

    /// Tells the peer where this side is, and is told the same.
    fn exchange(&mut self, local: &Endpoint, memory: Remote) -> Result<(Endpoint, Remote), Box<dyn Error>> {
        let mut out = Vec::with_capacity(EXCHANGE_BYTES);
        out.extend(memory.addr.to_be_bytes());
        out.extend(memory.rkey.0.to_be_bytes());
        out.extend(local.qpn.get().to_be_bytes());
        out.extend(local.lid.to_be_bytes());
        out.extend(local.gid.0);
        self.0.write_all(&out)?;

        let mut bytes = [0; EXCHANGE_BYTES];
        self.0.read_exact(&mut bytes)?;
        let mut rest = &bytes[..];
        let remote =
            Remote { addr: u64::from_be_bytes(take(&mut rest)), rkey: Rkey(u32::from_be_bytes(take(&mut rest))) };
        let qpn = u32::from_be_bytes(take(&mut rest));
        let endpoint = Endpoint {
            qpn: Qpn::new(qpn).ok_or_else(|| format!("the peer's QPN {qpn:#x} has more than 24 bits"))?,
            lid: u16::from_be_bytes(take(&mut rest)),
            gid: Gid(take(&mut rest)),
            gid_type: None,
            psn: local.psn,
            mtu: local.mtu,
        };
        Ok((endpoint, remote))
    }

    /// Both sides are here: each sends a byte and waits for the other's.
    fn step(&mut self, step: u8) -> Result<(), Box<dyn Error>> {
        self.0.write_all(&[step])?;
        let mut answer = [0];
        self.0
            .read_exact(&mut answer)
            .map_err(|error| format!("the peer did not come to step {:?}: {error}", step as char))?;
        Ok(())
    }
}

/// The next `N` bytes of a message, which has as many.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (bytes, tail) = rest.split_first_chunk().expect("the fields add up to the message");
    *rest = tail;
    *bytes
}
