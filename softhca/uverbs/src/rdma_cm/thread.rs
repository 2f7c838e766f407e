//! The thread for a kernel's work in the background: it takes messages that have arrived, and sends unanswered ones
//! again.

use super::mad::Message;
use super::manager;
use super::peer::Peer;
use crate::device::take_mads;
use crate::process::{Errno, forked, lock};
use softhca::gsi::Mad;
use softhca::runner::spawn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// Most datagrams that wait for the thread. Later ones are lost, as at QP 1, whose own queue each step empties.
const MAX_WAITING: usize = 1024;

/// The reasons to wake the thread.
enum Input {
    /// A message that a datagram has brought: one of [`WAITING`].
    Datagram(Message, Peer),
    /// A message of our own. It is not lost.
    Message(Message, Peer),
    /// Work that may be due earlier than before.
    Look,
}

static INBOX: OnceLock<Sender<Input>> = OnceLock::new();

/// How many datagrams wait in the inbox.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The process that the thread runs in; 0 = none. Held while it starts.
pub(super) static PROCESS: Mutex<u32> = Mutex::new(0);

/// Starts the thread, if it does not run yet. It runs in one process: the conversations of a parent are no child's.
pub(super) fn start() -> Result<(), Errno> {
    let mut process = lock(&PROCESS);
    if INBOX.get().is_some() {
        return forked::refuse_copies(*process);
    }
    lock(&manager::MANAGER).begin_anywhere();
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

/// Hands over a datagram that has arrived at a device. Datagrams that are no messages of ours are dropped, and so is
/// one too many.
fn arrived(mad: &Mad) {
    let Some(grh) = &mad.route.grh else { return };
    let Some(message) = Message::parse(&mad.bytes) else { return };
    let one_more = |waiting| (waiting < MAX_WAITING).then_some(waiting + 1);
    // Only a count: the channel orders the datagrams themselves.
    if WAITING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok() {
        put(Input::Datagram(message, Peer { qpn: mad.source_qp, gid: grh.sgid, own_gid: grh.dgid }));
    }
}

/// Hands over a message that a neighbour's part of our own would have sent.
pub(super) fn put_message(message: Message, from: Peer) {
    put(Input::Message(message, from));
}

/// Makes the thread ask again for due work.
pub(super) fn look() {
    put(Input::Look);
}

/// Takes the next input, for which it waits until `due` at most.
fn take(inbox: &Receiver<Input>, due: Option<Instant>) -> Result<Input, RecvTimeoutError> {
    let input = match due {
        None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
    };
    if let Ok(Input::Datagram(..)) = input {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
    input
}

fn run(inbox: &Receiver<Input>) {
    loop {
        let due = lock(&manager::MANAGER).next_deadline();
        let input = take(inbox, due);
        let mut manager = lock(&manager::MANAGER);
        match input {
            Ok(Input::Datagram(message, from) | Input::Message(message, from)) => manager.receive(&message, from),
            Ok(Input::Look) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        manager.tick(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softhca::config::GidType;
    use softhca::wire::{Grh, Macs, Route};

    #[test]
    fn datagrams_that_nobody_takes_are_dropped() {
        let (sender, receiver) = channel();
        INBOX.set(sender).expect("no other test starts the thread");
        let (sgid, dgid) = ([1; 16], [2; 16]);
        let grh =
            Grh { kind: GidType::RoceV2, sgid, dgid, traffic_class: 0, flow_label: 0, hop_limit: 1, udp_sport: 0 };
        let route = Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs: Macs::default() };
        let mad = Mad { route, source_qp: 1, bytes: Message::dreq(1, 2, 3, 4).bytes };
        let flood = || (0..10 * MAX_WAITING).for_each(|_| arrived(&mad));
        let found = || std::iter::from_fn(|| take(&receiver, Some(Instant::now())).ok()).count();
        flood();
        // Messages of our own are not lost.
        put_message(Message::dreq(1, 2, 3, 4), Peer { qpn: 1, gid: sgid, own_gid: dgid });
        look();
        assert_eq!(found(), MAX_WAITING + 2);
        // There is room again.
        flood();
        assert_eq!(found(), MAX_WAITING);
    }
}
