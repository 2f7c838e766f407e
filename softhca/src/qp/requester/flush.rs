//! Flushing: the WQEs of a send queue that has failed, or is closed, complete without being sent.

use super::{Requester, complete_in_error};
use crate::qp::failure::Failure;
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;
use crate::wqe::{self, SendWqe};

/// WQEs flushed in one step at most.
const FLUSHES_PER_STEP: usize = 64;

impl Requester {
    /// Completes the oldest request as flushed, if there is one.
    pub(super) fn flush_front(&mut self, qp: &QpCore, resources: &mut Resources) -> bool {
        let Some(request) = self.pop_front() else { return false };
        if let Some(errand) = request.errand {
            errand.failed(qp, resources);
            return true;
        }
        let SendWqe { index, opcode, first_error_only, .. } = request.wqe;
        self.complete_as_flushed(qp, resources, (index, opcode, first_error_only));
        true
    }

    /// A WQE is flushed: it has a CQE, unless only the queue's first error is to be told, and it is not.
    fn complete_as_flushed(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        (index, opcode, first_error_only): (u16, u8, bool),
    ) {
        if self.error_told && first_error_only && !qp.context.signal_all {
            resources.sends_completed += 1;
            return;
        }
        self.error_told = true;
        complete_in_error(qp, resources, index, opcode, Failure::FLUSH);
    }

    /// Completes WQEs as flushed, as many as one step may. `true` if there were any.
    pub(in crate::qp) fn flush(&mut self, qp: &QpCore, resources: &mut Resources) -> bool {
        let mut flushed = false;
        for _ in 0..FLUSHES_PER_STEP {
            if !self.flush_front(qp, resources) {
                if let Some((_, errand)) = self.errands.pop() {
                    errand.failed(qp, resources);
                    flushed = true;
                    continue;
                }
                let (true, Some(sq)) = (self.is_rung(), &qp.context.sq) else { break };
                self.copies.clear();
                let (index, producer) = self.wqebb_counters();
                let (opcode, wqebbs, first_error_only) = wqe::extent(sq, index, producer, &*resources.memory);
                self.next_wqe = index.wrapping_add(wqebbs);
                self.complete_as_flushed(qp, resources, (index, opcode, first_error_only));
            }
            flushed = true;
        }
        flushed
    }

    /// After an error: flushes everything, and is ready for new requests. They begin after the last packet sent.
    pub(in crate::qp) fn recover(&mut self, qp: &QpCore, resources: &mut Resources) {
        while self.flush(qp, resources) {}
        self.error_told = false;
        self.start_at(self.sent_end);
    }
}
