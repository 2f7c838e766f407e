//! TAP devices (Linux `Documentation/networking/tuntap.rst`).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::super::watcher::Watcher;
use super::link::{Arrived, Full, Link, sent};
use crate::ethernet::{MAX_FRAME, VLAN_TAG};

/// Bytes of the name of an interface, with the zero byte at its end.
pub(super) const NAME_BYTES: usize = libc::IFNAMSIZ;

/// A TAP device: a frame for each read and write.
pub(super) struct Tap {
    file: OwnedFd,
    /// The interface was deleted.
    is_gone: bool,
}

impl Tap {
    /// Opens the device `name`, which is made if it does not exist.
    pub(super) fn open(name: &str) -> io::Result<Self> {
        let file = rustix::fs::open("/dev/net/tun", OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
        // SAFETY: zeros are a valid request.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        put_name(&mut request.ifr_name, name)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the request outlives the call, which reads it and writes the name.
        if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &mut request) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { file, is_gone: false })
    }
}

/// Puts the name of an interface into a request.
pub(super) fn put_name(to: &mut [libc::c_char; NAME_BYTES], name: &str) -> io::Result<()> {
    if name.is_empty() || name.len() >= NAME_BYTES || name.contains('\0') {
        let text = format!("`{name}` is no name of an interface: 1 to {} bytes", NAME_BYTES - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    for (to, from) in to.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(())
}

impl Link for Tap {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.file.as_fd()]
    }

    fn watched(&self) -> Vec<BorrowedFd<'_>> {
        // The error would be reported for ever.
        if self.is_gone { Vec::new() } else { self.descriptors() }
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Full> {
        sent(rustix::io::write(&self.file, frame))
    }

    fn recv(&mut self, _: &Watcher, frame: &mut Vec<u8>) -> Arrived {
        frame.resize(MAX_FRAME + VLAN_TAG, 0);
        match rustix::io::read(&self.file, &mut *frame) {
            Ok(len) => {
                frame.truncate(len);
                Arrived::Frame
            }
            Err(Errno::AGAIN | Errno::INTR) => Arrived::Nothing,
            Err(error) => {
                if !std::mem::replace(&mut self.is_gone, true) {
                    log::warn!("the TAP device is gone: {error}");
                }
                Arrived::Nothing
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EthernetWire, tests::wakes};
    use super::*;
    use std::os::fd::FromRawFd;

    /// It reports an error for ever, as the descriptor of a TAP device does whose interface was deleted.
    #[test]
    fn a_device_that_is_gone_keeps_nobody_awake() {
        let mut ends = [-1; 2];
        // SAFETY: `ends` has room for two descriptors.
        assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) }, 0);
        // SAFETY: both descriptors are new and belong to nobody else.
        let [read, write] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        let mut wire = EthernetWire::new(Box::new(Tap { file: write, is_gone: false }), [2; 6], &[], false).unwrap();
        drop(read);
        let woken = wakes(&mut wire);
        assert!(woken < 3, "{woken} times");
    }
}
