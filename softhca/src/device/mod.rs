//! The device: its objects, by number, and its work, by steps. It must never know the caller of a step, or its
//! reasons.
//!
//! Front ends map the memory of objects (rings, doorbell records, registered memory) through [`Device::memory`] before
//! they create the object, and unmap the memory after they have destroyed the object.

mod check;
mod dcts;
mod deks;
mod events;
mod hw_counters;
mod keys;
mod loans;
mod multicast;
mod nic;
mod objects;
mod ports;
mod psvs;
mod qps;
pub(crate) mod reserved_qpns;
mod reset;
mod tag_matching;
mod xrc;

#[cfg(test)]
mod many_queues_tests;

pub use crate::resources::{BondedPort, Rate, RateMode};
pub use hw_counters::{HW_COUNTERS, hw_counter_names};
pub use keys::KeyOptions;
pub(crate) use multicast::{LOG_MAX_GROUPS, MAX_MEMBERS};

use crate::busy_table::{BusyTable, Next};
use crate::complaint::Complaint;
use crate::config::{DeviceConfig, DoorbellSource, PortConfig};
use crate::context::{FetchedOrder, Path};
use crate::cq::Cq;
use crate::error::{Error, Object};
use crate::ethernet::SentFrame;
use crate::event::Event;
use crate::explanation::Explanation;
use crate::gsi::{Gsi, MAD_BYTES, Mad, QP1};
use crate::memory::{DmaFault, HostMemory, PagedMemory};
use crate::nic::Nic;
use crate::packet::{Packet, buffer, cnp};
use crate::qp::Qp;
use crate::qp::dc::target::Dct;
use crate::recv::FaultClock;
use crate::resources::Resources;
use crate::script::{Act, Happening, Running, Script};
use crate::table::Table;
use crate::uar::{Doorbells, UarMemory};
use crate::wire::loan::Done;
use crate::wire::{Arrived, Frame, Route, Size, Wire, cable};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

/// Packets taken from the wire in one step.
const RECEIVE_BATCH: usize = 16;
/// Reasons for lost bytes and frames taken from the wire in one step.
const REASON_BATCH: usize = 1024;

/// An XRC domain: a number that SRQs and targets name.
struct Xrcd {
    users: u32,
}

/// A software mlx5 device.
pub struct Device {
    config: DeviceConfig,
    resources: Resources,
    doorbells: Doorbells,
    uar_memory: UarMemory,
    xrcds: Table<Xrcd>,
    qps: BusyTable<Qp>,
    /// First numbers of rows that no QP gets.
    reserved_qpns: BTreeSet<u32>,
    /// Numbers of those that are QP 1 of a port.
    qp1s: BTreeSet<u32>,
    /// Their numbers are none of QPs.
    dcts: BTreeMap<u32, Dct>,
    /// DCTs that have work, or a timer: most of thousands have neither.
    busy_dcts: BTreeSet<u32>,
    /// QPs that are in multicast groups, by the groups' GIDs. No group is empty.
    groups: BTreeMap<[u8; 16], Vec<u32>>,
    wire: Box<dyn Wire>,
    gsi: Gsi,
    /// The ports of the original configuration; later changes do not appear here.
    ports: Vec<PortConfig>,
    nic: Nic,
    /// Lowest byte of the next memory key: it differs from that of a stale key of the same index.
    variant: u8,
    /// Packets have arrived that no step has looked at. An acknowledgement may be among them, so no request is lost.
    is_behind: bool,
    /// A peer waits for answers of the queue pairs.
    owes_answers: bool,
    /// The keys of each responder on loan, by QPN. A peer in the middle of a request keeps that of a QP which is gone.
    lent: BTreeMap<u32, Vec<u32>>,
    /// When it is next looked at what peers have done by loans.
    next_look_at_loans: Duration,
    failed: bool,
}

impl Device {
    /// A device with no objects.
    ///
    /// # Errors
    /// [`Error::BadValue`] for an invalid configuration; [`Error::System`] if there is no file for UAR pages.
    pub fn new(config: DeviceConfig, memory: Box<dyn HostMemory>, wire: Box<dyn Wire>) -> Result<Self, Error> {
        check::config(&config)?;
        let limits = config.limits;
        let mut resources = Resources::new(&config, memory);
        resources.segment_bytes = wire.segment_bytes();
        Ok(Self {
            resources,
            doorbells: Doorbells::new(config.doorbells, limits.max_objects),
            uar_memory: UarMemory::new()?,
            xrcds: Table::new(Object::Xrcd, 1, limits.max_objects),
            qps: Table::new(Object::Qp, config.qpn_first, config.qpn_count).reusing(config.reuse_qpns).into(),
            reserved_qpns: BTreeSet::new(),
            qp1s: BTreeSet::new(),
            dcts: BTreeMap::new(),
            busy_dcts: BTreeSet::new(),
            groups: BTreeMap::new(),
            wire,
            gsi: Gsi::default(),
            ports: config.ports.clone(),
            nic: Nic::default(),
            variant: 0,
            is_behind: false,
            owes_answers: false,
            lent: BTreeMap::new(),
            next_look_at_loans: Duration::ZERO,
            failed: false,
            config,
        })
    }

    /// The configuration of the device, with all later changes of its ports.
    #[must_use]
    pub fn config(&self) -> &DeviceConfig {
        &self.config
    }

    /// Byte order of the 8 bytes that atomics fetch. It is [`FetchedOrder::Host`] until a driver enables the HCA, as if
    /// Linux' driver had done so before.
    #[must_use]
    pub fn fetched_order(&self) -> FetchedOrder {
        self.resources.fetched_order
    }

    /// Answers to atomics that arrive from now on are in this order.
    pub(crate) fn set_fetched_order(&mut self, order: FetchedOrder) {
        self.resources.fetched_order = order;
    }

    /// Host memory, to map and unmap the memory of objects.
    pub fn memory(&mut self) -> &mut dyn HostMemory {
        self.resources.memory.host_mut()
    }

    /// Copies host memory at `addr` into `out`, as the device reaches it.
    ///
    /// There is no call that writes: rings and registered memory belong to the queues of drivers.
    ///
    /// ```compile_fail,E0624
    /// fn change_a_request(device: &softhca::device::Device, ring: u64) {
    ///     device.host_memory().write(ring, &[0; 64]).expect("the ring");
    /// }
    /// ```
    ///
    /// # Errors
    /// [`DmaFault`] if any byte is not mapped; `out` is then unspecified.
    pub fn read_memory(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.host_memory().read(addr, out)
    }

    /// Host memory as the device reaches it.
    pub(crate) fn host_memory(&self) -> &dyn HostMemory {
        self.resources.memory.host()
    }

    /// Host memory and page lists, as contexts name them.
    #[cfg(test)]
    pub(crate) fn paged_memory(&self) -> &dyn HostMemory {
        &*self.resources.memory
    }

    /// The address under which the device reaches `pages` in a row, for contexts of objects. Each is the host address
    /// of a page of `page_bytes` bytes; they need not lie in a row there.
    ///
    /// # Errors
    /// [`Error::Dma`] if a page is past the host's addresses: the upper quarter of all is the device's, for such lists.
    pub fn map_pages(&mut self, pages: Vec<u64>, page_bytes: u64) -> Result<u64, Error> {
        Ok(self.resources.memory.add(pages, page_bytes)?)
    }

    /// Refuses addresses that are not the host's: such an address must not get into a context.
    ///
    /// # Errors
    /// [`Error::Dma`].
    pub fn check_host_address(&self, addr: u64, len: u64) -> Result<(), Error> {
        Ok(PagedMemory::check_host_address(addr, len)?)
    }

    /// How many pages all lists of [`Self::map_pages`] have.
    #[must_use]
    pub fn listed_pages(&self) -> u64 {
        self.resources.memory.listed()
    }

    /// Removes the page list that [`Self::map_pages`] gave this address for.
    pub fn unmap_pages(&mut self, address: u64) {
        self.resources.memory.remove(address);
    }

    /// Takes a store to a register: `stored` in memory order, at byte `offset` of UAR page `uar`.
    ///
    /// A BlueFlame copy may come whole or in pieces of ascending offset. Its first eight bytes ring the doorbell. The
    /// device compares all bytes of the WQE with the ring. If the copy comes whole, the device executes it and not the
    /// bytes in the ring.
    pub fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.doorbells.ring(&mut self.qps, &mut self.resources, uar, offset, stored);
    }

    /// Why requests were refused or failed since the last call; 256 at most.
    #[must_use]
    pub fn explanations(&mut self) -> Vec<Explanation> {
        self.resources.explanations.take()
    }

    /// Whether the driver has not polled an error CQE of any CQ; flushed requests do not count.
    #[must_use]
    pub fn has_unread_errors(&self) -> bool {
        self.resources.cqs.iter().any(|(_, cq)| cq.has_unread_error(&*self.resources.memory))
    }

    /// The driver's mistakes that were found since the last call.
    pub fn complaints(&mut self) -> Vec<Complaint> {
        self.resources.complaints.take()
    }

    /// Descriptors that the device has open: of its wire, and of the files that hold its UAR pages.
    #[must_use]
    pub fn descriptors(&self) -> Vec<RawFd> {
        let files = self.doorbells.pages.iter().map(|(_, page)| page.fd()).chain([self.uar_memory.fd()]);
        self.wire.descriptors().into_iter().chain(files.map(|file| file.as_raw_fd())).collect()
    }

    /// How many contexts it has: those of its own objects, of the Ethernet side's and of signatures.
    pub(crate) fn contexts(&self) -> usize {
        let own: usize = self.objects().iter().map(|(_, count)| count).sum();
        own + self.nic.contexts() + self.resources.psvs.len() + self.resources.deks.len()
    }

    /// How many entries all lists of its objects have: pages, and queues to choose from by a hash.
    pub(crate) fn listed(&self) -> u64 {
        self.listed_pages() + self.nic.listed()
    }

    /// Stops the device for good, as an internal error of its firmware does. It takes no further doorbells and
    /// packets, and outstanding requests never complete. Raises [`Event::DeviceFatal`] the first time. Objects can be
    /// destroyed as before.
    pub fn fail(&mut self) {
        if !std::mem::replace(&mut self.failed, true) {
            self.end_loans();
            self.nic.drop_merging();
            self.resources.raise(Event::DeviceFatal);
        }
    }

    /// Whether [`Self::fail`] was called.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Does a bounded amount of work: takes doorbells, then packets, lets each QP send, and hands packets to the wire.
    /// True if anything was done: then there may be more to do at once.
    ///
    /// `now` is the time since any fixed moment, by a clock of the caller's that never goes back.
    pub fn step(&mut self, now: Duration) -> bool {
        let worked = self.step_wire(now);
        let arrived = if self.failed || self.resources.script.is_stalled() {
            Arrived::Ignored
        } else if self.owes_answers || !self.resources.outbox.is_empty() {
            Arrived::Unanswered
        } else {
            Arrived::Answered
        };
        self.wire.flush(arrived);
        worked
    }

    /// The step, whose packets the wire may keep from their receivers until its end.
    fn step_wire(&mut self, now: Duration) -> bool {
        self.resources.now = self.resources.now.max(now);
        let now = self.resources.now;
        let played = self.play(now);
        if self.failed {
            return played;
        }
        let mut worked = played | self.wire.advance(now) | self.look_at_loans(now);
        if self.resources.script.is_stalled() {
            self.end_loans();
            return worked;
        }
        worked |= self.doorbells.scan(&mut self.qps, &mut self.resources);
        self.resources.hold_completions();
        self.is_behind = true;
        for _ in 0..RECEIVE_BATCH {
            let Some(frame) = self.wire.recv() else {
                self.is_behind = false;
                break;
            };
            worked = true;
            self.receive(&frame, now);
            buffer::give(frame.packet);
        }
        // Another thread may lose frames as fast as they are counted here.
        for (reason, count) in std::iter::from_fn(|| self.wire.next_dropped()).take(REASON_BATCH) {
            // A wire that takes bytes from a cable has one port.
            self.resources.port_counters.iter_mut().take(1).for_each(|counters| counters.add_dropped(&reason, count));
            self.nic.count_dropped(&reason, count);
        }
        worked | self.work(now)
    }

    /// Begins the work of the doorbells rung up to now, for a front end that is about to carry out a command. It
    /// receives no packets and looks at no arm words, so thousands of CQs cost it nothing.
    ///
    /// `now` is as in [`Self::step`].
    pub fn begin(&mut self, now: Duration) {
        self.resources.now = self.resources.now.max(now);
        if !self.failed && !self.resources.script.is_stalled() {
            self.doorbells.scan_sends(&mut self.qps, &self.resources);
            self.is_behind = true;
            self.work(self.resources.now);
            self.wire.flush(Arrived::Unanswered);
        }
    }

    /// Hands packets that wait to the wire, and receives none. `true` if none is left, and the wire holds none for later.
    /// `now` is as in [`Self::step`].
    pub fn send_waiting(&mut self, now: Duration) -> bool {
        if self.failed || self.resources.script.is_stalled() {
            return true;
        }
        self.wire.advance(now);
        self.send_packets();
        self.wire.flush(Arrived::Unanswered);
        self.resources.outbox.is_empty() && self.wire.next_deadline().is_none()
    }

    /// Plays this script from the next step on, in place of an earlier one.
    pub fn set_script(&mut self, script: Script) {
        self.resources.script = Running::new(script);
    }

    /// Everything that the script has done since the last call.
    pub fn happenings(&mut self) -> Vec<Happening> {
        self.resources.script.take_happened()
    }

    /// Does the script's acts of this time. `true` if there was anything.
    fn play(&mut self, now: Duration) -> bool {
        let mut played = false;
        while let Some(act) = self.resources.script.next_act(now) {
            played = true;
            match act {
                Act::Port { port, up } => {
                    // A port that the device has not got has no link either.
                    let _ = self.set_port_up(port, up);
                }
                Act::SrqFaults(rates) => {
                    self.resources.srq_faults = FaultClock::new(rates.unwrap_or(self.config.srq_faults));
                }
                Act::Fail => self.fail(),
                Act::Raise(event, eqn) => {
                    let Resources { eqs, memory, complaints, .. } = &mut self.resources;
                    eqs.raise(event, eqn, &**memory, complaints);
                }
            }
        }
        played
    }

    /// Does the work of the busy objects. `true` if there was any.
    fn work(&mut self, now: Duration) -> bool {
        let mut worked = false;
        let mut to_see_to = Vec::new();
        self.owes_answers = false;
        self.qps.visit_from(self.resources.egress.turn(), now, |qpn, qp| {
            let mut done = Done::default();
            if qp.execute_one_sided(&mut self.resources, &mut *self.wire, &mut done) {
                worked = true;
                let way = (qp.port(), qp.route());
                Self::count_spared(&mut self.nic, &mut self.resources, way, (&done.answers, &done.requests));
            }
            let awaited = qp.awaited_peer(now);
            if awaited.is_some_and(|peer| self.is_behind || self.wire.is_kept_waiting_by(peer)) {
                qp.wait_longer(now);
            }
            let has_worked = qp.step(&mut self.resources, now);
            worked |= has_worked;
            self.owes_answers |= qp.owes_answers();
            if qp.has_loan_to_see_to() {
                to_see_to.push(qpn);
            }
            if has_worked { Next::Busy } else { qp.next() }
        });
        to_see_to.into_iter().for_each(|qpn| self.see_to_loan(qpn));
        worked |= self.step_dcts(now);
        worked |= self.nic.step(&mut self.resources, &mut *self.wire);
        worked |= self.send_packets();
        // A program that sees a completion may end at once: by then the acknowledgement is on the wire.
        self.resources.release_completions();
        for qpn in std::mem::take(&mut self.resources.stranded) {
            if self.nic.strand(qpn, &mut self.resources) {
            } else if let Some(qp) = self.qps.get_mut(qpn) {
                qp.strand(&mut self.resources);
            } else if let Some(dct) = self.dcts.get_mut(&qpn) {
                dct.strand();
                self.busy_dcts.insert(qpn);
            }
        }
        let Resources { cqs, unarmed, memory, eqs, complaints, script, .. } = &mut self.resources;
        let looks_for_arms = self.config.doorbells == DoorbellSource::RungRecords;
        cqs.visit(now, |cqn, cq| {
            let settled = cq.settle(cqn, &**memory, now);
            if let Some(event) = settled.or_else(|| cq.due_event(cqn, &**memory, now)) {
                for _ in 0..script.copies_of(event, cq.eqn) {
                    eqs.raise(event, cq.eqn, &**memory, complaints);
                }
                if looks_for_arms {
                    unarmed.insert(cqn);
                }
                worked = true;
            }
            if cq.is_idle() { Next::Idle } else { Next::Busy }
        });
        worked
    }

    /// Hands packets to the wire, as many as it takes. `true` if there were any.
    fn send_packets(&mut self) -> bool {
        let (nic, qps, dcts, ports) = (&mut self.nic, &self.qps, &self.dcts, &self.config.ports);
        let Resources { outbox, port_counters, bond, comments, .. } = &mut self.resources;
        comments.drain(..).for_each(|(packet, reason)| self.wire.comment(&packet, &reason));
        outbox.flush(&mut *self.wire, |sender, route, size| {
            if let Some(bond) = bond {
                let target = dcts.get(&sender.qpn).map(|dct| dct.context().lag_port);
                let affinity = target.or_else(|| qps.get(sender.qpn).map(Qp::lag_port)).unwrap_or(0);
                bond.count_sent(affinity, sender.qpn, size.packets().into());
            }
            let Some(port) = ports.iter().position(|port| route.begins_at(port)) else { return };
            size.for_each(|bytes| port_counters[port].sent.add(bytes as u64));
            if port == 0 {
                size.for_each(|bytes| nic.count_packet(false, route, bytes));
            }
        })
    }

    /// Send WQEs completed so far, of all QPs: with or without a CQE, in success, in error or flushed.
    #[must_use]
    pub fn sends_completed(&self) -> u64 {
        self.resources.sends_completed
    }

    /// When the next timer of a QP, a CQ, a receive queue, the wire or the script runs out, on the clock that
    /// [`Self::step`] is given. Timers of queues wait while the device is stalled. A failed device has the script's timers alone.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let script = self.resources.script.next_deadline();
        if self.failed {
            return script;
        }
        let outside = script.into_iter().chain(self.wire.next_deadline());
        if self.resources.script.is_stalled() {
            return outside.min();
        }
        let dcts = self.busy_dcts.iter().filter_map(|number| self.dcts.get(number)?.deadline());
        let [qps, cqs] = [self.qps.deadline(Qp::deadline), self.resources.cqs.deadline(Cq::deadline)];
        outside.chain(dcts).chain(qps).chain(cqs).chain(self.nic.deadline()).min()
    }

    /// Whether packets wait for a later step: the wire delays some, or its receivers have no room.
    #[must_use]
    pub fn has_packets_waiting(&self) -> bool {
        !self.resources.outbox.is_empty() || self.wire.is_holding()
    }

    /// The Ethernet frames that raw packet QPs have sent since the last call, in order: the latest
    /// [`crate::ethernet::FRAMES_KEPT`] of them.
    pub fn take_frames(&mut self) -> Vec<SentFrame> {
        self.resources.frames.take()
    }

    /// The Ethernet address of the neighbour that has the GID `to`, for packets from the GID `from`; zeros on a wire that
    /// needs none. `None` if nobody is known to have it now: the wire has asked, and the caller may ask again.
    pub fn neighbour(&mut self, from: [u8; 16], to: [u8; 16]) -> Option<[u8; 6]> {
        self.wire.neighbour(from, to)
    }

    /// From now on the device keeps management datagrams for QP `qpn` until [`Self::take_mad`] takes them. `qpn` is 1,
    /// or a number that stands for it; it must not be one that the device gives to QPs.
    pub fn open_gsi(&mut self, qpn: u32) {
        self.gsi.open(qpn);
    }

    /// The oldest management datagram that has arrived.
    pub fn take_mad(&mut self) -> Option<Mad> {
        self.gsi.take()
    }

    /// Sends a management datagram from port `port` along `path` to QP `dest_qp` there.
    ///
    /// # Errors
    /// [`Error::BadValue`] for a port or a GID that does not exist; [`Error::Unsupported`] before [`Self::open_gsi`].
    pub fn send_mad(&mut self, port: u8, path: &Path, dest_qp: u32, mad: &[u8; MAD_BYTES]) -> Result<(), Error> {
        self.gsi.send(&mut self.resources, port, path, dest_qp, mad)
    }

    /// Hands a packet to the QP that it is for. Like a port, it drops packets that it cannot parse.
    fn receive(&mut self, frame: &Frame, now: Duration) {
        if let Some(qpn) = cnp::notified(&frame.packet) {
            return self.receive_notification(qpn, &frame.route);
        }
        let packet = match Packet::of(&frame.packet, frame.packets) {
            Ok(packet) => packet,
            Err(fault) => {
                self.resources.count_at(self.port_of(&frame.route), |counters| &mut counters.port_rcv_errors);
                return log::debug!("packet dropped: {fault}");
            }
        };
        let port = self.port_of(&frame.route);
        let place = usize::from(port).checked_sub(1).filter(|_| self.resources.transport_is_up(port));
        if let Some(bond) = self.resources.bond.as_mut().filter(|_| place.is_some()) {
            bond.count_received(cable::flow(&frame.route, &frame.packet), frame.packets.into());
        }
        if let Some(counters) = place.and_then(|place| self.resources.port_counters.get_mut(place)) {
            Size::of(frame).for_each(|bytes| counters.received.add(bytes as u64));
        }
        let first = self.config.ports.first().filter(|_| self.resources.transport_is_up(1));
        if first.is_some_and(|port| frame.route.ends_at(port)) {
            Size::of(frame).for_each(|bytes| self.nic.count_packet(true, &frame.route, bytes));
        }
        let qpn = packet.headers.bth.dest_qp;
        if let Some(group) = frame.route.group(qpn) {
            return self.receive_to_group(&group, &frame.route, &packet, now);
        }
        if let Some(dct) = self.dcts.get_mut(&qpn) {
            self.busy_dcts.insert(qpn);
            return dct.receive(&mut self.resources, &frame.route, &packet, now);
        }
        let qpn = if qpn == QP1 { self.qp1_of(&frame.route).unwrap_or(qpn) } else { qpn };
        if !self.take_back_for(&packet) {
            return log::info!("packet for QP {qpn:#x} dropped: its peer executes a request by a loan");
        }
        let connection = self.wire.sender();
        match self.qps.get_mut(qpn) {
            Some(qp) => {
                let before = qp.expected();
                qp.receive(&mut self.resources, &frame.route, &packet, now);
                if let Some(connection) = connection {
                    qp.note_request(&packet, connection, before);
                }
            }
            None if self.gsi.receive(&frame.route, &packet) => {}
            None => log::debug!("packet for QP {qpn:#x} dropped: no such QP"),
        }
    }

    /// Takes a notification of congestion for QP `qpn`. There is no rate control that would act on it.
    fn receive_notification(&mut self, qpn: u32, route: &Route) {
        let port = self.port_of(route);
        let is_known = self.qps.get_mut(qpn).is_some_and(|qp| qp.is_from_peer(route));
        if is_known {
            self.resources.count_at(port, |counters| &mut counters.rp_cnp_handled);
        } else {
            self.resources.count_at(port, |counters| &mut counters.rp_cnp_ignored);
        }
    }

    /// The port that a route ends at; 1 if it ends at none.
    fn port_of(&self, route: &Route) -> u8 {
        let index = self.resources.ports.iter().position(|port| route.ends_at(port)).unwrap_or(0);
        // At most 255 ports.
        index as u8 + 1
    }
}
