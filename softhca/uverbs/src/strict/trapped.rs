//! Trapped doorbells on their way to the thread of a device.

use crate::process::forked;
use softhca::notify::Notify;
use softhca::uar::{Doorbell, DoorbellQueue};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Doorbells that can wait for the device. A thread waits for its own, so there is one per thread.
const DOORBELLS: usize = 1024;

/// A device's trapped doorbells.
pub(crate) struct Trapped {
    queue: Arc<DoorbellQueue>,
    /// How many were handed to the device.
    pushed: AtomicU64,
    /// How many of these it has looked at.
    done: AtomicU64,
    /// Stores to its pages are trapped.
    traps: bool,
    /// Stores that come close together are one doorbell.
    combines: bool,
    /// The process that has the device.
    process: u32,
}

impl Trapped {
    /// None yet. `notify` wakes the device's thread.
    pub(crate) fn new(notify: Notify) -> Self {
        let queue = Arc::new(DoorbellQueue::new(DOORBELLS, notify));
        let process = std::process::id();
        Self { queue, pushed: AtomicU64::new(0), done: AtomicU64::new(0), traps: true, combines: true, process }
    }

    /// None, ever: the pages permit stores, and the device looks for doorbells elsewhere.
    pub(crate) fn never(notify: Notify) -> Self {
        Self { traps: false, ..Self::new(notify) }
    }

    /// None yet; each store is to reach the device by itself, as with memory that the CPU does not combine stores to.
    pub(crate) fn one_by_one(notify: Notify) -> Self {
        Self { combines: false, ..Self::new(notify) }
    }

    /// Whether this process traps stores to the device's pages.
    pub(super) fn traps(&self) -> bool {
        self.traps && !self.is_parents()
    }

    /// Whether this process is a child of the one that has the device.
    pub(super) fn is_parents(&self) -> bool {
        forked::is_copy(self.process)
    }

    /// Whether stores are put together to doorbells.
    pub(super) fn combines(&self) -> bool {
        self.combines
    }

    /// Where the device's thread takes them from.
    pub(crate) fn queue(&self) -> &Arc<DoorbellQueue> {
        &self.queue
    }

    /// The device has looked at the oldest one.
    pub(crate) fn one_is_done(&self) {
        self.done.fetch_add(1, Ordering::Release);
    }

    /// Gives the device a trapped doorbell, and waits until the device has looked at it. Ring and doorbell record are
    /// as they were at the store while the thread waits in its handler. May be called in a signal handler.
    pub(crate) fn ring(&self, page: u32, offset: usize, stored: &[u8]) {
        /// Longer than a device that works takes, however busy the machine is; then the thread goes on.
        const PATIENCE: Duration = Duration::from_secs(20);
        if self.process != std::process::id() {
            // A child of the program, which has no device.
            return;
        }
        let begin = Instant::now();
        // Offsets are below 4096, and no doorbell is longer than half a register.
        let Some(doorbell) = Doorbell::new(page, offset as u16, stored) else { return };
        self.pushed.fetch_add(1, Ordering::Relaxed);
        while self.queue.push(doorbell).is_err() {
            if begin.elapsed() > PATIENCE {
                self.pushed.fetch_sub(1, Ordering::Relaxed);
                return;
            }
            // SAFETY: takes no arguments; allowed in signal handlers.
            unsafe { libc::sched_yield() };
        }
        // It handles them in order: once it has handled all that are pushed now, ours is among them.
        let pushed = self.pushed.load(Ordering::Relaxed);
        while self.done.load(Ordering::Acquire) < pushed && begin.elapsed() < PATIENCE {
            // SAFETY: takes no arguments; allowed in signal handlers.
            unsafe { libc::sched_yield() };
        }
    }
}
