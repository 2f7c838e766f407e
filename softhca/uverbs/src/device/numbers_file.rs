//! A file of 64-bit numbers that processes share, in the host's order. It is read and written by system calls, and
//! never mapped: another process can make a file in a directory shorter, and SIGBUS kills a process that touches a page
//! behind the end. Numbers behind the end are 0, and the next write puts the end back.

use crate::process::fds::Own;
use crate::process::lock_file::flock;
use crate::process::{Identity, identity};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Bytes of a number.
const BYTES: usize = size_of::<u64>();

/// An open file of numbers.
#[derive(Debug)]
pub(super) struct NumbersFile {
    _own: Own,
    /// Closed only while it is still the file of its descriptor.
    file: ManuallyDrop<File>,
    identity: Option<Identity>,
}

impl NumbersFile {
    /// A file that is open for reading and writing.
    pub(super) fn new(file: File) -> Self {
        Self { _own: Own::new(&file), identity: identity(file.as_raw_fd()), file: ManuallyDrop::new(file) }
    }

    /// Bytes of the file now.
    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The number of the descriptor.
    #[cfg(test)]
    pub(super) fn descriptor(&self) -> std::os::fd::RawFd {
        self.file.as_raw_fd()
    }

    /// Whether the descriptor is still this file's. A program may close all numbers below a limit, and open files of
    /// its own under them.
    fn is_intact(&self) -> bool {
        self.identity.is_some() && identity(self.file.as_raw_fd()) == self.identity
    }

    /// Reads the numbers from place `first` on. Those behind the end are 0.
    pub(super) fn read(&self, first: usize, numbers: &mut [u64]) -> io::Result<()> {
        let mut bytes = vec![0; numbers.len() * BYTES];
        let mut done = 0;
        while done < bytes.len() {
            match self.file.read_at(&mut bytes[done..], (first * BYTES + done) as u64) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(BYTES)) {
            *number = bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default();
        }
        Ok(())
    }

    /// Writes numbers from place `first` on.
    ///
    /// # Errors
    /// Those of the file system; `EBADF` if the program has closed the descriptor.
    pub(super) fn write(&self, first: usize, numbers: &[u64]) -> io::Result<()> {
        if !self.is_intact() {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        self.file.write_all_at(&bytes, (first * BYTES) as u64)
    }

    /// Adds to the numbers from place `first` on.
    ///
    /// # Errors
    /// As for [`Self::write`]; [`io::ErrorKind::WouldBlock`] while another process is changing numbers.
    pub(super) fn add(&self, first: usize, more: &[u64]) -> io::Result<()> {
        flock(&self.file, libc::LOCK_EX | libc::LOCK_NB)?;
        let mut numbers = vec![0; more.len()];
        let done = self.read(first, &mut numbers).and_then(|()| {
            numbers.iter_mut().zip(more).for_each(|(number, more)| *number = number.wrapping_add(*more));
            self.write(first, &numbers)
        });
        // A child of a fork may have the open file, too, so closing it would not unlock it. The call fails for no
        // descriptor that is open.
        let _ = flock(&self.file, libc::LOCK_UN);
        done
    }
}

impl Drop for NumbersFile {
    fn drop(&mut self) {
        if self.is_intact() {
            // SAFETY: nothing uses the file after this.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}
