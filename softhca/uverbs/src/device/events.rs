//! Event files: completion channels and the asynchronous event file. Each is a pipe whose read end the program has, and
//! holds the kernel's event structures.

use crate::abi::{AsyncEvent, CompEvent};
use crate::process::fds::{OpenFile, Own};
use crate::process::{Errno, lock};
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::io::ioctl_fionread;
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use zerocopy::IntoBytes;

/// An object's way to tell the program: where its events of one kind go, and how many have gone there.
pub(crate) struct Source {
    pipe: Option<Arc<EventPipe>>,
    /// The program's name for the object.
    user_handle: u64,
    raised: AtomicU32,
}

impl Source {
    /// A source of events for `pipe`; without one they get lost.
    pub(crate) fn new(pipe: Option<Arc<EventPipe>>, user_handle: u64) -> Arc<Self> {
        Arc::new(Self { pipe, user_handle, raised: AtomicU32::new(0) })
    }

    /// Whether its event file has events that the program has not read.
    pub(super) fn has_unread(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| pipe.has_unread())
    }

    /// Raises a completion event.
    pub(super) fn completion(&self, backlog: &mut Backlog) {
        self.put(CompEvent { cq_handle: self.user_handle }.as_bytes(), backlog);
    }

    /// Raises an asynchronous event of type `event_type`.
    pub(super) fn asynchronous(&self, event_type: u32, backlog: &mut Backlog) {
        self.put(AsyncEvent { element: self.user_handle, event_type, reserved: 0 }.as_bytes(), backlog);
    }

    fn put(&self, event: &[u8], backlog: &mut Backlog) {
        if let Some(pipe) = &self.pipe {
            self.raised.fetch_add(1, Ordering::Relaxed);
            pipe.put(event, backlog);
        }
    }

    /// Takes back the events that nobody has read, and tells how many somebody has: the program must acknowledge as
    /// many before it lets go of the object. To be called when the device can raise no more.
    pub(crate) fn retire(&self) -> u32 {
        let dropped = self.pipe.as_ref().map_or(0, |pipe| pipe.take_back(self.user_handle));
        self.raised.load(Ordering::Relaxed).wrapping_sub(dropped)
    }
}

/// The event files of a device that have no room for all of their events. A program that has read such a file, and
/// waits for more, may cause no event that would move the rest. So the device does it now and then.
#[derive(Default)]
pub(super) struct Backlog(Vec<Weak<EventPipe>>);

impl Backlog {
    /// Moves the events for which there is room by now. Cheap if all files have had room.
    pub(super) fn flush(&mut self) {
        self.0.retain(|pipe| pipe.upgrade().is_some_and(|pipe| !pipe.catches_up()));
    }
}

/// The device's end of an event file.
pub(crate) struct EventPipe {
    /// Bytes of an event.
    event_len: usize,
    ends: Mutex<Ends>,
}

struct Ends {
    _own: [Own; 2],
    /// Written without blocking.
    write: File,
    /// The read end, opened a second time. It never blocks; the program chooses the mode of its own.
    read: File,
    /// Events for which the pipe had no room.
    waiting: VecDeque<Vec<u8>>,
    /// The pipe is in its device's backlog.
    is_behind: bool,
}

impl EventPipe {
    /// A new pipe for events of `event_len` bytes, and the descriptor of the program's end.
    pub(crate) fn new(event_len: usize) -> Result<(Self, OwnedFd), Errno> {
        let (program, write) = pipe_with(PipeFlags::CLOEXEC)?;
        // The write end of a pipe has no other flags than this one.
        fcntl_setfl(&write, OFlags::NONBLOCK)?;
        let path = format!("/proc/self/fd/{}", program.as_raw_fd());
        let read = open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        let own = [Own::new(&write), Own::new(&read)];
        let (write, read) = (write.into(), read.into());
        let ends = Ends { _own: own, write, read, waiting: VecDeque::new(), is_behind: false };
        Ok((Self { event_len, ends: Mutex::new(ends) }, program))
    }

    /// Puts an asynchronous event that is no queue's: of port `port`, or of the device.
    pub(super) fn unaffiliated(self: &Arc<Self>, port: u8, event_type: u32, backlog: &mut Backlog) {
        self.put(AsyncEvent { element: port.into(), event_type, reserved: 0 }.as_bytes(), backlog);
    }

    fn put(self: &Arc<Self>, event: &[u8], backlog: &mut Backlog) {
        let mut ends = lock(&self.ends);
        ends.waiting.push_back(event.to_vec());
        ends.flush();
        if !ends.waiting.is_empty() && !std::mem::replace(&mut ends.is_behind, true) {
            log::warn!("an event file is full: events wait until the program reads it");
            backlog.0.push(Arc::downgrade(self));
        }
    }

    /// Moves the events for which there is room by now; whether none wait any more.
    fn has_unread(&self) -> bool {
        let ends = lock(&self.ends);
        !ends.waiting.is_empty() || ioctl_fionread(&ends.read).is_ok_and(|bytes| bytes > 0)
    }

    fn catches_up(&self) -> bool {
        let mut ends = lock(&self.ends);
        ends.flush();
        ends.is_behind = !ends.waiting.is_empty();
        !ends.is_behind
    }

    /// Takes the unread events of one object out; how many there were.
    fn take_back(&self, user_handle: u64) -> u32 {
        let mut ends = lock(&self.ends);
        let unread = ends.take_unread(self.event_len);
        let total = unread.len();
        // Both structures begin with the handle.
        ends.waiting = unread.into_iter().filter(|event| event[..8] != user_handle.to_ne_bytes()).collect();
        let dropped = total - ends.waiting.len();
        ends.flush();
        // There cannot be 2^32 events in a pipe.
        dropped as u32
    }
}

impl OpenFile for EventPipe {
    /// The device's end lasts as long as somebody may raise events.
    fn close(self: Arc<Self>, _: RawFd) {}
}

impl Ends {
    /// Moves events from the queue to the pipe while it has room. Events are far shorter than `PIPE_BUF`, so each goes
    /// whole or not at all.
    fn flush(&mut self) {
        while let Some(event) = self.waiting.front() {
            match self.write.write(event) {
                Ok(_) => drop(self.waiting.pop_front()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => {
                    log::warn!("an event is lost: {error}");
                    self.waiting.pop_front();
                }
            }
        }
    }

    fn take_unread(&mut self, event_len: usize) -> VecDeque<Vec<u8>> {
        let mut events = VecDeque::new();
        loop {
            let mut event = vec![0; event_len];
            match self.read.read(&mut event) {
                Ok(len) if len == event_len => events.push_back(event),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Empty.
                _ => break,
            }
        }
        events.append(&mut self.waiting);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retiring_an_object_takes_its_unread_events_only() {
        let (pipe, program) = EventPipe::new(8).unwrap();
        let pipe = Some(Arc::new(pipe));
        let (mine, other) = (Source::new(pipe.clone(), 7), Source::new(pipe, 9));
        let mut backlog = Backlog::default();
        for _ in 0..3 {
            mine.completion(&mut backlog);
            other.completion(&mut backlog);
        }
        let mut program = File::from(program);
        let mut event = [0; 8];
        program.read_exact(&mut event).unwrap();
        assert_eq!(u64::from_ne_bytes(event), 7);
        assert_eq!(mine.retire(), 1);
        for _ in 0..3 {
            program.read_exact(&mut event).unwrap();
            assert_eq!(u64::from_ne_bytes(event), 9);
        }
        assert_eq!(other.retire(), 3);
    }
}
