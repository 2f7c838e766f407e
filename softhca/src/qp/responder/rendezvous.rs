//! Rendezvous: the device fetches the data of a tagged message by itself, if the message only announces it. It fetches
//! by the queue pair that has received the announcement, and whose send queue is the device's own. Then it tells the
//! sender (rdma-core `Documentation/tag_matching.md`).

use std::collections::VecDeque;

use crate::cq::{Completion, ReceiveKind, ReceivedTag, TagOutcome, TagReport};
use crate::memory::keys::mkey::Accessor;
use crate::qp::qp_core::QpCore;
use crate::recv::{Announcement, FINISHED};
use crate::resources::Resources;
use crate::wqe::{DataSeg, Fence, Payload, SendOp, SendWqe, opcode};

/// Messages that a queue pair may have to fetch. Software fetches the data of further messages.
const MAX_FETCHES: usize = 128;

/// A message to be fetched.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) struct Fetch {
    /// The announcement.
    pub(in crate::qp) announcement: Announcement,
    /// Where it goes.
    pub(in crate::qp) buffer: Option<DataSeg>,
    /// The receiver of the data.
    pub(in crate::qp) receiver: Receiver,
}

/// The tag that a message was for.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) struct Receiver {
    /// The SRQ.
    pub(in crate::qp) srqn: u32,
    /// Place of the tag.
    pub(in crate::qp) index: u16,
    /// Accessor with the right to write to its buffer.
    pub(in crate::qp) by: Accessor,
}

/// Purpose of a request that the device makes for itself, in place of a CQE of the send queue.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) enum Errand {
    /// It fetches this many bytes.
    Fetch(Receiver, u32),
    /// It tells the sender that they are fetched.
    Finish,
}

impl Errand {
    /// Accessor with the right to write to the request's buffers.
    pub(in crate::qp) fn accessor(&self) -> Option<Accessor> {
        match self {
            Self::Fetch(receiver, _) => Some(receiver.by),
            Self::Finish => None,
        }
    }

    /// It is done.
    pub(in crate::qp) fn done(&self, qp: &QpCore, resources: &mut Resources) {
        if let Self::Fetch(receiver, bytes) = *self {
            receiver.report(qp, resources, TagOutcome::Expected, bytes);
        }
    }

    /// It will not be done. The queue pair is in error, and its events tell why.
    pub(in crate::qp) fn failed(&self, qp: &QpCore, resources: &mut Resources) {
        if let Self::Fetch(receiver, _) = *self {
            receiver.report(qp, resources, TagOutcome::Canceled, 0);
        }
    }
}

impl Receiver {
    fn report(self, qp: &QpCore, resources: &mut Resources, outcome: TagOutcome, byte_cnt: u32) {
        let Some(tags) = resources.tag_list(self.srqn).map(|list| list.context()) else { return };
        let message = ReceivedTag { kind: ReceiveKind::Send, byte_cnt, imm: 0, solicited: true, inline: None };
        let report = TagReport { outcome, index: self.index, message: Some(message), ..TagReport::default() };
        let uidx = tags.uidx.unwrap_or(self.srqn);
        let completion = Completion::Tag { qpn: qp.qpn, uidx, wqe_counter: 0, report };
        resources.complete(tags.cqn, qp.context.timestamps, completion);
    }
}

/// Requests of the device's own that wait to be sent.
#[derive(Debug, Default)]
pub(in crate::qp) struct Errands(VecDeque<(SendWqe, Errand)>);

impl Errands {
    /// Whether there is room for another message to be fetched.
    pub(in crate::qp) fn have_room(&self) -> bool {
        self.0.len() < 2 * MAX_FETCHES
    }

    /// The next one.
    pub(in crate::qp) fn pop(&mut self) -> Option<(SendWqe, Errand)> {
        self.0.pop_front()
    }

    /// The next one, which is to be sent later.
    pub(in crate::qp) fn put_back(&mut self, first: (SendWqe, Errand)) {
        self.0.push_front(first);
    }

    /// A message is to be fetched, and its sender to be told.
    pub(in crate::qp) fn add(&mut self, fetch: Fetch) {
        let Fetch { announcement: Announcement { remote, len, mut headers }, buffer, receiver } = fetch;
        let segs = buffer.map(|buffer| DataSeg { len, ..buffer }).filter(|_| len != 0);
        let read =
            request(opcode::RDMA_READ, SendOp::Read(remote), Payload::Segs(segs.into_iter().collect()), Fence::None);
        headers[0] = FINISHED;
        // The memory may be gone as soon as the sender knows, so the answer must be there before.
        let finish = request(opcode::SEND, SendOp::Send(None), Payload::Inline(headers.to_vec()), Fence::Full);
        self.0.extend([(read, Errand::Fetch(receiver, len)), (finish, Errand::Finish)]);
    }
}

fn request(opcode: u8, op: SendOp, payload: Payload, fence: Fence) -> SendWqe {
    SendWqe { opcode, op, payload, solicited: opcode == opcode::SEND, fence, ..SendWqe::default() }
}
