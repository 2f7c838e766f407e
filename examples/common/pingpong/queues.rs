//! The queues of a ping-pong, of any maker.

use std::time::Duration;

use blueflame::Sge;
use blueflame::cq::CompletionQueue;
use blueflame::db::Register;
use blueflame::queue::SendQueue;
use blueflame::transport::{Rc, Transport};
use blueflame::types::WrId;
use blueflame::verbs::{Endpoint, Path};
use blueflame::wqe;

use super::Receives;
use crate::Failure;

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
    /// The memory stays registered and alive, and no code writes it, until the request has completed.
    unsafe fn send(&mut self, message: Sge, wr_id: WrId) -> Result<(), Failure>;

    /// The address at which the peer reaches them.
    fn endpoint(&self, path: &Path) -> Endpoint;

    /// Moves from INIT to RTS, or takes the other steps that are needed to send to the peer.
    ///
    /// # Errors
    /// A failed call.
    fn connect(&mut self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Failure>;

    /// Waits for an event of the completion queue, which is armed; false if none came within `timeout`.
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
        // SAFETY: the caller promises that the memory stays registered and unchanged until the request has completed.
        Ok(unsafe { self.sq.post_unchecked(&wqe::send().gather([message]).signaled(wr_id)) }?)
    }
}
