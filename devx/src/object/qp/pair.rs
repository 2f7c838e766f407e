//! A queue pair with its queues.

use std::io::{Read, Write};
use std::sync::Arc;

#[cfg(doc)]
use blueflame::cq::CompletionQueue;
use blueflame::cq::Cqe;
use blueflame::cq::setup::Whose;
use blueflame::db::{ExclusiveRegister, Register};
use blueflame::queue::owning::Posted;
use blueflame::queue::{AnyCq, Owned, RecvQueue, SendQueue, forget_in_all};
use blueflame::transport::Transport;
use blueflame::types::{Psn, Wqebbs, WrId};
use blueflame::verbs::handshake::{self, Peer};
use blueflame::verbs::{Endpoint, Path};

use super::super::cq::Cq;
use super::handle::{Qp, with_options};
use crate::cmd::QpcState;
use crate::error::Error;
use crate::object::check_cq::whole;

/// A queue pair: its handle and its queues. The queues can be separated, for instance to move them to other threads.
///
/// The unpolled completions of a dropped queue pair stay in the completion queues, and the device reuses its number.
/// Remove them before with [`reset`](Self::reset), or later with [`forget`](CompletionQueue::forget). A new queue pair
/// never has a number of which its completion queues hold completions: the builder checks.
///
/// `B` is the type posted to the receive queue: see [`RecvQueue`].
#[derive(Debug)]
pub struct QueuePair<T: Transport, R: Register = ExclusiveRegister, B = WrId> {
    /// The handle, for everything except posting.
    pub qp: Qp,
    /// The send queue.
    pub sq: Owned<SendQueue<T, R>, Qp>,
    /// The receive queue. If receives come from a shared queue, or there are none, its
    /// [`capacity`](RecvQueue::capacity) is zero.
    pub rq: Owned<RecvQueue<T::RecvForm, B>, Qp>,
}

impl Qp {
    /// The endpoint where the peer reaches this queue pair by `path`. Call it once for each connection: the first PSN
    /// is another random number each time. Give [`connect`](QueuePair::connect) the same endpoint as you give the peer.
    #[must_use]
    pub fn endpoint(&self, path: &Path) -> Endpoint {
        Endpoint { ece: with_options(self.handle.ece), ..path.endpoint(self.qpn(), Psn::random()) }
    }
}

impl<T: Transport, R: Register, B: Posted> QueuePair<T, R, B> {
    /// RTR to RTS: you may post requests from here on. `psn` is that of [`Qp::endpoint`].
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::WrongState`], [`Error::Command`], [`Error::Foreign`] if the queue is another
    /// queue pair's.
    pub fn to_rts(&mut self, path: &Path, psn: Psn) -> Result<(), Error> {
        self.whole()?;
        self.qp.rtr_to_rts(path, psn)?;
        if self.sq.depth() == Wqebbs(0) {
            let depth = self.qp.handle.depth;
            let bad = |error: blueflame::SetupError| Error::Parts { object: "send queue", why: error.to_string() };
            self.sq.set_depth(depth).map_err(bad)?;
        }
        Ok(())
    }

    /// INIT to RTR to RTS: [`Qp::to_rtr`] and [`Self::to_rts`]. `local` is the endpoint that the peer was told. The
    /// peer may be a queue pair of verbs: it cannot tell the difference.
    ///
    /// # Errors
    /// The errors of both functions.
    pub fn connect(&mut self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Error> {
        self.qp.to_rtr(path, remote)?;
        self.to_rts(path, local.psn)
    }

    /// RESET to RTS. The peer at the other end of `stream` also calls this, or `connect_over` of a queue pair of verbs.
    /// Each side receives the other's `data`.
    ///
    /// A peer may send as soon as its own call returns, so post receives first: call [`Qp::to_init`], which permits
    /// posting receives, post them, then call this.
    ///
    /// # Errors
    /// [`Error::Verbs`] of the exchange with the peer: see [`exchange`](handshake::exchange) and
    /// [`ready`](handshake::ready). Those of [`Qp::to_init`] and [`connect`](Self::connect).
    pub fn connect_over<S: Read + Write>(&mut self, stream: &mut S, path: &Path, data: &[u8]) -> Result<Peer, Error> {
        let begun = match self.qp.to_init(path) {
            // A caller that posts receives first has done that already.
            Err(Error::WrongState { is: QpcState::INIT, .. }) => self.qp.init_to_init(path),
            other => other,
        };
        if let Err(error) = begun {
            // The peer waits for an answer.
            let _ = handshake::give_up(stream);
            return Err(error);
        }
        let local = self.qp.endpoint(path);
        let peer = handshake::exchange(stream, &local, data)?;
        if let Err(error) = self.connect(path, &local, &peer.endpoint) {
            let _ = handshake::give_up(stream);
            return Err(error);
        }
        handshake::ready(stream)?;
        Ok(peer)
    }

    /// Moves the queue pair to RESET, from any state, and resets both queues. They are then empty, and the tags of
    /// outstanding requests are lost. Unpolled completions are removed from the completion queues; `forgotten` sees
    /// each of them first. A lent completion borrows its queue, so no completion is lent during this call.
    ///
    /// `cqs` are the completion queues of the queue pair, in any mode: one, or two.
    ///
    /// # Errors
    /// [`Error::Foreign`] if one of them, or a queue, is not this queue pair's; [`Error::Command`]. If the
    /// answer got lost, the queue pair stays unusable until this call succeeds ([`Error::ResetUnknown`]).
    pub fn reset(&mut self, cqs: &mut [&mut dyn AnyCq<Cq>], mut forgotten: impl FnMut(Cqe<'_>)) -> Result<(), Error> {
        self.whole()?;
        let handle = Arc::clone(&self.qp.handle);
        let ours = [&handle.send_cq, &handle.recv_cq];
        let is_ours = |cq: &&mut &mut dyn AnyCq<Cq>| ours.iter().any(|ours| cq.any_handle().is(ours));
        if !ours.iter().all(|ours| cqs.iter().any(|cq| cq.any_handle().is(ours))) {
            return Err(Error::Foreign { object: "completion queue that was given", of: "queue pair" });
        }
        for cq in cqs.iter_mut().filter(is_ours) {
            whole(*cq)?;
        }
        let changing = self.qp.to_reset()?;
        // SAFETY: in RESET until `changing` is dropped, and the queues are this queue pair's, all that it has. They are
        // borrowed here until the completions that they accept are removed from its completion queues, which are whole.
        // That happens even if `forgotten` panics, and none is lent now.
        unsafe {
            self.sq.reset();
            self.rq.reset();
        }
        // From here on, the device and the queues agree, so that `forgotten` may do anything with other handles.
        drop(changing);
        let whose = |cq: &Cq| {
            // Where it does not receive, a queue of frames may receive. The tags of frames can be any number.
            let receives = (handle.has_receives && cq.is(&handle.recv_cq)).then_some(Whose::Number(handle.qpn));
            [receives.or_else(|| cq.is(&handle.send_cq).then_some(Whose::Sends(handle.qpn))), None]
        };
        forget_in_all(cqs, whose, &mut forgotten);
        Ok(())
    }

    /// Checks that both queues are here and belong to the handle. Safe code can exchange the fields, and the queue
    /// in an [`Owned`].
    fn whole(&self) -> Result<(), Error> {
        let sq = self.sq.is_whole() && self.sq.handle().is(&self.qp);
        let rq = self.rq.is_whole() && self.rq.handle().is(&self.qp);
        if sq && rq { Ok(()) } else { Err(Error::Foreign { object: "send or receive queue", of: "queue pair" }) }
    }
}
