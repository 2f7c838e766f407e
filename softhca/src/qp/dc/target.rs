//! Targets of dynamic connections (DCT): the right to connect, and the present connections. They must never know which
//! device an initiator is on.

use std::collections::BTreeMap;
use std::time::Duration;

use super::connection::Connection;
use crate::config::PortConfig;
use crate::context::{DctContext, DctState, QpAttr, QpContext, QpState, ReceiveSource, Transport};
use crate::event::{DctEvent, Event};
use crate::packet::{AethSyndrome, ConnectEth, DcEth, NakCode, Operation, Packet};
use crate::qp::psn::Psn;
use crate::qp::qp_core::{self, DcPeer, QpCore};
use crate::qp::requester::request::MAX_MESSAGE;
use crate::qp::requester::timer;
use crate::qp::responder::replies;
use crate::resources::Resources;
use crate::wire::{Frame, Grh, Macs, Route, Sender};

/// Connections that a DCT can have at once. Initiators that find it full are told to come again later.
pub(crate) const MAX_CONNECTIONS: u32 = 4096;

/// How long a DCT that is to be drained waits for an initiator that says nothing.
const DRAIN_SILENCE: Duration = Duration::from_millis(500);

/// Result of a query of a DCT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DctInfo {
    /// As it was created.
    pub context: DctContext,
    /// State.
    pub state: DctState,
    /// Attempts to connect with a wrong access key.
    pub key_violations: u32,
    /// Initiators that are connected.
    pub connections: usize,
}

/// A target.
#[derive(Debug, Default)]
pub(crate) struct Dct {
    number: u32,
    context: DctContext,
    state: DctState,
    connections: BTreeMap<u32, Connection>,
    /// Number of the last connection; none has 0.
    last_connection: u32,
    key_violations: u32,
    /// A wrong access key raises an event.
    armed: bool,
}

impl Dct {
    /// A target without connections.
    pub(crate) fn new(number: u32, context: DctContext) -> Self {
        Self { number, context, ..Self::default() }
    }

    /// State and context.
    pub(crate) fn query(&self) -> DctInfo {
        let Self { context, state, key_violations, .. } = *self;
        DctInfo { context, state, key_violations, connections: self.connections.len() }
    }

    /// The context that it was created from.
    pub(crate) fn context(&self) -> &DctContext {
        &self.context
    }

    /// Lets no further initiator connect. The event comes when all connected initiators have left.
    pub(crate) fn drain(&mut self) {
        if self.state == DctState::Active {
            self.state = DctState::Draining;
        }
    }

    /// The next wrong access key raises an event.
    pub(crate) fn arm(&mut self) {
        self.armed = true;
    }

    /// A completion could not be reported: the target serves no initiator from now on.
    pub(crate) fn strand(&mut self) {
        self.connections.clear();
        self.drain();
    }

    /// Takes a packet that the wire brought for it.
    pub(crate) fn receive(&mut self, resources: &mut Resources, route: &Route, packet: &Packet<'_>, now: Duration) {
        let bth = &packet.headers.bth;
        let Some(back) = self.way_back(resources, route, bth.pkey) else {
            return log::debug!("DCT {:#x}: dropped a packet of another port, partition or address", self.number);
        };
        let Some(dc) = packet.headers.dc.filter(|_| bth.opcode.transport() == Transport::Dc) else { return };
        if let Some(connect) = packet.headers.connect {
            return self.connect(resources, back, dc, &connect, Psn::new(bth.psn), now);
        }
        let known = self.connections.get_mut(&dc.connection).filter(|known| known.is_with(dc.source, &back));
        let Some(connection) = known else {
            return log::debug!("DCT {:#x}: dropped a packet of no connection: {:?}", self.number, packet.headers);
        };
        let operation = bth.opcode.operation();
        if operation == Operation::Disconnect {
            return self.close(dc.connection, resources);
        }
        if operation.is_response() {
            return;
        }
        if !std::mem::replace(&mut connection.confirmed, true) {
            self.forget_others(dc, &back, resources);
        }
        let known = self.connections.get_mut(&dc.connection);
        if known.is_some_and(|connection| connection.request(resources, packet, now).is_err()) {
            self.close(dc.connection, resources);
        }
    }

    /// The way back to the sender of a packet, if the packet came to this target: to its port, partition and address.
    fn way_back(&self, resources: &Resources, route: &Route, pkey: u16) -> Option<Route> {
        let port = port(&self.context, resources).filter(|_| resources.transport_is_up(self.context.port))?;
        let own = port.pkeys.get(usize::from(self.context.pkey_index))?;
        if !qp_core::pkeys_match(pkey, *own) {
            return None;
        }
        let grh = match route.grh {
            None => None,
            Some(grh) => {
                let own = port.gid(self.context.sgid_index)?;
                if (own.raw, own.kind) != (grh.dgid, grh.kind) {
                    return None;
                }
                let DctContext { traffic_class, flow_label, hop_limit, .. } = self.context;
                Some(Grh {
                    sgid: grh.dgid,
                    dgid: grh.sgid,
                    kind: grh.kind,
                    traffic_class,
                    flow_label,
                    hop_limit,
                    udp_sport: 0,
                })
            }
        };
        let macs = Macs { source: route.macs.destination, destination: route.macs.source };
        Some(Route { slid: route.dlid, dlid: route.slid, sl: route.sl, grh, macs })
    }

    /// An initiator wants to connect.
    fn connect(
        &mut self,
        resources: &mut Resources,
        back: Route,
        dc: DcEth,
        wanted: &ConnectEth,
        first: Psn,
        now: Duration,
    ) {
        if self.state != DctState::Active {
            return log::debug!("DCT {:#x}: is drained, and takes no connection", self.number);
        }
        let again = |known: &&mut Connection| known.is_with(dc.source, &back) && known.is_of(dc.connection);
        if let Some(known) = self.connections.values_mut().find(again) {
            return known.accept(resources, now);
        }
        let peer = DcPeer { number: dc.source, connection: dc.connection };
        let log_mtu = self.context.mtu.ilog2();
        // Frames still wait for the wire when their connection has ended.
        let taken = self.connections.len().max(resources.outbox.senders(self.number));
        let refusal = if wanted.access_key != self.context.access_key {
            self.note_violation(resources);
            Some(AethSyndrome::Nak(NakCode::REMOTE_ACCESS))
        } else if !(8..=log_mtu).contains(&u32::from(wanted.log_mtu)) {
            Some(AethSyndrome::Nak(NakCode::INVALID_REQUEST))
        } else if taken >= MAX_CONNECTIONS as usize {
            Some(AethSyndrome::RnrNak(self.context.min_rnr_timer))
        } else {
            None
        };
        if let Some(syndrome) = refusal {
            log::debug!("DCT {:#x}: refuses a connection to QP {:#x}: {syndrome:?}", self.number, dc.source);
            let core = self.core(resources, back, peer, self.context.mtu);
            // The initiator chooses the number of its attempt. No connection has number 0: refusals wait in one queue.
            let sender = Sender::qp(self.number);
            match replies::acknowledgement(&core, syndrome, 0, first) {
                Ok(packet) if core.is_linked(resources) && resources.outbox.has_room(sender) => {
                    resources.outbox.push(sender, Frame::new(back, packet));
                }
                _ => {}
            }
            return;
        }
        let number = self.next_number();
        let peer = DcPeer { number: dc.source, connection: number };
        let core = self.core(resources, back, peer, 1 << wanted.log_mtu);
        let lifetime = timer::ack_timeout(wanted.lifetime).unwrap_or(Duration::MAX);
        let mut connection = Connection::new(core, dc.connection, first, lifetime, now);
        connection.accept(resources, now);
        self.connections.insert(number, connection);
    }

    fn note_violation(&mut self, resources: &mut Resources) {
        self.key_violations = self.key_violations.saturating_add(1);
        if std::mem::take(&mut self.armed) {
            resources.raise(Event::Dct { dctn: self.number, kind: DctEvent::KeyViolation });
        }
    }

    /// A number that no connection has: there are far fewer than numbers.
    fn next_number(&mut self) -> u32 {
        loop {
            self.last_connection = self.last_connection.wrapping_add(1);
            if self.last_connection != 0 && !self.connections.contains_key(&self.last_connection) {
                return self.last_connection;
            }
        }
    }

    /// The QP core of a connection, for its responder.
    fn core(&self, resources: &Resources, route: Route, peer: DcPeer, mtu: u32) -> QpCore {
        let c = &self.context;
        let pkey = port(c, resources).and_then(|port| port.pkeys.get(usize::from(c.pkey_index))).copied();
        let context = QpContext {
            pd: c.pd,
            send_cqn: c.cqn,
            recv_cqn: c.cqn,
            rq: ReceiveSource::Shared { srqn: c.srqn },
            uidx: c.uidx,
            scatter_to_cqe_res: c.scatter_to_cqe_res,
            // Its context has no format of timestamps.
            ..QpContext::new(Transport::Dc)
        };
        let attr = QpAttr {
            pkey_index: Some(c.pkey_index),
            port: Some(c.port),
            access: Some(c.access),
            extended_atomics: Some(c.extended_atomics),
            max_dest_rd_atomic: Some(resources.limits.max_rd_atomic),
            min_rnr_timer: Some(c.min_rnr_timer),
            ..QpAttr::default()
        };
        QpCore {
            qpn: self.number,
            context,
            state: QpState::Rtr,
            max_message: MAX_MESSAGE,
            attr,
            route: Some(route),
            dc_peer: Some(peer),
            pkey: pkey.unwrap_or(0),
            mtu,
            ..QpCore::default()
        }
    }

    /// An initiator has one connection at a time, and now uses that of `dc`: its earlier connections are over. A later
    /// connection stays: the initiator may switch to it when it has the answer.
    fn forget_others(&mut self, dc: DcEth, back: &Route, resources: &mut Resources) {
        let is_before = |number: u32| dc.connection.wrapping_sub(number).wrapping_sub(1) < u32::MAX / 2;
        let others =
            self.connections.iter().filter(|&(&number, known)| is_before(number) && known.is_with(dc.source, back));
        for number in others.map(|(&number, _)| number).collect::<Vec<_>>() {
            self.close(number, resources);
        }
    }

    fn close(&mut self, number: u32, resources: &mut Resources) {
        if let Some(connection) = self.connections.remove(&number) {
            connection.close(resources);
        }
    }

    /// Ends all connections, before the target is destroyed.
    pub(crate) fn close_all(&mut self, resources: &mut Resources) {
        while let Some((_, connection)) = self.connections.pop_first() {
            connection.close(resources);
        }
    }

    /// Does a bounded amount of work for each connection. `true` if there was any.
    pub(crate) fn step(&mut self, resources: &mut Resources, now: Duration) -> bool {
        let (mut worked, mut ended) = (false, Vec::new());
        let longest = self.longest_silence();
        for (&number, connection) in &mut self.connections {
            let replied = connection.reply(resources);
            worked |= replied != Ok(false);
            if replied.is_err() || connection.end(longest) <= now {
                ended.push(number);
            }
        }
        worked |= !ended.is_empty();
        for number in ended {
            self.close(number, resources);
        }
        if self.state == DctState::Draining && self.connections.is_empty() {
            self.state = DctState::Drained;
            resources.raise(Event::Dct { dctn: self.number, kind: DctEvent::Drained });
            worked = true;
        }
        worked
    }

    /// Whether an initiator waits for an answer.
    pub(crate) fn owes_answers(&self) -> bool {
        self.connections.values().any(Connection::owes_answers)
    }

    /// Nothing will happen until a packet comes, or it is to be drained.
    pub(crate) fn is_idle(&self) -> bool {
        self.connections.is_empty() && self.state != DctState::Draining
    }

    fn longest_silence(&self) -> Duration {
        if self.state == DctState::Active { Duration::MAX } else { DRAIN_SILENCE }
    }

    /// When [`Self::step`] has something to do although nothing happens.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let longest = self.longest_silence();
        self.connections.values().map(|connection| connection.end(longest)).min()
    }
}

fn port<'a>(context: &DctContext, resources: &'a Resources) -> Option<&'a PortConfig> {
    resources.ports.get(usize::from(context.port).checked_sub(1)?)
}
