//! Which file descriptors are ours. Asking about one that is not costs a load, since every ioctl, mmap and close of the
//! program asks.

use crate::context::{Context, lock};
use crate::errno::Errno;
use crate::events::EventPipe;
use crate::rdma_cm::EventFile;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

/// An open file of ours.
#[derive(Clone)]
pub(crate) enum File {
    /// An open device.
    Device(Arc<Context>),
    /// A completion channel or an asynchronous event file.
    Events(Arc<EventPipe>),
    /// The connection manager's file.
    ConnectionManager(Arc<EventFile>),
}

/// Descriptors from here on cannot be ours.
const LIMIT: usize = 1 << 16;
static OURS: [AtomicU64; LIMIT / 64] = [const { AtomicU64::new(0) }; LIMIT / 64];
static FILES: LazyLock<Mutex<HashMap<RawFd, File>>> = LazyLock::new(Mutex::default);

fn bit(fd: RawFd) -> Option<(&'static AtomicU64, u64)> {
    let fd = usize::try_from(fd).ok()?;
    Some((OURS.get(fd / 64)?, 1 << (fd % 64)))
}

/// Whether `fd` is ours.
pub(crate) fn is_ours(fd: RawFd) -> bool {
    bit(fd).is_some_and(|(word, bit)| word.load(Ordering::Acquire) & bit != 0)
}

/// Makes `fd` ours.
pub(crate) fn insert(fd: RawFd, file: File) -> Result<(), Errno> {
    let (word, bit) = bit(fd).ok_or(Errno::EMFILE)?;
    let stale = lock(&FILES).insert(fd, file);
    // Without the lock: what goes with the last of an open file are descriptors of ours.
    drop(stale);
    word.fetch_or(bit, Ordering::Release);
    Ok(())
}

/// The file behind `fd`, if it is ours.
pub(crate) fn get(fd: RawFd) -> Option<File> {
    if is_ours(fd) { lock(&FILES).get(&fd).cloned() } else { None }
}

/// Forgets `fd`, which is about to be closed.
pub(crate) fn remove(fd: RawFd) -> Option<File> {
    let (word, bit) = bit(fd)?;
    if word.fetch_and(!bit, Ordering::AcqRel) & bit == 0 {
        return None;
    }
    lock(&FILES).remove(&fd)
}
