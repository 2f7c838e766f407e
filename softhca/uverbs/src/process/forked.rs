//! Forks. The child copies the memory of its parent, but no thread. So a device of the parent does no work in the
//! child, and its place on the network stays the parent's. The child leaves the copy alone, and each command for it is
//! refused.
//!
//! A child of `vfork` is another matter: it runs in the memory of its parent, beside the threads, until it starts a
//! program.

use super::errno::Errno;
use super::lock::lock;
#[cfg(target_arch = "x86_64")]
use super::real;
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

/// This process, if it is the child of a fork.
static CHILD: AtomicU32 = AtomicU32::new(0);

/// This process is the child of a fork.
pub(crate) fn note_child() {
    CHILD.store(std::process::id(), Ordering::Relaxed);
}

/// A lock that each fork takes before it copies the process ([`crate::at_fork`]).
pub(crate) trait StaticLock: Sync {
    /// The held lock, as [`held_soon`] gives it.
    fn held_soon(&'static self) -> Option<Box<dyn Any>>;
}

impl<T: Send + 'static> StaticLock for Mutex<T> {
    fn held_soon(&'static self) -> Option<Box<dyn Any>> {
        held_soon(self).map(|guard| Box::new(guard) as Box<dyn Any>)
    }
}

/// Held while a value is made.
pub(super) static MAKING: Mutex<()> = Mutex::new(());

/// The value of `cell`, which `make` makes the first time. Unlike `OnceLock::get_or_init`, another thread that makes it
/// at a fork does not leave it half made to the child. `make` must not call this for a value that is not made yet.
pub(crate) fn once<T>(cell: &'static OnceLock<T>, make: impl FnOnce() -> T) -> &'static T {
    if let Some(made) = cell.get() {
        return made;
    }
    let _making = lock(&MAKING);
    cell.get_or_init(make)
}

/// The lock, unless its holder keeps it: that may be this very thread, if a handler of a signal forks.
pub(crate) fn held_soon<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let begin = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(error)) => return Some(error.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > Duration::from_secs(1) => return None,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}

/// Whether this process is the child of a fork.
pub(crate) fn is_child() -> bool {
    // Of other processes nothing is asked: each poll of a program comes by here.
    let child = CHILD.load(Ordering::Relaxed);
    child != 0 && child == std::process::id()
}

/// Whether this process has only a copy of an object that process `maker` has made.
pub(crate) fn is_copy(maker: u32) -> bool {
    maker != std::process::id() && is_child()
}

/// Refuses, if this process has only a copy of an object that process `maker` has made. Logs the reason once.
///
/// The error is that of Linux for `write` to such files: the child has its own credentials (`kernel/cred.c`,
/// `copy_creds`), and `ib_safe_file_access` fails (`drivers/infiniband/core/uverbs_main.c`, `ib_uverbs_write`;
/// `ucma.c`, `ucma_write`). Linux does carry out the child's ioctls.
pub(crate) fn refuse_copies(maker: u32) -> Result<(), Errno> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !is_copy(maker) {
        return Ok(());
    }
    if !TOLD.swap(true, Ordering::Relaxed) {
        log::error!("{REASON}");
    }
    Err(Errno::EACCES)
}

/// Prints the reason, in a signal handler: it takes no lock and allocates nothing.
#[cfg(target_arch = "x86_64")]
pub(crate) fn tell() {
    for part in ["softhca: ", REASON, "\n"] {
        // SAFETY: the bytes of a constant.
        unsafe { real::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
}

/// The reason, and the ways out.
const REASON: &str = "a child of fork cannot use a device that its parent has opened: open it in the child, or exec";
