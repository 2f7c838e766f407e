//! Waking a sleeping device when a descriptor has something to read. The device's thread sleeps on a
//! [`Notify`], which no descriptor can wake; a thread of the watcher does it.
//!
//! A descriptor reports once. The wire reads it until it is empty, and only then has it report again
//! ([`Watcher::arm`]). So a busy wire costs no wake-ups, and nothing is missed: a descriptor with unread bytes reports
//! as soon as it is armed.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};

use crate::notify::Notify;
use crate::thread::spawn;

/// One report for each arming.
const ONCE: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);
/// Events taken at once.
const EVENTS: usize = 8;
/// The descriptor that ends the thread has this number; the others have 0.
const END: u64 = 1;

/// A thread that wakes a device. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    epoll: Arc<OwnedFd>,
    /// Ends the thread.
    end: OwnedFd,
    /// A descriptor has reported since the last arming.
    reported: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// The process that started the thread: in a forked child there is none.
    pid: u32,
}

impl Watcher {
    /// Wakes `notify` whenever an armed descriptor can be read.
    ///
    /// # Errors
    /// The system has no descriptor or no thread to give.
    pub(super) fn new(notify: Notify) -> io::Result<Self> {
        let epoll = Arc::new(epoll::create(CreateFlags::CLOEXEC)?);
        let end = eventfd(0, EventfdFlags::CLOEXEC)?;
        epoll::add(&*epoll, &end, EventData::new_u64(END), EventFlags::IN)?;
        let reported = Arc::new(AtomicBool::new(false));
        let (watched, has_reported) = (Arc::clone(&epoll), Arc::clone(&reported));
        let thread = spawn("softhca-wire", move || watch(&watched, &has_reported, &notify))?;
        Ok(Self { epoll, end, reported, thread: Some(thread), pid: std::process::id() })
    }

    /// From now on, `fd` reports, too. It does so no more when it is closed.
    pub(super) fn add(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::add(&*self.epoll, fd, EventData::new_u64(0), ONCE)?)
    }

    /// Has the descriptors, all of which were added, report again. Cheap if none has reported.
    pub(super) fn arm<'a>(&self, all: impl IntoIterator<Item = BorrowedFd<'a>>) {
        // The thread sets the flag before it wakes the device. So the device, woken, sees it.
        if !self.reported.swap(false, Ordering::AcqRel) {
            return;
        }
        all.into_iter().for_each(|fd| self.arm_one(fd));
    }

    /// Has one descriptor, which was added, report again: one that was left out when the others were armed.
    pub(super) fn arm_one(&self, fd: BorrowedFd<'_>) {
        if let Err(error) = epoll::modify(&*self.epoll, fd, EventData::new_u64(0), ONCE) {
            log::warn!("a descriptor of the wire is not watched: {error}");
        }
    }

    /// The descriptors that it has open.
    pub(super) fn descriptors(&self) -> [RawFd; 2] {
        [self.epoll.as_raw_fd(), self.end.as_raw_fd()]
    }
}

fn watch(epoll: &OwnedFd, reported: &AtomicBool, notify: &Notify) {
    let mut events = Vec::with_capacity(EVENTS);
    loop {
        match epoll::wait(epoll, spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return log::error!("the wire wakes its device no more: {error}"),
        }
        if events.drain(..).any(|event| event.data.u64() == END) {
            return;
        }
        reported.store(true, Ordering::Release);
        notify.wake();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.pid != std::process::id() {
            // A forked child has no such thread, which must be neither joined nor detached.
            std::mem::forget(thread);
            return;
        }
        if rustix::io::write(&self.end, &1_u64.to_ne_bytes()).is_ok() && thread.join().is_err() {
            log::error!("the wire's thread has panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    /// Waits until the device is woken; whether that was soon.
    fn is_woken(notify: &Notify, act: impl FnOnce()) -> bool {
        let (seen, start) = (notify.prepare(), Instant::now());
        act();
        notify.wait(seen, Duration::from_secs(20));
        start.elapsed() < Duration::from_secs(10)
    }

    #[test]
    fn each_arrival_after_an_arming_wakes() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let notify = Notify::new();
        let watcher = Watcher::new(notify.clone()).unwrap();
        watcher.add(&near).unwrap();
        for _ in 0..100 {
            assert!(is_woken(&notify, || far.write_all(&[1]).unwrap()));
            assert_eq!(near.read(&mut [0; 8]).unwrap(), 1);
            watcher.arm([near.as_fd()]);
        }
    }

    #[test]
    fn bytes_that_came_before_the_arming_wake_too() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let notify = Notify::new();
        let watcher = Watcher::new(notify.clone()).unwrap();
        watcher.add(&near).unwrap();
        assert!(is_woken(&notify, || far.write_all(&[1]).unwrap()));
        far.write_all(&[2]).unwrap();
        assert!(is_woken(&notify, || watcher.arm([near.as_fd()])));
    }
}
