//! The loan of a responder, as its queue pair sees it ([`crate::wire::loan`]).

use super::Qp;
use super::psn::Psn;
use crate::context::{QpState, Transport};
use crate::packet::{Operation, Packet};
use crate::resources::Resources;
use crate::wire::Route;
use crate::wire::loan::{Done, GRANTS, Loan};

impl Qp {
    /// A request has come by a connection of a wire that lends, while the responder expected `before`. Where the peer
    /// has written or read, it may do so again by a loan.
    pub(crate) fn note_request(&mut self, packet: &Packet<'_>, connection: u64, before: Psn) {
        let is_executed = self.responder.expected() != before;
        if self.core.transport() != Transport::Rc || !is_executed {
            return;
        }
        let by_key = matches!(packet.headers.bth.opcode.operation(), Operation::Write | Operation::ReadRequest);
        let keys = &mut self.used_keys;
        if let Some(reth) = packet.headers.reth.filter(|reth| by_key && reth.len != 0) {
            keys.retain(|&key| key != reth.rkey);
            keys.truncate(GRANTS - 1);
            keys.insert(0, reth.rkey);
        }
        self.may_lend_by = Some(connection).filter(|_| !self.used_keys.is_empty());
    }

    /// The PSN that the responder expects.
    pub(crate) fn expected(&self) -> Psn {
        self.responder.expected()
    }

    /// The loan that is possible now, with its connection. Without one, the next request asks again.
    pub(crate) fn offer_loan(&mut self, resources: &Resources) -> Option<(u64, Loan)> {
        let connection = self.may_lend_by.take()?;
        let is_ready = matches!(self.core.state, QpState::Rtr | QpState::Rts) && self.core.is_linked(resources);
        if !is_ready || self.is_lent || !self.responder.may_be_lent() {
            return None;
        }
        let grants = self.used_keys.iter().filter_map(|&key| self.responder.grant(&self.core, resources, key));
        let (qpn, peer, psn) = (self.core.qpn, self.core.dest_qpn(), self.responder.expected().get());
        let loan = Loan { qpn, peer, psn, grants: grants.collect() };
        (!loan.grants.is_empty()).then_some((connection, loan))
    }

    /// The responder is on loan from now on.
    pub(crate) fn lend(&mut self) {
        self.is_lent = true;
    }

    /// Whether the responder is on loan.
    pub(crate) fn is_lent(&self) -> bool {
        self.is_lent
    }

    /// Whether its responder is to be lent, or is on loan and must come back.
    pub(crate) fn has_loan_to_see_to(&self) -> bool {
        match self.is_lent {
            true => !matches!(self.core.state, QpState::Rtr | QpState::Rts | QpState::Sqd | QpState::Sqe),
            false => self.may_lend_by.is_some(),
        }
    }

    /// The loan is over: the responder expects `psn`.
    pub(crate) fn returned(&mut self, psn: u32) {
        self.is_lent = false;
        self.responder.go_on_at(Psn::new(psn));
    }

    /// The peer has done this by the loan.
    pub(crate) fn note_done(&mut self, resources: &mut Resources, done: &Done) {
        self.responder.add_messages(done.writes.wrapping_add(done.reads));
        resources.count_many(self.core.counter, done.writes, |counter| &mut counter.rx_write_requests);
        resources.count_many(self.core.counter, done.reads, |counter| &mut counter.rx_read_requests);
    }

    /// The way to its peer, if it is connected.
    pub(crate) fn route(&self) -> Option<Route> {
        self.core.route
    }
}
