//! WRITEs and READs that this device executes in place of the peer's ([`crate::wire::loan`]).

use super::local::{self, Hold};
use super::request::Request;
use super::{Broken, Drafts, Requester};
use crate::context::{QpState, Transport};
use crate::memory::Need;
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;
use crate::wire::Wire;
use crate::wire::loan::{Batch, Done, MAX_BYTES, MOST, OneSided};
use crate::wqe::{Payload, SendOp};

/// A request of a stream of small ones has this many bytes at most, on average.
const SMALL: u64 = 256;
/// After this many full batches of small requests in a row, they are a stream. The kernel takes longer for a request than
/// the devices take for its packet, and two ends do more in a second than one. So a stream goes by packets until few
/// requests wait.
const STREAM: u8 = 4;
/// A stream goes on as long as at least this many requests wait.
const FEW: usize = 8;

impl Requester {
    /// Executes requests at the front, as far as a loan permits and nothing else is on its way. `true` if there were any;
    /// `done` counts them.
    pub(in crate::qp) fn execute_one_sided(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        wire: &mut dyn Wire,
        done: &mut Done,
    ) -> Result<bool, Broken> {
        let is_quiet = self.cursor == 0 && self.next_packet == 0 && self.unacked == self.sent_end;
        let is_open = qp.transport() == Transport::Rc && qp.state == QpState::Rts && self.has_met_peer;
        let psn = self.requests.front().map_or(self.next_psn, |front| front.first);
        if !is_quiet || !is_open || psn != self.sent_end || self.retry.is_waiting() || self.is_empty() {
            return Ok(false);
        }
        let Some(route) = qp.route.filter(|_| qp.is_linked(resources)) else { return Ok(false) };
        if !wire.may_execute(qp.dest_qpn(), qp.qpn, psn.get()) {
            return Ok(false);
        }
        let mut drafts = std::mem::take(&mut self.drafts);
        // In a stream, a few tell that it goes on.
        let most = if self.small_batches > STREAM { FEW } else { MOST };
        let (write, bytes) = self.draft(most, &mut drafts, qp, resources);
        let waiting = drafts.0.len();
        let is_many = waiting >= most;
        let are_small = bytes <= SMALL * waiting as u64;
        self.small_batches = if is_many && are_small { self.small_batches.saturating_add(1) } else { 0 };
        let (requests, local) = (&drafts.0, &drafts.1);
        let (qpn, from, psn, mtu, route) = (qp.dest_qpn(), qp.qpn, psn.get(), qp.mtu, &route);
        let batch = Batch { qpn, from, psn, mtu, route, write, requests, local };
        let count = if requests.is_empty() || self.small_batches > STREAM { 0 } else { wire.execute(&batch) };
        if count > 0 {
            done.add(&batch.done(count));
        }
        drafts.0.clear();
        drafts.1.clear();
        self.drafts = drafts;
        for request in self.requests.iter_mut().take(count) {
            // As if it had been sent and acknowledged.
            request.started = true;
            self.cursor += 1;
            (self.sent_end, self.unacked) = (request.end(), request.end());
            self.answers_due += u32::from(request.is_answered());
        }
        self.retire(qp, resources)?;
        Ok(count > 0)
    }

    /// Finds the requests at the front that may be executed together, `most` at most. Whether they write, and how many
    /// bytes.
    fn draft(
        &mut self,
        most: usize,
        (requests, local): &mut Drafts,
        qp: &QpCore,
        resources: &mut Resources,
    ) -> (bool, u64) {
        let (mut write, mut bytes) = (None, 0);
        for index in 0..most {
            let is_there = index < self.requests.len() || self.fetch(qp, resources);
            let Some(request) = self.requests.get(index).filter(|_| is_there) else { break };
            let kind = matches!(request.wqe.op, SendOp::Write(_));
            let waits = local::hold(request, qp, resources) != Hold::None || self.pace.has_rate(qp, resources);
            bytes += u64::from(request.len);
            if waits || request.failure.is_some() || *write.get_or_insert(kind) != kind || bytes > MAX_BYTES {
                break;
            }
            let before = local.len();
            let Some(draft) = request.one_sided(qp, resources, local) else {
                local.truncate(before);
                break;
            };
            requests.push(draft);
        }
        (write.unwrap_or(false), bytes)
    }
}

impl Request {
    /// This request for a batch, if a loan may permit it. Appends the places of its bytes to `local`.
    fn one_sided(&self, qp: &QpCore, resources: &Resources, local: &mut Vec<(u64, usize)>) -> Option<OneSided> {
        let (write, remote) = match self.wqe.op {
            SendOp::Write(remote) => (true, remote),
            SendOp::Read(remote) if self.room_in_cqe(qp, resources) < self.len => (false, remote),
            _ => return None,
        };
        if self.len == 0 || self.started || self.errand.is_some() {
            return None;
        }
        match &self.wqe.payload {
            Payload::Segs(segs) => {
                let need = if write { Need::LocalRead } else { Need::LocalWrite };
                resources.places_in_process((&qp.context).into(), segs, need, local)?;
            }
            // These bytes are the device's, and stay until the request completes.
            Payload::Inline(bytes) => local.push((bytes.as_ptr().expose_provenance() as u64, bytes.len())),
            Payload::Mixed(_) => return None,
        }
        Some(OneSided { key: remote.rkey, addr: remote.addr, len: self.len, span: self.span })
    }
}
