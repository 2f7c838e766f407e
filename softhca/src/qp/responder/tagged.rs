//! Messages for an SRQ with tags: the tag that gets the message, and the report of it in the message's CQE.

use super::delivery::Delivery;
use super::receives::{Receives, RecvQueue};
use super::rendezvous::{Fetch, Receiver};
use crate::cq::{Completion, TagOutcome, TagReport};
use crate::qp::qp_core::QpCore;
use crate::recv::{HEADER_BYTES, MessageKind, RecvWqe, Tagged};
use crate::resources::Resources;

/// Bytes of scatter-to-CQE data that lie before the part of a CQE where a message's header is.
const ROOM_BEFORE_HEADER: usize = 64;

impl Receives {
    /// The SRQ that the receives come from, if it matches messages with tags.
    fn tag_srq(&self, resources: &Resources) -> Option<u32> {
        match self.queue {
            RecvQueue::Shared { srqn } if resources.tag_list(srqn).is_some() => Some(srqn),
            _ => None,
        }
    }

    /// Matches a message that begins with `payload`, or is `payload` alone if `is_whole`. If the message is for a tag,
    /// the tag's buffer is at hand from here on. Returns `true` for an announcement whose data the device fetches: the
    /// caller has nothing more to do with the message.
    pub(super) fn match_tag(&mut self, qp: &QpCore, resources: &mut Resources, payload: &[u8], is_whole: bool) -> bool {
        let Some(srqn) = self.tag_srq(resources) else { return false };
        let MessageKind::Tagged(Tagged { tag, header, announced }) = MessageKind::of(payload, is_whole) else {
            return false;
        };
        let Some((index, buffer)) = resources.take_tag(srqn, tag) else { return false };
        let room = buffer.map_or(0, |buffer| buffer.len);
        let offloads = self.may_fetch && resources.tag_list(srqn).is_some_and(|list| list.context().rendezvous);
        if let Some(announcement) = announced.filter(|announced| offloads && announced.len <= room) {
            log::debug!("QP {:#x}: an announcement of {} bytes is for tag {index}", qp.qpn, announcement.len);
            self.report_consumed(qp, resources, index, header);
            let receiver = Receiver { srqn, index, by: self.accessor(qp, resources) };
            self.announced = Some(Fetch { announcement, buffer, receiver });
            return true;
        }
        log::debug!("QP {:#x}: a message is for tag {index}", qp.qpn);
        let outcome = match (announced, is_whole) {
            (Some(_), _) => TagOutcome::ConsumedAnnouncement,
            (None, true) => TagOutcome::ConsumedMessage,
            (None, false) => TagOutcome::Expected,
        };
        self.current = Some(RecvWqe { counter: 0, segs: Ok(buffer.into_iter().collect()) });
        self.delivery = Some(Delivery::Tagged { index, outcome, header, is_cut: announced.is_none() });
        if outcome == TagOutcome::Expected {
            self.report_consumed(qp, resources, index, header);
        }
        false
    }

    /// A message is for a tag, and its data comes later.
    fn report_consumed(&self, qp: &QpCore, resources: &mut Resources, index: u16, head: [u8; HEADER_BYTES]) {
        self.report_tag(qp, resources, 0, TagReport { outcome: TagOutcome::Consumed, index, head, message: None });
    }

    /// The message that begins with `payload` has got a receive WQE of the SRQ, unless it was for a tag.
    pub(super) fn note_tag(&mut self, resources: &mut Resources, payload: &[u8]) {
        let (None, Some(srqn)) = (self.delivery, self.tag_srq(resources)) else { return };
        self.delivery = Some(Delivery::Untagged(match MessageKind::of(payload, true) {
            MessageKind::NoTag => TagOutcome::NoTag,
            MessageKind::Tagged(_) | MessageKind::Malformed => {
                resources.count_unexpected(srqn);
                TagOutcome::Unexpected
            }
        }));
    }

    /// The part of a packet that goes to the buffer at hand, and its offset there. The packet has `payload` at
    /// `offset` of its message.
    pub(super) fn without_header<'a>(&self, payload: &'a [u8], offset: u64) -> (&'a [u8], u64) {
        match (self.delivery, offset) {
            (Some(Delivery::Tagged { is_cut: true, .. }), 0) => (payload.get(HEADER_BYTES..).unwrap_or_default(), 0),
            (Some(Delivery::Tagged { is_cut: true, .. }), _) => (payload, offset - HEADER_BYTES as u64),
            _ => (payload, offset),
        }
    }

    /// The room for a message in its CQE: `room`, or 0 if the tag header would not fit beside the message (libmlx5,
    /// `handle_tag_matching`: "inline scatter 32 not supported").
    pub(super) fn room_in_cqe(&self, room: usize) -> usize {
        match self.delivery {
            Some(Delivery::Tagged { .. }) if room < ROOM_BEFORE_HEADER => 0,
            _ => room,
        }
    }

    /// Tells of a tag on the CQ of the SRQ.
    pub(super) fn report_tag(&self, qp: &QpCore, resources: &mut Resources, wqe_counter: u16, report: TagReport) {
        let (cqn, uidx) = self.reported(qp, resources);
        let completion = Completion::Tag { qpn: qp.qpn, uidx, wqe_counter, report };
        resources.complete(cqn, qp.context.timestamps, completion);
    }
}
