//! Queue pairs: the transport engine. It must never know another QP, a UAR page, or its caller.
//!
//! ```text
//!  doorbell ─> requester ── request packets ──────────────> the peer's responder ─> receives ─> CQE
//!     CQE  <── (requester/)                                  (responder/)
//!                   ^                                                 │
//!      requester/acknowledge.rs <── ACK, NAK, answers ── responder/replies.rs
//! ```
//!
//! A QP never waits and has no clock. `Qp::receive` takes a packet that the wire brought. `Qp::step` does a bounded
//! amount of work at a time that the caller gives. Packets go to `Resources::outbox`. States are in `state` and
//! `modify`, timers in `requester`.
//!
//! XRC has RC's requester and responder, one at each end. DC has both as well: an initiator
//! (`dc::initiator`) connects to the targets of its requests, and a target (`dc::target`) has a responder for each
//! connection (`dc::connection`).

mod congestion;
pub mod dc;
mod failure;
mod lending;
mod modify;
mod psn;
mod qp_core;
mod requester;
mod responder;
mod send_queue;
mod state;

use std::time::Duration;

use congestion::Notices;
use dc::initiator::Initiator;
use psn::Psn;
use qp_core::{QpCore, Role};
use requester::request::MAX_MESSAGE;
use requester::{Broken, Requester};
use responder::receives::Receives;
use responder::{Arrival, Fatal, Responder};

use crate::busy_table::Next;
use crate::context::{QpAttr, QpContext, QpState, ReceiveSource, Transport};
use crate::event::QpEvent;
use crate::memory::HostMemory;
use crate::packet::Packet;
use crate::resources::Resources;
use crate::wire::loan::Done;
use crate::wire::{Route, Wire};

pub(crate) use failure::Failure;

/// Result of a query of a QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpInfo {
    /// State.
    pub state: QpState,
    /// As it was created.
    pub context: QpContext,
    /// Attributes set so far. `sq_psn` and `rq_psn` are those of the next packet sent and expected.
    pub attr: QpAttr,
    /// In SQD: requests are still being completed.
    pub draining: bool,
    /// WQEBB index of the next send WQE to be fetched (PRM, QPC.hw_sq_wqebb_counter).
    pub hw_sq_wqebb_counter: u16,
    /// WQEBB index up to which the doorbell has announced send WQEs (PRM, QPC.sw_sq_wqebb_counter).
    pub sw_sq_wqebb_counter: u16,
    /// Receive WQEs consumed from its own ring, 16 bits (PRM, QPC.hw_rq_counter).
    pub hw_rq_counter: u16,
    /// Receive WQEs posted to it, as its doorbell record says (PRM, QPC.sw_rq_counter).
    pub sw_rq_counter: u16,
    /// The PSN that the peer acknowledged last, once `sq_psn` is set (PRM, QPC.last_acked_psn).
    pub last_acked_psn: u32,
    /// Messages that it has received as a responder, 24 bits (PRM, QPC.rmsn).
    pub rmsn: u32,
}

/// A queue pair.
#[derive(Debug)]
pub struct Qp {
    core: QpCore,
    requester: Requester,
    responder: Responder,
    receives: Receives,
    /// DC: its connection to a target.
    initiator: Initiator,
    /// The event for the first packet in RTR has been raised.
    established: bool,
    /// The event for the drained send queue has been raised, or is not wanted.
    drain_reported: bool,
    /// Notifications of congestion to the peer.
    notices: Notices,
    /// Keys that the peer has used, the latest first; [`crate::wire::loan::GRANTS`] at most.
    used_keys: Vec<u32>,
    /// The connection of the wire by which the peer's latest request has come, if nothing was lent since.
    may_lend_by: Option<u64>,
    /// The responder is on loan.
    is_lent: bool,
}

impl Qp {
    /// A QP in the reset state.
    pub(crate) fn new(qpn: u32, context: QpContext) -> Self {
        Self::in_role(Role::Qp, qpn, context)
    }

    /// A QP with this `role`, in the reset state.
    fn in_role(role: Role, qpn: u32, context: QpContext) -> Self {
        let (max_message, mtu) = (MAX_MESSAGE, crate::packet::MAX_PAYLOAD as u32);
        let core = QpCore { qpn, role, context, max_message, mtu, ..QpCore::default() };
        let receives = Receives::new(&core);
        Self {
            core,
            requester: Requester::default(),
            responder: Responder::new(Psn::default()),
            receives,
            initiator: Initiator::default(),
            established: false,
            drain_reported: true,
            notices: Notices::default(),
            used_keys: Vec::new(),
            may_lend_by: None,
            is_lent: false,
        }
    }

    /// State and attributes. Values of its record count as 0 if the record cannot be read.
    pub(crate) fn query(&self, memory: &dyn HostMemory) -> QpInfo {
        let QpCore { state, context, attr, .. } = self.core;
        let sq_psn = attr.sq_psn.map(|_| self.requester.sent_end.get());
        let rq_psn = attr.rq_psn.map(|_| self.responder.expected().get());
        let draining = state == QpState::Sqd && !self.requester.is_drained();
        let (hw_sq_wqebb_counter, sw_sq_wqebb_counter) = self.requester.wqebb_counters();
        let ece = attr.ece.or(Some(context.ece));
        let attr = QpAttr { sq_psn, rq_psn, ece, ..attr };
        let has_ring = matches!(context.rq, ReceiveSource::Own(_));
        let posted = if has_ring { memory.load_be32(context.dbr).unwrap_or(0) } else { 0 };
        QpInfo {
            state,
            context,
            attr,
            draining,
            hw_sq_wqebb_counter,
            sw_sq_wqebb_counter,
            hw_rq_counter: self.receives.consumed(),
            sw_rq_counter: (posted & 0xffff) as u16,
            last_acked_psn: sq_psn.map_or(0, |_| self.requester.unacked.previous().get()),
            rmsn: self.responder.messages(),
        }
    }

    /// The host rang the doorbell: send WQEs up to WQEBB index `pi` are in the ring. In the reset state there is no
    /// ring to speak of, and those of a slave start otherwise.
    ///
    /// `false` if the QP does not believe this index, or hears no doorbells now.
    pub(crate) fn send_doorbell(&mut self, pi: u16) -> bool {
        if self.hears_doorbells() {
            self.requester.ring(&self.core, pi);
        }
        self.requester.wqebb_counters().1 == pi
    }

    /// Whether the QP hears doorbells.
    pub(crate) fn hears_doorbells(&self) -> bool {
        let QpContext { sq, cross_channel, .. } = &self.core.context;
        sq.is_some() && self.core.state != QpState::Reset && !cross_channel.slave_send
    }

    /// WQEBB index of the send WQE that is fetched next.
    pub(crate) fn next_wqe(&self) -> u16 {
        self.requester.wqebb_counters().0
    }

    /// The register received the whole of the WQE at WQEBB `index`, which the doorbell has announced: `wqe`.
    pub(crate) fn pushed(&mut self, index: u16, wqe: &[u8]) {
        if self.hears_doorbells() {
            self.requester.pushed(index, wqe);
        }
    }

    /// XRC: this SRQ is gone.
    pub(crate) fn forget_srq(&mut self, srqn: u32) {
        self.receives.forget(srqn);
    }

    /// Number of the port that it is bound to.
    pub(crate) fn port(&self) -> Option<u8> {
        self.core.attr.port
    }

    /// The port of a bond that it has; 0: none.
    pub(crate) fn lag_port(&self) -> u8 {
        self.core.attr.lag_port.unwrap_or(0)
    }

    /// The context that it was created from.
    pub(crate) fn context(&self) -> &QpContext {
        &self.core.context
    }

    /// The Q counter that counts its events; 0 if none does.
    pub(crate) fn counter(&self) -> u8 {
        self.core.counter
    }

    /// From now on Q counter `counter` counts its events; 0 for none.
    pub(crate) fn set_counter(&mut self, counter: u8) {
        self.core.counter = counter;
    }

    /// From now on it may copy memory, or may not (`qpc_ext.mmo`).
    pub(crate) fn let_copy(&mut self, copies: bool) {
        self.core.copies = copies;
    }

    /// From now on the device may send by it, to fetch rendezvous data.
    pub(crate) fn let_fetch(&mut self) {
        self.core.fetches = true;
    }

    /// Limits its messages to `bytes` bytes from now on, in both directions (QPC.log_msg_max).
    pub(crate) fn set_max_message(&mut self, bytes: u64) {
        self.core.max_message = bytes;
    }

    /// State.
    pub(crate) fn state(&self) -> QpState {
        self.core.state
    }

    /// When to step this object again after a step without work: at a doorbell, a packet or a command, or when a timer
    /// runs out.
    ///
    /// Some QPs look for work by themselves, and are always busy. They flush receives, whose record is their only
    /// doorbell. Or they wait for another queue, for room in the outbox, or for their rate, which commands change.
    pub(crate) fn next(&self) -> Next {
        let looks_around = self.core.context.cross_channel.slave_send
            || self.core.transport() == Transport::Dc && !self.requester.is_empty()
            || self.core.fetches
            || self.receives.has_unordered();
        let is_busy = match self.core.state {
            QpState::Reset | QpState::Init | QpState::Sqe => false,
            QpState::Rtr => !self.responder.has_replied(),
            QpState::Rts | QpState::Sqd => self.requester.is_held() || !self.responder.has_replied(),
            QpState::Err => matches!(self.core.context.rq, ReceiveSource::Own(_)),
        };
        match self.deadline() {
            _ if looks_around || is_busy => Next::Busy,
            Some(time) => Next::At(time),
            None => Next::Idle,
        }
    }

    /// Whether the peer waits for an answer.
    pub(crate) fn owes_answers(&self) -> bool {
        !self.responder.has_replied()
    }

    /// The QPN from which an acknowledgement is overdue at `now`, if one is.
    pub(crate) fn awaited_peer(&self, now: Duration) -> Option<u32> {
        let waits = matches!(self.core.state, QpState::Rts | QpState::Sqd) && self.requester.retry.is_lost(now);
        waits.then(|| self.initiator.asked().unwrap_or(self.core.dest_qpn()))
    }

    /// Gives the peer another time to acknowledge, which is no retry.
    pub(crate) fn wait_longer(&mut self, now: Duration) {
        self.requester.retry.wait_longer(&self.core.attr, now);
    }

    /// Does a bounded amount of work. `true` if there was any.
    pub(crate) fn step(&mut self, resources: &mut Resources, now: Duration) -> bool {
        if self.core.context.cross_channel.slave_send && self.core.state != QpState::Reset {
            if let Some(pi) = resources.slaves.news(self.core.qpn) {
                self.requester.ring(&self.core, pi);
            }
        }
        let reported = self.receives.report_unordered(&self.core, resources);
        self.work(resources, now) || reported
    }

    /// Does the work of one step in the present state.
    fn work(&mut self, resources: &mut Resources, now: Duration) -> bool {
        match self.core.state {
            QpState::Reset | QpState::Init => false,
            QpState::Err if matches!(self.core.role, Role::SendQueue { flushes: false, .. }) => false,
            QpState::Err => {
                let sends = self.requester.flush(&self.core, resources);
                let receives = self.receives.flush(&self.core, resources);
                sends || receives
            }
            QpState::Sqe => self.requester.flush(&self.core, resources),
            QpState::Rtr => self.reply(resources),
            QpState::Rts | QpState::Sqd => {
                let replied = self.reply(resources);
                // The reply may have been a refusal.
                if self.core.state == QpState::Err {
                    return true;
                }
                let sent = self.send(resources, now);
                let drained = self.report_drained(resources);
                replied || sent || drained
            }
        }
    }

    fn reply(&mut self, resources: &mut Resources) -> bool {
        let replied = self.responder.reply(&self.core, resources);
        if replied == Err(Fatal) {
            self.enter_error();
        }
        replied.unwrap_or(true)
    }

    fn send(&mut self, resources: &mut Resources, now: Duration) -> bool {
        let timed = self.requester.check_timers(&self.core, resources, now);
        if timed == Ok(true) {
            self.initiator.ask_again();
        }
        let sent = timed.and_then(|timed| Ok(self.requester.transmit(&self.core, resources, now)? || timed));
        if let Err(broken) = sent {
            self.stop_sending(resources, broken);
        } else if self.core.transport() == Transport::Dc {
            let connected = self.initiator.advance(&mut self.core, &mut self.requester, resources, now);
            return connected || sent.unwrap_or(true);
        }
        sent.unwrap_or(true)
    }

    /// Executes requests in place of the peer's responder, if that is on loan ([`crate::wire::loan`]). `true` if there
    /// were any; `done` counts them.
    pub(crate) fn execute_one_sided(
        &mut self,
        resources: &mut Resources,
        wire: &mut dyn Wire,
        done: &mut Done,
    ) -> bool {
        let executed = self.requester.execute_one_sided(&self.core, resources, wire, done);
        if let Err(broken) = executed {
            self.stop_sending(resources, broken);
        }
        executed.unwrap_or(true)
    }

    /// Has a stream that has failed work again. `false` if it has not failed.
    pub(crate) fn reset_stream(&mut self, stream: u16) -> bool {
        self.requester.failed_streams.reset(stream)
    }

    /// Ends the connection that a DCI has.
    pub(crate) fn leave_target(&mut self, resources: &mut Resources) {
        self.initiator.leave(&mut self.core, &mut self.requester, resources);
    }

    /// Raises the event of a drained send queue once it is drained. `true` if it did.
    fn report_drained(&mut self, resources: &mut Resources) -> bool {
        let due = self.core.state == QpState::Sqd && !self.drain_reported && self.requester.is_drained();
        if due {
            self.drain_reported = true;
            self.core.raise(resources, QpEvent::SqDrained);
        }
        due
    }

    /// Takes a packet that the wire brought for this QP. Drops it if the QP's state, transport, partition or peer does
    /// not fit.
    pub(crate) fn receive(&mut self, resources: &mut Resources, route: &Route, packet: &Packet<'_>, now: Duration) {
        let bth = &packet.headers.bth;
        let state = self.core.state;
        if matches!(state, QpState::Reset | QpState::Init | QpState::Err)
            || !self.core.is_linked(resources)
            || bth.opcode.transport() != self.core.transport()
            || self.core.route.is_some_and(|to| !to.is_way_back(route))
        {
            log::debug!("QP {:#x}: dropped a packet in state {state:?}: {:?}", self.core.qpn, packet.headers);
            return;
        }
        if !self.core.accepts_pkey(resources, bth.pkey) {
            resources.count_at(self.core.attr.port.unwrap_or(0), |counters| &mut counters.bad_pkeys);
            return log::debug!("QP {:#x}: dropped a packet of P_Key {:#x}", self.core.qpn, bth.pkey);
        }
        if congestion::is_marked(route) {
            self.notices.notice(&self.core, resources, now);
        }
        if state == QpState::Rtr && !self.established {
            self.established = true;
            self.core.raise(resources, QpEvent::CommunicationEstablished);
        }
        if bth.opcode.operation().is_response() {
            if matches!(state, QpState::Rts | QpState::Sqd) {
                if let Err(broken) = self.respond(resources, packet, now) {
                    self.stop_sending(resources, broken);
                }
            }
            return;
        }
        self.receives.may_fetch = self.core.fetches && self.requester.errands.have_room();
        let (core, receives) = (&self.core, &mut self.receives);
        let taken = match core.transport() {
            Transport::Ud => responder::datagram::receive(core, receives, resources, route, packet),
            // An initiator answers no requests.
            Transport::Xrc if core.context.rq == ReceiveSource::None => return,
            Transport::Rc | Transport::Uc | Transport::Xrc => {
                self.responder.request(Arrival { qp: core, receives, resources, packet })
            }
            // An initiator takes no requests, no packet is raw, and changes of keys stay at home.
            Transport::Dc | Transport::RawPacket | Transport::RegUmr => return,
        };
        if let Some(fetch) = self.receives.announced.take() {
            self.requester.errands.add(fetch);
        }
        if taken == Err(Fatal) {
            self.enter_error();
        }
    }

    /// Whether a packet that came by `route` is from the peer of a connection.
    pub(crate) fn is_from_peer(&self, route: &Route) -> bool {
        self.core.route.is_some_and(|to| to.is_way_back(route))
    }

    /// Takes a response.
    fn respond(&mut self, resources: &mut Resources, packet: &Packet<'_>, now: Duration) -> Result<(), Broken> {
        if self.core.transport() == Transport::Dc {
            self.initiator.respond(&mut self.core, &mut self.requester, resources, packet, now)
        } else {
            self.requester.respond(&self.core, resources, packet, now)
        }
    }

    /// When [`Qp::step`] has something to do although nothing happens.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        match self.core.state {
            QpState::Rts | QpState::Sqd => {
                let Requester { retry, held_until, .. } = &self.requester;
                let timers = [retry.deadline(), *held_until, self.initiator.deadline(), self.responder.deadline()];
                timers.into_iter().flatten().min()
            }
            QpState::Rtr => self.responder.deadline(),
            _ => None,
        }
    }

    /// Sends frames at the rate of this index from now on; 0: without a limit.
    pub(crate) fn set_rate(&mut self, index: u16) {
        self.core.rate = index;
    }

    /// A completion could not be reported.
    pub(crate) fn strand(&mut self, resources: &mut Resources) {
        if !matches!(self.core.state, QpState::Reset | QpState::Err) {
            self.leave_target(resources);
            self.enter_error();
            self.core.raise(resources, QpEvent::Fatal);
        }
    }

    /// A send WQE failed: a reliable QP is in error, others can still receive (IBTA vol. 1, 10.3.1). One that changes
    /// keys receives nothing. If the QP is a DCI with streams, the failure may stop only one of the streams.
    fn stop_sending(&mut self, resources: &mut Resources, broken: Broken) {
        self.leave_target(resources);
        if let Broken::Stream(stream) = broken {
            return self.requester.go_on_without(stream);
        }
        match self.core.transport() {
            Transport::Rc | Transport::Xrc | Transport::Dc | Transport::RegUmr => self.enter_error(),
            _ if self.core.role != Role::Qp => self.enter_error(),
            Transport::Uc | Transport::Ud | Transport::RawPacket => self.core.state = QpState::Sqe,
        }
    }

    /// From now on each step flushes some of the posted WQEs.
    fn enter_error(&mut self) {
        self.core.state = QpState::Err;
        self.responder = Responder::new(Psn::default());
    }
}
