//! Slots: a device instance's place in the fabric's directory, and how others reach it there.
//!
//! The slot's file is locked (`flock`) for the life of the instance, so a slot is free again as soon as its process is
//! dead. It holds the owner's generation, a number, and the owner's GIDs, and is never mapped. Beside it is a socket,
//! `SOCK_SEQPACKET`, at which the owner is found. A sender connects to it and hands over the memory of its ring. The
//! owner answers with the memory of its wake-up words ([`Control`]): senders can only read one part, and write to the
//! other. Nothing else is ever said, but both keep the connection: the kernel closes it when either is dead, however it
//! died.
//!
//! Slots lie in a folder of the fabric's directory that anybody may search, and sockets are anybody's to connect to.
//! The directory around it is its user's alone, so only those get there that had the folder open, whatever user they
//! have become since.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    ops::Range,
    os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, RawFd},
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use rustix::{
    fs::{
        AtFlags, CWD, FlockOperation, Mode, OFlags, RawDir, chmodat, flock, ftruncate, mkdir, open, openat, unlinkat,
    },
    io::{Errno, fcntl_dupfd_cloexec},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, recvmsg, sendmsg,
        socket_with,
    },
};

use super::descriptor::Descriptor;
use super::landing::{Landing, Place};
use super::memory::Shared;
use crate::config::Gid;
use crate::notify::{Notify, Waker};

/// Slots of a fabric: 2^24 QPNs in shares of 2^14.
pub const SLOTS: u32 = 1 << (24 - LOG_QPNS);
/// log2 of the QPNs of a slot.
const LOG_QPNS: u32 = 14;
/// QPNs of a slot that are for no QP of a program: as in the whole space, management (0 and 1) and others that mlx5
/// devices keep for themselves.
const RESERVED_QPNS: u32 = 0x40;
/// The multicast QPN, no QP's.
const QPN_MULTICAST: u32 = 0xff_ffff;

/// The message that goes with descriptors: the version of everything that is shared.
const MESSAGE: [u8; 8] = *b"softhcaA";

/// Room for the descriptors that go with a message.
const DESCRIPTORS_SPACE: usize = rustix::cmsg_space!(ScmRights(2));

/// The QPNs of a slot, reserved ones first.
pub(super) fn qpns(slot: u32) -> Range<u32> {
    slot << LOG_QPNS..((slot + 1) << LOG_QPNS).min(QPN_MULTICAST)
}

/// Those of them that are for QPs.
pub(super) fn qp_qpns(slot: u32) -> Range<u32> {
    let Range { start, end } = qpns(slot);
    start + RESERVED_QPNS..end
}

/// The one that stands for QP 1; slot 0's is QP 1 itself.
pub(super) fn gsi_qpn(slot: u32) -> u32 {
    qpns(slot).start + 1
}

/// The slot that has a QPN of 24 bits.
pub(super) fn slot_of(qpn: u32) -> u32 {
    (qpn >> LOG_QPNS) & (SLOTS - 1)
}

/// The folder of a fabric's slots.
#[derive(Debug)]
pub(super) struct Directory {
    folder: Descriptor,
    /// It is the working directory of the thread that uses this.
    is_entered: bool,
}

impl Directory {
    /// Its name in the fabric's directory.
    pub(super) const NAME: &str = "slots";

    /// The folder of the fabric at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = open(path.join(Self::NAME), flags, Mode::empty())?.into();
        Ok(Self { folder, is_entered: false })
    }

    /// Makes the folder of the fabric at `path`, if there is none.
    pub(super) fn make(path: &Path) -> io::Result<()> {
        let (path, search) = (path.join(Self::NAME), Mode::RWXU | Mode::XGRP | Mode::XOTH);
        match mkdir(&path, search) {
            // The process's umask may take rights away from new folders.
            Ok(()) => Ok(chmodat(CWD, &path, search, AtFlags::empty())?),
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes it the working directory of the calling thread, which has one of its own.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        // Of rustix, this function's module is not compiled for MIPS.
        // SAFETY: takes a descriptor.
        if unsafe { libc::syscall(libc::SYS_fchdir, self.folder.as_raw_fd()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        self.is_entered = true;
        Ok(())
    }

    /// Gives the numbers of the standard streams, which the calling thread does not have, to descriptors that nobody
    /// can write to.
    pub(super) fn stand_in_for_standard_streams(&self) -> io::Result<()> {
        while fcntl_dupfd_cloexec(&self.folder, 0)?.into_raw_fd() < libc::STDERR_FILENO {}
        Ok(())
    }

    /// Address of a slot's socket. An address has room for 107 bytes of path only.
    fn address(&self, slot: u32) -> io::Result<SocketAddrUnix> {
        let name = socket_name(slot);
        let path = if self.is_entered { name } else { format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()) };
        Ok(SocketAddrUnix::new(path)?)
    }

    /// The file of a slot, made if `create` says so.
    fn file(&self, slot: u32, create: OFlags) -> io::Result<Descriptor> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | create;
        Ok(openat(&self.folder, format!("slot-{slot:04}"), flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// The generation of a slot's owner; `None` if there is no owner, or its process is dead.
    pub(super) fn life(&self, slot: u32) -> Option<u32> {
        let file = self.file(slot, OFlags::empty()).ok()?;
        // The owner's lock is exclusive; one that we get goes with the file.
        let is_taken = flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK);
        is_taken.then(|| generation(&file))
    }

    /// Whether the owner of a slot, who lives, has this GID.
    pub(super) fn has_gid(&self, slot: u32, gid: &[u8; 16]) -> bool {
        let Ok(file) = self.file(slot, OFlags::empty()) else { return false };
        // As in `life`.
        if flock(&file, FlockOperation::NonBlockingLockShared) != Err(Errno::WOULDBLOCK) {
            return false;
        }
        let mut bytes = [0; GIDS_AT + 16 * MAX_GIDS];
        let Ok(len) = file.read_at(&mut bytes, 0) else { return false };
        bytes[..len].get(GIDS_AT..).is_some_and(|gids| gids.chunks_exact(16).any(|found| found == gid))
    }

    /// The slots that have an owner, or had one that was killed.
    pub(super) fn slots(&self) -> io::Result<Vec<u32>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut slots = Vec::new();
        // Room for some of the longest names at least.
        let mut room = [MaybeUninit::uninit(); 2048];
        let mut entries = RawDir::new(Descriptor::from(openat(&self.folder, ".", flags, Mode::empty())?), &mut room);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let number = name.strip_prefix("slot-").and_then(|name| name.strip_suffix(".socket")?.parse::<u32>().ok());
            // Other spellings of a number would make a slot twice.
            slots.extend(number.filter(|&slot| slot < SLOTS && name == socket_name(slot)));
        }
        Ok(slots)
    }

    /// A connection to the owner of a slot; `None` if there is no owner.
    pub(super) fn connect(&self, slot: u32) -> io::Result<Option<Connection>> {
        let socket = socket()?;
        match connect(&socket, &self.address(slot)?) {
            Ok(()) => Ok(Some(Connection(socket))),
            // No socket, or that of a dead process.
            Err(Errno::NOENT | Errno::CONNREFUSED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Where the owner's GIDs lie in a slot's file, behind the generation, and how many there are at most.
const GIDS_AT: usize = 4;
const MAX_GIDS: usize = 256;

/// The number in a slot's file; 0 if there is no number.
fn generation(file: &Descriptor) -> u32 {
    let mut number = [0; 4];
    if matches!(file.read_at(&mut number, 0), Ok(4)) { u32::from_ne_bytes(number) } else { 0 }
}

fn socket_name(slot: u32) -> String {
    format!("slot-{slot:04}.socket")
}

fn socket() -> io::Result<Descriptor> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?.into())
}

/// A message from a connection.
#[derive(Debug)]
pub(super) enum Received {
    /// Nothing yet.
    Nothing,
    /// Memory of the other end's: of a ring, or both parts of [`Control`].
    Memory(Descriptor, Option<Descriptor>),
    /// Something that no peer of this version says.
    Nonsense,
    /// The other end is gone.
    Closed,
}

/// A connection between a sender and the owner of a slot.
#[derive(Debug)]
pub(super) struct Connection(Descriptor);

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Connection {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl Connection {
    /// Hands memory over.
    pub(super) fn send<const N: usize>(&self, memory: [&Descriptor; N]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); DESCRIPTORS_SPACE];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors = memory.map(Descriptor::as_fd);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        sendmsg(&self.0, &[IoSlice::new(&MESSAGE)], &mut ancillary, flags)?;
        Ok(())
    }

    /// The number of the process that listens at the other end; 0 if this process cannot see it (unix(7),
    /// `SO_PEERCRED`).
    pub(super) fn process(&self) -> u32 {
        // rustix has a type for it that cannot be 0.
        let mut other = libc::ucred { pid: 0, uid: 0, gid: 0 };
        let mut len = size_of_val(&other) as libc::socklen_t;
        let (fd, level, name) = (self.0.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED);
        // SAFETY: the kernel writes at most `len` bytes to `other`.
        let known = unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, &raw mut other, &raw mut len) };
        if known == 0 { other.pid.unsigned_abs() } else { 0 }
    }

    /// Looks for a message.
    pub(super) fn receive(&self) -> Received {
        let mut message = [0; MESSAGE.len()];
        let mut space = [MaybeUninit::uninit(); DESCRIPTORS_SPACE];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = match recvmsg(&self.0, &mut [IoSliceMut::new(&mut message)], &mut ancillary, flags) {
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Received::Nothing,
            Err(_) => return Received::Closed,
        };
        // All of them at once: libc would close the rest.
        let mut memory: Vec<Descriptor> = Vec::new();
        for part in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = part {
                memory.extend(descriptors.map(Descriptor::from));
            }
        }
        let mut memory = memory.into_iter();
        match memory.next() {
            Some(first) if message == MESSAGE => Received::Memory(first, memory.next()),
            // The end: peers send no messages of 0 bytes.
            None if received.bytes == 0 => Received::Closed,
            _ => Received::Nonsense,
        }
    }
}

/// The memory of a slot's owner that its senders need: whether it is still there, and how it is woken.
///
/// ```text
/// the owner's part, which others can only read:  0 here: 1 until the owner leaves   64 the sleeper's words
///                                                128 address of its landing, and the number there
/// the bell, which senders write to:              0 wake-ups
/// ```
///
/// Any of the senders may be hostile, and its stores to the bell reach the others. So nothing else is there.
#[derive(Clone, Debug)]
pub(super) struct Control(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    own: Shared,
    bell: Shared,
    /// The owner's own; `None` of a peer, and where there is no memory for it.
    _landing: Option<Landing>,
}

impl Control {
    const BYTES: usize = 4096;
    const HERE_AT: usize = 0;
    const SLEEPER_AT: usize = 64;
    const LANDING_AT: usize = 128;
    const BELL_AT: usize = 0;

    /// New memory, and its descriptors for senders.
    fn create() -> io::Result<(Self, [Descriptor; 2])> {
        let (own, own_file) = Shared::create_read_only(Self::BYTES)?;
        let (bell, bell_file) = Shared::create(Self::BYTES)?;
        let landing = Landing::new().ok();
        if let Some(Place { address, number }) = landing.as_ref().map(Landing::place) {
            own.long(Self::LANDING_AT).store(address, Ordering::Relaxed);
            own.long(Self::LANDING_AT + 8).store(number, Ordering::Relaxed);
        }
        own.word(Self::HERE_AT).store(1, Ordering::Release);
        Ok((Self(Arc::new(Parts { own, bell, _landing: landing })), [own_file, bell_file]))
    }

    /// That of a peer.
    pub(super) fn of_peer(own: &Descriptor, bell: &Descriptor) -> io::Result<Self> {
        let own = Shared::read_only_of_peer(own, Self::BYTES)?;
        let bell = Shared::of_peer(bell, Self::BYTES)?;
        Ok(Self(Arc::new(Parts { own, bell, _landing: None })))
    }

    /// Whether the owner is still here. An owner that was killed could not note it here: only the connection shows
    /// that.
    pub(super) fn is_here(&self) -> bool {
        self.0.own.word(Self::HERE_AT).load(Ordering::Acquire) != 0
    }

    /// The owner's landing, if it has one.
    pub(super) fn landing(&self) -> Option<Place> {
        let [address, number] = [0, 8].map(|at| self.0.own.long(Self::LANDING_AT + at).load(Ordering::Relaxed));
        (address != 0).then_some(Place { address, number })
    }

    /// Wakes the owner.
    pub(super) fn waker(&self) -> Waker {
        let (sleeper, bell) = (self.0.own.address(Self::SLEEPER_AT), self.0.bell.address(Self::BELL_AT));
        let owner: Arc<dyn std::any::Any + Send + Sync> = self.0.clone();
        // SAFETY: `address` has checked that both words are aligned and inside their mappings. `owner` keeps the
        // mappings, and that of the bell is writable. Every process accesses the words through `Waker` and `Notify` only.
        unsafe { Waker::at(sleeper, bell, owner) }
    }
}

/// A slot that is ours, until [`Self::leave`] or until the process dies.
#[derive(Debug)]
pub(super) struct OwnSlot {
    pub(super) number: u32,
    control: Control,
    /// Of `control`, for senders.
    memory: [Descriptor; 2],
    pub(super) socket: Descriptor,
    pub(super) directory: Directory,
    /// Closing it gives the lock up.
    lock: Descriptor,
}

impl OwnSlot {
    /// Takes the first free slot; `None` if there is none.
    pub(super) fn take(directory: Directory) -> io::Result<Option<Self>> {
        for slot in 0..SLOTS {
            let lock = directory.file(slot, OFlags::CREATE)?;
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Self::set_up(directory, slot, lock).map(Some),
                Err(Errno::WOULDBLOCK) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn set_up(directory: Directory, slot: u32, lock: Descriptor) -> io::Result<Self> {
        lock.write_at(&generation(&lock).wrapping_add(1).max(1).to_ne_bytes(), 0)?;
        let (control, memory) = Control::create()?;
        remove_socket(&directory, slot);
        let socket = socket()?;
        bind(&socket, &directory.address(slot)?)?;
        let anybody = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        chmodat(&directory.folder, socket_name(slot), anybody, AtFlags::empty())?;
        listen(&socket, SLOTS as i32)?;
        Ok(Self { number: slot, control, memory, socket, directory, lock })
    }

    /// Tells everybody which GIDs the owner has.
    pub(super) fn tell_gids(&self, gids: &[Gid]) -> io::Result<()> {
        let mut raw: Vec<[u8; 16]> = gids.iter().map(|gid| gid.raw).take(MAX_GIDS).collect();
        raw.dedup();
        ftruncate(&self.lock, (GIDS_AT + 16 * raw.len()) as u64)?;
        self.lock.write_at(raw.as_flattened(), GIDS_AT as u64)
    }

    /// How we are woken.
    pub(super) fn notify(&self) -> Notify {
        // SAFETY: `Control::create` has mapped the memory for writing.
        unsafe { Notify::of(self.control.waker()) }
    }

    /// Its descriptors.
    pub(super) fn descriptors(&self) -> [RawFd; 5] {
        let [own, bell] = self.memory.each_ref().map(Descriptor::as_raw_fd);
        [own, bell, self.socket.as_raw_fd(), self.directory.folder.as_raw_fd(), self.lock.as_raw_fd()]
    }

    /// The next sender that has connected, if there is one.
    pub(super) fn accept(&self) -> io::Result<Option<Connection>> {
        match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(connection) => Ok(Some(Connection(connection.into()))),
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells a sender how we are woken. `false` if it is gone: its frames are in its ring all the same.
    pub(super) fn answer(&self, sender: &Connection) -> io::Result<bool> {
        match sender.send(self.memory.each_ref()) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Nobody is found here any more.
    pub(super) fn leave(&self) {
        self.control.0.own.word(Control::HERE_AT).store(0, Ordering::Release);
        remove_socket(&self.directory, self.number);
    }
}

/// Removes the socket of a slot that is ours, or that of its dead owner.
fn remove_socket(directory: &Directory, slot: u32) {
    // There may be none.
    let _ = unlinkat(&directory.folder, socket_name(slot), AtFlags::empty());
}
