//! Frames by Unix sockets, in the form of QEMU's `-netdev stream` (QEMU `net/net.c`, `net_fill_rstate`): before each
//! frame, its length in 4 bytes of the network's order.
//!
//! The first program at a path listens there, and is the switch. Later ones connect to it, and so do virtual machines:
//! `-netdev stream,id=n,addr.type=unix,addr.path=PATH`.
//!
//! A socket that was bound, but does not listen yet, looks like that of a dead program. So a program locks the file
//! `PATH.lock` while it removes a socket or makes one. The file stays: a program that removed it could not know whether
//! another one waits for the lock.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, lstat};
use rustix::net::{RecvFlags, SendFlags};

use super::super::watcher::Watcher;
use super::link::{Arrived, Full, Link};
use super::switch::{Switch, Way};

/// Bytes of a length.
const LENGTH: usize = 4;
/// The longest frame that QEMU sends (`NET_BUFSIZE`). A longer one ends the connection.
const LONGEST: usize = 4096 + 65536;
/// Bytes that are read at once.
const READ: usize = 1 << 16;
/// Bytes that wait at most for a peer that does not read. Past it, frames to it are lost or wait at their sender.
const WAITING: usize = 1 << 20;
/// Most peers of a switch.
const PEERS: usize = 64;
/// The device's own port of the switch; peers have other numbers.
const OWN: u32 = 0;

/// One connection.
struct Peer {
    stream: UnixStream,
    port: u32,
    read: Vec<u8>,
    /// Bytes of the front of `read` that were taken.
    taken: usize,
    unsent: VecDeque<u8>,
    is_closed: bool,
}

impl Peer {
    fn new(stream: UnixStream, port: u32) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, port, read: Vec::new(), taken: 0, unsent: VecDeque::new(), is_closed: false })
    }

    /// Sends waiting bytes, as far as the peer has room.
    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match rustix::net::send(&self.stream, self.unsent.as_slices().0, SendFlags::NOSIGNAL) {
                Ok(len) => drop(self.unsent.drain(..len)),
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => {
                    self.is_closed = true;
                    self.unsent.clear();
                }
            }
        }
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Full> {
        self.flush();
        if self.is_closed {
            return Ok(());
        }
        if self.unsent.len() + LENGTH + frame.len() > WAITING {
            return Err(Full);
        }
        // No frame is as long as 4 GiB.
        self.unsent.extend((frame.len() as u32).to_be_bytes());
        self.unsent.extend(frame);
        self.flush();
        Ok(())
    }

    /// The next frame. It reads once, so a peer whose bytes come one by one holds nobody up. The watcher sees the rest
    /// of a frame.
    fn recv(&mut self) -> Option<&[u8]> {
        self.flush();
        let mut next = self.next_frame();
        if next.is_none() && !self.is_closed {
            self.fill();
            next = self.next_frame();
        }
        let frame = next?;
        self.taken = frame.end;
        Some(&self.read[frame])
    }

    /// Where the next frame lies, if all of it was read.
    fn next_frame(&mut self) -> Option<Range<usize>> {
        let begin = self.taken + LENGTH;
        let length = *self.read.get(self.taken..)?.first_chunk::<LENGTH>()?;
        let len = u32::from_be_bytes(length) as usize;
        if len == 0 || len > LONGEST {
            if !self.is_closed {
                log::warn!("a peer of the network is let go: it announces a frame of {len} bytes");
            }
            self.is_closed = true;
            return None;
        }
        (self.read.len() >= begin + len).then_some(begin..begin + len)
    }

    /// Reads more, if something has arrived.
    fn fill(&mut self) {
        self.read.drain(..std::mem::take(&mut self.taken));
        let before = self.read.len();
        self.read.resize(before + READ, 0);
        let len = match rustix::net::recv(&self.stream, &mut self.read[before..], RecvFlags::empty()) {
            Ok((0, _)) => {
                self.is_closed = true;
                0
            }
            Ok((len, _)) => len,
            Err(rustix::io::Errno::AGAIN) => 0,
            Err(_) => {
                self.is_closed = true;
                0
            }
        };
        self.read.truncate(before + len);
    }
}

/// Locks the file beside `path`, made if `create` says so, until the result is dropped.
fn lock(path: &Path, create: OFlags) -> io::Result<File> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | create;
    let file = rustix::fs::open(name, flags, Mode::RUSR | Mode::WUSR)?;
    rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
    Ok(file.into())
}

/// The identity of a file: its file system, and its number there.
type Identity = (u64, u64);

fn identity(path: &Path) -> io::Result<Identity> {
    let status = lstat(path)?;
    Ok((status.st_dev, status.st_ino))
}

/// Removes a socket, if it is one.
fn remove_socket(path: &Path) {
    if lstat(path).is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Socket) {
        // If it stays, nobody can listen there, and that error says so.
        let _ = std::fs::remove_file(path);
    }
}

/// The switch of a network.
struct Hub {
    listener: UnixListener,
    path: PathBuf,
    /// The socket's file: another program may have put its own there.
    file: Identity,
    /// The process that listens: a forked child does not remove the socket.
    pid: u32,
    switch: Switch,
    next_port: u32,
    /// Nobody can be let in at present. The listener is not watched: it would report those that wait for ever.
    is_closed: bool,
}

/// An end of the network: the switch with its peers, or the way to it.
pub(super) struct Stream {
    peers: Vec<Peer>,
    hub: Option<Hub>,
    /// Index of the next peer to read.
    turn: usize,
    /// Frames that the switch has lost since they were last counted, for each peer that had no room.
    lost: u64,
}

impl Stream {
    /// Joins the network at `path`.
    pub(super) fn join(path: &Path) -> io::Result<Self> {
        let peer = |stream| Ok(Self { peers: vec![Peer::new(stream, OWN + 1)?], hub: None, turn: 0, lost: 0 });
        if let Ok(stream) = UnixStream::connect(path) {
            return peer(stream);
        }
        let _locked = lock(path, OFlags::CREATE)?;
        // Others may have begun at the same moment.
        match UnixStream::connect(path) {
            Ok(stream) => return peer(stream),
            // The socket of a switch that is gone; or a file of another kind, which stays.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => remove_socket(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        let hub = Hub {
            listener,
            path: path.to_owned(),
            file: identity(path)?,
            pid: std::process::id(),
            switch: Switch::default(),
            next_port: OWN + 1,
            is_closed: false,
        };
        Ok(Self { peers: Vec::new(), hub: Some(hub), turn: 0, lost: 0 })
    }

    /// Lets peers in that have come, and lets go of those that have gone.
    fn look_for_peers(&mut self, watcher: &Watcher) {
        let Some(hub) = &mut self.hub else { return };
        self.peers.retain(|peer| {
            if peer.is_closed {
                hub.switch.forget(peer.port);
            }
            !peer.is_closed
        });
        let was_closed = hub.is_closed;
        hub.is_closed = loop {
            if self.peers.len() >= PEERS {
                break true;
            }
            let stream = match hub.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) => {
                    if !was_closed {
                        log::warn!("peers wait to be let in: {error}");
                    }
                    break true;
                }
            };
            let port = hub.next_port;
            hub.next_port = port.checked_add(1).unwrap_or(OWN + 1);
            match Peer::new(stream, port).and_then(|peer| watcher.add(&peer.stream).map(|()| peer)) {
                Ok(peer) => self.peers.push(peer),
                Err(error) => log::warn!("a peer is not let in: {error}"),
            }
        };
        if was_closed && !hub.is_closed {
            watcher.arm_one(hub.listener.as_fd());
        }
    }
}

impl Link for Stream {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let listener = self.hub.iter().map(|hub| hub.listener.as_fd());
        self.peers.iter().map(|peer| peer.stream.as_fd()).chain(listener).collect()
    }

    fn watched(&self) -> Vec<BorrowedFd<'_>> {
        let listener = self.hub.iter().filter(|hub| !hub.is_closed).map(|hub| hub.listener.as_fd());
        // The end of a connection would be reported for ever.
        let open = self.peers.iter().filter(|peer| !peer.is_closed);
        open.map(|peer| peer.stream.as_fd()).chain(listener).collect()
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Full> {
        let Some(hub) = &mut self.hub else {
            return self.peers.first_mut().map_or(Ok(()), |peer| peer.send(frame));
        };
        match hub.switch.pass(OWN, frame) {
            Way::Nowhere => Ok(()),
            Way::Port(port) => {
                let peer = self.peers.iter_mut().find(|peer| peer.port == port);
                peer.map_or(Ok(()), |peer| peer.send(frame))
            }
            Way::Others => {
                // A peer without room loses the frame.
                for peer in &mut self.peers {
                    self.lost += u64::from(peer.send(frame).is_err());
                }
                Ok(())
            }
        }
    }

    fn recv(&mut self, watcher: &Watcher, frame: &mut Vec<u8>) -> Arrived {
        self.look_for_peers(watcher);
        for _ in 0..self.peers.len() {
            self.turn = if self.turn + 1 < self.peers.len() { self.turn + 1 } else { 0 };
            let Some(found) = self.peers[self.turn].recv() else { continue };
            frame.clear();
            frame.extend_from_slice(found);
            let Some(hub) = &mut self.hub else { return Arrived::Frame };
            let from = self.peers[self.turn].port;
            let way = hub.switch.pass(from, frame);
            for peer in self.peers.iter_mut().filter(|peer| peer.port != from) {
                if way == Way::Others || way == Way::Port(peer.port) {
                    self.lost += u64::from(peer.send(frame).is_err());
                }
            }
            let is_own = matches!(way, Way::Others | Way::Port(OWN));
            return if is_own { Arrived::Frame } else { Arrived::ForOthers };
        }
        Arrived::Nothing
    }

    fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            return;
        }
        // If it cannot be locked, the socket stays: the next program removes it.
        if let Ok(_locked) = lock(&self.path, OFlags::empty()) {
            // Until the socket is closed, no other file has its number.
            if identity(&self.path).is_ok_and(|there| there == self.file) {
                let _ = std::fs::remove_file(&self.path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EthernetWire, tests::wakes};
    use super::*;
    use std::io::Write;
    use std::os::fd::OwnedFd;

    /// It can be read, and lets nobody in, as in a process that has no descriptor left.
    #[test]
    fn a_file_that_is_no_socket_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("letter");
        std::fs::write(&path, "dear").unwrap();
        assert_eq!(Stream::join(&path).err().map(|error| error.kind()), Some(io::ErrorKind::AddrInUse));
        assert_eq!(std::fs::read(&path).unwrap(), b"dear");
    }

    #[test]
    fn a_listener_that_fails_keeps_nobody_awake() {
        let directory = tempfile::tempdir().unwrap();
        let mut stream = Stream::join(&directory.path().join("network")).unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        far.write_all(&[0]).unwrap();
        stream.hub.as_mut().unwrap().listener = OwnedFd::from(near).into();
        let mut wire = EthernetWire::new(Box::new(stream), [2; 6], &[], false).unwrap();
        let woken = wakes(&mut wire);
        assert!(woken < 3, "{woken} times");
    }
}
