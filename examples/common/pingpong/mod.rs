//! Ping-pong over a reliable connection, by datagrams or by dynamic connections, on queues of any maker. Options, TCP
//! exchange and messages are those of `ibv_rc_pingpong` and `ibv_ud_pingpong`, so either C tool may be the peer.
//!
//! Every message is verified. Message k carries pattern k in both directions. A C server sends each message back,
//! because it receives into the buffer that it sends from. The first byte of each page is zero, because the C server's
//! `-c` checks that byte.

mod datagrams;
mod dynamic;
mod event_cq;
mod exchange;
mod pattern;
mod peer;
mod receives;
mod report;
mod side;
mod verbs;

use std::net::TcpStream;
use std::time::Duration;

use blueflame::Sge;
use blueflame::cq::CompletionQueue;
use blueflame::db::Register;
use blueflame::queue::SendQueue;
use blueflame::transport::{Rc, Transport};
use blueflame::types::WrId;
use blueflame::verbs::{Endpoint, Path, ProtectionDomain};
use blueflame::wqe;
use clap::Args;

use crate::{Failure, ReportOptions, Role, Setup};
use side::PingPong;

pub use datagrams::Datagrams;
pub use dynamic::Dynamic;
pub use receives::Receives;
pub use verbs::Verbs;

/// The options of a ping-pong.
#[derive(Args, Clone, Debug)]
pub struct PingPongOptions {
    #[command(flatten)]
    #[expect(missing_docs, reason = "the type says it")]
    pub setup: Setup,
    /// Bytes per message
    #[arg(short, long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    pub size: u32,
    /// Messages each way
    #[arg(short = 'n', long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub iters: u32,
    /// Receives kept posted
    #[arg(short, long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=4096))]
    pub rx_depth: u32,
    /// Sleep on completion events instead of polling
    #[arg(short, long)]
    pub events: bool,
    /// Do not verify received messages
    #[arg(long)]
    pub no_verify: bool,
    /// Seconds without a completion after which the peer counts as gone
    #[arg(long, default_value_t = 20)]
    pub timeout: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the type says it")]
    pub report: ReportOptions,
}

/// A queue pair and its completion queue.
pub trait Queues {
    /// The transport of the messages.
    type Transport: Transport;
    /// How its doorbell register is used.
    type Register: Register;
    /// Bytes in front of each message received.
    const HEADER: usize = 0;
    /// The library that made the queues.
    const MADE_BY: &'static str;

    /// The queues.
    fn parts(&mut self) -> Parts<'_, Self::Transport, Self::Register>;

    /// Sends a message to the peer.
    ///
    /// # Errors
    /// It was not posted.
    ///
    /// # Safety
    /// No code writes the memory before the message has left.
    unsafe fn send(&mut self, message: Sge, wr_id: WrId) -> Result<(), Failure>;

    /// The address at which the peer reaches them.
    fn endpoint(&self, path: &Path) -> Endpoint;

    /// Moves from INIT to RTS, or takes the other steps that are needed to send to the peer.
    ///
    /// # Errors
    /// A failed call.
    fn connect(&mut self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Failure>;

    /// Waits for an event of the completion queue, which is armed; false if there was none for so long.
    ///
    /// # Errors
    /// A failed call.
    fn wait_for_event(&self, timeout: Duration) -> Result<bool, Failure>;
}

/// The queues, borrowed.
#[derive(Debug)]
#[expect(missing_docs, reason = "the types say it")]
pub struct Parts<'a, T: Transport, R: Register> {
    pub cq: &'a mut CompletionQueue,
    pub sq: &'a mut SendQueue<T, R>,
    pub rq: Receives<'a>,
}

impl<R: Register> Parts<'_, Rc, R> {
    /// Sends a message to the peer that the queue pair is connected with.
    ///
    /// # Errors
    /// It was not posted.
    ///
    /// # Safety
    /// As [`Queues::send`].
    pub unsafe fn send(self, message: Sge, wr_id: WrId) -> Result<(), Failure> {
        // SAFETY: the caller's.
        Ok(unsafe { self.sq.post_unchecked(&wqe::send().gather([message]).signaled(wr_id)) }?)
    }
}

/// Completions that a side can have outstanding.
#[must_use]
pub fn completions(options: &PingPongOptions) -> u32 {
    options.rx_depth + 2
}

/// Sends that a side can have outstanding.
pub const SENDS: u32 = 2;

/// Runs one side of the ping-pong, with the peer at the other end of `stream`. The queues are in INIT, or in RTS if
/// their transport makes no connection. Memory is registered in `pd`, which the queues must be able to use.
///
/// # Errors
/// [`Failure`].
pub fn run<Q: Queues>(
    queues: Q,
    (pd, path): (&ProtectionDomain, &Path),
    options: &PingPongOptions,
    (role, stream): (Role, TcpStream),
) -> Result<(), Failure> {
    let mut pingpong = PingPong::new(queues, pd, options, role)?;
    pingpong.post_receives()?;
    let local = pingpong.queues.endpoint(path);
    match role {
        Role::Client => {
            let remote = exchange::as_client(stream, &local)?;
            pingpong.queues.connect(path, &local, &remote)?;
        }
        Role::Server => exchange::as_server(stream, &local, |remote| pingpong.queues.connect(path, &local, remote))?,
    }
    pingpong.run(role)?;
    // With --local, the client's report says it all.
    if role == Role::Server && options.setup.local { Ok(()) } else { pingpong.report.print(&options.report) }
}
