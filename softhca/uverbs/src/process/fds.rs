//! Which file descriptors are ours. Asking about one that is not costs a load, since every ioctl, mmap and close of the
//! program asks.
//!
//! The descriptors that the program does not know of are here, too ([`Own`]): when it closes all descriptors, those
//! stay.
//!
//! A child has descriptors of its own, and closes none of its parent's: until it starts another program, it has a copy
//! of this table after fork, and the very same table after vfork.

use super::errno::Errno;
use super::forked;
use super::kind::AnyKind;
use super::lock::lock;
use rustix::event::{EventfdFlags, eventfd};
use softhca::wire::shm::is_apart;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// An open file of ours: a device, an event file, the connection manager's.
pub(crate) trait OpenFile: AnyKind {
    /// Its descriptor `fd` is about to be closed, by the process that opened it.
    fn close(self: Arc<Self>, fd: RawFd);
}

/// Descriptors from here on cannot be ours.
const LIMIT: usize = 1 << 16;
static OURS: [AtomicU64; LIMIT / 64] = [const { AtomicU64::new(0) }; LIMIT / 64];
/// Those that the program does not know.
static OWN: [AtomicU64; LIMIT / 64] = [const { AtomicU64::new(0) }; LIMIT / 64];
pub(super) static FILES: Mutex<BTreeMap<RawFd, Entry>> = Mutex::new(BTreeMap::new());

pub(super) struct Entry {
    file: Arc<dyn OpenFile>,
    /// The process whose descriptor it is.
    process: u32,
}

fn bit(of: &'static [AtomicU64], fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((of.get(fd / 64)?, 1 << (fd % 64)))
}

fn is_in(of: &'static [AtomicU64], fd: RawFd) -> bool {
    bit(of, fd).is_some_and(|(word, bit)| word.load(Ordering::Acquire) & bit != 0)
}

fn all_in(of: &'static [AtomicU64], first: u32, last: u32) -> impl Iterator<Item = RawFd> {
    // Descriptors below the limit are not negative.
    (first..=last.min(LIMIT as u32 - 1)).map(|fd| fd as RawFd).filter(move |&fd| is_in(of, fd))
}

/// Says that a descriptor is our own. Drop it before you close the descriptor.
#[derive(Debug)]
pub(crate) struct Own(RawFd);

impl Own {
    /// `descriptor` is our own.
    pub(crate) fn new(descriptor: &impl AsRawFd) -> Self {
        let fd = descriptor.as_raw_fd();
        if let Some((word, bit)) = bit(&OWN, fd) {
            word.fetch_or(bit, Ordering::Release);
        }
        Self(fd)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some((word, bit)) = bit(&OWN, self.0) {
            word.fetch_and(!bit, Ordering::AcqRel);
        }
    }
}

/// A descriptor of ours for what the program's descriptor `fd` is open for. `EBADF` if it is none.
pub(crate) fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: plain call.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if own < 0 {
        return Err(Errno::EBADF);
    }
    // SAFETY: a descriptor that the call has just made, so nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(own) })
}

/// A new descriptor with these flags of `open` that counts: it can be read once for each that is written to it.
pub(crate) fn counter(flags: i32) -> Result<OwnedFd, Errno> {
    let given = |flag, means| if flags & flag != 0 { means } else { EventfdFlags::empty() };
    let close_on_exec = given(libc::O_CLOEXEC, EventfdFlags::CLOEXEC);
    Ok(eventfd(0, EventfdFlags::SEMAPHORE | close_on_exec | given(libc::O_NONBLOCK, EventfdFlags::NONBLOCK))?)
}

/// Our own from `first` to `last`.
pub(crate) fn own_in(first: u32, last: u32) -> impl Iterator<Item = RawFd> {
    all_in(&OWN, first, last)
}

/// Whether `fd` is ours. A thread with descriptors of its own has none of these.
pub(crate) fn is_ours(fd: RawFd) -> bool {
    is_in(&OURS, fd) && !is_apart()
}

/// Makes `fd` ours.
pub(crate) fn insert(fd: RawFd, file: Arc<dyn OpenFile>) -> Result<(), Errno> {
    let (word, bit) = bit(&OURS, fd).ok_or(Errno::EMFILE)?;
    let stale = lock(&FILES).insert(fd, Entry { file, process: std::process::id() });
    // Without the lock: closing the last descriptor of an open file closes descriptors of ours.
    drop(stale);
    word.fetch_or(bit, Ordering::Release);
    Ok(())
}

/// The file behind `fd`, if it is ours.
pub(crate) fn get(fd: RawFd) -> Option<Arc<dyn OpenFile>> {
    if is_ours(fd) { lock(&FILES).get(&fd).map(|entry| entry.file.clone()) } else { None }
}

/// The file behind `fd`, if it is ours and of this kind.
pub(crate) fn get_as<T: OpenFile>(fd: RawFd) -> Option<Arc<T>> {
    get(fd)?.into_any().downcast().ok()
}

/// Those of ours from `first` to `last`.
pub(crate) fn ours_in(first: u32, last: u32) -> impl Iterator<Item = RawFd> {
    all_in(&OURS, first, last)
}

/// Forgets `fd`, which is about to be closed. Returns its file, for the process that opened it to end.
pub(crate) fn remove(fd: RawFd) -> Option<Arc<dyn OpenFile>> {
    if !is_ours(fd) {
        return None;
    }
    let (word, bit) = bit(&OURS, fd)?;
    let mut files = lock(&FILES);
    let (owner, process) = (files.get(&fd)?.process, std::process::id());
    if owner == process || forked::is_child() {
        word.fetch_and(!bit, Ordering::AcqRel);
    }
    // The child of a fork lets its copy be.
    if owner == process { files.remove(&fd).map(|entry| entry.file) } else { None }
}
