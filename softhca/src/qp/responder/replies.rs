//! The responder's replies that have not been sent. They are answers to READs and atomics in the order of their PSNs,
//! then one acknowledgement for everything, or one NAK.
//!
//! An answer acknowledges the requests before it, so acknowledgements between answers need not be sent. Requests that
//! arrive together get one acknowledgement (IBTA vol. 1, 9.7.5.1.2 "ACK coalescing").

use std::collections::VecDeque;

use crate::explanation::Reason;
use crate::memory::keys::mkey::{Accessor, KeyFault};
use crate::packet::{
    Aeth, AethSyndrome, AtomicAckEth, Bth, Headers, NakCode, Opcode, Operation, Place, Reth, Tail, Width,
};
use crate::qp::psn::Psn;
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;

/// Packets of answers sent in one step at most.
const PACKETS_PER_STEP: usize = 32;

/// Answers, asked for again or for the first time, that may wait; `max_dest_rd_atomic` bounds only the latter.
const MAX_ANSWERS: usize = 64;

/// Content of an answer.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) enum Content {
    /// Memory.
    Read {
        /// Protection domain of the key.
        by: Accessor,
        /// The part that has not been sent.
        left: Reth,
    },
    /// The word that an atomic found.
    Atomic(Found),
}

/// The word an atomic found.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) struct Found {
    /// The number.
    pub(in crate::qp) original: u128,
    /// Its bytes.
    pub(in crate::qp) width: Width,
}

#[derive(Debug)]
struct Answer {
    /// PSN of its next packet.
    psn: Psn,
    content: Content,
    /// Its first packet has been sent.
    begun: bool,
    /// It was asked for again, so that it does not count against `max_dest_rd_atomic`.
    again: bool,
}

/// The last word, after all answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::qp) enum Verdict {
    /// Everything before the expected PSN is acknowledged.
    Ack,
    /// The expected PSN is wanted: sequence error.
    Again(AethSyndrome),
    /// The expected PSN is wanted later, after this timer (RNR).
    NotReady(u8, Reason),
    /// The request with this PSN is refused; nothing follows.
    Refuse(NakCode, Psn, Reason),
    /// An [acknowledgement](Self::Ack) that nothing follows.
    Silence,
}

/// Answers and verdict.
#[derive(Debug, Default)]
pub(super) struct Replies {
    answers: VecDeque<Answer>,
    verdict: Option<Verdict>,
}

/// Result of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Nothing was to be sent, or could be.
    Nothing,
    /// Packets.
    Some,
    /// A refusal: the QP goes to the error state.
    Refusal,
    /// Nothing: memory to be read for the peer is no longer there.
    Unreadable(Psn, Reason),
}

impl Replies {
    /// There are none.
    pub(super) fn are_empty(&self) -> bool {
        self.answers.is_empty() && self.verdict.is_none()
    }

    /// READs and atomics that wait for their first answer.
    pub(in crate::qp) fn waiting(&self) -> usize {
        self.answers.iter().filter(|answer| !answer.again).count()
    }

    /// Queues the answer to a new request.
    pub(in crate::qp) fn answer(&mut self, psn: Psn, content: Content) {
        self.verdict = None;
        self.answers.push_back(Answer { psn, content, begun: false, again: false });
    }

    /// Queues the answer to a request that was repeated, whole or from some packet on, in its place by PSN; all PSNs
    /// are before `expected`. If an answer to it is queued already (it ends at the same PSN), that one starts again
    /// from `psn`. If too many are queued, this one is dropped: the requester will ask again.
    pub(super) fn answer_again(&mut self, psn: Psn, content: Content, expected: Psn, mtu: u32) {
        let end = psn.plus(span(&content, mtu));
        let same = |answer: &&mut Answer| answer.psn.plus(span(&answer.content, mtu)) == end;
        if let Some(answer) = self.answers.iter_mut().find(same) {
            (answer.psn, answer.content, answer.begun) = (psn, content, false);
            return;
        }
        if self.answers.len() < MAX_ANSWERS {
            let later = |answer: &Answer| expected.after(answer.psn) < expected.after(psn);
            let at = self.answers.iter().position(later).unwrap_or(self.answers.len());
            self.answers.insert(at, Answer { psn, content, begun: false, again: true });
        }
    }

    /// Acknowledges a repeated request again. A queued NAK does so, too, so it stays.
    pub(super) fn acknowledge_again(&mut self) {
        self.verdict.get_or_insert(Verdict::Ack);
    }

    /// An answer that waits acknowledges the request with PSN `psn`. All PSNs are before `expected`.
    pub(super) fn will_acknowledge(&self, psn: Psn, expected: Psn) -> bool {
        self.answers.iter().any(|answer| expected.after(answer.psn) < expected.after(psn))
    }

    /// Sets the last word. A refusal stands.
    pub(super) fn conclude(&mut self, verdict: Verdict) {
        if !matches!(self.verdict, Some(Verdict::Refuse(..) | Verdict::Silence)) {
            self.verdict = Some(verdict);
        }
    }

    /// The memory for an answer is gone: drops it and the answers after it.
    pub(super) fn give_up_answers(&mut self) {
        self.answers.clear();
    }

    /// Sends as many packets as one step may. `msn` and `expected` are the responder's.
    pub(in crate::qp) fn send(&mut self, qp: &QpCore, resources: &mut Resources, msn: u32, expected: Psn) -> Sent {
        let mut sent = Sent::Nothing;
        for _ in 0..PACKETS_PER_STEP {
            if !qp.may_send(resources) {
                return sent;
            }
            let Some(answer) = self.answers.front_mut() else {
                return match self.verdict.take() {
                    None => sent,
                    Some(verdict) => conclude(qp, resources, msn, expected, verdict),
                };
            };
            let packet = answer.packet(qp, resources, msn);
            resources.report_signature_errors(qp.context.recv_cqn, qp.qpn);
            match packet {
                Ok((packet, packets, done)) => {
                    qp.send_segment_to_peer(resources, packet, packets);
                    if done {
                        self.answers.pop_front();
                    }
                }
                // A late packet may have asked for it, so this is no reason to refuse anything.
                Err(_) if answer.again => drop(self.answers.pop_front()),
                Err(Gone(reason)) => return Sent::Unreadable(answer.psn, reason),
            }
            sent = Sent::Some;
        }
        sent
    }
}

/// PSNs that `content` takes.
fn span(content: &Content, mtu: u32) -> u32 {
    match content {
        Content::Read { left, .. } => left.len.div_ceil(mtu).max(1),
        Content::Atomic(_) => 1,
    }
}

/// There is no such packet: the memory to be read for the peer is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::qp) struct Gone(Reason);

impl Answer {
    /// The next packet, or the next ones as a segment; how many; and whether the last was among them.
    fn packet(&mut self, qp: &QpCore, resources: &Resources, msn: u32) -> Result<(Vec<u8>, u16, bool), Gone> {
        let aeth = Aeth { syndrome: AethSyndrome::Ack(AethSyndrome::NO_CREDITS), msn };
        match &mut self.content {
            Content::Atomic(Found { original, width }) => {
                let mut headers = headers(qp, Operation::AtomicAcknowledge, Place::Only, self.psn)?;
                headers.aeth = Some(aeth);
                headers.atomic_ack = Some(AtomicAckEth { original: *original as u64 });
                let high = ((*original >> 64) as u64).to_be_bytes();
                let rest: &[u8] = if *width == Width::Sixteen { &high } else { &[] };
                let fill = |out: &mut [u8]| {
                    out.copy_from_slice(rest);
                    Ok(())
                };
                Ok((build(&headers, (rest.len(), 1), fill)?, 1, true))
            }
            Content::Read { by, left } => {
                let packets = qp.together(resources, qp.packets(left.len));
                let len = left.len.min(qp.mtu * u32::from(packets));
                let is_last = len == left.len;
                let place = Place::of(!self.begun, is_last);
                let mut headers = headers(qp, Operation::ReadResponse, place, self.psn)?;
                headers.aeth = (place != Place::Middle).then_some(aeth);
                let packet = build(&headers, (len as usize, packets), |out| {
                    resources.remote_read(*by, left.rkey, left.addr, out)
                })?;
                self.begun = true;
                self.psn = self.psn.plus(packets.into());
                left.addr = left.addr.wrapping_add(u64::from(len));
                left.len -= len;
                Ok((packet, packets, is_last))
            }
        }
    }
}

fn conclude(qp: &QpCore, resources: &mut Resources, msn: u32, expected: Psn, verdict: Verdict) -> Sent {
    let (syndrome, psn, reason) = match verdict {
        Verdict::Ack | Verdict::Silence => (AethSyndrome::Ack(AethSyndrome::NO_CREDITS), expected.previous(), None),
        Verdict::Again(syndrome) => (syndrome, expected, None),
        Verdict::NotReady(timer, reason) => (AethSyndrome::RnrNak(timer), expected, Some(reason)),
        Verdict::Refuse(code, psn, reason) => (AethSyndrome::Nak(code), psn, Some(reason)),
    };
    if let Ok(packet) = acknowledgement(qp, syndrome, msn, psn) {
        if let Some(reason) = reason {
            resources.comments.push((packet.clone(), reason));
        }
        qp.send_to_peer(resources, packet);
    }
    if matches!(verdict, Verdict::Refuse(..) | Verdict::Silence) { Sent::Refusal } else { Sent::Some }
}

/// A packet that acknowledges, or does not.
pub(in crate::qp) fn acknowledgement(qp: &QpCore, syndrome: AethSyndrome, msn: u32, psn: Psn) -> Result<Vec<u8>, Gone> {
    let mut headers = headers(qp, Operation::Acknowledge, Place::Only, psn)?;
    headers.aeth = Some(Aeth { syndrome, msn });
    build(&headers, (0, 1), |_| Ok(()))
}

/// The headers that every reply has.
fn headers(qp: &QpCore, operation: Operation, place: Place, psn: Psn) -> Result<Headers, Gone> {
    let mut headers = Headers::new(Bth {
        opcode: Opcode::of(qp.transport(), operation, place, Tail::None)
            .ok_or(Gone(Reason::Is("the transport has no such reply")))?,
        solicited: false,
        migrated: true,
        pkey: qp.pkey,
        dest_qp: qp.dest_qpn(),
        ack_request: false,
        psn: psn.get(),
    });
    headers.dc = qp.dc_header();
    Ok(headers)
}

/// A packet with a payload of `len` bytes, filled by `fill`, or a segment of `packets` packets.
fn build(
    headers: &Headers,
    (len, packets): (usize, u16),
    fill: impl FnOnce(&mut [u8]) -> Result<(), KeyFault>,
) -> Result<Vec<u8>, Gone> {
    let mut draft = headers.build_segment(len, packets).map_err(|_| Gone(Reason::Is("the reply is too long")))?;
    fill(draft.payload_mut()).map_err(|fault| Gone(fault.into()))?;
    Ok(draft.finish())
}
