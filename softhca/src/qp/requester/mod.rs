//! The requester: fetches WQEs from the send queue, sends their packets, repeats lost ones, and completes WQEs in
//! order.
//!
//! PSNs run through the queue without a gap: `unacked` is the oldest one that the peer has not acknowledged, and
//! everything before it has completed. Retransmission ("go back N") moves the cursor back to it; packets are made
//! again from the WQE and from memory.

mod acknowledge;
mod flush;
mod local;
mod one_sided;
mod pace;
pub(super) mod request;
mod streams;
pub(super) mod timer;
use streams::FailedStreams;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::failure::Failure;
use super::psn::{HALF, Psn};
use super::qp_core::QpCore;
use super::responder::rendezvous::Errands;
use crate::config::Generation;
use crate::context::{QpState, Transport};
use crate::cq::{Completion, Syndrome};
use crate::explanation::{Reason, Subject};
use crate::resources::Resources;
use crate::wire::loan::OneSided;
use crate::wqe::{self, DcTarget, Fence, SendOp, Source};
use local::Hold;
use pace::Pace;
use request::Request;
use timer::Retry;

/// Request packets that may be on their way without an acknowledgement.
const WINDOW_PACKETS: u32 = 128;

/// Request segments that may be on their way without an acknowledgement, on wires that carry segments. A ring of shared
/// memory has room for them.
const WINDOW_SEGMENTS: u32 = 8;

/// WQEs that may be fetched and not complete.
const MAX_REQUESTS: usize = 256;

/// Packets sent in one step at most.
const PACKETS_PER_STEP: usize = 16;

/// A WQE has completed in error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The QP can send no more.
    Queue,
    /// A stream can send no more; the other streams of the QP can.
    Stream(u16),
}

/// Whether the indices in WQEs do not count (`cmd_hca_cap.wqe_index_ignore_cap`): in static rings, and in those of send
/// queues of frames that start others. DPDK gives all WQEs of both the index 0 (`drivers/net/mlx5/mlx5_txpp.c`,
/// `mlx5_txpp_fill_wqe_rearm_queue`).
fn ignores_index(qp: &QpCore, resources: &Resources) -> bool {
    let starts_others = qp.context.cross_channel.master && qp.transport() == Transport::RawPacket;
    qp.context.static_ring || starts_others && resources.generation >= Generation::ConnectX6Dx
}

/// Requests to be executed in place of the peer's responder, and the places of their bytes: addresses and lengths.
type Drafts = (Vec<OneSided>, Vec<(u64, usize)>);

/// State of the send queue.
#[derive(Debug, Default)]
pub(super) struct Requester {
    /// Producer index: WQEBBs that the host has rung for.
    producer: u16,
    /// Index of the next WQE to fetch.
    pub(super) next_wqe: u16,
    /// WQEs that the register received whole, by index, until they are fetched: the device executes these copies and
    /// not the bytes in the ring.
    pub(super) copies: BTreeMap<u16, Box<[u8]>>,
    /// WQEs fetched and not complete, in order.
    pub(super) requests: VecDeque<Request>,
    /// Requests of the device's own, which is all that a QP without a send queue has.
    pub(super) errands: Errands,
    /// The request to send from, as an index into `requests`, and its next packet.
    cursor: usize,
    next_packet: u32,
    /// Oldest PSN without an acknowledgement.
    pub(super) unacked: Psn,
    /// PSN after the last one ever sent, or asked for.
    pub(super) sent_end: Psn,
    /// PSN of the next request to be fetched.
    next_psn: Psn,
    /// Packets sent since the cursor last moved back, less those acknowledged.
    in_flight: u32,
    /// READs and atomics between the front of the queue and the cursor.
    answers_due: u32,
    /// Timers.
    pub(super) retry: Retry,
    /// When the request under the cursor, which waits for the clock, is to be looked at again.
    pub(super) held_until: Option<Duration>,
    /// The last step has sent less than it might, because of others: of the outbox, the clock, a rate or another queue.
    is_held: bool,
    /// How far the queue has used up its rate.
    pace: Pace,
    /// The request that was fetched last waits for the clock.
    fetched_wait: bool,
    /// DC: the target that requests can go to now.
    pub(super) reached: Option<DcTarget>,
    /// DC: streams of which nothing is executed.
    pub(super) failed_streams: FailedStreams,
    /// The last index of a doorbell that was not believed: one that is read again and again is reported once.
    pub(super) disbelieved: Option<u16>,
    /// A CQE with an error has been written since the queue could last send.
    pub(super) error_told: bool,
    /// The cursor has moved back because an answer was missing, and nothing has been acknowledged since.
    pub(super) gone_back: bool,
    /// A packet of the peer has acknowledged something: its present attributes lead there.
    pub(super) has_met_peer: bool,
    /// Requests for a batch, and the places of their bytes. Empty between steps; kept for their memory.
    drafts: Drafts,
    /// How many batches in a row were full of small requests.
    small_batches: u8,
}

impl Requester {
    /// The first packet will have PSN `psn`. Nothing is outstanding.
    pub(super) fn start_at(&mut self, psn: Psn) {
        (self.unacked, self.sent_end, self.next_psn) = (psn, psn, psn);
        self.in_flight = 0;
        self.retry = Retry::default();
    }

    /// A doorbell was rung: WQEs up to `producer` are in the ring. An index that the ring cannot have is not believed.
    pub(super) fn ring(&mut self, qp: &QpCore, producer: u16) {
        let Some(sq) = qp.context.sq else { return };
        let ahead = producer.wrapping_sub(self.next_wqe);
        // Round a static ring, the device goes many times: as far as the index can tell ahead from behind.
        let most = if qp.context.static_ring { 1 << 15 } else { 1 << sq.log_size };
        if u32::from(ahead) <= most {
            self.producer = producer;
        } else if producer != self.producer && self.disbelieved.replace(producer) != Some(producer) {
            log::warn!("QP {:#x}: doorbell with index {producer:#x}, ring is at {:#x}", qp.qpn, self.next_wqe);
        }
    }

    /// The register received the whole of the WQE at `index`.
    pub(super) fn pushed(&mut self, index: u16, wqe: &[u8]) {
        // One that the ring has given already is not executed again.
        if index.wrapping_sub(self.next_wqe) < self.producer.wrapping_sub(self.next_wqe) {
            self.copies.insert(index, wqe.into());
        }
    }

    /// WQEBB indices: of the next WQE to fetch, and up to which WQEs are announced.
    pub(super) fn wqebb_counters(&self) -> (u16, u16) {
        (self.next_wqe, self.producer)
    }

    /// There is a WQE that has not been fetched.
    pub(super) fn is_rung(&self) -> bool {
        self.producer != self.next_wqe
    }

    /// No WQE is being executed.
    pub(super) fn is_drained(&self) -> bool {
        self.requests.front().is_none_or(|request| !request.started)
    }

    /// Sends the packets that may be sent, within the budget of one step. `true` if anything was done.
    pub(super) fn transmit(&mut self, qp: &QpCore, resources: &mut Resources, now: Duration) -> Result<bool, Broken> {
        let mut worked = false;
        (self.held_until, self.is_held) = (None, true);
        let completed = resources.sends_completed;
        let window = WINDOW_PACKETS.max(WINDOW_SEGMENTS * u32::from(qp.together(resources, u32::MAX)));
        for _ in 0..PACKETS_PER_STEP {
            if self.in_flight >= window || self.retry.is_waiting() {
                self.is_held = false;
                break;
            }
            if !qp.may_send(resources) {
                break;
            }
            let is_at_end = self.cursor == self.requests.len();
            if is_at_end && !(qp.state == QpState::Rts && self.fetch(qp, resources)) || !self.may_send_next(qp) {
                self.is_held = false;
                break;
            }
            match local::hold(&self.requests[self.cursor], qp, resources) {
                Hold::None => {}
                Hold::Event => break,
                Hold::Until(time) => {
                    self.held_until = Some(time);
                    break;
                }
            }
            let request = &self.requests[self.cursor];
            self.held_until = match request.leaving {
                Some(index) => request.frame_bytes(index).and_then(|bytes| self.pace.wait(bytes, qp, resources)),
                None if request.started => None,
                None => self.pace.wait_to_begin(qp, resources),
            };
            if self.held_until.is_some() {
                break;
            }
            worked = true;
            // The port takes the frames before this step ends.
            if matches!(request.wqe.op, SendOp::Frame(_)) && resources.egress.is_full() {
                break;
            }
            if !self.requests[self.cursor].started {
                self.pace.begun(qp, resources);
            }
            self.send_next(qp, resources, now)?;
        }
        // The one at the front may have failed without having been sent.
        self.retire(qp, resources)?;
        Ok(worked || resources.sends_completed != completed)
    }

    /// Fetches the next WQE, if there is one and room for it.
    fn fetch(&mut self, qp: &QpCore, resources: &mut Resources) -> bool {
        let Some(sq) = &qp.context.sq else { return self.fetch_errand(qp) };
        let blocked = self.requests.back().is_some_and(|last| last.failure.is_some());
        if !self.is_rung() || self.requests.len() >= MAX_REQUESTS || blocked {
            return false;
        }
        let (index, memory) = (self.next_wqe, &*resources.memory);
        let service = (qp.transport(), qp.context.signed);
        let source = match self.copies.get(&index) {
            Some(copy) => Source::Copy(copy),
            None if ignores_index(qp, resources) => Source::Static(memory),
            None => Source::Ring(memory),
        };
        let mut request = match wqe::fetch(sq, qp.qpn, service, index, self.producer, source) {
            Ok(wqe) if resources.sink => Request::new(wqe, self.next_psn, qp).sunk(),
            Ok(wqe) if qp.context.streams.is_some() && wqe.target.is_some() && self.failed_streams.has(wqe.stream) => {
                Request::new(wqe, self.next_psn, qp).flushed()
            }
            Ok(wqe) => Request::new(wqe, self.next_psn, qp),
            Err(fault) => {
                log::warn!("QP {:#x}: send WQE {index:#x}: {fault}", qp.qpn);
                Request::broken(index, wqe::extent(sq, index, self.producer, memory), self.next_psn, fault)
            }
        };
        if !self.has_psns_for(&request) {
            return false;
        }
        self.copies.remove(&index);
        if request.failure.is_none() {
            if let Some((syndrome, vendor)) = resources.script.of_wqe(qp.qpn, index) {
                request.fail(Failure::new(syndrome, vendor, "the script has it fail"));
            }
        }
        request.follows_wait = self.fetched_wait;
        self.fetched_wait = matches!(request.wqe.op, SendOp::WaitTime(_));
        self.next_wqe = self.next_wqe.wrapping_add(request.wqe.wqebbs);
        self.next_psn = self.next_psn.plus(request.span);
        self.requests.push_back(request);
        true
    }

    /// Takes the device's next own request, if there is one and PSNs for it. Few are outstanding, since each message's
    /// second request waits for the answer to its first.
    fn fetch_errand(&mut self, qp: &QpCore) -> bool {
        let Some((wqe, errand)) = self.errands.pop() else { return false };
        let mut request = Request::new(wqe, self.next_psn, qp);
        request.errand = Some(Box::new(errand));
        if !self.has_psns_for(&request) {
            self.errands.put_back((request.wqe, errand));
            return false;
        }
        self.next_psn = self.next_psn.plus(request.span);
        self.requests.push_back(request);
        true
    }

    /// More than half of the PSN space on its way would make the past look like the future. The longest message has
    /// exactly half of it.
    fn has_psns_for(&self, request: &Request) -> bool {
        self.next_psn.after(self.unacked) + request.span <= HALF
    }

    /// Whether the request under the cursor may go out now. It must not have failed. The fence and the limit of
    /// outstanding READs and atomics must permit it. A draining queue starts no new request. A DCI must be connected
    /// to its target.
    fn may_send_next(&self, qp: &QpCore) -> bool {
        let request = &self.requests[self.cursor];
        let fenced = match request.wqe.fence {
            Fence::None | Fence::Small => false,
            Fence::Full => self.answers_due > 0,
            Fence::Strong => self.cursor > 0,
        };
        // A queue pair's context has the limit as a power of two. Linux leaves that field at 0, so the limit at 1,
        // where a program asks for 0 or for nothing (`__mlx5_ib_modify_qp`); initiators of dynamic connections often
        // do.
        let limit = u32::from(qp.attr.max_rd_atomic.unwrap_or(0).max(1));
        let full = request.is_answered() && self.answers_due >= limit;
        let starts = request.started || qp.state == QpState::Rts;
        let reached = request.wqe.target.is_none() || request.wqe.target.as_deref() == self.reached.as_ref();
        request.failure.is_none() && starts && reached && !(self.next_packet == 0 && (fenced || full))
    }

    /// Sends the packet under the cursor and moves the cursor on.
    fn send_next(&mut self, qp: &QpCore, resources: &mut Resources, now: Duration) -> Result<(), Broken> {
        let request = &mut self.requests[self.cursor];
        // Going back to a lost packet before it does not do it again.
        let again = std::mem::replace(&mut request.started, true);
        if request.span == 0 {
            match local::execute(request, again, qp, resources) {
                Ok(()) => self.cursor += 1,
                Err(failure) => request.fail(failure),
            }
            return self.retire(qp, resources);
        }
        let answered = request.is_answered();
        // The rest of a READ is requested again from the first missing packet of its answer on.
        let index = if answered { self.acked_packets_of(self.cursor) } else { self.next_packet };
        let request = &mut self.requests[self.cursor];
        let packets = request.together(qp, resources, index);
        let sent = match request.wqe.op {
            SendOp::Frame(framing) => match self.pace.send(request, framing, qp, resources) {
                // It goes on when the next frame may leave.
                Ok(false) => return Ok(()),
                sent => sent.map(drop),
            },
            _ => request.frame(qp, resources, index, packets).map(|frame| qp.send(resources, frame)),
        };
        resources.report_signature_errors(qp.context.send_cqn, qp.qpn);
        if let Err(failure) = sent {
            request.fail(failure);
            return self.retire(qp, resources);
        }
        let packets = u32::from(packets);
        let after = if answered { request.end() } else { request.first.plus(index + packets) };
        if after.after(self.unacked) > self.sent_end.after(self.unacked) {
            self.sent_end = after;
        }
        self.in_flight += packets;
        self.answers_due += u32::from(answered);
        self.next_packet = index + packets;
        if answered || self.next_packet >= request.packets() {
            self.cursor += 1;
            self.next_packet = 0;
        }
        if qp.is_reliable() {
            self.retry.sent(&qp.attr, now);
            return Ok(());
        }
        // Without acknowledgements, sent requests are done.
        self.unacked = self.sent_end;
        self.in_flight = 0;
        self.retire(qp, resources)
    }

    /// DC: the request that waits for a connection to its target. All before it are complete.
    pub(super) fn waits_for_target(&mut self, qp: &QpCore) -> Option<&mut Request> {
        let (cursor, waiting, reached) = (self.cursor, self.retry.is_waiting(), self.reached);
        let front = self.requests.front_mut().filter(|_| cursor == 0 && !waiting)?;
        let starts = front.started || qp.state == QpState::Rts;
        let elsewhere = front.wqe.target.is_some() && front.wqe.target.as_deref() != reached.as_ref();
        (front.failure.is_none() && starts && elsewhere).then_some(front)
    }

    /// Whether the last step has left something that no doorbell, packet, command or transport timer begins.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }

    /// There is no request at all.
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && !self.is_rung()
    }

    /// How many PSNs of request `at` have been acknowledged: only the front one can have any.
    fn acked_packets_of(&self, at: usize) -> u32 {
        if at == 0 { self.unacked.after(self.requests[0].first) } else { 0 }
    }

    /// Acknowledges everything before `end`. Stops at a READ or atomic whose answer has not come, and returns `false`
    /// then.
    pub(super) fn acknowledge(&mut self, qp: &QpCore, resources: &mut Resources, end: Psn) -> Result<bool, Broken> {
        while self.unacked != end {
            let Some(front) = self.requests.front() else { break };
            if front.is_answered() {
                return Ok(false);
            }
            let step = end.after(self.unacked).min(front.end().after(self.unacked));
            self.pass(step);
            self.retire(qp, resources)?;
        }
        Ok(true)
    }

    /// The next `psns` PSNs have been acknowledged.
    pub(super) fn pass(&mut self, psns: u32) {
        self.unacked = self.unacked.plus(psns);
        self.gone_back = false;
        // An answered request is one packet, which is off the wire when its answer is complete.
        if self.requests.front().is_some_and(|front| !front.is_answered()) {
            self.in_flight = self.in_flight.saturating_sub(psns);
            // An old transmission may be acknowledged while the cursor is back for another.
            if self.cursor == 0 {
                self.next_packet = self.next_packet.max(self.acked_packets_of(0));
            }
        }
    }

    /// Completes the requests at the front of which nothing is left to do.
    pub(super) fn retire(&mut self, qp: &QpCore, resources: &mut Resources) -> Result<(), Broken> {
        while let Some(front) = self.requests.front() {
            if front.is_flushed {
                self.flush_front(qp, resources);
                continue;
            }
            if let Some(&failure) = front.failure.as_deref() {
                return Err(self.fail_front(qp, resources, failure));
            }
            if !front.started || self.unacked.after(front.first) < front.span {
                break;
            }
            let Some(done) = self.pop_front() else { break };
            resources.sends_completed += 1;
            if let Some(errand) = done.errand {
                errand.done(qp, resources);
                continue;
            }
            if done.wqe.signaled || qp.context.signal_all {
                let byte_cnt = match done.wqe.op {
                    // DPDK `drivers/compress/mlx5/mlx5_compress.c`: the bytes produced.
                    SendOp::Memcpy(copy) => copy.to.len,
                    _ if done.is_answered() => done.len(),
                    _ => 0,
                };
                resources.complete(
                    qp.context.send_cqn,
                    qp.context.timestamps,
                    Completion::Request {
                        qpn: qp.qpn,
                        uidx: qp.context.uidx,
                        opcode: done.wqe.opcode,
                        wqe_counter: done.wqe.index,
                        byte_cnt,
                        inline: done.inline_result.map(|inline| *inline),
                    },
                );
            }
        }
        Ok(())
    }

    pub(super) fn pop_front(&mut self) -> Option<Request> {
        let done = self.requests.pop_front()?;
        if self.cursor > 0 {
            self.cursor -= 1;
            if done.is_answered() {
                self.answers_due = self.answers_due.saturating_sub(1);
                self.in_flight = self.in_flight.saturating_sub(1);
            }
        } else {
            self.next_packet = 0;
        }
        Some(done)
    }

    /// The oldest request completes in error, whether it asked for a CQE or not.
    pub(super) fn fail_front(&mut self, qp: &QpCore, resources: &mut Resources, failure: Failure) -> Broken {
        if let Some(failed) = self.pop_front() {
            if let Some(errand) = failed.errand {
                errand.failed(qp, resources);
                return Broken::Queue;
            }
            self.error_told = true;
            complete_in_error(qp, resources, failed.wqe.index, failed.wqe.opcode, failure);
            // One that makes no sense has no stream that could be believed.
            if let (Some(streams), Some(_)) = (qp.context.streams, failed.wqe.target) {
                if self.failed_streams.add(failed.wqe.stream, streams) {
                    return Broken::Stream(failed.wqe.stream);
                }
            }
        }
        Broken::Queue
    }

    /// DC: goes on without `stream`. A request of the stream has failed, and the connection with it. The remaining
    /// requests are sent again; PSNs begin after the last one sent.
    pub(super) fn go_on_without(&mut self, stream: u16) {
        self.start_at(self.sent_end);
        for request in &mut self.requests {
            if request.wqe.target.is_some() && request.wqe.stream == stream {
                request.flush();
            }
            request.first = self.next_psn;
            self.next_psn = self.next_psn.plus(request.span);
        }
        self.gone_back = false;
        self.go_back();
    }

    /// Goes back to the oldest packet without an acknowledgement.
    pub(super) fn go_back(&mut self) {
        (self.answers_due, self.in_flight) = (0, 0);
        (self.cursor, self.next_packet) = (0, self.first_packet_to_repeat());
    }

    /// Nothing has been sent (again) since the queue went back.
    pub(super) fn is_back(&self) -> bool {
        (self.cursor, self.next_packet) == (0, self.first_packet_to_repeat())
    }

    /// Where in the oldest request its oldest packet without an acknowledgement is.
    fn first_packet_to_repeat(&self) -> u32 {
        let in_parts = self.requests.front().is_some_and(|front| !front.is_answered());
        if in_parts { self.acked_packets_of(0) } else { 0 }
    }

    /// Goes back after the transport timer has run out or a packet turned out to be lost, if that has not happened
    /// too often.
    pub(super) fn try_again(&mut self, qp: &QpCore, resources: &mut Resources) -> Result<(), Broken> {
        if !self.retry.may_retry(&qp.attr) {
            let (retries, timeout) = (qp.attr.retry_cnt.unwrap_or(0), self.retry.shortest_timeout(&qp.attr));
            let reason = Reason::NoAnswer { retries, timeout };
            return Err(self.fail_front(qp, resources, Failure::TRANSPORT_RETRY.because(reason)));
        }
        self.go_back();
        Ok(())
    }

    /// Lets the timers run. `true` if one ran out.
    pub(super) fn check_timers(
        &mut self,
        qp: &QpCore,
        resources: &mut Resources,
        now: Duration,
    ) -> Result<bool, Broken> {
        if self.retry.end_wait(now) {
            return Ok(true);
        }
        if self.retry.is_lost(now) {
            resources.count(qp.counter, |counter| &mut counter.local_ack_timeout_err);
            self.try_again(qp, resources)?;
            return Ok(true);
        }
        Ok(false)
    }
}

pub(super) fn complete_in_error(
    qp: &QpCore,
    resources: &mut Resources,
    wqe_counter: u16,
    opcode: u8,
    failure: Failure,
) {
    resources.sends_completed += 1;
    resources.count_request_error(qp.counter, failure.syndrome);
    if failure.syndrome != Syndrome::WrFlush {
        resources.explanations.add(qp.qpn, Subject::Send(wqe_counter, failure.syndrome), failure.reason);
    }
    resources.complete(
        qp.context.send_cqn,
        qp.context.timestamps,
        Completion::Error {
            qpn: qp.qpn,
            uidx: qp.context.uidx,
            requester: true,
            opcode,
            wqe_counter,
            strides: None,
            syndrome: failure.syndrome,
            vendor_syndrome: failure.vendor,
            hardware_syndrome: failure.hardware,
        },
    );
}
