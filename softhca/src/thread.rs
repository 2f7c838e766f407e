//! Threads in a program of somebody else's.

use std::io;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// Starts a thread of this name that takes no signals but those that its own faults raise.
///
/// It runs, and has its part of libc's heap, when this returns. Some programs overwrite functions of libc to watch
/// memory (UCX and libfabric: `munmap`), and assume that no other thread is inside them at that moment.
///
/// # Errors
/// The system has no thread to give.
pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let (running, has_begun) = mpsc::sync_channel(1);
    let run = move || {
        // The thread has freed memory before it got here, so its heap exists. The send fails only if the caller has
        // died.
        let _ = running.send(());
        run();
    };
    let thread = without_signals(|| thread::Builder::new().name(name.into()).spawn(run))?;
    // An error means that the thread has ended already.
    let _ = has_begun.recv();
    Ok(thread)
}

/// Runs `start` so that threads it starts have all signals blocked, except those that faults raise. Signals of the
/// process are the application's and must not run its handlers on our thread.
#[cfg(unix)]
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    // SAFETY: plain data, for which all zeros is valid.
    let [mut ours, mut before]: [libc::sigset_t; 2] = unsafe { std::mem::zeroed() };
    // SAFETY: the sets are valid, and only the calling thread's mask changes; it is restored below.
    unsafe {
        libc::sigfillset(&mut ours);
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
            libc::sigdelset(&mut ours, fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &ours, &mut before);
    }
    let outcome = start();
    // SAFETY: `before` was filled in above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    outcome
}

#[cfg(not(unix))]
fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    start()
}
