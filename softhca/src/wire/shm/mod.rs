//! Devices of several processes on one machine, joined by shared memory (Linux).
//!
//! A fabric is a directory. Each device instance takes a slot in it, and the slot's share of the QPN space; so
//! processes that open "the same" device, with the same LID and GIDs, are told apart by QPN. Frames go through one
//! ring per sender and receiver, made by the sender when it first has something to say.
//!
//! Peers may die, stop or scribble on the shared memory at any moment. A dead peer's frames are still received;
//! frames to it vanish. A peer that stops reading holds its senders up for [`HEAD_OF_QUEUE_LIFE`] at most, and
//! loses frames from then on, as behind a switch (IBTA vol. 1, 18.2.5.4, head of queue lifetime). What comes out of
//! shared memory is checked, and a ring that cannot be right is given up. One thing cannot be defended against: a
//! peer that truncates a file. Only processes of the same user can, and they could as well attach a debugger.
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
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use thiserror::Error;

use self::{
    ring::{Reader, Writer},
    slot::{Control, OwnSlot, Owner},
};
use super::{Address, Frame, Wire};
use crate::{config::Gid, notify::Notify, packet::Packet};

pub use slot::{MAX_ADDRESSES, SLOTS};

/// How long a frame waits at most for a live receiver that does not read.
pub const HEAD_OF_QUEUE_LIFE: Duration = Duration::from_secs(1);
/// How often the sender of a full ring asks whether its receiver still lives.
const LIFE_CHECK: Duration = Duration::from_millis(10);
/// Frames from the device to itself that wait at most.
const LOOPBACK_FRAMES: usize = 1024;

/// Why a fabric cannot be joined.
#[derive(Debug, Error)]
pub enum ShmError {
    /// More addresses than a slot has room for.
    #[error("{count} {what}: the limit is {MAX_ADDRESSES}")]
    TooManyAddresses {
        /// "LIDs" or "GIDs".
        what: &'static str,
        /// How many.
        count: usize,
    },
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

/// The user's fabric under `/dev/shm`, made if there is none.
///
/// # Errors
/// [`ShmError::NotOurs`] if something of that name exists which others could have made or could change.
pub fn default_directory() -> Result<PathBuf, ShmError> {
    own_directory(&PathBuf::from(format!("/dev/shm/softhca-{}", rustix::process::geteuid().as_raw())))
}

/// The fabric at `directory`, made if there is none; its path from the root on.
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

/// Which life the instance with `qpn` on the fabric at `directory` is in: a number that no later owner of the QPN has;
/// `None` if there is none, or its process is dead.
#[must_use]
pub fn life(directory: &Path, qpn: u32) -> Option<u32> {
    slot::life(directory, qpn)
}

/// A device instance's end of a fabric.
#[derive(Debug)]
pub struct ShmWire {
    directory: PathBuf,
    slot: OwnSlot,
    /// By slot.
    peers: Vec<Option<Peer>>,
    loopback: VecDeque<Frame>,
    inbound: Vec<Inbound>,
    /// Of `inbound`, whose turn it is.
    turn: usize,
    /// Value of our `arrivals` when last looked at.
    arrivals: u32,
}

/// A receiver as its sender sees it.
#[derive(Debug)]
struct Peer {
    control: Control,
    notify: Notify,
    /// Of the owner that the rest is about.
    generation: u32,
    address: Address,
    outbound: Outbound,
}

#[derive(Debug)]
enum Outbound {
    /// Nothing was sent yet.
    None,
    /// Frames flow, or wait for room.
    Open { writer: Writer, stall: Option<Stall> },
    /// Frames vanish until the slot has a new owner: it is dead, or the ring is unusable.
    Closed,
}

/// A full ring.
#[derive(Clone, Copy, Debug)]
struct Stall {
    since: Instant,
    /// When the receiver was last known to live.
    checked: Instant,
}

#[derive(Debug)]
struct Inbound {
    from: Owner,
    reader: Reader,
}

impl ShmWire {
    /// Joins the fabric at `directory`, which exists, as a device with these LIDs and GIDs.
    ///
    /// # Errors
    /// [`ShmError`]: [`ShmError::NotOurs`] if the directory is not, or no longer, this user's alone.
    pub fn join(directory: &Path, lids: &[u16], gids: &[Gid]) -> Result<Self, ShmError> {
        for (what, count) in [("LIDs", lids.len()), ("GIDs", gids.len())] {
            if count > MAX_ADDRESSES {
                return Err(ShmError::TooManyAddresses { what, count });
            }
        }
        check_own(directory)?;
        let slot = OwnSlot::take(directory, lids, gids)
            .map_err(|source| ShmError::Io { directory: directory.to_path_buf(), source })?
            .ok_or_else(|| ShmError::Full(directory.to_path_buf()))?;
        Ok(Self {
            directory: directory.to_path_buf(),
            // A ring announced from now on changes the count.
            arrivals: slot.control.arrivals().load(Ordering::Acquire).wrapping_sub(1),
            slot,
            peers: (0..SLOTS).map(|_| None).collect(),
            loopback: VecDeque::new(),
            inbound: Vec::new(),
            turn: 0,
        })
    }

    /// The QPNs that this instance, and no other of the fabric, may use.
    #[must_use]
    pub fn qpns(&self) -> Range<u32> {
        slot::qp_qpns(self.slot.owner.slot)
    }

    /// The number that stands for QP 1 of this instance, and of no other of the fabric.
    #[must_use]
    pub fn gsi_qpn(&self) -> u32 {
        slot::gsi_qpn(self.slot.owner.slot)
    }

    /// What wakes whoever steps the device when a frame arrives.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.slot.control.notify()
    }

    /// Opens the rings that were announced, and lets go of those that will never carry anything again.
    fn look_for_rings(&mut self) {
        let control = &self.slot.control;
        let arrivals = control.arrivals().load(Ordering::Acquire);
        if arrivals == self.arrivals {
            return;
        }
        self.arrivals = arrivals;
        // What a slot's former owner has sent is still delivered.
        self.inbound.retain(|ring| {
            ring.from.generation == control.inbound(ring.from.slot).load(Ordering::Acquire) || !ring.reader.is_empty()
        });
        for slot in 0..SLOTS {
            let from = Owner { slot, generation: control.inbound(slot).load(Ordering::Acquire) };
            if from.generation == 0 || self.inbound.iter().any(|ring| ring.from == from) {
                continue;
            }
            let path = slot::ring_path(&self.directory, from, self.slot.owner);
            match slot::open_shared(&path).and_then(|file| Reader::open(&file)) {
                Ok(reader) => {
                    self.inbound.push(Inbound { from, reader });
                    // Both ends have it mapped: the name is no longer needed. Should it stay, it is removed later.
                    let _ = std::fs::remove_file(&path);
                }
                // Meant for a former owner of our slot, or already given up.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => log::warn!("ring {}: {error}", path.display()),
            }
        }
    }

    /// The next frame of any ring, each in turn.
    fn next_inbound(&mut self) -> Option<Frame> {
        let mut tries = self.inbound.len();
        while tries > 0 {
            tries -= 1;
            self.turn = if self.turn + 1 < self.inbound.len() { self.turn + 1 } else { 0 };
            match self.inbound[self.turn].reader.pop() {
                Ok(Some(frame)) => return Some(frame),
                Ok(None) => {}
                Err(corrupt) => {
                    let ring = self.inbound.swap_remove(self.turn);
                    log::error!("ring from slot {} given up: {corrupt}", ring.from.slot);
                }
            }
        }
        None
    }
}

impl Wire for ShmWire {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let Some(dest_qp) = Packet::dest_qp(&frame.packet) else { return Ok(()) };
        let slot = slot::slot_of(dest_qp);
        if slot == self.slot.owner.slot {
            if !self.slot.address.accepts(&frame.route, dest_qp) {
                return Ok(());
            }
            if self.loopback.len() >= LOOPBACK_FRAMES {
                return Err(frame);
            }
            self.loopback.push_back(frame);
            return Ok(());
        }
        match Peer::find(&mut self.peers[slot as usize], &self.directory, slot) {
            Ok(Some(peer)) if peer.address.accepts(&frame.route, dest_qp) => {
                peer.send(&self.directory, self.slot.owner, Owner { slot, generation: peer.generation }, frame)
            }
            Ok(_) => {
                log::debug!("no device for QP {dest_qp:#x} on {:?}", frame.route);
                Ok(())
            }
            Err(error) => {
                log::warn!("slot {slot} of {}: {error}", self.directory.display());
                Ok(())
            }
        }
    }

    fn recv(&mut self) -> Option<Frame> {
        if let Some(frame) = self.loopback.pop_front() {
            return Some(frame);
        }
        self.look_for_rings();
        loop {
            let frame = self.next_inbound()?;
            // Senders check, too; but one may have sent what was meant for the slot's former owner.
            if Packet::dest_qp(&frame.packet).is_some_and(|qpn| self.slot.address.accepts(&frame.route, qpn)) {
                return Some(frame);
            }
        }
    }
}

impl Peer {
    /// The peer in this slot with its present owner; `None` if nobody answers.
    fn find<'a>(place: &'a mut Option<Self>, directory: &Path, slot: u32) -> io::Result<Option<&'a mut Self>> {
        let peer = match place {
            Some(peer) => peer,
            None => {
                let control = match Control::of_peer(directory, slot) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    other => other?,
                };
                let address = Address { lids: vec![], gids: vec![], qpns: 0..0 };
                let notify = control.notify();
                place.insert(Self { control, notify, generation: 0, address, outbound: Outbound::None })
            }
        };
        let generation = peer.control.generation();
        if generation != peer.generation {
            // A new owner, who knows nothing of what was under way for the old one.
            peer.generation = generation;
            peer.address = peer.control.address(slot);
            peer.outbound = Outbound::None;
        }
        Ok((generation != 0).then_some(peer))
    }

    fn send(&mut self, directory: &Path, from: Owner, to: Owner, frame: Frame) -> Result<(), Frame> {
        if matches!(self.outbound, Outbound::None) {
            self.outbound = self.open(&slot::ring_path(directory, from, to), from);
        }
        let Outbound::Open { writer, stall } = &mut self.outbound else { return Ok(()) };
        match writer.push(&frame) {
            Ok(true) => {
                *stall = None;
                self.notify.wake();
                Ok(())
            }
            Ok(false) => {
                let now = Instant::now();
                let stall = stall.get_or_insert(Stall { since: now, checked: now });
                if now - stall.checked >= LIFE_CHECK {
                    stall.checked = now;
                    if self.control.is_abandoned() {
                        log::info!("slot {} is dead", to.slot);
                        self.outbound = Outbound::Closed;
                        return Ok(());
                    }
                }
                if now - stall.since < HEAD_OF_QUEUE_LIFE { Err(frame) } else { Ok(()) }
            }
            Err(corrupt) => {
                log::error!("ring to slot {} given up: {corrupt}", to.slot);
                self.outbound = Outbound::Closed;
                Ok(())
            }
        }
    }

    /// Makes a ring, and tells its reader.
    fn open(&self, path: &Path, from: Owner) -> Outbound {
        match slot::create_ring_file(path, ring::FILE_BYTES).and_then(|file| Writer::create(&file)) {
            Ok(writer) => {
                self.control.announce(from);
                Outbound::Open { writer, stall: None }
            }
            Err(error) => {
                log::error!("no ring {}, frames to it are lost: {error}", path.display());
                Outbound::Closed
            }
        }
    }
}

#[cfg(test)]
mod tests;
