//! Forks. The child copies the memory of its parent, but no thread. So a device of the parent does no work in the
//! child, and its place on the network stays the parent's. The child leaves the copy alone, and each command for it is
//! refused.
//!
//! A child of `vfork` is another matter: it runs in the memory of its parent, beside the threads, until it starts a
//! program.

use super::errno::Errno;
#[cfg(target_arch = "x86_64")]
use super::real;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, TryLockError};
use std::time::{Duration, Instant};

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

/// Has each fork from now on wait for the holder of a static lock, `FILES: HashMap<RawFd, Entry>` for example.
/// Otherwise another thread may have the lock at a fork: no thread of the child would ever let it go.
macro_rules! wait_for_holder {
    ($lock:ident: $data:ty) => {{
        thread_local! {
            static HELD: std::cell::Cell<Option<std::sync::MutexGuard<'static, $data>>> =
                const { std::cell::Cell::new(None) };
        }
        extern "C" fn before() {
            // A thread that ends holds nothing.
            let _ = HELD.try_with(|held| held.set($crate::process::forked::held_soon(&$lock)));
        }
        extern "C" fn after() {
            let _ = HELD.try_with(std::cell::Cell::take);
        }
        static WATCH: std::sync::Once = std::sync::Once::new();
        WATCH.call_once(|| {
            // If there is no memory for it, forks do not wait.
            // SAFETY: the functions lock and unlock a mutex, in the thread that forks.
            let _ = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
        });
    }};
}
pub(crate) use wait_for_holder;

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
