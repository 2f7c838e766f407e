//! One connection of a DCT: RC's responder, for one initiator.

use std::time::Duration;

use crate::packet::{AcceptEth, Aeth, AethSyndrome, Bth, DcEth, Headers, Opcode, Operation, Packet, Place, Tail};
use crate::qp::failure::Failure;
use crate::qp::psn::Psn;
use crate::qp::qp_core::{DcPeer, QpCore};
use crate::qp::responder::receives::Receives;
use crate::qp::responder::{Arrival, Fatal, Responder};
use crate::resources::Resources;
use crate::wire::{Frame, Route};

/// A connection.
#[derive(Debug)]
pub(in crate::qp) struct Connection {
    core: QpCore,
    responder: Responder,
    receives: Receives,
    /// The initiator's number of its attempt to connect.
    attempt: u32,
    first: Psn,
    /// A request has come, so the initiator knows of the connection.
    pub(super) confirmed: bool,
    /// How long it stays without a packet.
    lifetime: Duration,
    /// When the last packet came.
    heard: Duration,
}

impl Connection {
    /// A connection of `core`, which has the initiator as its peer, for `attempt`; the first request has PSN `first`.
    pub(in crate::qp) fn new(core: QpCore, attempt: u32, first: Psn, lifetime: Duration, now: Duration) -> Self {
        let receives = Receives::new(&core);
        let responder = Responder::new(first);
        Self { core, responder, receives, attempt, first, confirmed: false, lifetime, heard: now }
    }

    /// Whether its initiator is the QP `source` at the end of `route`.
    pub(super) fn is_with(&self, source: u32, route: &Route) -> bool {
        self.core.dc_peer.is_some_and(|peer| peer.number == source) && self.core.route.is_some_and(|way| way == *route)
    }

    /// Whether it was made for this attempt.
    pub(super) fn is_of(&self, attempt: u32) -> bool {
        self.attempt == attempt
    }

    /// Tells the initiator of it.
    pub(in crate::qp) fn accept(&mut self, resources: &mut Resources, now: Duration) {
        self.heard = now;
        let (Some(DcPeer { number, connection }), Some(route)) = (self.core.dc_peer, self.core.route) else { return };
        let Some(opcode) = Opcode::of(self.core.transport(), Operation::Accept, Place::Only, Tail::None) else {
            return;
        };
        let mut headers = Headers::new(Bth {
            opcode,
            solicited: false,
            migrated: true,
            pkey: self.core.pkey,
            dest_qp: number,
            ack_request: false,
            psn: self.first.get(),
        });
        headers.dc = Some(DcEth { source: self.core.qpn, connection: self.attempt });
        headers.aeth = Some(Aeth { syndrome: AethSyndrome::Ack(AethSyndrome::NO_CREDITS), msn: 0 });
        headers.accept = Some(AcceptEth { connection });
        match headers.build(0) {
            Ok(draft) if self.core.may_send(resources) => {
                self.core.send(resources, Frame::new(route, draft.finish()));
            }
            _ => {}
        }
    }

    /// Takes a request.
    pub(in crate::qp) fn request(
        &mut self,
        resources: &mut Resources,
        packet: &Packet<'_>,
        now: Duration,
    ) -> Result<(), Fatal> {
        self.heard = now;
        self.responder.request(Arrival { qp: &self.core, receives: &mut self.receives, resources, packet })
    }

    /// Sends replies. `true` if there were any; an error after a refusal, with which the connection ends.
    pub(in crate::qp) fn reply(&mut self, resources: &mut Resources) -> Result<bool, Fatal> {
        self.responder.reply(&self.core, resources)
    }

    /// Whether its initiator waits for an answer.
    pub(super) fn owes_answers(&self) -> bool {
        !self.responder.has_replied()
    }

    /// When it ends if nothing arrives; `at_most` shortens its life.
    pub(in crate::qp) fn end(&self, at_most: Duration) -> Duration {
        self.heard.saturating_add(self.lifetime.min(at_most))
    }

    /// Ends it: a message of which a part is missing will not be completed, so its receive WQE fails.
    pub(super) fn close(mut self, resources: &mut Resources) {
        self.receives.fail(&self.core, resources, Failure::OUT_OF_SEQUENCE);
    }
}
