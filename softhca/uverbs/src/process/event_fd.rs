//! Eventfds that the program has made, and gives to a device.

use super::Errno;
use super::fds::{self, Own};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// An eventfd, by a descriptor of ours.
#[derive(Debug)]
pub(crate) struct EventFd {
    _own: Own,
    file: OwnedFd,
}

impl EventFd {
    /// That of the program's descriptor `fd`: `EBADF` if it is none, `EINVAL` if it is another file's.
    pub(crate) fn of(fd: RawFd) -> Result<Self, Errno> {
        let file = fds::duplicate(fd)?;
        let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(|_| Errno::EBADF)?;
        if link.as_os_str() != "anon_inode:[eventfd]" {
            return Err(Errno::EINVAL);
        }
        Ok(Self { _own: Own::new(&file), file })
    }

    /// Counts one more. If the file has no room, nobody has taken many earlier events: the device does not wait for
    /// that, although the program decides whether writing blocks.
    pub(crate) fn signal(&self) {
        let mut room = [PollFd::new(&self.file, PollFlags::OUT)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut room, Some(&at_once)) == Ok(1) && room[0].revents().contains(PollFlags::OUT) {
            // Another thread may have filled it since.
            let _ = rustix::io::write(&self.file, &1_u64.to_ne_bytes());
        }
    }
}
