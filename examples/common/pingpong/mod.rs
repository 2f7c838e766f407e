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
mod options;
mod pattern;
mod peer;
mod queues;
mod receives;
mod report;
mod side;
mod verbs;

use std::net::TcpStream;

use blueflame::verbs::{Path, ProtectionDomain};

use crate::{Failure, Role};
use side::PingPong;

pub use datagrams::Datagrams;
pub use dynamic::Dynamic;
pub use options::{PingPongOptions, SENDS, completions};
pub use queues::{Parts, Queues};
pub use receives::Receives;
pub use verbs::Verbs;

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
