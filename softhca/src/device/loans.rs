//! Responders on loan to devices of other processes ([`crate::wire::loan`]): when they go, and when they come back.

use super::Device;
use crate::error::{Error, Object};
use crate::nic::Nic;
use crate::packet::Packet;
use crate::resources::Resources;
use crate::wire::Route;
use crate::wire::cable::Packets;
use crate::wire::loan::{Done, InUse};
use std::time::Duration;

/// How long a command waits for a peer that is in the middle of a request: it may have no CPU for a while.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a packet waits for it: it has overtaken the end of that request, or is a copy of it.
const BRIEFLY: Duration = Duration::from_micros(20);
/// How often it is looked at what peers have done.
const INTERVAL: Duration = Duration::from_millis(10);

impl Device {
    /// Takes back the responder of a queue pair, if it is on loan, so that it may be looked at and changed.
    ///
    /// # Errors
    /// [`Error::Busy`]: the peer is in the middle of a request, and does not come to its end.
    pub(super) fn take_back(&mut self, qpn: u32) -> Result<(), Error> {
        self.take_back_within(qpn, PATIENCE)
    }

    fn take_back_within(&mut self, qpn: u32, patience: Duration) -> Result<(), Error> {
        if !self.lent.contains_key(&qpn) {
            return Ok(());
        }
        match self.wire.take_back(qpn, patience) {
            Err(InUse) => return Err(Error::Busy { object: Object::Qp, number: qpn, users: 1 }),
            Ok(None) => {}
            Ok(Some(returned)) => {
                self.note_done(qpn, &returned.done);
                if let Some(qp) = self.qps.get_mut(qpn).filter(|qp| qp.is_lent()) {
                    qp.returned(returned.psn);
                }
            }
        }
        self.lent.remove(&qpn);
        Ok(())
    }

    /// Takes back all loans because something happens to the device that no peer can hold up. A peer in the middle of a
    /// request may come to its end, and destroying the key still waits for it.
    pub(super) fn end_loans(&mut self) {
        for qpn in self.lent.keys().copied().collect::<Vec<_>>() {
            if let Err(error) = self.take_back_within(qpn, BRIEFLY) {
                log::info!("a peer is in the middle of a WRITE or READ: {error}");
            }
        }
    }

    /// Takes back all loans that grant something by a key, which is about to change.
    ///
    /// # Errors
    /// As [`Self::take_back`].
    pub(super) fn take_key_back(&mut self, key: u32) -> Result<(), Error> {
        self.take_key_back_within(key, PATIENCE)
    }

    fn take_key_back_within(&mut self, key: u32, patience: Duration) -> Result<(), Error> {
        let index = key >> 8;
        let with_it = |keys: &Vec<u32>| keys.iter().any(|key| key >> 8 == index);
        let qpns: Vec<u32> = self.lent.iter().filter(|(_, keys)| with_it(keys)).map(|(&qpn, _)| qpn).collect();
        qpns.into_iter().try_for_each(|qpn| self.take_back_within(qpn, patience))
    }

    /// A packet has come for a queue pair. `false` if the queue pair cannot take it now: then it is lost.
    pub(super) fn take_back_for(&mut self, packet: &Packet<'_>) -> bool {
        let bth = &packet.headers.bth;
        let invalidated = packet.headers.ieth.map_or(Ok(()), |key| self.take_key_back_within(key.0, BRIEFLY));
        let is_request = !bth.opcode.operation().is_response();
        invalidated.is_ok() && (!is_request || self.take_back_within(bth.dest_qp, BRIEFLY).is_ok())
    }

    /// Lends what the queue pair `qpn` can lend, or takes it back if it can no longer be lent.
    pub(super) fn see_to_loan(&mut self, qpn: u32) {
        let Self { qps, resources, wire, lent, .. } = self;
        let Some(qp) = qps.get_mut(qpn) else { return };
        if qp.is_lent() {
            // One that is in use is tried again at the next step.
            let _ = self.take_back_within(qpn, BRIEFLY);
            return;
        }
        let Some((connection, loan)) = qp.offer_loan(resources) else { return };
        if !lent.contains_key(&qpn) && wire.lend(connection, &loan) {
            qp.lend();
            lent.insert(qpn, loan.grants.iter().map(|grant| grant.key).collect());
        }
    }

    /// Counts what peers have done, now and then. `true` if they have done anything.
    pub(super) fn look_at_loans(&mut self, now: Duration) -> bool {
        if self.lent.is_empty() || now < self.next_look_at_loans {
            return false;
        }
        self.next_look_at_loans = now + INTERVAL;
        let qpns: Vec<u32> = self.lent.keys().copied().collect();
        let mut any = false;
        for qpn in qpns {
            let done = self.wire.done_by_loan(qpn).filter(|done| *done != Done::default());
            if let Some(done) = done {
                self.note_done(qpn, &done);
                any = true;
            }
        }
        any
    }

    /// The peer has done this by the loan of queue pair `qpn`.
    fn note_done(&mut self, qpn: u32, done: &Done) {
        if *done == Done::default() {
            return;
        }
        let Some(qp) = self.qps.get_mut(qpn) else { return };
        qp.note_done(&mut self.resources, done);
        let way = (qp.port(), qp.route());
        Self::count_spared(&mut self.nic, &mut self.resources, way, (&done.requests, &done.answers));
    }

    /// Counts packets that a loan has spared, along the way of a queue pair: its port and its route.
    pub(super) fn count_spared(
        nic: &mut Nic,
        resources: &mut Resources,
        way: (Option<u8>, Option<Route>),
        (received, sent): (&Packets, &Packets),
    ) {
        let (Some(port), Some(route)) = way else { return };
        let Some(counters) = resources.port_counters.get_mut(usize::from(port).wrapping_sub(1)) else { return };
        counters.received.add_many(received.packets, received.bytes);
        counters.sent.add_many(sent.packets, sent.bytes);
        if port == 1 {
            nic.count_packets(true, &route, received);
            nic.count_packets(false, &route, sent);
        }
    }
}
