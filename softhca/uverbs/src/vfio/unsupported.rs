//! Without a way to trap stores, there are no functions for programs to drive.

use crate::process::Errno;
use crate::process::fds::OpenFile;
use std::os::fd::RawFd;
use std::sync::Arc;

/// No lock is one's.
pub(crate) static LOCKS: [&dyn crate::process::forked::StaticLock; 0] = [];

/// No path is one's.
pub(crate) enum Path {}

impl Path {
    /// None.
    pub(crate) fn of(_: &[u8]) -> Option<Self> {
        None
    }

    /// Of none.
    pub(crate) fn number(self) -> (u32, u32) {
        match self {}
    }
}

/// No file is one's.
pub(crate) enum File {}

impl OpenFile for File {
    fn close(self: Arc<Self>, _: RawFd) {
        match *self {}
    }
}

/// No function is open.
pub(crate) enum Opened {}

impl File {
    /// Of none.
    pub(crate) fn ioctl(&self, _: u64, _: u64) -> Result<i32, Errno> {
        match *self {}
    }

    /// None.
    pub(crate) fn device(&self) -> Option<&Opened> {
        match *self {}
    }
}

impl Opened {
    /// Of none.
    pub(crate) fn map(
        &self,
        _: *mut libc::c_void,
        _: usize,
        _: (i32, i32),
        _: u64,
    ) -> Result<*mut libc::c_void, Errno> {
        match *self {}
    }

    /// Of none.
    pub(crate) fn read(&self, _: u64, _: usize, _: u64) -> Result<usize, Errno> {
        match *self {}
    }

    /// Of none.
    pub(crate) fn write(&self, _: u64, _: usize, _: u64) -> Result<usize, Errno> {
        match *self {}
    }
}

/// Opens none.
pub(crate) fn open(path: Path, _: i32) -> Result<RawFd, Errno> {
    match path {}
}

/// None is open.
pub(crate) fn find(_: RawFd) -> Option<Arc<File>> {
    None
}

/// No request is one's.
pub(crate) fn is_vfio(_: u64) -> bool {
    false
}
