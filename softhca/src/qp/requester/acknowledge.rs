//! How the requester takes responses: acknowledgements, NAKs and answers (IBTA vol. 1, 9.7.5 and 9.7.7).

use std::time::Duration;

use super::{Broken, Requester};
use crate::context::FetchedOrder;
use crate::explanation::Reason;
use crate::packet::{AethSyndrome, NakCode, Operation, Packet, Width};
use crate::qp::failure::Failure;
use crate::qp::psn::Psn;
use crate::qp::qp_core::QpCore;
use crate::resources::Resources;
use crate::wqe::SendOp;

impl Requester {
    /// Takes a response. One that answers nothing outstanding is a ghost of an earlier transmission and is ignored.
    pub(in crate::qp) fn respond(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        packet: &Packet<'_>,
        now: Duration,
    ) -> Result<(), Broken> {
        let psn = Psn::new(packet.headers.bth.psn);
        if psn.after(self.unacked) >= self.sent_end.after(self.unacked) {
            return Ok(());
        }
        let before = self.unacked;
        let syndrome = packet.headers.aeth.map(|aeth| aeth.syndrome);
        let is_answer = packet.headers.bth.opcode.operation() != Operation::Acknowledge;
        // An acknowledgement covers its own PSN; a NAK or an answer all PSNs before its own.
        let covered = match syndrome {
            Some(AethSyndrome::Ack(_)) if !is_answer => psn.plus(1),
            Some(AethSyndrome::Reserved(_)) if !is_answer => return Ok(()),
            _ => psn,
        };
        let complete = self.acknowledge(qp, resources, covered)?;
        if self.unacked != before {
            self.note_progress(qp, now);
        }
        if !complete {
            return self.answer_is_missing(qp, resources);
        }
        if is_answer {
            return self.take_answer(qp, resources, packet, now);
        }
        match syndrome {
            Some(AethSyndrome::RnrNak(code)) => self.responder_not_ready(qp, resources, code, now),
            Some(AethSyndrome::Nak(code)) => self.refused(qp, resources, code),
            _ => Ok(()),
        }
    }

    fn note_progress(&mut self, qp: &QpCore, now: Duration) {
        self.has_met_peer = true;
        let outstanding = self.unacked != self.sent_end;
        self.retry.progress(&qp.attr, outstanding, now);
    }

    /// A later request has been answered, so the answer to the oldest one was lost ("implied NAK"). Responses still on
    /// their way will say the same again. The queue goes back once for all of them; if that is lost, too, the timer
    /// runs out.
    fn answer_is_missing(&mut self, qp: &QpCore, resources: &mut Resources) -> Result<(), Broken> {
        if self.gone_back || self.is_back() {
            return Ok(());
        }
        resources.count(qp.counter, |counter| &mut counter.implied_nak_seq_err);
        self.try_again(qp, resources)?;
        self.gone_back = true;
        Ok(())
    }

    /// RNR NAK: the same request again, when the responder's timer has run.
    pub(in crate::qp) fn responder_not_ready(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        code: u8,
        now: Duration,
    ) -> Result<(), Broken> {
        if self.retry.is_waiting() {
            return Ok(());
        }
        resources.count(qp.counter, |counter| &mut counter.rnr_nak_retry_err);
        if !self.retry.not_ready(&qp.attr, code, now) {
            let reason = Reason::NotReady { retries: qp.attr.rnr_retry.unwrap_or(0) };
            return Err(self.fail_front(qp, resources, Failure::RNR_RETRY.because(reason)));
        }
        self.go_back();
        Ok(())
    }

    /// NAK: the oldest request failed, or a packet of it is missing.
    pub(in crate::qp) fn refused(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        code: NakCode,
    ) -> Result<(), Broken> {
        if let Some(failure) = Failure::of_nak(code) {
            return Err(self.fail_front(qp, resources, failure));
        }
        if code == NakCode::PSN_SEQUENCE {
            resources.count(qp.counter, |counter| &mut counter.packet_seq_err);
        }
        // A second copy of the NAK finds the queue already back, or waiting for the responder to be ready.
        if code == NakCode::PSN_SEQUENCE && !self.is_back() { self.try_again(qp, resources) } else { Ok(()) }
    }

    /// READ response or atomic acknowledgement with the oldest PSN.
    fn take_answer(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        packet: &Packet<'_>,
        now: Duration,
    ) -> Result<(), Broken> {
        let unacked = self.unacked;
        let Some(front) = self.requests.front_mut() else { return Ok(()) };
        if !front.is_answered() {
            return Ok(());
        }
        let index = unacked.after(front.first);
        match answer((qp.mtu, resources.fetched_order), front.len(), index, &front.wqe.op, packet) {
            None => return Err(self.fail_front(qp, resources, Failure::BAD_RESPONSE)),
            Some(Answer { offset, data }) => {
                let signaled = front.wqe.signaled || qp.context.signal_all;
                if let Err(failure) = front.scatter_answer(qp, resources, offset, data.as_ref(), signaled) {
                    return Err(self.fail_front(qp, resources, failure));
                }
            }
        }
        self.pass(packet.packets.into());
        self.note_progress(qp, now);
        self.retire(qp, resources)
    }
}

/// Bytes of an answer, and where in it they belong.
struct Answer<'a> {
    offset: u64,
    data: Data<'a>,
}

enum Data<'a> {
    Part(&'a [u8]),
    Word([u8; 8]),
    HalfWord([u8; 4]),
    DoubleWord([u8; 16]),
}

impl AsRef<[u8]> for Data<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Part(bytes) => bytes,
            Self::Word(bytes) => bytes,
            Self::HalfWord(bytes) => bytes,
            Self::DoubleWord(bytes) => bytes,
        }
    }
}

/// The bytes of packet `index` of the answer to `op`, of `len` bytes in all, with an MTU of `mtu` bytes and numbers in
/// `order`; `None` if `packet` is not that.
fn answer<'a>(
    (mtu, order): (u32, FetchedOrder),
    len: u32,
    index: u32,
    op: &SendOp,
    packet: &Packet<'a>,
) -> Option<Answer<'a>> {
    let headers = &packet.headers;
    if headers.aeth.is_some_and(|aeth| !matches!(aeth.syndrome, AethSyndrome::Ack(_))) {
        return None;
    }
    match (op, headers.bth.opcode.operation()) {
        (SendOp::Read(_), Operation::ReadResponse) => {
            let offset = u64::from(index) * u64::from(mtu);
            let left = u64::from(len).checked_sub(offset)?;
            let carried = u64::from(mtu) * u64::from(packet.packets);
            let is_last = left <= carried;
            // The payload needs that many packets, and not fewer.
            let are_full = packet.packets == 1 || packet.payload.len() as u64 > carried - u64::from(mtu);
            let fits = are_full && packet.payload.len() as u64 == left.min(carried);
            // Where a retransmitted request starts again, a First stands in place of a Middle.
            (fits && headers.bth.opcode.place().ends() == is_last)
                .then_some(Answer { offset, data: Data::Part(packet.payload) })
        }
        // The word travels as a number; the host finds it in the byte order that its driver has chosen.
        (SendOp::CompareSwap { .. } | SendOp::FetchAdd { .. }, Operation::AtomicAcknowledge)
            if packet.payload.is_empty() =>
        {
            let original = headers.atomic_ack?.original;
            Some(Answer { offset: 0, data: Data::Word(order.bytes(original)) })
        }
        // The driver's choice is for 8 bytes, masked or not (UCX `ib_mlx5dv_md.c`, `ext_atomic_arg_sizes_be`). There is
        // none for others: they come in network order (UCX `src/uct/ib/rc/base/rc_iface.c`, `atomic32_ext_handler`;
        // MLNX_OFED 4, mlx5_ib, `ext_atomic_caps`). The high half of 16 bytes is the payload.
        (SendOp::Extended(_, extended), Operation::AtomicAcknowledge) => {
            let original = headers.atomic_ack?.original;
            let data = match (extended.width, packet.payload) {
                (Width::Four, []) => Data::HalfWord((original as u32).to_be_bytes()),
                (Width::Eight, []) => Data::Word(order.bytes(original)),
                (Width::Sixteen, high) => {
                    let high = u64::from_be_bytes(high.try_into().ok()?);
                    Data::DoubleWord((u128::from(high) << 64 | u128::from(original)).to_be_bytes())
                }
                _ => return None,
            };
            Some(Answer { offset: 0, data })
        }
        _ => None,
    }
}
