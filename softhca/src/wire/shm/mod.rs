//! A wire between processes of one machine, by shared memory (Linux). It must never know what a frame carries.
//!
//! A fabric is a directory. Each device instance takes a slot in it, and the slot's share of the QPN space. So QPNs
//! tell processes apart that open "the same" device, with the same LID and GIDs. Frames go through one ring per sender
//! and receiver; the sender makes it for its first frame. Rings are sealed memory without a name, and are handed over
//! by sockets in the directory: see `memory` and `slot`.
//!
//! Ethernet frames go to all other instances, over the same rings, and are lost where there is no room.
//!
//! Peers may die, stop, scribble on the shared memory, or change the files of the fabric at any moment. A dead peer's
//! frames are still received; frames to it vanish. A peer that stops reading holds its senders up for
//! [`HEAD_OF_QUEUE_LIFE`] at most, and loses frames from then on, as behind a switch (IBTA vol. 1, 18.2.5.4, head of
//! queue lifetime). Everything read from shared memory is checked; an inconsistent ring is not used any more.
//!
//! After `fork` the device stays with the parent: the child must not use its copy. As long as the child holds the
//! copy, the slot stays taken, even if the parent is gone.

mod memory;
mod ring;
mod slot;

use std::{
    collections::VecDeque,
    fs::{DirBuilder, OpenOptions},
    io,
    ops::Range,
    os::{
        fd::{AsRawFd, RawFd},
        unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use thiserror::Error;

use self::{
    ring::{Reader, Record, Writer},
    slot::{Connection, Control, Directory, OwnSlot, Received},
};
use super::address::{Address, Announcement, GSI_QPN};
use super::frame::Frame;
use super::port::Wire;
use crate::{config::Gid, notify::Notify, packet::Packet};

pub use slot::SLOTS;

/// How long a frame waits at most for a live receiver that does not read.
pub const HEAD_OF_QUEUE_LIFE: Duration = Duration::from_secs(1);
/// How often a sender asks the kernel whether its receiver still lives, and a receiver whether there are new senders.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);
/// A receiver that always has frames looks for new senders after this many.
const LOOK_FRAMES: u32 = 256;
/// Most frames that wait from the device to itself.
const LOOPBACK_FRAMES: usize = 1024;

/// How often a sender of Ethernet frames looks who else is on the fabric.
const NEIGHBOUR_INTERVAL: Duration = Duration::from_millis(50);
/// Most Ethernet frames that wait for the device. Past it, frames are lost.
const ETHERNET_FRAMES: usize = 1024;

/// Ethernet frames that are taken out at most while a packet is looked for.
const ETHERNET_BATCH: usize = 64;

/// Why a fabric cannot be joined.
#[derive(Debug, Error)]
pub enum ShmError {
    /// All slots are taken.
    #[error("all {SLOTS} slots of the fabric at {} are taken", .0.display())]
    Full(PathBuf),
    /// Somebody else's directory, or one that others may write to.
    #[error("{} is not a directory of this user alone", .0.display())]
    NotOurs(PathBuf),
    /// The system said no.
    #[error("fabric at {}", directory.display())]
    Io {
        /// The fabric's directory.
        directory: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// The user's fabric under `/dev/shm`. Makes it if there is none.
///
/// # Errors
/// [`ShmError::NotOurs`] if something of that name exists which others could have made or could change.
pub fn default_directory() -> Result<PathBuf, ShmError> {
    own_directory(&PathBuf::from(format!("/dev/shm/softhca-{}", rustix::process::geteuid().as_raw())))
}

/// The fabric at `directory`. Makes it if there is none. Returns its absolute path.
///
/// # Errors
/// [`ShmError::NotOurs`] if it is a symbolic link, another user's, or one that others may write to.
pub fn own_directory(directory: &Path) -> Result<PathBuf, ShmError> {
    let fault = |source| ShmError::Io { directory: directory.to_path_buf(), source };
    match DirBuilder::new().recursive(true).mode(0o700).create(directory) {
        // A link to nowhere, or no directory: the check says so.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.map_err(fault)?,
    }
    check_own(directory)?;
    directory.canonicalize().map_err(fault)
}

/// Whether `directory` is one, and no symbolic link, that this user alone can write to.
fn check_own(directory: &Path) -> Result<(), ShmError> {
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(directory).and_then(
            |directory| {
                let found = directory.metadata()?;
                Ok(found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0)
            },
        );
    match opened {
        Ok(true) => Ok(()),
        // With O_DIRECTORY, a link is not a directory; without, it is one too many.
        Err(error) if !matches!(error.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) => {
            Err(ShmError::Io { directory: directory.to_path_buf(), source: error })
        }
        _ => Err(ShmError::NotOurs(directory.to_path_buf())),
    }
}

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
    loopback: VecDeque<Frame>,
    /// Ethernet frames that have arrived.
    ethernet: VecDeque<Vec<u8>>,
    /// Slots that Ethernet frames go to, and when they were last looked for.
    neighbours: Vec<u32>,
    neighbours_looked: Option<Instant>,
    inbound: Vec<Inbound>,
    /// Senders that have connected and not handed their rings over.
    arriving: Vec<Connection>,
    /// Of `inbound`, whose turn it is to be read.
    turn: usize,
    /// Of `inbound`, whose turn it is to be asked whether it lives.
    asked: usize,
    /// When senders were last looked for, and frames received since.
    looked: Option<Instant>,
    received: u32,
}

/// A receiver as its sender sees it.
#[derive(Debug)]
struct Peer {
    connection: Connection,
    /// `None`: the ring is unusable, and frames vanish until the slot has a new owner.
    writer: Option<Writer>,
    /// What the owner has answered. Until it has, it finds our frames when it next looks for senders.
    control: Option<(Control, Notify)>,
    /// When it was last known to live.
    checked: Instant,
    /// Since when the ring is full.
    full_since: Option<Instant>,
}

#[derive(Debug)]
struct Inbound {
    connection: Connection,
    reader: Reader,
    /// The sender is gone: what it has sent is still delivered.
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
            loopback: VecDeque::new(),
            ethernet: VecDeque::new(),
            neighbours: Vec::new(),
            neighbours_looked: None,
            inbound: Vec::new(),
            arriving: Vec::new(),
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
        while self.inbound.len() + self.arriving.len() < SLOTS as usize
            && let Some(connection) = self.slot.accept()
        {
            self.arriving.push(connection);
        }
        for connection in std::mem::take(&mut self.arriving) {
            match connection.receive() {
                Received::Nothing => self.arriving.push(connection),
                Received::Memory(memory) => {
                    let reader = Reader::open(&memory);
                    match reader.and_then(|reader| self.slot.answer(&connection).map(|()| reader)) {
                        Ok(reader) => self.inbound.push(Inbound { connection, reader, is_closed: false }),
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
        let now = Instant::now();
        if self.looked.is_none_or(|looked| now - looked >= LOOK_INTERVAL) {
            self.looked = Some(now);
            self.received = 0;
            self.look_for_senders();
        }
    }

    /// Looks who else is on the fabric, if it is time to.
    fn look_for_neighbours(&mut self) {
        let now = Instant::now();
        if self.neighbours_looked.is_some_and(|looked| now - looked < NEIGHBOUR_INTERVAL) {
            return;
        }
        self.neighbours_looked = Some(now);
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

    /// Sends a packet for QP 1, whose number says nothing of the slot: all get it, and who has the address takes it. Those
    /// that have no room lose it, as a datagram may be.
    fn send_to_all(&mut self, frame: &Frame) {
        self.neighbours_looked = None;
        self.look_for_neighbours();
        for slot in self.neighbours.clone().into_iter().filter(|&slot| slot != slot::slot_of(GSI_QPN)) {
            match self.peer(slot) {
                // What has no room is dropped at once.
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

    /// The peer in a slot with its present owner; `None` if nobody is there.
    fn peer(&mut self, slot: u32) -> io::Result<Option<&mut Peer>> {
        let place = &mut self.peers[slot as usize];
        if place.as_mut().is_some_and(|peer| !peer.is_alive()) {
            log::info!("the owner of slot {slot} is gone");
            *place = None;
        }
        if place.is_none() {
            *place = Peer::reach(&self.directory, slot)?;
        }
        Ok(place.as_mut())
    }
}

impl Wire for ShmWire {
    fn descriptors(&self) -> Vec<RawFd> {
        let peers = self.peers.iter().flatten().map(|peer| &peer.connection);
        let senders = self.inbound.iter().map(|inbound| &inbound.connection);
        let connections = peers.chain(senders).chain(&self.arriving).map(AsRawFd::as_raw_fd);
        self.slot.descriptors().into_iter().chain(connections).collect()
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

    /// Senders need not know: each device looks at the addresses of what arrives, by those that it has then.
    fn announce(&mut self, announcement: Announcement) {
        self.address.gids = announcement.gids;
        self.owns_gsi = announcement.owns_gsi;
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        self.look_for_neighbours();
        for slot in std::mem::take(&mut self.neighbours) {
            match self.peer(slot) {
                Ok(Some(peer)) => {
                    peer.send_ethernet(frame);
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
        loop {
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
    }
}

impl Peer {
    /// Connects to the owner of a slot and hands it a ring; `None` if nobody is there.
    fn reach(directory: &Directory, slot: u32) -> io::Result<Option<Self>> {
        let Some(connection) = directory.connect(slot)? else { return Ok(None) };
        let (writer, memory) = Writer::create()?;
        connection.send(&memory)?;
        Ok(Some(Self { connection, writer: Some(writer), control: None, checked: Instant::now(), full_since: None }))
    }

    /// Whether the owner is still there: by its own word, and now and then by the kernel's.
    fn is_alive(&mut self) -> bool {
        if self.control.as_ref().is_some_and(|(control, _)| !control.is_here()) {
            return false;
        }
        let now = Instant::now();
        if self.control.is_some() && now - self.checked < LOOK_INTERVAL {
            return true;
        }
        self.checked = now;
        match self.connection.receive() {
            Received::Closed => return false,
            Received::Memory(memory) if self.control.is_none() => match Control::of_peer(&memory) {
                Ok(control) => self.control = Some((control.clone(), control.notify())),
                Err(error) => log::warn!("a receiver's wake-up words: {error}"),
            },
            Received::Memory(_) | Received::Nonsense => log::warn!("a receiver says what it should not"),
            Received::Nothing => {}
        }
        true
    }

    /// Sends an Ethernet frame, which is lost if there is no room.
    fn send_ethernet(&mut self, frame: &[u8]) {
        let Some(writer) = &mut self.writer else { return };
        match writer.push_ethernet(frame) {
            Ok(true) => {
                if let Some((_, notify)) = &self.control {
                    notify.wake();
                }
            }
            Ok(false) => {}
            Err(corrupt) => {
                log::error!("a receiver's ring is given up: {corrupt}");
                self.writer = None;
            }
        }
    }

    fn send(&mut self, frame: Frame, patience: Duration) -> Result<(), Frame> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        match writer.push(&frame) {
            Ok(true) => {
                self.full_since = None;
                if let Some((_, notify)) = &self.control {
                    notify.wake();
                }
                Ok(())
            }
            Ok(false) => {
                let now = Instant::now();
                if now - *self.full_since.get_or_insert(now) < patience { Err(frame) } else { Ok(()) }
            }
            Err(corrupt) => {
                log::error!("a receiver's ring is given up: {corrupt}");
                self.writer = None;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
