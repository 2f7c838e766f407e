//! A wire of Ethernet frames: packets of RoCE, and all other frames for the device's own queues.
//!
//! ```text
//! device ── EthernetWire ── Link ──┬── Tap:    a TAP device; the host's kernel is at the other end
//!               │                  ├── Raw:    an interface of the host, beside the kernel's own stack
//!               └── Neighbours     └── Stream: a Unix socket in QEMU's form, and a learning switch
//! ```
//!
//! A port is a station: it takes frames for its own address and for groups. It asks for the Ethernet addresses of its
//! neighbours, and answers for its own where no kernel does.

mod link;
mod neighbours;
mod raw;
mod stream;
mod switch;
mod tap;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::time::{Duration, Instant};

use self::link::{Arrived, Full, Link};
use self::neighbours::{Neighbour, Neighbours, derived};
use self::raw::Raw;
use self::stream::Stream;
use self::tap::Tap;
use super::address::Announcement;
use super::cable::{self, Dropped, ip_of};
use super::frame::{Frame, Macs};
use super::port::Wire;
use super::watcher::Watcher;
use crate::config::{Gid, LinkLayer};
use crate::notify::Notify;
use crate::packet::Packet;

pub use switch::{Switch, Way};

/// Frames that are read at most while a packet is looked for: peers can always have more.
const BATCH: usize = 64;
/// Most frames for the device's own queues that wait, and most packets from the device to itself.
const WAITING: usize = 1024;
/// Reasons to drop frames that are kept at most until the device asks.
const REASONS: usize = 1024;
/// The bit of an address that says that it is a group's.
const GROUP: u8 = 1;

/// An Ethernet address.
type Mac = [u8; 6];

/// A device's end of an Ethernet.
pub struct EthernetWire {
    link: Box<dyn Link>,
    watcher: Watcher,
    notify: Notify,
    mac: Mac,
    gids: Vec<Gid>,
    /// Multicast groups whose packets are for the device, in ascending order.
    groups: Vec<[u8; 16]>,
    neighbours: Neighbours,
    /// A kernel answers for the port's addresses.
    has_kernel: bool,
    /// The latest search for a packet ended before the link was empty.
    is_behind: bool,
    buffer: Vec<u8>,
    ethernet: VecDeque<Vec<u8>>,
    loopback: VecDeque<Frame>,
    dropped: VecDeque<Dropped>,
    /// Frames that were lost since they were last counted: the device had no room, or their receivers.
    lost_here: u64,
    lost_there: u64,
}

impl EthernetWire {
    /// Opens the TAP device `name`, which is made if it does not exist (this needs `CAP_NET_ADMIN`). The host's kernel
    /// is at its other end. The port has the address `mac` and these GIDs.
    ///
    /// # Errors
    /// The device cannot be opened.
    pub fn tap(name: &str, mac: [u8; 6], gids: &[Gid]) -> io::Result<Self> {
        Self::new(Box::new(Tap::open(name)?), mac, gids, false)
    }

    /// Sends and takes frames on the interface `name` of the host, beside its kernel's stack (this needs
    /// `CAP_NET_RAW`). `mac` and the GIDs are those of the interface, for which the kernel answers.
    ///
    /// # Errors
    /// There is no such interface, or the right is missing.
    pub fn raw(name: &str, mac: [u8; 6], gids: &[Gid]) -> io::Result<Self> {
        Self::new(Box::new(Raw::open(name)?), mac, gids, true)
    }

    /// Joins the network at the Unix socket `path`, in the form of QEMU's `-netdev stream`. The first one there is the
    /// switch, and the network ends with it. A file beside the socket, `PATH.lock`, stays.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn socket(path: &Path, mac: [u8; 6], gids: &[Gid]) -> io::Result<Self> {
        Self::new(Box::new(Stream::join(path)?), mac, gids, false)
    }

    fn new(mut link: Box<dyn Link>, mac: Mac, gids: &[Gid], has_kernel: bool) -> io::Result<Self> {
        let notify = Notify::new();
        let watcher = Watcher::new(notify.clone())?;
        link.watch(&watcher)?;
        let mut wire = Self {
            link,
            watcher,
            notify,
            mac,
            gids: Vec::new(),
            groups: Vec::new(),
            neighbours: Neighbours::new(mac),
            has_kernel,
            is_behind: false,
            buffer: Vec::new(),
            ethernet: VecDeque::new(),
            loopback: VecDeque::new(),
            dropped: VecDeque::new(),
            lost_here: 0,
            lost_there: 0,
        };
        wire.set_gids(gids);
        Ok(wire)
    }

    /// Wakes the thread that steps the device when a frame arrives.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.notify.clone()
    }

    fn set_gids(&mut self, gids: &[Gid]) {
        self.gids = gids.to_vec();
        if !self.has_kernel {
            self.neighbours.answer_for(gids.iter().map(|gid| ip_of(gid.raw)).collect());
        }
    }

    fn has_gid(&self, raw: [u8; 16]) -> bool {
        self.gids.iter().any(|gid| gid.raw == raw)
    }

    /// Whether a packet is for a multicast group, and whether the device takes those.
    fn group(&self, frame: &Frame) -> Option<bool> {
        let group = frame.route.group(Packet::dest_qp(&frame.packet)?)?;
        Some(self.groups.binary_search(&group).is_ok())
    }

    /// The Ethernet address that a packet goes to. `given` is the driver's, if it is not zeros.
    fn destination(&mut self, from: IpAddr, to: IpAddr, given: Mac) -> Neighbour {
        match derived(to).or((given != [0; 6]).then_some(given)) {
            Some(mac) => Neighbour::At(mac),
            None => self.ask(from, to),
        }
    }

    /// The neighbour that has the address `to`, if it is known. Otherwise it is asked for.
    fn ask(&mut self, from: IpAddr, to: IpAddr) -> Neighbour {
        let (neighbour, question) = self.neighbours.find(from, to, Instant::now());
        if let Some(question) = question {
            // Without room it is asked again.
            let _ = self.link.send(&question);
        }
        neighbour
    }

    /// Takes a frame; the packet in it, if it is one for the port.
    fn take(&mut self) -> Option<Frame> {
        let is_own =
            self.buffer.first_chunk() == Some(&self.mac) || self.buffer.first().is_some_and(|b| b & GROUP != 0);
        match cable::decode(LinkLayer::Ethernet, &self.buffer) {
            Ok(frame) => {
                let grh = frame.route.grh?;
                if !is_own || !self.group(&frame).unwrap_or_else(|| self.has_gid(grh.dgid)) {
                    return None;
                }
                self.neighbours.learn(ip_of(grh.sgid), frame.route.macs.source);
                return Some(frame);
            }
            // Without a right network header nothing says that a frame is the transport's.
            Err(
                Dropped::OtherProtocol { .. }
                | Dropped::Truncated { .. }
                | Dropped::IpVersion(_)
                | Dropped::IpOptions(_)
                | Dropped::HeaderChecksum(_)
                | Dropped::Fragment(_)
                | Dropped::Length { .. },
            ) => {
                if let Some(answer) = self.neighbours.hear(&self.buffer) {
                    let _ = self.link.send(&answer);
                }
                if self.ethernet.len() < WAITING {
                    self.ethernet.push_back(self.buffer.clone());
                } else {
                    self.lost_here += 1;
                }
            }
            Err(reason) if is_own => {
                log::debug!("a frame is dropped: {reason}");
                if self.dropped.len() < REASONS {
                    self.dropped.push_back(reason);
                }
            }
            Err(_) => {}
        }
        None
    }
}

impl Wire for EthernetWire {
    fn send(&mut self, mut frame: Frame) -> Result<(), Frame> {
        let Some(grh) = frame.route.grh else { return Ok(()) };
        if self.has_gid(grh.dgid) {
            // A port does not hear itself.
            if self.loopback.len() >= WAITING {
                return Err(frame);
            }
            self.loopback.push_back(frame);
            return Ok(());
        }
        let given = frame.route.macs.destination;
        let destination = match self.destination(ip_of(grh.sgid), ip_of(grh.dgid), given) {
            Neighbour::At(mac) => mac,
            Neighbour::Asked => return Err(frame),
            Neighbour::Silent => {
                log::debug!("no neighbour has {}", ip_of(grh.dgid));
                return Ok(());
            }
        };
        frame.route.macs = Macs { source: self.mac, destination };
        match cable::encode(&frame) {
            Ok(bytes) if self.link.send(&bytes) == Err(Full) => return Err(frame),
            Ok(_) => {}
            Err(reason) => log::debug!("a packet does not leave: {reason}"),
        }
        // A port does not hear its own packets to a group either. Without room, the copy is lost.
        if self.group(&frame) == Some(true) && self.loopback.len() < WAITING {
            self.loopback.push_back(frame);
        }
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        if let Some(frame) = self.loopback.pop_front() {
            return Some(frame);
        }
        self.is_behind = false;
        let mut left = BATCH;
        while left > 0 {
            match self.link.recv(&self.watcher, &mut self.buffer) {
                Arrived::Frame => {
                    if let Some(frame) = self.take() {
                        return Some(frame);
                    }
                }
                Arrived::ForOthers => {}
                Arrived::Nothing => break,
            }
            left -= 1;
        }
        // The watcher does not see frames that wait in a peer's buffer.
        self.is_behind = left == 0;
        self.watcher.arm(self.link.watched());
        None
    }

    fn advance(&mut self, _now: Duration) -> bool {
        // Told once: a stalled device does not receive, and its thread would not sleep.
        std::mem::take(&mut self.is_behind)
    }

    fn is_holding(&self) -> bool {
        self.is_behind
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        // Without room it is lost, as at a switch.
        self.lost_there += u64::from(self.link.send(frame).is_err());
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        self.ethernet.pop_front()
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        self.lost_there += self.link.take_lost();
        let lost = [(Dropped::NoRoomHere, &mut self.lost_here), (Dropped::NoRoomThere, &mut self.lost_there)];
        let mut lost = lost.into_iter().map(|(reason, count)| (reason, std::mem::take(count)));
        lost.find(|(_, count)| *count > 0).or_else(|| self.dropped.pop_front().map(|reason| (reason, 1)))
    }

    fn neighbour(&mut self, from: [u8; 16], to: [u8; 16]) -> Option<[u8; 6]> {
        if self.has_gid(to) {
            return Some(self.mac);
        }
        let [from, to] = [from, to].map(ip_of);
        match self.ask(from, to) {
            Neighbour::At(mac) => Some(mac),
            Neighbour::Asked => None,
            Neighbour::Silent => {
                // Somebody waits for it: it is asked anew.
                self.neighbours.forget(to);
                None
            }
        }
    }

    fn announce(&mut self, announcement: Announcement) {
        self.set_gids(&announcement.gids);
        self.groups = announcement.groups;
    }

    fn descriptors(&self) -> Vec<RawFd> {
        self.link.descriptors().iter().map(AsRawFd::as_raw_fd).chain(self.watcher.descriptors()).collect()
    }
}
