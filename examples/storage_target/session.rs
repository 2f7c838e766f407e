//! A connected initiator, and how it is connected.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender};

use blueflame::transport;
use blueflame::verbs::{Path, QueuePair};
use common::{Failure, limited, prepared};

use crate::command::Command;

pub(crate) type Pair = QueuePair<transport::Rc>;

/// A connected initiator.
pub(crate) struct Session {
    pub(crate) number: u32,
    pub(crate) pair: Pair,
    /// Ends when the initiator does.
    stream: TcpStream,
    /// Commands for which the send queue has had no room.
    pub(crate) waiting: VecDeque<Command>,
    pub(crate) state: State,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum State {
    Alive,
    /// Has said good-bye.
    Done,
    Dead,
}

impl Session {
    /// Whether the initiator is still there: a killed one says nothing by RDMA, but the kernel closes its TCP
    /// connection.
    pub(crate) fn look(&mut self) -> State {
        if self.state == State::Alive {
            self.state = match self.stream.peek(&mut [0]) {
                Ok(0) => State::Dead,
                Ok(_) => State::Done,
                Err(error) if error.kind() == ErrorKind::WouldBlock => State::Alive,
                Err(_) => State::Dead,
            };
        }
        self.state
    }
}

/// Connects initiators as they come, on a thread of its own: those that are served do not wait for it.
pub(crate) fn connect(listener: &TcpListener, path: &Path, spares: &Receiver<Pair>, connected: &Sender<Session>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream.map_err(Failure::from).and_then(prepared) else { continue };
        let Ok(mut pair) = spares.recv() else { return };
        let peer = pair.connect_over(&mut limited(&mut stream), path, &[]);
        let number = peer.map_err(Failure::from).and_then(|peer| Ok(u32::from_be_bytes(peer.data[..].try_into()?)));
        let number = number.and_then(|number| stream.set_nonblocking(true).map(|()| number).map_err(Failure::from));
        if let Err(error) = &number {
            eprintln!("storage_target: an initiator that did not connect: {error}");
        }
        // The queue pair of one that did not is made as new, too.
        let state = if number.is_ok() { State::Alive } else { State::Done };
        let session = Session { number: number.unwrap_or(0), pair, stream, waiting: VecDeque::new(), state };
        if connected.send(session).is_err() {
            return;
        }
    }
}
