//! The initiator's part of dynamic connections: to which target a DCI is connected, and when it connects and leaves.
//!
//! It connects when the first request in its send queue names another target than the connected one. All requests to
//! the connected target are complete then. It leaves a target for another, or when there has been nothing to send for
//! a while. In between, its requester works as RC's does.

use std::time::Duration;

use crate::packet::{AethSyndrome, Bth, ConnectEth, DcEth, Headers, NakCode, Opcode, Operation, Packet, Place, Tail};
use crate::qp::failure::Failure;
use crate::qp::qp_core::{DcPeer, QpCore};
use crate::qp::requester::{Broken, Requester};
use crate::resources::Resources;
use crate::wire::{Frame, Route};
use crate::wqe::DcTarget;

/// A connection without requests ends after this time. The time is short enough to leave targets free for others, and
/// long enough that a conversation of small messages does not connect for each message.
const IDLE: Duration = Duration::from_millis(10);

/// A target keeps a connection on which nothing arrives for longer than [`IDLE`] and then all repetitions of a request.
/// These take at most this much longer than the transport timer, as log2 ([`crate::qp::requester::timer`]).
const REPETITIONS: u8 = 5;
/// The code of a transport timer that is longer than [`IDLE`]: 16.8 ms.
const PAST_IDLE: u8 = 12;
/// The longest lifetime: also of a DCI whose transport timer never runs out.
const LONGEST_LIFETIME: u8 = 31;

/// A DCI's connection.
#[derive(Debug, Default)]
pub(in crate::qp) struct Initiator {
    link: Link,
    /// Since when it has been connected without requests.
    idle_since: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Link {
    /// Not connected.
    #[default]
    Down,
    /// The target has been asked, or is to be.
    Asking {
        target: DcTarget,
        /// The number by which the answer tells that it is for this attempt.
        attempt: u32,
        /// The packet is on its way.
        asked: bool,
    },
    /// The core's `dc_peer` is the other end, and the requester's `reached` the target.
    Up,
}

impl Initiator {
    /// Connects, or leaves, if it is time. `true` if it did anything.
    pub(in crate::qp) fn advance(
        &mut self,
        qp: &mut QpCore,
        requester: &mut Requester,
        resources: &mut Resources,
        now: Duration,
    ) -> bool {
        let Some(request) = requester.waits_for_target(qp) else {
            return self.leave_if_idle(qp, requester, resources, now);
        };
        let Some(target) = request.wqe.target.as_deref().copied() else { return false };
        let first = request.first.get();
        self.idle_since = None;
        let attempt = match self.link {
            Link::Asking { asked: true, .. } => return false,
            Link::Asking { target: asking, attempt, .. } if asking == target => attempt,
            _ => {
                self.leave(qp, requester, resources);
                resources.next_dc_attempt()
            }
        };
        if !qp.may_send(resources) {
            return false;
        }
        let Some(request) = requester.waits_for_target(qp) else { return false };
        let port = qp.port(resources);
        let Some(route) = port.and_then(|port| Route::along(port, &target.vector.path(port.link))) else {
            request.fail(Failure::BAD_ADDRESS);
            return true;
        };
        request.started = true;
        requester.retry.sent(&qp.attr, now);
        self.link = Link::Asking { target, attempt, asked: true };
        qp.route = Some(route);
        let mut headers = headers(qp, Operation::Connect, target.vector.dest_qpn, first);
        if let Some(headers) = &mut headers {
            headers.dc = Some(DcEth { source: qp.qpn, connection: attempt });
            let timeout = qp.attr.timeout.filter(|&code| code != 0);
            let lifetime = timeout.map_or(LONGEST_LIFETIME, |code| (code + REPETITIONS).max(PAST_IDLE) + 1);
            headers.connect = Some(ConnectEth {
                access_key: target.access_key,
                log_mtu: qp.mtu.ilog2() as u8,
                lifetime: lifetime.min(LONGEST_LIFETIME),
            });
        }
        send(qp, resources, route, headers);
        true
    }

    fn leave_if_idle(
        &mut self,
        qp: &mut QpCore,
        requester: &mut Requester,
        resources: &mut Resources,
        now: Duration,
    ) -> bool {
        if self.link != Link::Up || !requester.is_empty() {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert(now);
        let is_over = now.saturating_sub(since) >= IDLE;
        if is_over {
            self.leave(qp, requester, resources);
        }
        is_over
    }

    /// Ends the connection, and says so to the target. If that is lost, the target finds out by its timer.
    pub(in crate::qp) fn leave(&mut self, qp: &mut QpCore, requester: &mut Requester, resources: &mut Resources) {
        if let (Some(peer), Some(route)) = (qp.dc_peer, qp.route) {
            let mut headers = headers(qp, Operation::Disconnect, peer.number, requester.sent_end.get());
            if let Some(headers) = &mut headers {
                headers.dc = qp.dc_header();
            }
            if qp.may_send(resources) {
                send(qp, resources, route, headers);
            }
        }
        if self.link != Link::Down {
            (qp.dc_peer, qp.route, requester.reached) = (None, None, None);
        }
        *self = Self::default();
    }

    /// The target that has been asked for a connection, if one has.
    pub(in crate::qp) fn asked(&self) -> Option<u32> {
        match self.link {
            Link::Asking { target, .. } => Some(target.vector.dest_qpn),
            _ => None,
        }
    }

    /// The answer has not come, or says that the target will have room later: ask the target once more.
    pub(in crate::qp) fn ask_again(&mut self) {
        if let Link::Asking { asked, .. } = &mut self.link {
            *asked = false;
        }
    }

    /// Takes a response: of the target that was asked, or of the one it is connected to. Others are ghosts of earlier
    /// connections.
    pub(in crate::qp) fn respond(
        &mut self,
        qp: &mut QpCore,
        requester: &mut Requester,
        resources: &mut Resources,
        packet: &Packet<'_>,
        now: Duration,
    ) -> Result<(), Broken> {
        let Some(dc) = packet.headers.dc else { return Ok(()) };
        let syndrome = packet.headers.aeth.map(|aeth| aeth.syndrome);
        match self.link {
            Link::Asking { target, attempt, .. } if (dc.source, dc.connection) == (target.vector.dest_qpn, attempt) => {
                match (syndrome, packet.headers.accept) {
                    (Some(AethSyndrome::Ack(_)), Some(accept)) => {
                        self.link = Link::Up;
                        qp.dc_peer = Some(DcPeer { number: dc.source, connection: accept.connection });
                        requester.reached = Some(target);
                        requester.retry.progress(&qp.attr, false, now);
                        Ok(())
                    }
                    (Some(AethSyndrome::RnrNak(code)), None) => {
                        self.ask_again();
                        requester.responder_not_ready(qp, resources, code, now)
                    }
                    (Some(AethSyndrome::Nak(code)), None) if code != NakCode::PSN_SEQUENCE => {
                        requester.refused(qp, resources, code)
                    }
                    _ => Ok(()),
                }
            }
            Link::Up if qp.dc_peer == Some(DcPeer { number: dc.source, connection: dc.connection }) => {
                if packet.headers.accept.is_some() { Ok(()) } else { requester.respond(qp, resources, packet, now) }
            }
            _ => Ok(()),
        }
    }

    /// When [`Self::advance`] has something to do although nothing happens.
    pub(in crate::qp) fn deadline(&self) -> Option<Duration> {
        self.idle_since.map(|since| since.saturating_add(IDLE))
    }
}

/// The headers of a packet that has no part in the requests.
fn headers(qp: &QpCore, operation: Operation, dest_qp: u32, psn: u32) -> Option<Headers> {
    Some(Headers::new(Bth {
        opcode: Opcode::of(qp.transport(), operation, Place::Only, Tail::None)?,
        solicited: false,
        migrated: true,
        pkey: qp.pkey,
        dest_qp,
        ack_request: operation == Operation::Connect,
        psn,
    }))
}

fn send(qp: &QpCore, resources: &mut Resources, route: Route, headers: Option<Headers>) {
    if let Some(draft) = headers.and_then(|headers| headers.build(0).ok()) {
        qp.send(resources, Frame::new(route, draft.finish()));
    }
}
