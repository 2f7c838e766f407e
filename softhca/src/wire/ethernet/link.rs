//! A link that carries Ethernet frames.

use std::io;
use std::os::fd::BorrowedFd;

use super::super::watcher::Watcher;

/// The link has no room now; the sender may try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// The outcome of looking for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A frame, which may be for the port.
    Frame,
    /// A frame for others only. More may be behind it.
    ForOthers,
    /// None has arrived.
    Nothing,
}

/// A link.
pub(super) trait Link: Send {
    /// Has the watcher watch its descriptors, those of now.
    fn watch(&mut self, watcher: &Watcher) -> io::Result<()> {
        self.watched().into_iter().try_for_each(|fd| watcher.add(fd))
    }

    /// Its descriptors.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// Those of them that are to report: not those that would report for ever, because nothing can be read.
    fn watched(&self) -> Vec<BorrowedFd<'_>> {
        self.descriptors()
    }

    /// Sends a frame. One that can never leave is lost.
    fn send(&mut self, frame: &[u8]) -> Result<(), Full>;

    /// Puts the next frame into `frame`, which may have any content. A call takes one frame at most, because peers can
    /// always have more. New descriptors are watched from now on.
    fn recv(&mut self, watcher: &Watcher, frame: &mut Vec<u8>) -> Arrived;

    /// How many frames it has lost since the last call, besides those that [`Self::send`] has given back: one for each
    /// receiver that had no room.
    fn take_lost(&mut self) -> u64 {
        0
    }
}

/// The outcome of sending a frame, by the system's error.
pub(super) fn sent(result: rustix::io::Result<usize>) -> Result<(), Full> {
    use rustix::io::Errno;
    match result {
        Ok(_) => Ok(()),
        Err(Errno::AGAIN | Errno::NOBUFS) => Err(Full),
        Err(error) => {
            log::debug!("a frame is lost: {error}");
            Ok(())
        }
    }
}
