//! Requests that were executed before. The peer repeats them when a reply was lost.

use std::collections::VecDeque;

use super::replies::{Content, Found};
use super::{INVALID, Refusal, Responder, check_remote, user_of_keys};
use crate::memory::Need;
use crate::packet::{Operation, Packet};
use crate::qp::psn::{HALF, Psn};
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;

/// The READs and atomics executed last: first PSNs and answers, oldest first. The peer has `max_dest_rd_atomic` of them
/// outstanding at most, so it no longer repeats a request before older ones.
#[derive(Debug, Default)]
pub(super) struct Answered(VecDeque<(Psn, Content)>);

impl Answered {
    /// The request with PSN `psn` has been executed. The last `most` are remembered.
    pub(super) fn note(&mut self, psn: Psn, content: Content, most: usize) {
        if self.0.len() >= most {
            self.0.pop_front();
        }
        self.0.push_back((psn, content));
    }

    /// Forgets requests so old that their PSNs will soon be those of new ones. `expected` comes after all of them.
    pub(super) fn forget_old(&mut self, expected: Psn) {
        while self.0.front().is_some_and(|answered| expected.after(answered.0) >= HALF) {
            self.0.pop_front();
        }
    }

    /// The word that the atomic with PSN `psn` found.
    pub(super) fn found(&self, psn: Psn) -> Option<Found> {
        match self.0.iter().rev().find(|answered| answered.0 == psn)?.1 {
            Content::Atomic(found) => Some(found),
            Content::Read { .. } => None,
        }
    }

    /// The READ or atomic that came next after `psn`. All PSNs are before `expected`.
    pub(super) fn next_after(&self, psn: Psn, expected: Psn) -> Option<(Psn, Content)> {
        self.0.iter().find(|answered| expected.after(answered.0) < expected.after(psn)).copied()
    }
}

impl Responder {
    /// A request that was executed before: acknowledged or answered again (IBTA vol. 1, 9.7.1.1).
    pub(super) fn duplicate(
        &mut self,
        qp: &QpCore,
        resources: &Resources,
        packet: &Packet<'_>,
        psn: Psn,
    ) -> Result<(), Refusal> {
        match packet.headers.bth.opcode.operation() {
            Operation::ReadRequest => {
                let reth = packet.headers.reth.ok_or(INVALID)?;
                if self.expected.after(psn) < qp.packets(reth.len) {
                    return Ok(());
                }
                let by = user_of_keys(qp, resources, packet)?;
                check_remote(qp, by, resources, &reth, Need::RemoteRead)?;
                self.replies.answer_again(psn, Content::Read { by, left: reth }, self.expected, qp.mtu);
            }
            Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic => {
                if let Some(found) = self.answered.found(psn) {
                    self.replies.answer_again(psn, Content::Atomic(found), self.expected, qp.mtu);
                }
            }
            _ if packet.headers.bth.ack_request => self.acknowledge_again(qp, resources, psn),
            _ => {}
        }
        Ok(())
    }

    /// Acknowledges the SEND or WRITE with PSN `psn` again: by the answer to the next READ or atomic after it, as the
    /// responders of Linux' rdmavt do (hfi1's rc.c, `rc_rcv_error`). An acknowledgement would cover these requests as
    /// well, or arrive in the middle of their answers. Linux' rdma_rxe can take neither: it completes a READ without
    /// its data, or fails (rxe_comp.c, `check_psn`, `check_ack`).
    fn acknowledge_again(&mut self, qp: &QpCore, resources: &Resources, psn: Psn) {
        let Some((first, content)) = self.answered.next_after(psn, self.expected) else {
            return self.replies.acknowledge_again();
        };
        let is_there = match &content {
            Content::Read { by, left } => check_remote(qp, *by, resources, left, Need::RemoteRead).is_ok(),
            Content::Atomic(_) => true,
        };
        if is_there && !self.replies.will_acknowledge(psn, self.expected) {
            self.replies.answer_again(first, content, self.expected, qp.mtu);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Width;

    #[test]
    fn psns_that_come_round_again_are_new() {
        let (first, found) = (Psn::new(7), Found { original: 0, width: Width::Eight });
        let mut answered = Answered::default();
        answered.note(first, Content::Atomic(found), 1);
        answered.forget_old(first.plus(HALF - 1));
        assert!(answered.next_after(first.previous(), first.plus(HALF - 1)).is_some());
        assert!(answered.next_after(first, first.plus(HALF - 1)).is_none());
        answered.forget_old(first.plus(HALF));
        assert!(answered.found(first).is_none());
    }
}
