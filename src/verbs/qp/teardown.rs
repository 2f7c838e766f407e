//! Ends a connection and prepares a new one: error state, all requests accounted for, RESET.

use crate::cq::setup::Whose;
use crate::cq::{Cqe, CqeView, Side, Source};
use crate::db::Register;
use crate::queue::owning::Posted;
use crate::queue::{Done, RetireError, SendQueue, forget_in_all};
use crate::transport::Transport;
use crate::types::{SqPi, Wqebbs, WrId};
use crate::verbs::cq::any::whole;
use crate::verbs::event::event;
use crate::verbs::in_use::InUse;
use crate::verbs::qp::pair::VerbsTransport;
use crate::verbs::{AnyCq, Cq, Error, QueuePair};
use crate::wqe;

impl<T: VerbsTransport, R: Register, B: Posted> QueuePair<T, R, B> {
    /// Moves the queue pair to the error state, and starts to account for all posted requests, sends and receives:
    ///
    /// ```
    /// # use blueflame::{db::Register, transport, verbs::{Drained, Error, OwnedCq, QueuePair}};
    /// fn close<R: Register>(pair: &mut QueuePair<transport::Rc, R>, cq: &mut OwnedCq) -> Result<(), Error> {
    ///     let mut drain = pair.drain()?;
    ///     while !drain.is_done() {
    ///         cq.poll_with(16, |cqe| match drain.take(&cqe) {
    ///             Ok(Some(Drained::Send(done))) => println!("{:?}: {:?}", done.wr_id, cqe.check()),
    ///             Ok(Some(Drained::Receive(wr_id))) => println!("{wr_id:?} is mine again"),
    ///             Ok(Some(Drained::Shared | Drained::Marker(_))) => {}
    ///             Ok(None) => {} // of another queue pair that completes here
    ///             Err(error) => eprintln!("{error}"),
    ///         });
    ///     }
    ///     pair.reset(&mut [cq], |_| ()) // from here on it can be connected again
    /// }
    /// ```
    ///
    /// The device flushes all incomplete requests, unsignalled ones as well. But unsignalled requests that had
    /// succeeded before never get a CQE. So the drain posts a marker behind them all, a signalled NOP, which the device
    /// flushes last: its completion takes back everything before it (Linux does so in `ib_drain_qp`,
    /// `drivers/infiniband/core/verbs.c`). The marker may use one WQEBB beyond the depth, if the ring has one.
    ///
    /// The drain only ends if the ring has a WQEBB for the marker, or if an outstanding request will complete: signal
    /// one request for each depth of the queue ([`Moderation`](crate::queue::Moderation) does).
    ///
    /// # Errors
    /// [`Error::MixedUp`] if a queue is another object's; [`Error::WrongState`] in RESET, or a failed call.
    pub fn drain(&mut self) -> Result<Drain<'_, T, R, B>, Error> {
        self.whole()?;
        self.qp.to_error()?;
        let mut drain = Drain { pair: self, marker: None };
        drain.mark();
        Ok(drain)
    }

    /// Moves the queue pair to RESET, from any state, and both queues with it: they are empty, indices and doorbell
    /// records are zero, and the identifiers of outstanding requests are lost. It removes unpolled completions from the
    /// completion queues, because they would pass for completions of the next connection. `forgotten` sees each of them
    /// first, for instance to complete it on a shared receive queue, which would otherwise lose the WQE.
    ///
    /// `cqs` are this crate's completion queues that the queue pair completes to, in any mode: one or two.
    ///
    /// The device gives up requests in flight: the peer may or may not have executed the last ones. To know,
    /// [`drain`](Self::drain) first. A lent completion borrows its queue, so none is lent during this call.
    ///
    /// # Errors
    /// [`Error::CqNotGiven`]; [`Error::MixedUp`] if a queue is another object's; or a failed call. Nothing has
    /// changed then.
    pub fn reset(&mut self, cqs: &mut [&mut dyn AnyCq<Cq>], mut forgotten: impl FnMut(Cqe<'_>)) -> Result<(), Error> {
        self.whole()?;
        // SAFETY: the queue pair is alive, and these are written once.
        let (send_cq, recv_cq) = unsafe { ((*self.qp.as_raw()).send_cq, (*self.qp.as_raw()).recv_cq) };
        for (which, raw) in [("sends", send_cq), ("receives", recv_cq)] {
            // libmlx5 cleans the completion queues that it polls itself.
            let given = cqs.iter().any(|cq| cq.any_handle().as_raw() == raw);
            if !given && InUse::is(raw.addr()) {
                return Err(Error::CqNotGiven { which });
            }
        }
        let is_ours = |cq: &&mut &mut dyn AnyCq<Cq>| [send_cq, recv_cq].contains(&cq.any_handle().as_raw());
        for cq in cqs.iter_mut().filter(is_ours) {
            whole(*cq)?;
        }
        let (number, receives) = (self.qp.qpn(), self.receives());
        let changing = self.qp.to_reset()?;
        // SAFETY: in RESET until `changing` is dropped, and the queues are this queue pair's, all that it has. They are
        // borrowed here until the completions that they accept are removed from its completion queues, which are whole.
        // That happens even if `forgotten` panics, and none is lent now. libmlx5 cleans the completion queues that it
        // polls.
        unsafe {
            self.sq.reset();
            self.rq.reset();
        }
        // From here on, the device and the queues agree, so that `forgotten` may do anything with other handles.
        drop(changing);
        let whose = |cq: &Cq| {
            let sends = (cq.as_raw() == send_cq).then_some(Whose::Sends(number));
            [sends, receives.filter(|_| cq.as_raw() == recv_cq)]
        };
        forget_in_all(cqs, whose, &mut forgotten);
        event!(DEBUG, "queue pair reset", qpn = number.get());
        Ok(())
    }

    /// The completions of receives, where they complete.
    fn receives(&self) -> Option<Whose> {
        let receiver = self.qp.receiver()?;
        Some(if receiver.flow_tags() { Whose::Receives } else { self.qp.handle.recv_qpn.into() })
    }

    /// Checks that both queues are here and belong to the handle: safe code can exchange the fields, and the queue in
    /// an [`Owned`](crate::verbs::Owned).
    pub(in crate::verbs) fn whole(&self) -> Result<(), Error> {
        self.whole_to_send()?;
        let is_whole = self.rq.is_whole() && self.rq.handle().is(&self.qp);
        if is_whole { Ok(()) } else { Err(Error::MixedUp { object: "receive queue" }) }
    }
}

/// A queue pair in the error state whose requests are being accounted for: made by [`QueuePair::drain`].
#[derive(Debug)]
#[must_use = "nothing is accounted for but by `take`"]
pub struct Drain<'a, T: Transport, R: Register, B = WrId> {
    pair: &'a mut QueuePair<T, R, B>,
    /// The index of the request that was posted last of all, once there was room for it.
    marker: Option<SqPi>,
}

/// The kind of a completion that [`Drain::take`] took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained<B = WrId> {
    /// A request of the send queue, and the unsignalled ones before it. Its completion says whether it succeeded.
    Send(Done),
    /// A receive: its buffer, or its identifier.
    Receive(B),
    /// A receive of the shared queue: complete it there.
    Shared,
    /// The drain's own request. These WQEBBs are free again; unsignalled requests that had succeeded took the first of
    /// them.
    Marker(Wqebbs),
}

impl<T: VerbsTransport, R: Register, B: Posted> Drain<'_, T, R, B> {
    /// Takes a completion and retires its request; `None` if it belongs to another queue pair.
    ///
    /// # Errors
    /// [`RetireError`]: it completes nothing that is outstanding; nothing is retired then.
    pub fn take<S: Source>(&mut self, cqe: &CqeView<S>) -> Result<Option<Drained<B>>, RetireError> {
        let QueuePair { sq, rq, .. } = &mut *self.pair;
        let is_ours = match cqe.side() {
            Some(Side::Responder) => rq.takes(cqe),
            Some(Side::Requester) | None => sq.takes(cqe),
        };
        if !is_ours {
            return Ok(None);
        }
        let drained = match cqe.side() {
            Some(Side::Responder) if rq.capacity() == 0 => Drained::Shared,
            Some(Side::Responder) => Drained::Receive(rq.retire(cqe)?),
            // A completion that belongs to no request is an error as well.
            Some(Side::Requester) | None => {
                let done = sq.retire(cqe)?;
                if self.marker == Some(SqPi(cqe.wqe_counter())) {
                    Drained::Marker(done.freed)
                } else {
                    Drained::Send(done)
                }
            }
        };
        self.mark();
        Ok(Some(drained))
    }

    /// Whether everything posted to the queue pair's own queues is accounted for.
    ///
    /// Receives from a shared queue do not count: the event "last WQE reached" tells when the queue pair takes no more
    /// of them.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.outstanding() == Wqebbs(0) && self.pair.rq.posted() == 0
    }

    /// WQEBBs of the send queue that are not accounted for.
    fn outstanding(&self) -> Wqebbs {
        Wqebbs(self.pair.sq.depth().0 - self.pair.sq.free().0)
    }

    /// Posts the marker behind the outstanding requests, as soon as there is room.
    fn mark(&mut self) {
        if self.marker.is_some() || self.outstanding() == Wqebbs(0) {
            return;
        }
        let sq: &mut SendQueue<T, R> = &mut self.pair.sq;
        // One more than the depth, if the ring has it: a queue full of unsignalled requests that have succeeded never
        // moves.
        let depth = sq.depth();
        if sq.free() == Wqebbs(0) && sq.set_depth(Wqebbs(depth.0 + 1)).is_err() {
            return;
        }
        let pi = sq.pi();
        if sq.post(&wqe::nop().signaled(WrId(0))).is_ok() {
            self.marker = Some(pi);
        }
    }
}
