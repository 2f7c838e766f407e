//! A wire between processes of one machine, by shared memory (Linux). It must never know the content of a frame.
//!
//! A fabric is a directory. Each device instance takes a slot in it, and the slot's share of the QPN space. So QPNs
//! tell processes apart that open "the same" device, with the same LID and GIDs. Frames go through one ring per sender
//! and receiver; the sender makes it for its first frame. Rings are sealed memory without a name, and are handed over
//! by sockets in the directory: see `memory` and `slot`.
//!
//! WRITEs and READs may go past the rings: see `loans` and `landing`.
//!
//! Ethernet frames go to all other instances, over the same rings, and are lost where there is no room. The wire tells
//! its device of each.
//!
//! Peers may die, stop, scribble on the shared memory, or change the files of the fabric at any moment. A dead peer's
//! frames are still received; frames to it vanish. A peer that stops reading holds its senders up for
//! [`HEAD_OF_QUEUE_LIFE`] at most. From then on it loses frames, as behind a switch (IBTA vol. 1, 18.2.5.4, head of
//! queue lifetime). Everything read from shared memory is checked; an inconsistent ring is not used any more.
//!
//! A reader also says how far its device has answered. So a sender tells a peer that is stopped, or has no CPU, from
//! one that has lost a packet ([`Wire::is_kept_waiting_by`]). A peer may owe an answer for [`ANSWER_LIFE`], and for as
//! long as its process is stopped, because a NIC would answer then. Once it goes on, it has [`ANSWER_LIFE`] again. The
//! device of a process that runs, or has ended, cannot keep a sender waiting for longer.
//!
//! After `fork` the device stays with the parent: the child must not use its copy. It inherits no descriptor of the
//! fabric: see `contacts`.

mod contacts;
mod descriptor;
mod landing;
mod loans;
mod memory;
mod own_directory;
mod peer;
mod ring;
mod route;
mod slot;

use std::{
    collections::{HashMap, VecDeque},
    io,
    ops::Range,
    os::fd::RawFd,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use self::{
    contacts::{Contacts, Link, News},
    loans::Lent,
    own_directory::check_own,
    peer::Peer,
    ring::{Reader, Record},
    slot::Directory,
};
use super::address::{Address, Announcement, GSI_QPN};
use super::cable::Dropped;
use super::frame::Frame;
use super::loan::{Batch, Done, InUse, Loan, Returned};
use super::port::{Arrived, Wire};
use crate::{
    config::Gid,
    notify::Notify,
    packet::{MAX_SEGMENT, Packet, buffer},
};

pub use crate::thread::is_apart;
pub use own_directory::{ShmError, default_directory, own_directory};
pub use slot::SLOTS;

/// How long a frame waits at most for a live receiver that does not read.
pub const HEAD_OF_QUEUE_LIFE: Duration = Duration::from_secs(1);
/// How long a live receiver, whose process is not stopped, may owe an answer before the sender's timers run. Processes
/// that have no CPU get some in this time.
pub const ANSWER_LIFE: Duration = Duration::from_secs(60);
/// Most frames that wait from the device to itself.
const LOOPBACK_FRAMES: usize = 1024;

/// How often a sender of Ethernet frames looks for other devices on the fabric.
const NEIGHBOUR_INTERVAL: Duration = Duration::from_millis(50);
/// Most Ethernet frames that wait for the device. Past it, frames are lost.
const ETHERNET_FRAMES: usize = 1024;

/// Ethernet frames that are taken out at most while a packet is looked for.
const ETHERNET_BATCH: usize = 64;
/// Packets for others that are dropped at most while one for the device is looked for: a neighbour can always have
/// more.
const FOREIGN_BATCH: usize = 256;
/// The generation of the instance that owns `qpn` on the fabric at `directory`: a number that no later owner of the QPN
/// has. `None` if there is no such instance, or its process is dead.
#[must_use]
pub fn life(directory: &Path, qpn: u32) -> Option<u32> {
    Directory::open(directory).ok()?.life(slot::slot_of(qpn))
}

/// A device instance's end of a fabric.
#[derive(Debug)]
pub struct ShmWire {
    path: PathBuf,
    contacts: Contacts,
    address: Address,
    /// Packets to QP 1 at the address are for the device.
    owns_gsi: bool,
    /// Multicast groups whose datagrams are for the device, in ascending order.
    groups: Vec<[u8; 16]>,
    /// How long a full ring holds its sender up.
    patience: Duration,
    /// How long a receiver may owe an answer.
    answer_life: Duration,
    /// By slot.
    peers: Vec<Option<Peer>>,
    /// Slots of peers that frames were sent to in this step.
    sent_to: Vec<u32>,
    /// The time of the step, once something has asked for it. A read takes as long as the rest of the work on a small
    /// frame, and most steps do not need it.
    now: Option<Instant>,
    loopback: VecDeque<Frame>,
    /// Ethernet frames that have arrived.
    ethernet: VecDeque<Vec<u8>>,
    lost: Lost,
    /// The slots of neighbours by GID, as they were found.
    known: HashMap<[u8; 16], u32>,
    /// Slots that Ethernet frames go to, and when they were last looked for.
    neighbours: Vec<u32>,
    neighbours_looked: Option<Instant>,
    inbound: Vec<Inbound>,
    /// The connection that the latest frame for the device has come by.
    sender: Option<u64>,
    /// Whether it lends responders, and borrows those of others.
    lends: bool,
    /// Responders on loan, by QPN.
    lent: HashMap<u32, Lent>,
    /// The latest search for a packet ended before the rings were empty.
    is_behind: bool,
    /// Index into `inbound` of the next ring to read.
    turn: usize,
}

/// Ethernet frames that found no room, and that the device does not know of yet.
#[derive(Debug, Default)]
struct Lost {
    here: u64,
    there: u64,
}

#[derive(Debug)]
struct Inbound {
    /// When the sender is gone, its earlier frames are still delivered.
    link: Link,
    reader: Reader,
}

impl ShmWire {
    /// Joins the fabric at `directory`, which exists, as a device with these LIDs and GIDs.
    ///
    /// # Errors
    /// [`ShmError`]: [`ShmError::NotOurs`] if the directory is not, or no longer, this user's alone.
    pub fn join(directory: &Path, lids: &[u16], gids: &[Gid]) -> Result<Self, ShmError> {
        let path = directory.to_path_buf();
        let fault = |source| ShmError::Io { directory: path.clone(), source };
        check_own(&path)?;
        Directory::make(&path).map_err(fault)?;
        let contacts = Contacts::new(&path).map_err(fault)?.ok_or_else(|| ShmError::Full(path.clone()))?;
        contacts.tell_gids(gids.to_vec()).map_err(fault)?;
        let address = Address { lids: lids.to_vec(), gids: gids.to_vec(), qpns: slot::qpns(contacts.number) };
        Ok(Self {
            path,
            contacts,
            address,
            owns_gsi: false,
            groups: Vec::new(),
            patience: HEAD_OF_QUEUE_LIFE,
            answer_life: ANSWER_LIFE,
            peers: (0..SLOTS).map(|_| None).collect(),
            sent_to: Vec::new(),
            now: None,
            loopback: VecDeque::new(),
            ethernet: VecDeque::new(),
            lost: Lost::default(),
            known: HashMap::new(),
            neighbours: Vec::new(),
            neighbours_looked: None,
            inbound: Vec::new(),
            sender: None,
            lends: true,
            lent: HashMap::new(),
            is_behind: false,
            turn: 0,
        })
    }

    /// Waits for receivers that do not read as long as `life`, in place of [`HEAD_OF_QUEUE_LIFE`].
    #[must_use]
    pub fn with_head_of_queue_life(self, life: Duration) -> Self {
        Self { patience: life, ..self }
    }

    /// Waits for answers of live receivers as long as `life`, in place of [`ANSWER_LIFE`].
    #[must_use]
    pub fn with_answer_life(self, life: Duration) -> Self {
        Self { answer_life: life, ..self }
    }

    /// Lends and borrows no responders, so that each request comes and goes by packets.
    #[must_use]
    pub fn without_loans(self) -> Self {
        Self { lends: false, ..self }
    }

    /// The QPNs that this instance, and no other of the fabric, may use.
    #[must_use]
    pub fn qpns(&self) -> Range<u32> {
        slot::qp_qpns(self.contacts.number)
    }

    /// The number that stands for QP 1 of this instance, and of no other of the fabric.
    #[must_use]
    pub fn gsi_qpn(&self) -> u32 {
        slot::gsi_qpn(self.contacts.number)
    }

    /// Wakes the thread that steps the device when a frame arrives.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.contacts.notify.clone()
    }

    /// Takes senders that were let in, and lets go of those that will never send anything again.
    fn take_news(&mut self) {
        while let Some(news) = self.contacts.news() {
            match news {
                News::Sender(link, reader) => self.inbound.push(Inbound { link, reader }),
                News::Warning(warning) => log::warn!("fabric at {}: {warning}", self.path.display()),
            }
        }
        self.inbound.retain(|inbound| !(inbound.link.is_closed() && inbound.reader.is_empty()));
    }

    /// Whether anything has come that was not read, be it by a connection that the listening thread has had no time for.
    fn has_arrivals(&mut self) -> bool {
        self.contacts.let_in();
        self.take_news();
        self.inbound.iter().any(|inbound| !inbound.reader.is_empty())
    }

    /// The time of the step.
    fn now(&mut self) -> Instant {
        *self.now.get_or_insert_with(Instant::now)
    }

    /// Looks for other devices on the fabric, if it is time to.
    fn look_for_neighbours(&mut self) {
        let now = self.now();
        if self.neighbours_looked.is_some_and(|looked| now - looked < NEIGHBOUR_INTERVAL) {
            return;
        }
        self.neighbours_looked = Some(now);
        let own = self.contacts.number;
        match self.contacts.slots() {
            Ok(slots) => self.neighbours = slots.into_iter().filter(|&slot| slot != own).collect(),
            Err(error) => log::warn!("fabric at {}: {error}", self.path.display()),
        }
    }

    /// The next packet of any ring, each in turn. Ethernet frames on the way to it are kept.
    fn next_inbound(&mut self) -> Option<Frame> {
        let mut tries = self.inbound.len();
        let mut ethernet = ETHERNET_BATCH;
        while tries > 0 {
            tries -= 1;
            self.turn = if self.turn + 1 < self.inbound.len() { self.turn + 1 } else { 0 };
            match self.inbound[self.turn].reader.pop() {
                Ok(Some(Record::Packet(frame))) => {
                    self.sender = Some(self.inbound[self.turn].link.number());
                    return Some(frame);
                }
                Ok(Some(Record::Ethernet(frame))) => {
                    if self.ethernet.len() < ETHERNET_FRAMES {
                        self.ethernet.push_back(frame);
                    } else {
                        self.lost.here += 1;
                    }
                    // More may follow.
                    if ethernet > 0 {
                        ethernet -= 1;
                        tries = self.inbound.len();
                    }
                }
                Ok(None) => {}
                Err(corrupt) => {
                    self.inbound.swap_remove(self.turn);
                    log::error!("a sender's ring is given up: {corrupt}");
                }
            }
        }
        None
    }

    /// Whether a frame is for the device.
    fn takes(&self, frame: &Frame) -> bool {
        Packet::dest_qp(&frame.packet).is_some_and(|qpn| {
            if let Some(group) = frame.route.group(qpn) {
                return self.groups.binary_search(&group).is_ok();
            }
            self.address.accepts(&frame.route, qpn)
                || qpn == GSI_QPN && self.owns_gsi && self.address.is_at(&frame.route)
        })
    }

    /// Sends a packet for QP 1 to all neighbours, because this QPN does not name a slot. The neighbours that have the
    /// address take it.
    fn send_to_agents(&mut self, frame: &Frame) {
        self.neighbours_looked = None;
        self.send_to_neighbours(frame, Some(slot::slot_of(GSI_QPN)));
        if self.contacts.number != slot::slot_of(GSI_QPN) {
            self.send_to_self(frame);
        }
    }

    /// Sends a datagram to all neighbours but the one in slot `except`. Neighbours without room lose it, as datagrams
    /// may get lost.
    fn send_to_neighbours(&mut self, frame: &Frame, except: Option<u32>) {
        self.look_for_neighbours();
        for slot in self.neighbours.clone().into_iter().filter(|&slot| Some(slot) != except) {
            match self.peer(slot) {
                // A neighbour without room loses the frame at once.
                Ok(Some(peer)) => {
                    peer.send(frame, Duration::ZERO);
                }
                Ok(None) => {}
                Err(error) => log::warn!("slot {slot} of {}: {error}", self.path.display()),
            }
        }
    }

    /// Gives the device its own copy of a datagram that it has sent to several. Without room it is lost.
    fn send_to_self(&mut self, frame: &Frame) {
        if self.takes(frame) && self.loopback.len() < LOOPBACK_FRAMES {
            self.loopback.push_back(frame.clone());
        }
    }

    /// Gives the device its own packet.
    fn loop_back(&mut self, frame: Frame) -> Result<(), Frame> {
        if !self.takes(&frame) {
            return Ok(());
        }
        if self.loopback.len() >= LOOPBACK_FRAMES {
            return Err(frame);
        }
        self.loopback.push_back(frame);
        Ok(())
    }

    /// Sends a packet to the slot that has its QPN. `false` if there is no room now.
    fn send_to(&mut self, slot: u32, frame: &Frame) -> bool {
        let patience = self.patience;
        match self.peer(slot) {
            Ok(Some(peer)) => return peer.send(frame, patience),
            Ok(None) => log::debug!("no device in slot {slot}"),
            Err(error) => log::warn!("slot {slot} of {}: {error}", self.path.display()),
        }
        true
    }

    /// The peer in a slot with its present owner, for a frame to it; `None` if there is no owner.
    fn peer(&mut self, slot: u32) -> io::Result<Option<&mut Peer>> {
        let place = &mut self.peers[slot as usize];
        // One that was there earlier in this step is not looked for again: frames to the dead vanish.
        if place.as_ref().is_some_and(|peer| !peer.is_in_step() && !peer.is_alive()) {
            log::info!("the owner of slot {slot} is gone");
            *place = None;
        }
        if place.is_none() {
            *place = self.contacts.reach(slot)?.map(Peer::new);
        }
        let Some(peer) = place else { return Ok(None) };
        if !peer.is_in_step() {
            peer.begin_step();
            self.sent_to.push(slot);
        }
        Ok(Some(peer))
    }
}

impl Wire for ShmWire {
    fn descriptors(&self) -> Vec<RawFd> {
        self.contacts.descriptors()
    }

    fn segment_bytes(&self) -> usize {
        MAX_SEGMENT
    }

    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let Some(dest_qp) = Packet::dest_qp(&frame.packet) else { return Ok(()) };
        if frame.route.group(dest_qp).is_some() {
            // The members take it.
            self.send_to_neighbours(&frame, None);
            self.send_to_self(&frame);
            return Ok(());
        }
        let slot = slot::slot_of(dest_qp);
        // One slot's devices may have QP 1 among their own numbers, and lose nothing.
        let for_agents = (dest_qp == GSI_QPN).then(|| frame.clone());
        if slot == self.contacts.number {
            self.loop_back(frame)?;
        } else if self.send_to(slot, &frame) {
            buffer::give(frame.packet);
        } else {
            return Err(frame);
        }
        if let Some(copy) = for_agents {
            self.send_to_agents(&copy);
        }
        Ok(())
    }

    /// Senders need not know: each device checks the addresses of arriving frames against its present ones.
    fn announce(&mut self, announcement: Announcement) {
        self.address.gids = announcement.gids;
        if let Err(error) = self.contacts.tell_gids(self.address.gids.clone()) {
            log::warn!("fabric at {}: {error}", self.path.display());
        }
        self.owns_gsi = announcement.owns_gsi;
        self.groups = announcement.groups;
    }

    /// An instance on the fabric has the GID. Packets find it by QPN.
    fn neighbour(&mut self, _from: [u8; 16], to: [u8; 16]) -> Option<[u8; 6]> {
        let slot = self.contacts.find(to, self.known.get(&to).copied()).ok()??;
        self.known.insert(to, slot);
        Some([0; 6])
    }

    fn advance(&mut self, _now: Duration) -> bool {
        // Other processes do not follow a clock of the caller's: this step has its own time.
        self.now = None;
        self.take_news();
        false
    }

    fn flush(&mut self, arrived: Arrived) {
        match arrived {
            Arrived::Answered => self.inbound.iter_mut().for_each(|inbound| inbound.reader.answer()),
            Arrived::Unanswered => {}
            Arrived::Ignored => self.inbound.iter_mut().for_each(|inbound| inbound.reader.ignore()),
        }
        for slot in self.sent_to.drain(..) {
            if let Some(peer) = &mut self.peers[slot as usize] {
                peer.end_step();
            }
        }
    }

    fn is_kept_waiting_by(&mut self, qpn: u32) -> bool {
        let (slot, now) = (slot::slot_of(qpn) as usize, self.now());
        // It is put back below.
        let Some(mut peer) = self.peers[slot].take() else { return false };
        let owes_for = peer.owes_for(now).filter(|_| peer.is_alive());
        let owes = owes_for.is_some_and(|time| time < self.answer_life || peer.is_stopped(now, &self.contacts));
        let waits = owes || peer.has_last_word(now, || self.has_arrivals());
        self.peers[slot] = Some(peer);
        waits
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        self.look_for_neighbours();
        for slot in std::mem::take(&mut self.neighbours) {
            match self.peer(slot) {
                Ok(Some(peer)) => {
                    let has_room = peer.send_ethernet(frame);
                    self.lost.there += u64::from(!has_room);
                    self.neighbours.push(slot);
                }
                Ok(None) => {}
                Err(error) => log::warn!("slot {slot} of {}: {error}", self.path.display()),
            }
        }
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        // Those behind packets come when these are received.
        self.ethernet.pop_front()
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        let Lost { here, there } = &mut self.lost;
        let both = [(Dropped::NoRoomHere, here), (Dropped::NoRoomThere, there)];
        both.into_iter().map(|(reason, count)| (reason, std::mem::take(count))).find(|(_, count)| *count > 0)
    }

    fn recv(&mut self) -> Option<Frame> {
        self.sender = None;
        while let Some(frame) = self.loopback.pop_front() {
            // It may have given the address up since.
            if self.takes(&frame) {
                return Some(frame);
            }
        }
        self.is_behind = false;
        for _ in 0..FOREIGN_BATCH {
            let frame = self.next_inbound()?;
            // Slots tell QPNs apart; here it is seen whether the addresses are ours, too.
            if self.takes(&frame) {
                return Some(frame);
            }
            log::debug!("a frame for another device: {:?}", frame.route);
        }
        self.is_behind = true;
        None
    }

    fn is_holding(&self) -> bool {
        self.is_behind
    }

    fn sender(&self) -> Option<u64> {
        self.sender.filter(|_| self.lends)
    }

    fn lend(&mut self, connection: u64, loan: &Loan) -> bool {
        let Some(inbound) = self.inbound.iter().find(|inbound| inbound.link.number() == connection) else {
            return false;
        };
        let lent = inbound.reader.lend(inbound.link.closed(), loan);
        lent.map(|lent| self.lent.insert(loan.qpn, lent)).is_some()
    }

    fn take_back(&mut self, qpn: u32, patience: Duration) -> Result<Option<Returned>, InUse> {
        let returned = self.lent.get(&qpn).map(|lent| lent.take_back(patience)).transpose()?;
        self.lent.remove(&qpn);
        Ok(returned)
    }

    fn on_loan(&self, qpn: u32) -> Option<Returned> {
        self.lent.get(&qpn).map(Lent::state)
    }

    fn done_by_loan(&mut self, qpn: u32) -> Option<Done> {
        self.lent.get(&qpn).map(Lent::done)
    }

    fn may_execute(&self, qpn: u32, from: u32, psn: u32) -> bool {
        let peer = self.peers.get(slot::slot_of(qpn) as usize).and_then(Option::as_ref);
        self.lends && peer.is_some_and(|peer| peer.may_execute((qpn, from, psn)) && peer.is_alive())
    }

    fn execute(&mut self, batch: &Batch<'_>) -> usize {
        let peer = self.peers.get_mut(slot::slot_of(batch.qpn) as usize).and_then(Option::as_mut);
        peer.map_or(0, |peer| peer.execute(batch))
    }
}

#[cfg(test)]
mod tests;
