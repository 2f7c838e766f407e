//! A wire between processes of one machine, by shared memory (Linux). It must never know the content of a frame.
//!
//! A fabric is a directory. Each device instance takes a slot in it, and the slot's share of the QPN space. So QPNs
//! tell processes apart that open "the same" device, with the same LID and GIDs. Frames go through one ring per sender
//! and receiver; the sender makes it for its first frame. Rings are sealed memory without a name, and are handed over
//! by sockets in the directory: see `memory` and `slot`.
//!
//! Ethernet frames go to all other instances, over the same rings, and are lost where there is no room. The wire tells
//! its device of each.
//!
//! Peers may die, stop, scribble on the shared memory, or change the files of the fabric at any moment. A dead peer's
//! frames are still received; frames to it vanish. A peer that stops reading holds its senders up for
//! [`HEAD_OF_QUEUE_LIFE`] at most. From then on it loses frames, as behind a switch (IBTA vol. 1, 18.2.5.4, head of
//! queue lifetime). Everything read from shared memory is checked; an inconsistent ring is not used any more.
//!
//! A reader also says how far its device has answered. So a sender tells a peer that is stopped, or has no CPU, from one
//! that has lost a packet ([`Wire::is_kept_waiting_by`]).
//!
//! After `fork` the device stays with the parent: the child must not use its copy. As long as the child holds the
//! copy, the slot stays taken, even if the parent is gone.

mod memory;
mod own_directory;
mod peer;
mod ring;
mod slot;

use std::{
    collections::VecDeque,
    io,
    ops::Range,
    os::fd::{AsRawFd, RawFd},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use self::{
    own_directory::check_own,
    peer::Peer,
    ring::{Reader, Record},
    slot::{Connection, Directory, OwnSlot, Received},
};
use super::address::{Address, Announcement, GSI_QPN};
use super::cable::Dropped;
use super::frame::Frame;
use super::port::{Arrived, Wire};
use crate::{
    config::Gid,
    notify::Notify,
    packet::{MAX_SEGMENT, Packet},
};

pub use own_directory::{ShmError, default_directory, own_directory};
pub use slot::SLOTS;

/// How long a frame waits at most for a live receiver that does not read.
pub const HEAD_OF_QUEUE_LIFE: Duration = Duration::from_secs(1);
/// How often a receiver looks whether there are new senders.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);
/// A receiver that always has frames looks for new senders after this many.
const LOOK_FRAMES: u32 = 256;
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
/// How long a sender that has connected may take to hand its ring over. It does so at once; one that does not would
/// keep a place of the [`SLOTS`] that there are for senders.
const ARRIVAL_LIFE: Duration = Duration::from_secs(1);

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
    directory: Arc<Directory>,
    slot: OwnSlot,
    address: Address,
    /// Packets to QP 1 at the address are for the device.
    owns_gsi: bool,
    /// How long a full ring holds its sender up.
    patience: Duration,
    /// By slot.
    peers: Vec<Option<Peer>>,
    /// Slots of peers that frames were sent to in this step.
    sent_to: Vec<u32>,
    /// When the step began. It is read once a step: that takes as long as the rest of the work on a small frame.
    now: Instant,
    loopback: VecDeque<Frame>,
    /// Ethernet frames that have arrived.
    ethernet: VecDeque<Vec<u8>>,
    lost: Lost,
    /// Slots that Ethernet frames go to, and when they were last looked for.
    neighbours: Vec<u32>,
    neighbours_looked: Option<Instant>,
    inbound: Vec<Inbound>,
    /// Senders that have connected and not handed their rings over, and since when.
    arriving: Vec<(Connection, Instant)>,
    /// The latest search for a packet ended before the rings were empty.
    is_behind: bool,
    /// Index into `inbound` of the next ring to read.
    turn: usize,
    /// Index into `inbound` of the next sender to ask whether it lives.
    asked: usize,
    /// When senders were last looked for, and frames received since.
    looked: Option<Instant>,
    received: u32,
}

/// Ethernet frames that found no room, and that the device does not know of yet.
#[derive(Debug, Default)]
struct Lost {
    here: u64,
    there: u64,
}

#[derive(Debug)]
struct Inbound {
    connection: Connection,
    reader: Reader,
    /// The sender is gone; its earlier frames are still delivered.
    is_closed: bool,
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
        let directory = Arc::new(Directory::open(&path).map_err(fault)?);
        let slot = OwnSlot::take(&directory).map_err(fault)?.ok_or_else(|| ShmError::Full(path.clone()))?;
        let address = Address { lids: lids.to_vec(), gids: gids.to_vec(), qpns: slot::qpns(slot.number) };
        Ok(Self {
            path,
            directory,
            slot,
            address,
            owns_gsi: false,
            patience: HEAD_OF_QUEUE_LIFE,
            peers: (0..SLOTS).map(|_| None).collect(),
            sent_to: Vec::new(),
            now: Instant::now(),
            loopback: VecDeque::new(),
            ethernet: VecDeque::new(),
            lost: Lost::default(),
            neighbours: Vec::new(),
            neighbours_looked: None,
            inbound: Vec::new(),
            arriving: Vec::new(),
            is_behind: false,
            turn: 0,
            asked: 0,
            looked: None,
            received: 0,
        })
    }

    /// Waits for receivers that do not read as long as `life`, in place of [`HEAD_OF_QUEUE_LIFE`].
    #[must_use]
    pub fn with_head_of_queue_life(self, life: Duration) -> Self {
        Self { patience: life, ..self }
    }

    /// The QPNs that this instance, and no other of the fabric, may use.
    #[must_use]
    pub fn qpns(&self) -> Range<u32> {
        slot::qp_qpns(self.slot.number)
    }

    /// The number that stands for QP 1 of this instance, and of no other of the fabric.
    #[must_use]
    pub fn gsi_qpn(&self) -> u32 {
        slot::gsi_qpn(self.slot.number)
    }

    /// Wakes the thread that steps the device when a frame arrives. A sender's first frames wake no one, since the
    /// sender does not know yet how to: the thread finds them when it calls [`Wire::recv`] now and then.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.slot.control.notify()
    }

    /// Lets in senders that have come, and lets go of one that will never send anything again.
    fn look_for_senders(&mut self) {
        let now = self.now;
        while self.inbound.len() + self.arriving.len() < SLOTS as usize {
            let Some(connection) = self.slot.accept() else { break };
            self.arriving.push((connection, now));
        }
        for (connection, since) in std::mem::take(&mut self.arriving) {
            match connection.receive() {
                Received::Nothing if now - since < ARRIVAL_LIFE => self.arriving.push((connection, since)),
                Received::Nothing => log::warn!("a sender is not let in: it hands over no ring"),
                Received::Memory(memory) => {
                    let reader = Reader::open(&memory);
                    match reader.and_then(|reader| Ok((reader, self.slot.answer(&connection)?))) {
                        Ok((reader, is_closed)) => self.inbound.push(Inbound { connection, reader, is_closed }),
                        Err(error) => log::warn!("a sender is not let in: {error}"),
                    }
                }
                Received::Nonsense => log::warn!("a sender is not let in: it is of another version"),
                Received::Closed => {}
            }
        }
        self.asked = if self.asked + 1 < self.inbound.len() { self.asked + 1 } else { 0 };
        if let Some(inbound) = self.inbound.get_mut(self.asked) {
            inbound.is_closed |= matches!(inbound.connection.receive(), Received::Closed);
            if inbound.is_closed && inbound.reader.is_empty() {
                self.inbound.swap_remove(self.asked);
            }
        }
    }

    /// Looks for senders if it is time to.
    fn look_if_due(&mut self) {
        if self.looked.is_none_or(|looked| self.now - looked >= LOOK_INTERVAL) {
            self.looked = Some(self.now);
            self.received = 0;
            self.look_for_senders();
        }
    }

    /// Looks for other devices on the fabric, if it is time to.
    fn look_for_neighbours(&mut self) {
        if self.neighbours_looked.is_some_and(|looked| self.now - looked < NEIGHBOUR_INTERVAL) {
            return;
        }
        self.neighbours_looked = Some(self.now);
        let own = self.slot.number;
        match self.directory.slots() {
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
                Ok(Some(Record::Packet(frame))) => return Some(frame),
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
            self.address.accepts(&frame.route, qpn)
                || qpn == GSI_QPN && self.owns_gsi && self.address.is_at(&frame.route)
        })
    }

    /// Sends a packet for QP 1 to all neighbours, because this QPN does not name a slot. The neighbours that have the
    /// address take it. Neighbours without room lose it, as datagrams may get lost.
    fn send_to_all(&mut self, frame: &Frame) {
        self.neighbours_looked = None;
        self.look_for_neighbours();
        for slot in self.neighbours.clone().into_iter().filter(|&slot| slot != slot::slot_of(GSI_QPN)) {
            match self.peer(slot) {
                // A neighbour without room loses the frame at once.
                Ok(Some(peer)) => drop(peer.send(frame.clone(), Duration::ZERO)),
                Ok(None) => {}
                Err(error) => log::warn!("slot {slot} of {}: {error}", self.path.display()),
            }
        }
        if self.slot.number != slot::slot_of(GSI_QPN) && self.takes(frame) && self.loopback.len() < LOOPBACK_FRAMES {
            self.loopback.push_back(frame.clone());
        }
    }

    /// Sends a packet to the slot that has its QPN.
    fn send_to(&mut self, slot: u32, frame: Frame) -> Result<(), Frame> {
        if slot == self.slot.number {
            if !self.takes(&frame) {
                return Ok(());
            }
            if self.loopback.len() >= LOOPBACK_FRAMES {
                return Err(frame);
            }
            self.loopback.push_back(frame);
            return Ok(());
        }
        let patience = self.patience;
        match self.peer(slot) {
            Ok(Some(peer)) => return peer.send(frame, patience),
            Ok(None) => log::debug!("no device in slot {slot}"),
            Err(error) => log::warn!("slot {slot} of {}: {error}", self.path.display()),
        }
        Ok(())
    }

    /// The peer in a slot with its present owner, for a frame to it; `None` if there is no owner.
    fn peer(&mut self, slot: u32) -> io::Result<Option<&mut Peer>> {
        let place = &mut self.peers[slot as usize];
        if place.as_mut().is_some_and(|peer| !peer.is_alive(self.now)) {
            log::info!("the owner of slot {slot} is gone");
            *place = None;
        }
        if place.is_none() {
            *place = Peer::reach(&self.directory, slot, self.now)?;
        }
        let Some(peer) = place else { return Ok(None) };
        if peer.begins_step() {
            self.sent_to.push(slot);
        }
        Ok(Some(peer))
    }
}

impl Wire for ShmWire {
    fn descriptors(&self) -> Vec<RawFd> {
        let peers = self.peers.iter().flatten().map(|peer| &peer.connection);
        let senders = self.inbound.iter().map(|inbound| &inbound.connection);
        let arriving = self.arriving.iter().map(|(connection, _)| connection);
        let connections = peers.chain(senders).chain(arriving).map(AsRawFd::as_raw_fd);
        self.slot.descriptors().into_iter().chain(connections).collect()
    }

    fn segment_bytes(&self) -> usize {
        MAX_SEGMENT
    }

    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let Some(dest_qp) = Packet::dest_qp(&frame.packet) else { return Ok(()) };
        if dest_qp != GSI_QPN {
            return self.send_to(slot::slot_of(dest_qp), frame);
        }
        // One slot's devices may have it among their own numbers, and lose nothing.
        let copy = frame.clone();
        self.send_to(slot::slot_of(dest_qp), frame)?;
        self.send_to_all(&copy);
        Ok(())
    }

    /// Senders need not know: each device checks the addresses of arriving frames against its present ones.
    fn announce(&mut self, announcement: Announcement) {
        self.address.gids = announcement.gids;
        self.owns_gsi = announcement.owns_gsi;
    }

    fn advance(&mut self, _now: Duration) -> bool {
        // Other processes do not follow a clock of the caller's.
        self.now = Instant::now();
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
        let now = self.now;
        let peer = self.peers[slot::slot_of(qpn) as usize].as_mut();
        peer.is_some_and(|peer| peer.is_unanswered() && peer.is_alive(now))
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
        while let Some(frame) = self.loopback.pop_front() {
            // It may have given the address up since.
            if self.takes(&frame) {
                return Some(frame);
            }
        }
        self.received += 1;
        if self.received >= LOOK_FRAMES {
            self.look_if_due();
        }
        self.is_behind = false;
        for _ in 0..FOREIGN_BATCH {
            let frame = match self.next_inbound() {
                Some(frame) => frame,
                None => {
                    self.look_if_due();
                    self.next_inbound()?
                }
            };
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
}

#[cfg(test)]
mod tests;
