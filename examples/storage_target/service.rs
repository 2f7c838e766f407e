//! The target's handling of completions: commands come in, blocks and answers go out.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use blueflame::cq::{CqeView, Side, Source};
use blueflame::queue::PostError;
use blueflame::verbs::{Buffer, OwnedSrq};
use blueflame::wqe::Fence;
use blueflame::{ByQpn, CompleteError, Qpn, WrId, wqe};
use common::Failure;
use serde::Serialize;

use crate::command::Command;
use crate::session::{Session, State};

/// How long the thread that connects initiators may take to report one.
const PATIENCE: Duration = Duration::from_secs(5);

/// An initiator that died.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Death {
    pub(crate) number: u32,
    /// Requests towards it that did not succeed.
    pub(crate) flushed: usize,
    /// Milliseconds until its queue pair could be connected again.
    pub(crate) freed_after_ms: f64,
    /// Commands of the others, from then until an initiator of the same number came.
    pub(crate) others_meanwhile: Option<u64>,
    #[serde(skip)]
    pub(crate) commands_before: u64,
}

/// Everything but the completion queue, whose completions it handles.
pub(crate) struct Service {
    pub(crate) srq: OwnedSrq,
    pub(crate) receives: Vec<Buffer>,
    pub(crate) disk: Buffer,
    pub(crate) block: usize,
    /// By queue pair: all complete to one queue.
    pub(crate) sessions: ByQpn<Session>,
    pub(crate) arriving: Receiver<Session>,
    pub(crate) arrived: u32,
    /// Commands completed.
    pub(crate) commands: u64,
    pub(crate) deaths: Vec<Death>,
}

impl Service {
    /// Handles a completion of any session.
    pub(crate) fn complete<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<(), Failure> {
        if cqe.side() == Some(Side::Responder) {
            // Flushed receives have no command.
            let Some(bytes) = self.receive(cqe)? else { return Ok(()) };
            let most = self.receives.len();
            let session = self.session(cqe)?;
            match Command::from_bytes(&bytes) {
                Some(command) if session.waiting.len() < most => session.waiting.push_back(command),
                // No command, or more than it may have.
                _ => session.state = State::Dead,
            }
        } else {
            let session = self.session(cqe)?;
            match session.pair.sq.complete(cqe) {
                Ok(_) => self.commands += 1,
                // The first error moves the queue pair to the error state, and the rest is flushed.
                Err(CompleteError::Failed { .. }) => session.state = State::Dead,
                Err(CompleteError::Foreign(error)) => return Err(error.into()),
            }
        }
        self.answer(cqe.qpn())
    }

    /// Takes a receive back and posts it again; the command in it, if there is one.
    pub(crate) fn receive<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<[u8; Command::BYTES]>, Failure> {
        // SAFETY: all connections receive from this queue, and each completion is polled once.
        let (wr_id, received) = match unsafe { self.srq.complete(cqe) } {
            Ok(received) => (received.buffer, received.bytes as usize),
            Err(CompleteError::Failed { done, .. }) => (done, 0),
            Err(CompleteError::Foreign(error)) => return Err(error.into()),
        };
        let buffer = &self.receives[wr_id.0 as usize];
        let mut bytes = [0; Command::BYTES];
        buffer.read(0, &mut bytes);
        // SAFETY: as when it was first posted; the command has been copied.
        unsafe { self.srq.post_unchecked(wr_id, &[buffer.sge()])? };
        Ok((received == Command::BYTES).then_some(bytes))
    }

    /// Executes a session's commands as far as its send queue has room: the block, and behind it the answer.
    fn answer(&mut self, qpn: Qpn) -> Result<(), Failure> {
        let (block, blocks) = (self.block, self.disk.len() / self.block);
        let Some(Session { pair, waiting, state, .. }) = self.sessions.get_mut(qpn) else { return Ok(()) };
        while let (Some(&command), State::Alive) = (waiting.front(), *state) {
            if command.block as usize >= blocks {
                *state = State::Dead;
                break;
            }
            let data = [self.disk.sge_of(command.block as usize * block..(command.block as usize + 1) * block)];
            let answer = wqe::send().imm(command.tag.into()).signaled(WrId(0));
            let mut batch = pair.sq.batch();
            // SAFETY: the disk lives as long as the queue, and nobody but the device reads and writes it.
            let posted = unsafe {
                if command.write {
                    let fetch = wqe::read(command.memory).scatter(data);
                    batch.push_unchecked(&fetch).and_then(|()| batch.push(&answer.fence(Fence::SmallAndReads)))
                } else {
                    let bring = wqe::write(command.memory).gather(data);
                    batch.push_unchecked(&bring).and_then(|()| batch.push(&answer))
                }
            };
            match posted {
                Ok(()) => batch.ring_doorbell(),
                // The next completion makes room.
                Err(PostError::Full { .. }) => break,
                Err(error) => return Err(error.into()),
            }
            waiting.pop_front();
        }
        Ok(())
    }

    /// The session of a completion. An initiator may send before the thread that connected it has reported it.
    fn session<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<&mut Session, Failure> {
        while self.sessions.find(cqe).is_none() {
            let session = self.arriving.recv_timeout(PATIENCE)?;
            self.welcome(session);
        }
        self.sessions.find(cqe).ok_or_else(|| "a completion of nobody".into())
    }

    /// Takes out a session that has ended.
    pub(crate) fn ended(&mut self) -> Option<Session> {
        let ended = self.sessions.iter_mut().find_map(|(qpn, one)| (one.look() != State::Alive).then_some(qpn))?;
        self.sessions.remove(ended)
    }

    pub(crate) fn welcome(&mut self, session: Session) {
        let alive = session.state == State::Alive;
        let successor_of =
            |death: &&mut Death| alive && death.number == session.number && death.others_meanwhile.is_none();
        if let Some(death) = self.deaths.iter_mut().find(successor_of) {
            death.others_meanwhile = Some(self.commands - death.commands_before);
        }
        self.sessions.insert(session.pair.qp.qpn(), session);
        self.arrived += 1;
    }
}
