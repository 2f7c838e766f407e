//! Queue pairs of services that have no queue type here: their raw parts, for queues of the caller's.

use blueflame::db::RegisterParts;
use blueflame::queue::AnyCq;
use blueflame::queue::recv::RqParts;
use blueflame::queue::send::SqParts;
use blueflame::verbs::{Endpoint, Path};

use super::super::cq::Cq;
use super::super::pd::Pd;
use super::super::uar::Uar;
use super::handle::Qp;
use super::plan::{Made, Plan};
use crate::cmd::ServiceType;
use crate::error::Error;
use crate::memory::ThreadRings;
use crate::object::receives::shared::SharedReceives;

/// Builder of a queue pair of any service: UD, DCI and others.
#[derive(Clone, Copy, Debug)]
pub struct RawQpBuilder<'a>(Plan<'a>);

/// A queue pair, and the raw parts of its queues, as `from_parts` of [`blueflame::queue`] takes them. All parts are
/// valid as long as `qp`, or a clone of it, lives.
#[derive(Debug)]
pub struct RawQp {
    /// The handle.
    pub qp: Qp,
    /// The send queue.
    pub sq: SqParts,
    /// The receive queue; without a ring if it is shared, or there is none.
    pub rq: RqParts,
    /// The doorbell register, which belongs to this queue pair.
    pub register: RegisterParts,
}

impl RawQp {
    /// INIT to RTR to RTS, of services RC and UC: [`Qp::to_rtr`], and RTS. `local` is the endpoint that the peer was
    /// told. A send queue over the parts may post afterwards.
    ///
    /// # Errors
    /// Those of [`Qp::to_rtr`].
    pub fn connect(&self, path: &Path, local: &Endpoint, remote: &Endpoint) -> Result<(), Error> {
        self.qp.to_rtr(path, remote)?;
        self.qp.rtr_to_rts(path, local.psn)
    }
}

impl Pd {
    /// Begins a queue pair of this service. [`queue_pair`](Self::queue_pair) does the same for a transport that has a
    /// type.
    #[must_use]
    pub fn raw_queue_pair<'a>(
        &'a self,
        service: ServiceType,
        rings: &'a ThreadRings,
        send_cq: &'a dyn AnyCq<Cq>,
        recv_cq: &'a dyn AnyCq<Cq>,
    ) -> RawQpBuilder<'a> {
        RawQpBuilder(Plan::new(self, rings, send_cq, recv_cq, service))
    }
}

impl<'a> RawQpBuilder<'a> {
    /// Send WQEBBs that may be outstanding at a time. Default 128.
    #[must_use]
    pub fn sends(mut self, wqebbs: u32) -> Self {
        self.0.sends = wqebbs;
        self
    }

    /// Requests that may be posted to the receive queue at a time. Default 128; 0 for none, as DCIs must have.
    #[must_use]
    pub fn receives(mut self, requests: u32) -> Self {
        self.0.receives = requests;
        self
    }

    /// Gather entries of a request to send. Default 1.
    #[must_use]
    pub fn send_sge(mut self, entries: u32) -> Self {
        self.0.send_sge = entries;
        self
    }

    /// Scatter entries of a receive. Default 1.
    #[must_use]
    pub fn recv_sge(mut self, entries: u32) -> Self {
        self.0.recv_sge = entries;
        self
    }

    /// Bytes a request may carry inline. Default 0.
    #[must_use]
    pub fn inline(mut self, bytes: u32) -> Self {
        self.0.inline = bytes;
        self
    }

    /// Takes receives from there.
    #[must_use]
    pub fn shared_receives(mut self, shared: &'a SharedReceives) -> Self {
        self.0.shared = Some(shared);
        self
    }

    /// Makes the queue pair on this register.
    ///
    /// # Errors
    /// As [`QpBuilder::build_on`](super::QpBuilder::build_on).
    pub fn build_on(self, uar: Uar) -> Result<RawQp, Error> {
        let Made { qp, sq, rq } = self.0.make(uar.page())?;
        Ok(RawQp { qp, sq, rq, register: uar.parts() })
    }
}
