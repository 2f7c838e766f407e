//! Threads in a program of somebody else's.

use std::cell::Cell;
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

/// Has the calling thread run soon after it is woken.
///
/// By default Linux may add 50 us to each sleep. A thread that spins keeps its CPU until its slice ends, which takes up
/// to 4 ms. A woken thread with a shorter slice does not wait for that, since Linux 6.12. Older kernels ignore slices.
pub(crate) fn run_when_woken() {
    #[cfg(target_os = "linux")]
    {
        /// The shortest that Linux has, in nanoseconds.
        const SLICE: u64 = 100_000;
        if let Err(error) = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1)) {
            log::warn!("timer slack: {error}");
        }
        if let Err(error) = set_slice(SLICE) {
            log::info!("the device's thread has slices of the usual length: {error}");
        }
    }
}

/// Sets the calling thread's slice of a CPU, in nanoseconds, and leaves its priority alone.
#[cfg(target_os = "linux")]
fn set_slice(nanoseconds: u64) -> io::Result<()> {
    let ok = |result| if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: plain data, for which all zeros is valid.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = size_of_val(&attributes);
    // SAFETY: the kernel writes at most `size` bytes, all of them of `attributes`. 0 is the calling thread.
    ok(unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) })?;
    if attributes.sched_policy != libc::SCHED_OTHER as u32 {
        // A real-time thread has no slice.
        return Ok(());
    }
    attributes.sched_runtime = nanoseconds;
    // SAFETY: the kernel reads `attributes`, which says its size.
    ok(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) })
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

thread_local! {
    /// The thread's descriptors are not the process's.
    static APART: Cell<bool> = const { Cell::new(false) };
}

/// Whether the numbers of the calling thread's descriptors mean other files than the process's. A program that looks at
/// its descriptors must not look at these.
#[must_use]
pub fn is_apart() -> bool {
    APART.get()
}

/// The resources that a thread has of its own.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// Descriptors: none at first.
    pub(crate) files: bool,
    /// Root, working directory and file mode mask.
    pub(crate) folders: bool,
}

/// Gives the calling thread descriptors, a root and a working directory of its own, as far as the system permits. Threads
/// that it starts share them: see [`stay_apart`].
///
/// Kernels before 5.9 cannot give it descriptors, and filters for containers may keep it from folders.
#[cfg(target_os = "linux")]
pub(crate) fn go_apart() -> Apart {
    // Copies of the program's descriptors would keep its files open.
    // SAFETY: only this thread's descriptors are closed, and it has none: it has just begun.
    let files = unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE) } == 0;
    APART.set(files);
    // SAFETY: changes no memory, and what belongs to no other thread.
    let folders = unsafe { libc::unshare(libc::CLONE_FS) } == 0;
    Apart { files, folders }
}

/// Says whether the thread that has started this one is apart: then this one is, too.
#[cfg(target_os = "linux")]
pub(crate) fn stay_apart(apart: bool) {
    APART.set(apart);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_a_short_slice_and_keeps_its_priority() {
        // SAFETY: plain calls, and data for which all zeros is valid.
        let read = || unsafe {
            let mut attributes: libc::sched_attr = std::mem::zeroed();
            let size = size_of_val(&attributes);
            assert_eq!(libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0), 0);
            (attributes.sched_policy, attributes.sched_nice, attributes.sched_runtime)
        };
        thread::spawn(move || {
            // SAFETY: lowers the priority of this thread.
            assert_eq!(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 7) }, 0);
            let (policy, _, usual) = read();
            run_when_woken();
            let (after, nice, slice) = read();
            assert_eq!((after, nice), (policy, 7));
            // Kernels before 6.12 have no slices, and say 0.
            assert!(slice == 100_000 || (usual, slice) == (0, 0), "{usual} {slice}");
        })
        .join()
        .unwrap();
    }
}
