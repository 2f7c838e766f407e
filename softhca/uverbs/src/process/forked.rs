//! Forks. The child copies the memory of its parent, but no thread. So a device of the parent does no work in the
//! child, and its place on the network stays the parent's. The child leaves the copy alone, and each command for it is
//! refused.
//!
//! A child of `vfork` is another matter: it runs in the memory of its parent, beside the threads, until it starts a
//! program.

use super::errno::Errno;
#[cfg(target_arch = "x86_64")]
use super::real;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// This process, if it is the child of a fork.
static CHILD: AtomicU32 = AtomicU32::new(0);

extern "C" fn forked() {
    CHILD.store(std::process::id(), Ordering::Relaxed);
}

/// From now on, forks are noticed.
pub(crate) fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // If there is no memory for it, a child works with its copies.
        // SAFETY: the function stores an integer.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
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
