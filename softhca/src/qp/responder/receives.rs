//! The receive side of a QP: it takes one receive WQE at a time, fills it packet by packet, and completes it once.

use super::delivery::Delivery;
use super::rendezvous::Fetch;
use crate::context::{QpContext, QpState, ReceiveSource, Transport, XrcContext};
use crate::cq::{Completion, InCqe, ReceiveKind, ReceivedTag, Source, Syndrome};
use crate::event::QpEvent;
use crate::explanation::{Reason, Subject};
use crate::memory::Need;
use crate::memory::keys::mkey::Accessor;
use crate::qp::failure::Failure;
use crate::qp::qp_core::QpCore;
use crate::recv::{RecvWqe, Rq, TagList};
use crate::resources::Resources;
use crate::wqe::WqeFault;
use fastrand::Rng;

/// Receive WQEs flushed in one step at most.
const FLUSHES_PER_STEP: usize = 64;

/// The part of a receive WQE's CQE that describes its message.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) struct Message {
    /// The kind of message.
    pub(in crate::qp) kind: ReceiveKind,
    /// Bytes.
    pub(in crate::qp) byte_cnt: u32,
    /// Immediate data or key.
    pub(in crate::qp) imm: u32,
    /// The sender asked for a solicited event.
    pub(in crate::qp) solicited: bool,
    /// UD and DC: where it came from.
    pub(in crate::qp) source: Option<Source>,
}

/// The receive queue, and the WQE taken from it that has not completed.
#[derive(Debug)]
pub(in crate::qp) struct Receives {
    pub(in crate::qp) queue: RecvQueue,
    pub(in crate::qp) current: Option<RecvWqe>,
    /// How the message at hand stands to the tags of the SRQ, if that has any.
    pub(in crate::qp) delivery: Option<Delivery>,
    /// The device may fetch rendezvous data.
    pub(in crate::qp) may_fetch: bool,
    /// A message that it is to fetch.
    pub(in crate::qp) announced: Option<Fetch>,
    /// Scatter-to-CQE: the message.
    pub(in crate::qp) inline: Option<InCqe>,
    /// The ring itself cannot be read, so that nothing more can be taken from it.
    unreadable: bool,
    /// The event for a QP that takes no more WQEs from its SRQ has been raised.
    last_wqe_reported: bool,
    /// Completions whose order is not decided: see [`crate::context::QpAttr::out_of_order`].
    unordered: Vec<Completion>,
    /// Decides it.
    rng: Rng,
}

impl Receives {
    /// The receive queue that the context names.
    pub(in crate::qp) fn new(qp: &QpCore) -> Self {
        let queue = RecvQueue::new(&qp.context, qp.qpn);
        Self {
            queue,
            current: None,
            delivery: None,
            may_fetch: false,
            announced: None,
            inline: None,
            unreadable: false,
            last_wqe_reported: false,
            unordered: Vec::new(),
            rng: Rng::with_seed(qp.qpn.into()),
        }
    }

    /// Takes the next receive WQE, unless one is already at hand. `false` if none is posted.
    pub(in crate::qp) fn take(&mut self, qp: &QpCore, resources: &mut Resources) -> Result<bool, Failure> {
        if self.current.is_some() {
            return Ok(true);
        }
        if self.unreadable {
            return Err(Failure::BAD_RECEIVE_WQE);
        }
        // Flushed WQEs count as posted, even if the QP was not yet allowed to use them.
        let held = qp.context.cross_channel.slave_receive && qp.state != QpState::Err;
        if held && !resources.slaves.may_receive(qp.qpn, self.consumed()) {
            return Ok(false);
        }
        match self.queue.take(resources) {
            Ok(wqe) => self.current = wqe,
            Err(fault) => {
                log::warn!("QP {:#x}: receive queue: {fault}", qp.qpn);
                self.unreadable = true;
                qp.raise(resources, QpEvent::Fatal);
                return Err(Failure::BAD_RECEIVE_WQE.because(fault));
            }
        }
        match &self.current {
            None => Ok(false),
            Some(RecvWqe { segs: Ok(_), .. }) => Ok(true),
            Some(RecvWqe { segs: Err(fault), counter }) => {
                log::warn!("QP {:#x}: receive WQE {counter:#x}: {fault}", qp.qpn);
                Err(Failure::BAD_RECEIVE_WQE.because(*fault))
            }
        }
    }

    /// WQEs consumed from an own ring, 16 bits.
    pub(in crate::qp) fn consumed(&self) -> u16 {
        match &self.queue {
            RecvQueue::Own(rq) => rq.consumed(),
            RecvQueue::None | RecvQueue::Shared { .. } | RecvQueue::Named(_) => 0,
        }
    }

    /// Why a message finds no receive WQE.
    pub(super) fn none_posted(&self) -> Reason {
        match &self.queue {
            RecvQueue::Own(_) => Reason::NoReceive { consumed: self.consumed() },
            RecvQueue::Shared { srqn } | RecvQueue::Named(Some(Named { srqn, .. })) => {
                Reason::NoSharedReceive { srqn: *srqn }
            }
            RecvQueue::None | RecvQueue::Named(None) => Reason::Is("the QP has no receive queue"),
        }
    }

    /// Whether a receive WQE is at hand.
    pub(in crate::qp) fn has_begun(&self) -> bool {
        self.current.is_some()
    }

    /// Whether the WQEs come from an SRQ.
    pub(super) fn are_shared(&self, qp: &QpCore) -> bool {
        matches!(qp.context.rq, ReceiveSource::Shared { .. } | ReceiveSource::Domain { .. })
    }

    /// XRC: the message that begins is for this SRQ.
    pub(super) fn turn_to(&mut self, srqn: u32, xrc: XrcContext) {
        self.queue = RecvQueue::Named(Some(Named { srqn, cqn: xrc.cqn, uidx: xrc.uidx.unwrap_or(srqn) }));
    }

    /// XRC: this SRQ is gone, and with it the WQE at hand, if it came from there. The rest of a message has no place
    /// then.
    pub(in crate::qp) fn forget(&mut self, srqn: u32) {
        if matches!(&self.queue, RecvQueue::Named(Some(named)) if named.srqn == srqn) {
            self.queue = RecvQueue::Named(None);
            self.unreadable = self.current.take().is_some();
        }
    }

    /// The CQ of completions, and the user index in its CQEs.
    pub(in crate::qp) fn reported(&self, qp: &QpCore, resources: &Resources) -> (u32, u32) {
        match self.queue {
            RecvQueue::Named(Some(named)) => (named.cqn, named.uidx),
            RecvQueue::Shared { srqn } => match resources.tag_list(srqn).map(TagList::context) {
                Some(tags) => (tags.cqn, tags.uidx.unwrap_or(srqn)),
                None => (qp.context.recv_cqn, qp.context.uidx),
            },
            _ => (qp.context.recv_cqn, qp.context.uidx),
        }
    }

    /// The accessor for the keys in the WQEs. WQEs of an SRQ name keys of the SRQ's protection domain (IBTA vol. 1,
    /// 10.2.9.1).
    pub(in crate::qp) fn accessor(&self, qp: &QpCore, resources: &Resources) -> Accessor {
        let srqn = match &self.queue {
            RecvQueue::Shared { srqn } | RecvQueue::Named(Some(Named { srqn, .. })) => Some(*srqn),
            _ => None,
        };
        let srq = srqn.and_then(|srqn| resources.srqs.get(srqn));
        srq.map_or((&qp.context).into(), |srq| srq.context().pd.into())
    }

    /// Bytes that the WQE at hand can take.
    pub(in crate::qp) fn capacity(&self) -> u64 {
        let segs = self.current.as_ref().and_then(|wqe| wqe.segs.as_ref().ok());
        segs.map_or(0, |segs| segs.iter().map(|seg| u64::from(seg.len)).sum())
    }

    /// Writes a part of the message, from byte `offset` on. `is_whole` says that it is the whole message: then it may
    /// go into the CQE.
    pub(in crate::qp) fn put(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        offset: u64,
        data: &[u8],
        is_whole: bool,
    ) -> Result<(), Failure> {
        let Some(RecvWqe { segs: Ok(segs), .. }) = &self.current else { return Err(Failure::BAD_RECEIVE_WQE) };
        if data.is_empty() {
            return Ok(());
        }
        let in_cqe = is_whole && qp.transport() != Transport::Ud;
        let room =
            resources.inline_capacity(self.reported(qp, resources).0).min(qp.context.scatter_to_cqe_res as usize);
        if in_cqe && data.len() <= self.room_in_cqe(room) {
            self.inline = Some(InCqe::from_slice(data));
            return Ok(());
        }
        let done = resources.scatter(self.accessor(qp, resources), segs, offset, data);
        let (cqn, _) = self.reported(qp, resources);
        resources.report_signature_errors(cqn, qp.qpn);
        done.map_err(|fault| Failure::RECEIVE_PROTECTION.because(fault))
    }

    /// Returns an error unless keys that encrypt let the message end after `bytes` bytes.
    pub(super) fn check_end(&self, qp: &QpCore, resources: &Resources, bytes: u64) -> Result<(), Failure> {
        let Some(RecvWqe { segs: Ok(segs), .. }) = &self.current else { return Ok(()) };
        let checked = resources.check_units(self.accessor(qp, resources), segs, bytes, Need::LocalWrite);
        checked.map_err(|fault| Failure::RECEIVE_PROTECTION.because(fault))
    }

    /// Completes the WQE at hand.
    pub(in crate::qp) fn complete(&mut self, qp: &QpCore, resources: &mut Resources, message: Message) {
        let inline = self.inline.take();
        let Some(wqe) = self.current.take() else { return };
        let Message { kind, byte_cnt, imm, solicited, source } = message;
        if let Some(delivery) = self.delivery.take() {
            let message = ReceivedTag { kind, byte_cnt, imm, solicited, inline };
            self.report_tag(qp, resources, wqe.counter, delivery.report(message));
            return;
        }
        let (cqn, uidx) = self.reported(qp, resources);
        let completion = Completion::Receive {
            qpn: qp.qpn,
            uidx,
            kind,
            wqe_counter: wqe.counter,
            byte_cnt,
            imm,
            solicited,
            source,
            inline,
        };
        if qp.attr.out_of_order == Some(true) {
            self.unordered.push(completion);
        } else {
            resources.complete(cqn, qp.context.timestamps, completion);
        }
    }

    /// There are completions whose order is not decided.
    pub(in crate::qp) fn has_unordered(&self) -> bool {
        !self.unordered.is_empty()
    }

    /// If the QP has no order, writes the CQEs of the WQEs that have completed since the last call, in any order.
    /// `true` if there were any.
    pub(in crate::qp) fn report_unordered(&mut self, qp: &QpCore, resources: &mut Resources) -> bool {
        let any = !self.unordered.is_empty();
        self.rng.shuffle(&mut self.unordered);
        for completion in self.unordered.drain(..) {
            resources.complete(qp.context.recv_cqn, qp.context.timestamps, completion);
        }
        any
    }

    /// Completes the WQE at hand in error; nothing if there is none.
    pub(in crate::qp) fn fail(&mut self, qp: &QpCore, resources: &mut Resources, failure: Failure) {
        self.inline = None;
        let Some(wqe) = self.current.take() else { return };
        if let Some(canceled) = self.delivery.take().and_then(Delivery::canceled) {
            resources.count_receive_error(qp.counter, failure.syndrome);
            self.report_tag(qp, resources, 0, canceled);
            return;
        }
        let (cqn, uidx) = self.reported(qp, resources);
        resources.count_receive_error(qp.counter, failure.syndrome);
        if failure.syndrome != Syndrome::WrFlush {
            resources.explanations.add(qp.qpn, Subject::Receive(wqe.counter, failure.syndrome), failure.reason);
        }
        resources.complete(
            cqn,
            qp.context.timestamps,
            Completion::Error {
                qpn: qp.qpn,
                uidx,
                requester: false,
                opcode: 0,
                wqe_counter: wqe.counter,
                strides: None,
                syndrome: failure.syndrome,
                vendor_syndrome: failure.vendor,
                hardware_syndrome: failure.hardware,
            },
        );
    }

    /// Completes WQEs as flushed, as many as one step may: the one at hand, and those of an own ring. The WQEs of an
    /// SRQ stay for other QPs; an event tells the host once that this QP takes no further WQEs. `true` if there was
    /// work.
    pub(in crate::qp) fn flush(&mut self, qp: &QpCore, resources: &mut Resources) -> bool {
        let shared = self.are_shared(qp);
        let mut flushed = false;
        for _ in 0..FLUSHES_PER_STEP {
            if self.current.is_none() && !shared {
                // A malformed WQE is flushed like any other.
                let _ = self.take(qp, resources);
            }
            if self.current.is_none() {
                break;
            }
            self.fail(qp, resources, Failure::FLUSH);
            flushed = true;
        }
        if shared && !self.last_wqe_reported {
            self.last_wqe_reported = true;
            qp.raise(resources, QpEvent::LastWqeReached);
            flushed = true;
        }
        flushed
    }
}

/// Where a QP's receive WQEs come from, with the state of its own ring.
#[derive(Clone, Debug)]
pub(in crate::qp) enum RecvQueue {
    /// The QP cannot receive.
    None,
    /// Its own ring.
    Own(Rq),
    /// An SRQ.
    Shared {
        /// SRQ number.
        srqn: u32,
    },
    /// XRC: the SRQ that the latest message has named.
    Named(Option<Named>),
}

/// An SRQ that a message has named, and where its receives complete.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) struct Named {
    srqn: u32,
    cqn: u32,
    uidx: u32,
}

impl RecvQueue {
    /// As the context of QP `qpn` says.
    fn new(context: &QpContext, qpn: u32) -> Self {
        match context.rq {
            ReceiveSource::None => Self::None,
            ReceiveSource::Own(ring) => {
                let rq = Rq::new(ring, context.dbr);
                Self::Own(if context.signed { rq.signed(qpn) } else { rq })
            }
            ReceiveSource::Shared { srqn } => Self::Shared { srqn },
            ReceiveSource::Domain { .. } => Self::Named(None),
        }
    }

    /// Consumes the next receive WQE; `None` if nothing is posted.
    ///
    /// # Errors
    /// [`WqeFault`] if the record or the ring is invalid, which hides the next WQE. A fault of an SRQ has raised its
    /// event.
    fn take(&mut self, resources: &mut Resources) -> Result<Option<RecvWqe>, WqeFault> {
        match self {
            Self::None | Self::Named(None) => Ok(None),
            Self::Own(rq) => rq.take(&*resources.memory),
            Self::Shared { srqn } | Self::Named(Some(Named { srqn, .. })) => resources.take_shared(*srqn),
        }
    }
}
