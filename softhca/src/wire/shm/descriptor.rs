//! Descriptors of threads that have a table of their own ([`is_apart`](crate::thread::is_apart)).
//!
//! A program may define functions of libc itself, and so may a library that it preloads: sanitizers do, and all that
//! keep books on descriptors. To them a number is the process's file, and here it is another one. A `close` of theirs
//! would strike a file out of the books that the program still has open. So nothing that takes a descriptor goes
//! through libc here. rustix makes the system calls itself, except on some architectures.

use std::{
    io,
    mem::ManuallyDrop,
    os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd},
};

use rustix::io::Errno;

/// An open descriptor, which is closed without libc.
#[derive(Debug)]
pub(super) struct Descriptor(ManuallyDrop<OwnedFd>);

impl From<OwnedFd> for Descriptor {
    fn from(owned: OwnedFd) -> Self {
        Self(ManuallyDrop::new(owned))
    }
}

#[cfg(test)]
impl From<std::fs::File> for Descriptor {
    fn from(file: std::fs::File) -> Self {
        OwnedFd::from(file).into()
    }
}

#[cfg(test)]
impl From<Descriptor> for std::fs::File {
    fn from(descriptor: Descriptor) -> Self {
        use std::os::fd::FromRawFd;
        // SAFETY: open, and nobody else's.
        unsafe { Self::from_raw_fd(descriptor.into_raw_fd()) }
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl IntoRawFd for Descriptor {
    fn into_raw_fd(self) -> RawFd {
        // It stays open: nothing is dropped.
        ManuallyDrop::new(self).as_raw_fd()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: open, and nobody else's; it is not used again.
        unsafe { rustix::io::close(self.as_raw_fd()) }
    }
}

impl Descriptor {
    /// All that a file has from here on.
    pub(super) fn read_to_end(&self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let mut part = [0; 1024];
        loop {
            match rustix::io::read(self, &mut part) {
                Ok(0) => return Ok(all),
                Ok(len) => all.extend_from_slice(&part[..len]),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads at an offset: how many bytes there were for `out`.
    pub(super) fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < out.len() {
            match rustix::io::pread(self, &mut out[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(len) => done += len,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(done)
    }

    /// Writes at an offset.
    pub(super) fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            match rustix::io::pwrite(self, &data[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => done += len,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
