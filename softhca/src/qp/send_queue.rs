//! A send queue of Ethernet frames: the requester of a QP without the rest. Its states are three.

use super::Qp;
use super::qp_core::Role;
use crate::context::{QpAttr, QpContext, QpState, QueueState};

/// The port that frames leave by.
const PORT: u8 = 1;

impl Qp {
    /// A send queue in the reset state. `context` has no receive queue, and raw packets as its transport. `flushes`: in
    /// the error state its WQEs are flushed; `sends`: it has a TIS, without which it executes NOPs alone.
    pub(crate) fn send_queue(number: u32, context: QpContext, flushes: bool, sends: bool) -> Self {
        Self::in_role(Role::SendQueue { flushes, sends }, number, context)
    }

    /// Whether it is a send queue and no QP.
    pub(crate) fn is_send_queue(&self) -> bool {
        self.core.role != Role::Qp
    }

    /// The state of a send queue.
    pub(crate) fn queue_state(&self) -> QueueState {
        match self.core.state {
            QpState::Reset => QueueState::Reset,
            QpState::Err => QueueState::Error,
            _ => QueueState::Ready,
        }
    }

    /// Moves a send queue to another state, which is one that it [can go to](QueueState::may_become).
    pub(crate) fn set_queue_state(&mut self, to: QueueState) {
        if self.queue_state() == to {
            return;
        }
        match to {
            QueueState::Reset => {
                let rate = self.core.rate;
                *self = Self::in_role(self.core.role, self.core.qpn, self.core.context);
                self.core.rate = rate;
            }
            QueueState::Ready => {
                self.core.attr = QpAttr { port: Some(PORT), ..QpAttr::default() };
                self.core.state = QpState::Rts;
            }
            QueueState::Error => self.enter_error(),
        }
    }
}
