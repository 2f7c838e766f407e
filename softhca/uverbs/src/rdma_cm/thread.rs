//! The thread for a kernel's work in the background: it takes messages that have arrived, and sends unanswered ones
//! again.

use super::mad::Message;
use super::manager;
use super::peer::Peer;
use crate::device::take_mads;
use crate::process::{Errno, forked, lock};
use softhca::gsi::Mad;
use softhca::runner::spawn;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// The reasons to wake the thread: a message, or work that may be due earlier than before.
type Input = Option<(Message, Peer)>;

static INBOX: OnceLock<Sender<Input>> = OnceLock::new();

/// Starts the thread, if it does not run yet. It runs in one process: the conversations of a parent are no child's.
pub(super) fn start() -> Result<(), Errno> {
    /// The process that it runs in; 0 = none.
    static PROCESS: Mutex<u32> = Mutex::new(0);
    let mut process = lock(&PROCESS);
    if INBOX.get().is_some() {
        return forked::refuse_copies(*process);
    }
    let (sender, receiver) = channel();
    spawn("softhca-cm", move || run(&receiver)).map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EAGAIN)))?;
    // Nobody else sets it: we are the one.
    let _ = INBOX.set(sender);
    *process = std::process::id();
    take_mads(arrived);
    Ok(())
}

fn put(input: Input) {
    if let Some(inbox) = INBOX.get() {
        // The thread never ends.
        let _ = inbox.send(input);
    }
}

/// Hands over a datagram that has arrived at a device. Datagrams that are no messages of ours are dropped.
fn arrived(mad: &Mad) {
    let Some(grh) = &mad.route.grh else { return };
    if let Some(message) = Message::parse(&mad.bytes) {
        put(Some((message, Peer { qpn: mad.source_qp, gid: grh.sgid, own_gid: grh.dgid })));
    }
}

/// Hands over a message that a neighbour's part of our own would have sent.
pub(super) fn put_message(message: Message, from: Peer) {
    put(Some((message, from)));
}

/// Makes the thread ask again for due work.
pub(super) fn look() {
    put(None);
}

fn run(inbox: &Receiver<Input>) {
    loop {
        let due = lock(&manager::MANAGER).next_deadline();
        let input = match due {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        let mut manager = lock(&manager::MANAGER);
        match input {
            Ok(Some((message, from))) => manager.receive(&message, from),
            Ok(None) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        manager.tick(Instant::now());
    }
}
