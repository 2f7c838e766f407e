//! An open `/dev/infiniband/rdma_cm`: its events, in order. The descriptor that the program has is an eventfd that
//! counts them, so that it can be polled, and read to wait for one.

use super::abi::EventResp;
use crate::process::{Credentials, Errno, fds, forked, lock, real};
use std::collections::VecDeque;
use std::os::fd::{IntoRawFd, RawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// An event that nobody has read.
pub(super) struct Event {
    /// The id that it is reported for.
    pub(super) owner: u32,
    /// The membership in a multicast group that it reports, if it is about one.
    pub(super) membership: Option<u32>,
    pub(super) response: EventResp,
}

/// An open file. Its content changes only under the manager's lock.
pub(crate) struct EventFile {
    fd: RawFd,
    /// The process that opened it.
    process: u32,
    /// As whom.
    opener: Credentials,
    events: Mutex<VecDeque<Event>>,
}

impl EventFile {
    /// A new one, whose descriptor has these flags of `open`.
    pub(super) fn new(flags: i32) -> Result<Self, Errno> {
        let fd = fds::counter(flags)?.into_raw_fd();
        Ok(Self { fd, process: std::process::id(), opener: Credentials::now(), events: Mutex::default() })
    }

    /// Its descriptor.
    pub(super) fn fd(&self) -> RawFd {
        self.fd
    }

    /// Refuses commands of the child of a fork, if it is the parent that has the file, and of a process that has become
    /// another user since. Logs the reason once.
    ///
    /// Linux compares the objects of its credentials (`ucma.c`, `ucma_write`: `ib_safe_file_access`), so there a
    /// `setuid` to the same user counts, too. It does not compare them for the ioctls of a device.
    pub(super) fn permits(&self) -> Result<(), Errno> {
        static TOLD: AtomicBool = AtomicBool::new(false);
        forked::refuse_copies(self.process)?;
        if Credentials::now() == self.opener {
            return Ok(());
        }
        if !TOLD.swap(true, Ordering::Relaxed) {
            log::error!("a process cannot use an event channel that it opened as another user or group");
        }
        Err(Errno::EACCES)
    }

    /// Counts one more event. The counter cannot be full: it has 64 bits.
    fn count(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes of a local variable; past our own definition of write, which takes this file for a
        // program's.
        unsafe { real::write(self.fd, (&raw const one).cast(), 8) };
    }

    /// Takes a count back, if nobody else has read it since.
    fn discount(&self) {
        let mut count = 0_u64;
        let place = libc::iovec { iov_base: (&raw mut count).cast(), iov_len: 8 };
        // SAFETY: the vector names eight bytes of a local variable.
        unsafe { libc::preadv2(self.fd, &place, 1, -1, libc::RWF_NOWAIT) };
    }

    pub(super) fn push(&self, event: Event) {
        lock(&self.events).push_back(event);
        self.count();
    }

    /// Takes the oldest event for which `take` succeeds, if there is one. The caller must have read a count.
    pub(super) fn pop(&self, take: impl FnOnce(&Event) -> Result<(), Errno>) -> Option<Result<Event, Errno>> {
        let mut events = lock(&self.events);
        match take(events.front()?) {
            Ok(()) => events.pop_front().map(Ok),
            Err(error) => {
                self.count();
                Some(Err(error))
            }
        }
    }

    /// Takes all events out that are to go.
    pub(super) fn take_back(&self, goes: impl Fn(&Event) -> bool) -> Vec<Event> {
        let mut events = lock(&self.events);
        let (own, others): (Vec<_>, Vec<_>) = events.drain(..).partition(|event| goes(event));
        events.extend(others);
        own.iter().for_each(|_| self.discount());
        own
    }
}
