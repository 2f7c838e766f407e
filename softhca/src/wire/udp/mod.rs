//! A wire by UDP sockets (Linux): RoCE v2 between containers, network namespaces and machines, without privilege. The
//! other end may be anything that speaks RoCE v2.
//!
//! ```text
//! device ── UdpWire ── a socket for each address, port 4791 ── the host's IP stack ── another host
//!              │
//!              └── Watcher: a thread that wakes the device when a datagram arrives
//! ```
//!
//! The host's stack finds neighbours and routes, and chooses the hop limit, as Linux' driver lets it
//! (`drivers/infiniband/core/cache.c`, `ib_resolve_unicast_gid_dmac`). A datagram carries the traffic class of its
//! packet, so ECN works end to end. The UDP source port is always the port of RoCE, and IPv6 packets have no flow label
//! of the device's choice: routers see one flow.
//!
//! A datagram may get lost, as on any network without flow control.

mod socket;

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use thiserror::Error;

use self::socket::{Arrived, SendError, Socket};
use super::address::Announcement;
use super::cable::{Dropped, ROCE_PORT, decode_datagram, encode_datagram, gid_of, ip_of};
use super::frame::Frame;
use super::port::Wire;
use super::watcher::Watcher;
use crate::config::{Gid, GidType};
use crate::notify::Notify;
use crate::packet::{MAX_HEADERS, MAX_PAYLOAD};

pub use socket::UdpAddress;

/// Room for a datagram: more than any packet has.
const DATAGRAM: usize = MAX_HEADERS + MAX_PAYLOAD + 64;
/// Datagrams that are dropped at most while a packet is looked for.
const DROPPED_BATCH: usize = 64;
/// Reasons to drop datagrams that are kept at most until the device asks.
const REASONS: usize = 1024;

/// A wire that cannot be.
#[derive(Debug, Error)]
pub enum UdpError {
    /// An address whose port of RoCE cannot be bound.
    #[error("UDP port {ROCE_PORT} of {ip}: {source}")]
    Bind {
        /// The address.
        ip: IpAddr,
        /// The reason: another program has the port, or the host does not have the address.
        source: io::Error,
    },
    /// The system has no thread or descriptor to give.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl UdpError {
    /// The system's error.
    #[must_use]
    pub fn io(&self) -> &io::Error {
        match self {
            Self::Bind { source, .. } | Self::System(source) => source,
        }
    }
}

/// A device's end of the network, at some addresses of the host.
#[derive(Debug)]
pub struct UdpWire {
    /// The sockets of the device's addresses, followed by the sockets of multicast groups.
    sockets: Vec<Socket>,
    /// How many belong to the device's addresses.
    own: usize,
    /// Before it is dropped, the sockets are open.
    watcher: Watcher,
    notify: Notify,
    /// The next socket to read.
    turn: usize,
    buffer: Box<[u8]>,
    dropped: VecDeque<Dropped>,
    /// A packet was lost for a reason that has been reported.
    has_warned: bool,
}

impl UdpWire {
    /// Binds the port of RoCE at each address. The device has GIDs of these addresses ([`Self::gids`]).
    ///
    /// # Errors
    /// [`UdpError`]. One device can have an address at a time.
    pub fn bind(addresses: &[UdpAddress]) -> Result<Self, UdpError> {
        let notify = Notify::new();
        let watcher = Watcher::new(notify.clone())?;
        let mut sockets = Vec::with_capacity(addresses.len());
        for &address in addresses {
            let socket = Socket::bind(address).map_err(|source| UdpError::Bind { ip: address.ip, source })?;
            watcher.add(&socket)?;
            sockets.push(socket);
        }
        let buffer = vec![0; DATAGRAM].into();
        Ok(Self {
            own: sockets.len(),
            sockets,
            watcher,
            notify,
            turn: 0,
            buffer,
            dropped: VecDeque::new(),
            has_warned: false,
        })
    }

    /// The GIDs of its addresses, in their order.
    #[must_use]
    pub fn gids(&self) -> Vec<Gid> {
        self.sockets[..self.own].iter().map(|socket| Gid { raw: gid_of(socket.ip()), kind: GidType::RoceV2 }).collect()
    }

    /// Wakes the thread that steps the device when a datagram arrives.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.notify.clone()
    }

    /// Joins a multicast group with all addresses of the device.
    fn join(&mut self, group: IpAddr) -> io::Result<()> {
        let socket = Socket::join(group, self.sockets[..self.own].iter().map(Socket::address))?;
        self.watcher.add(&socket)?;
        self.sockets.push(socket);
        Ok(())
    }

    fn drop_datagram(&mut self, reason: Dropped) {
        log::debug!("a datagram is dropped: {reason}");
        if self.dropped.len() < REASONS {
            self.dropped.push_back(reason);
        }
    }
}

impl Wire for UdpWire {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let ends = frame.route.grh.as_ref().map(|grh| (ip_of(grh.sgid), ip_of(grh.dgid), grh.traffic_class));
        let found = ends.and_then(|(from, to, class)| {
            let own = &self.sockets[..self.own];
            let socket = own.iter().find(|socket| socket.ip() == from && from.is_ipv4() == to.is_ipv4())?;
            Some((socket, to, class))
        });
        let Some((socket, to, traffic_class)) = found else {
            log::debug!("no socket for a packet on {:?}", frame.route);
            return Ok(());
        };
        let bytes = match encode_datagram(&frame, ROCE_PORT) {
            Ok(bytes) => bytes,
            Err(reason) => {
                log::debug!("a packet does not leave: {reason}");
                return Ok(());
            }
        };
        match socket.send(&bytes, to, traffic_class) {
            Ok(()) => Ok(()),
            Err(SendError::Full) => Err(frame),
            Err(SendError::Lost(error)) => {
                let level = if self.has_warned { log::Level::Debug } else { log::Level::Warn };
                log::log!(level, "a packet of {} bytes to {to} is lost: {error}", bytes.len());
                self.has_warned = true;
                Ok(())
            }
        }
    }

    fn recv(&mut self) -> Option<Frame> {
        let (mut tries, mut dropped) = (self.sockets.len(), DROPPED_BATCH);
        while tries > 0 && dropped > 0 {
            self.turn = if self.turn + 1 < self.sockets.len() { self.turn + 1 } else { 0 };
            match self.sockets[self.turn].recv(&mut self.buffer) {
                Ok(None) => {
                    tries -= 1;
                    continue;
                }
                Ok(Some(Arrived::Whole(header, len))) => match decode_datagram(&header, &self.buffer[..len]) {
                    Ok(frame) => return Some(frame),
                    Err(reason) => self.drop_datagram(reason),
                },
                Ok(Some(Arrived::TooLong(len))) => self.drop_datagram(Dropped::Transport { len }),
                Err(error) => log::debug!("a socket of the wire: {error}"),
            }
            // Other datagrams may be behind it.
            (tries, dropped) = (self.sockets.len(), dropped - 1);
        }
        self.watcher.arm(self.sockets.iter().map(AsFd::as_fd));
        None
    }

    /// Addresses are the sockets'; groups come and go.
    fn announce(&mut self, announcement: Announcement) {
        let groups: Vec<IpAddr> = announcement.groups.into_iter().map(ip_of).collect();
        let mut index = 0;
        self.sockets.retain(|socket| {
            index += 1;
            index <= self.own || groups.contains(&socket.ip())
        });
        self.turn = 0;
        for group in groups {
            let is_there = self.sockets[self.own..].iter().any(|socket| socket.ip() == group);
            if let Err(error) = if is_there { Ok(()) } else { self.join(group) } {
                log::warn!("multicast group {group} is not joined: {error}");
            }
        }
    }

    fn next_dropped(&mut self) -> Option<(Dropped, u64)> {
        self.dropped.pop_front().map(|reason| (reason, 1))
    }

    fn descriptors(&self) -> Vec<RawFd> {
        self.sockets.iter().map(|socket| socket.as_fd().as_raw_fd()).chain(self.watcher.descriptors()).collect()
    }
}

#[cfg(test)]
mod tests;
