//! Requests that were executed before. The peer repeats them when a reply was lost.

use super::Responder;
use super::execution::{check_remote, user_of_keys};
use super::replies::Content;
use crate::memory::Need;
use crate::packet::{Operation, Packet};
use crate::qp::psn::Psn;
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;

impl Responder {
    /// A request that was executed before: acknowledged or answered again (IBTA vol. 1, 9.7.1.1). It is never refused,
    /// as it may be a late packet of a READ whose peer has its data, and has revoked the key since. Linux' hfi1 drops it
    /// as well (rc.c, `hfi1_rc_rcv_error`), and Linux' rdma_rxe if it does not remember the READ (rxe_resp.c,
    /// `duplicate_request`).
    pub(super) fn duplicate(&mut self, qp: &QpCore, resources: &Resources, packet: &Packet<'_>, psn: Psn) {
        match packet.headers.bth.opcode.operation() {
            Operation::ReadRequest => {
                let reth = packet.headers.reth.filter(|reth| self.answered.includes(psn, reth, qp.mtu));
                if let (Some(left), Ok(by)) = (reth, user_of_keys(qp, resources, packet)) {
                    if check_remote(qp, by, resources, &left, Need::RemoteRead).is_ok() {
                        self.replies.answer_again(psn, Content::Read { by, left }, self.expected, qp.mtu);
                    }
                }
            }
            Operation::CompareSwap | Operation::FetchAdd | Operation::ExtendedAtomic => {
                if let Some(found) = self.answered.found(psn) {
                    self.replies.answer_again(psn, Content::Atomic(found), self.expected, qp.mtu);
                }
            }
            _ if packet.headers.bth.ack_request => self.acknowledge_again(qp, resources, psn),
            _ => {}
        }
    }

    /// Acknowledges the SEND or WRITE with PSN `psn` again: by the answer to the next READ or atomic after it, as the
    /// responders of Linux' rdmavt do (hfi1's rc.c, `rc_rcv_error`). An acknowledgement would cover these requests as
    /// well, or arrive in the middle of their answers. Linux' rdma_rxe can take neither: it completes a READ without
    /// its data, or fails (rxe_comp.c, `check_psn`, `check_ack`).
    fn acknowledge_again(&mut self, qp: &QpCore, resources: &Resources, psn: Psn) {
        let Some((first, content)) = self.answered.next_after(psn, self.expected) else {
            return self.replies.acknowledge_again();
        };
        if self.replies.will_acknowledge(psn, self.expected) {
            return;
        }
        let is_there = match &content {
            Content::Read { by, left } => check_remote(qp, *by, resources, left, Need::RemoteRead).is_ok(),
            Content::Atomic(_) => true,
        };
        if is_there {
            self.replies.answer_again(first, content, self.expected, qp.mtu);
        }
    }
}
