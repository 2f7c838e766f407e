//! The port: the way of frames from send queues to the wire, and from the wire to receive queues.

use super::context::{Dispatch, TirContext};
use super::hash::{Hash, hash};
use super::looped::Looped;
use super::objects::Nic;
use super::receive_queue::Steered;
use crate::ethernet::{Headers, Leaving};
use crate::resources::Resources;
use crate::steering::{Direction, FrameCopy, Passing};
use crate::wire::cable::{self, Dropped, Packets};
use crate::wire::{Route, Wire};
use std::time::Duration;

/// Frames taken from the wire in one step.
const RECEIVE_BATCH: usize = 64;
/// The port of the Ethernet side.
const PORT: u8 = 1;

impl Nic {
    /// Does a bounded amount of work. `true` if there was any.
    pub(crate) fn step(&mut self, resources: &mut Resources, wire: &mut dyn Wire) -> bool {
        let mut worked = self.end_merging(resources, Some(resources.now));
        for sent in resources.egress.take() {
            worked = true;
            self.transmit(resources, wire, sent);
        }
        for looped in std::mem::take(&mut self.looped) {
            worked = true;
            self.receive(resources, &looped.bytes, looped.transport_domain);
        }
        for _ in 0..RECEIVE_BATCH {
            let Some(frame) = wire.recv_ethernet() else { break };
            worked = true;
            if resources.port_is_up(PORT) {
                self.arrive(resources, &frame);
            }
        }
        let Self { rqs, flushing, .. } = self;
        flushing.retain(|rqn| {
            let Some(rq) = rqs.get_mut(rqn) else { return false };
            worked |= rq.step(*rqn, resources);
            rq.is_flushing()
        });
        worked
    }

    /// Counts a packet of the transport that has arrived or left.
    pub(crate) fn count_packet(&mut self, arrived: bool, route: &Route, packet: usize) {
        let octets = cable::octets(route, packet) as u64;
        let (counters, passed) = match arrived {
            true => (&mut self.received, &mut self.physical.received),
            false => (&mut self.transmitted, &mut self.physical.transmitted),
        };
        counters.transport.add(octets);
        passed.add_packet(route, packet);
    }

    /// Counts packets of the transport, as [`Self::count_packet`] does each.
    pub(crate) fn count_packets(&mut self, arrived: bool, route: &Route, packets: &Packets) {
        let (counters, passed) = match arrived {
            true => (&mut self.received, &mut self.physical.received),
            false => (&mut self.transmitted, &mut self.physical.transmitted),
        };
        counters.transport.add_many(packets.packets, packets.octets);
        passed.add_packets(route, packets);
    }

    /// Counts Ethernet frames that the wire has lost.
    pub(crate) fn count_dropped(&mut self, reason: &Dropped, count: u64) {
        match reason {
            Dropped::NoRoomHere => self.physical.received.no_room += count,
            Dropped::NoRoomThere => self.physical.transmitted.no_room += count,
            _ => {}
        }
    }

    /// A frame leaves, if the rules let it.
    fn transmit(&mut self, resources: &mut Resources, wire: &mut dyn Wire, leaving: Leaving) {
        let Leaving { qpn, metadata, bytes } = leaving;
        let Some(headers) = Headers::of(&bytes) else { return };
        let octets = bytes.len() as u64;
        if !self.takes(bytes.len()) {
            self.physical.transmitted.too_long += 1;
            return log::debug!("frame of queue {qpn:#x} dropped: {octets} bytes are more than the port permits");
        }
        let mut passing = Passing::new(&bytes, headers.clone(), qpn, metadata);
        if !self.steering.decide(Direction::Transmit, &mut passing).allowed {
            return log::debug!("frame of queue {qpn:#x} dropped by a rule");
        }
        let (bytes, headers) = passing.into_rewritten().unwrap_or((bytes, headers));
        self.sniff(resources, Direction::SniffTransmitted, (&bytes, &headers), qpn);
        self.transmitted.add(&headers, octets);
        self.physical.transmitted.add_frame(&headers, octets);
        if let Some(bond) = &mut resources.bond {
            bond.count_sent(self.tis_of(qpn).map_or(0, |tis| tis.lag_port), qpn, 1);
        }
        wire.send_ethernet(&bytes);
        let loops = if headers.is_multicast() { self.loops_multicast } else { self.loops_unicast };
        // Without a rule nothing is received, so there is nothing to copy for.
        if loops && self.steering.has_root(Direction::Receive) {
            let transport_domain = self.transport_domain_of(qpn);
            self.looped.push(Looped { transport_domain, bytes: bytes.clone() });
        }
        resources.frames.push(qpn, bytes);
    }

    /// A frame arrives by the cable.
    fn arrive(&mut self, resources: &mut Resources, frame: &[u8]) {
        let Some(headers) = Headers::of(frame) else { return };
        if !self.takes(frame.len()) {
            self.physical.received.too_long += 1;
            return log::debug!("{} bytes from the wire are no frame, or one that is too long", frame.len());
        }
        self.physical.received.add_frame(&headers, frame.len() as u64);
        if let Some(bond) = &mut resources.bond {
            bond.count_received(headers.flow(), 1);
        }
        let own = resources.ports.first().map_or([0; 6], |port| port.mac);
        if self.filter.admits(&headers, own) {
            self.receive(resources, frame, None);
        }
    }

    /// A frame comes in; `own` is the transport domain of the send queue of this device that has sent it.
    fn receive(&mut self, resources: &mut Resources, frame: &[u8], own: Option<u32>) {
        let Some(headers) = Headers::of(frame).filter(|_| self.takes(frame.len())) else {
            return log::debug!("{} bytes from the wire are no frame, or one that is too long", frame.len());
        };
        self.received.add(&headers, frame.len() as u64);
        self.sniff(resources, Direction::SniffReceived, (frame, &headers), 0);
        let mut passing = Passing::new(frame, headers, 0, 0);
        for copy in self.steering.decide(Direction::Receive, &mut passing).copies {
            let Some(tir) = self.tirs.get(copy.tir).map(|tir| tir.context) else { continue };
            let frame = passing.version(copy.version);
            if own != Some(tir.transport_domain) || !blocks(&tir, frame.1) {
                self.deliver(resources, &tir, frame, &copy);
            }
        }
    }

    /// Copies a frame of queue `qpn`, or one that came in, to TIRs of sniffers.
    fn sniff(&mut self, resources: &mut Resources, direction: Direction, frame: (&[u8], &Headers), qpn: u32) {
        if !self.steering.has_root(direction) {
            return;
        }
        let mut passing = Passing::new(frame.0, frame.1.clone(), qpn, 0);
        for copy in self.steering.decide(direction, &mut passing).copies {
            if let Some(tir) = self.tirs.get(copy.tir).map(|tir| tir.context) {
                self.deliver(resources, &tir, frame, &copy);
            }
        }
    }

    /// Hands a frame to the receive queue that a TIR chooses.
    fn deliver(&mut self, resources: &mut Resources, tir: &TirContext, frame: (&[u8], &Headers), copy: &FrameCopy) {
        let (bytes, headers) = frame;
        let inside = if tir.tunnels { headers.inside(bytes, &resources.vxlan_ports) } else { None };
        let hashed = if tir.hash.inside { inside.as_ref() } else { Some(headers) };
        let hash = hashed.map_or(Hash::default(), |headers| hash(&tir.hash, headers));
        let rqn = match tir.dispatch {
            Dispatch::Direct(rqn) => Some(rqn),
            Dispatch::Table(rqtn) => self.rqts.get(rqtn).and_then(|rqt| {
                let rqs = &rqt.context.rqs;
                rqs.get(hash.value as usize & (rqs.len().max(1) - 1)).copied()
            }),
        };
        if let Some((rqn, rq)) = rqn.and_then(|rqn| Some((rqn, self.rqs.get_mut(&rqn)?))) {
            let before = rq.merges_until();
            rq.receive(
                rqn,
                resources,
                (bytes, headers, inside.as_ref()),
                Steered { hash, flow_tag: copy.tag, metadata: copy.metadata, merging: tir.merging },
            );
            // A frame that it cannot take may be its end.
            if rq.is_flushing() {
                self.flushing.insert(rqn);
            }
            let after = rq.merges_until();
            if before != after {
                before.map(|until| self.merging.remove(&(until, rqn)));
                after.map(|until| self.merging.insert((until, rqn)));
            }
        }
    }

    /// When a frame of merged segments must be completed next.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.merging.first().map(|&(until, _)| until)
    }

    /// Completes the frames of merged segments whose time is over at `now`, or all of them. `true` if there were any.
    pub(crate) fn end_merging(&mut self, resources: &mut Resources, now: Option<Duration>) -> bool {
        let mut ended = false;
        while let Some(&(until, rqn)) = self.merging.first() {
            if now.is_some_and(|now| now < until) {
                break;
            }
            self.merging.pop_first();
            // A queue that has failed has no such frame any more, or another one.
            if let Some(rq) = self.rqs.get_mut(&rqn).filter(|rq| rq.merges_until() == Some(until)) {
                rq.finish_merging(rqn, resources);
            }
            ended = true;
        }
        ended
    }

    /// Forgets the frames of merged segments: no queue completes anything any more.
    pub(crate) fn drop_merging(&mut self) {
        for (_, rqn) in std::mem::take(&mut self.merging) {
            if let Some(rq) = self.rqs.get_mut(&rqn) {
                rq.drop_merging();
            }
        }
    }
}

/// Whether a TIR takes no such frame from send queues of its own transport domain.
fn blocks(tir: &TirContext, headers: &Headers) -> bool {
    if headers.is_multicast() { tir.blocks_own_multicast } else { tir.blocks_own_unicast }
}
