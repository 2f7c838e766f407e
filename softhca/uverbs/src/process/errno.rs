//! Error numbers, as commands return them.

/// An error number of Linux.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

impl Errno {
    pub(crate) const EACCES: Self = Self(libc::EACCES);
    pub(crate) const EAGAIN: Self = Self(libc::EAGAIN);
    pub(crate) const EBADF: Self = Self(libc::EBADF);
    pub(crate) const EBUSY: Self = Self(libc::EBUSY);
    pub(crate) const EEXIST: Self = Self(libc::EEXIST);
    pub(crate) const EFAULT: Self = Self(libc::EFAULT);
    pub(crate) const EINVAL: Self = Self(libc::EINVAL);
    pub(crate) const EIO: Self = Self(libc::EIO);
    pub(crate) const EMFILE: Self = Self(libc::EMFILE);
    pub(crate) const ENODEV: Self = Self(libc::ENODEV);
    pub(crate) const ENODATA: Self = Self(libc::ENODATA);
    pub(crate) const ENOENT: Self = Self(libc::ENOENT);
    pub(crate) const ENOMEM: Self = Self(libc::ENOMEM);
    pub(crate) const ENOSPC: Self = Self(libc::ENOSPC);
    pub(crate) const EPERM: Self = Self(libc::EPERM);
    pub(crate) const ENOSYS: Self = Self(libc::ENOSYS);
    pub(crate) const ENOTTY: Self = Self(libc::ENOTTY);
    pub(crate) const ENXIO: Self = Self(libc::ENXIO);
    pub(crate) const EOPNOTSUPP: Self = Self(libc::EOPNOTSUPP);
    pub(crate) const EPROTONOSUPPORT: Self = Self(libc::EPROTONOSUPPORT);
    /// The device has carried a command out and refused it: its output says why.
    pub(crate) const EREMOTEIO: Self = Self(libc::EREMOTEIO);

    /// The calling thread's `errno`.
    pub(crate) fn last() -> Self {
        Self(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }

    /// Sets the calling thread's `errno`.
    pub(crate) fn set(self) {
        // SAFETY: the location of the calling thread's errno is always valid to write.
        unsafe { *libc::__errno_location() = self.0 };
    }
}

impl From<rustix::io::Errno> for Errno {
    fn from(error: rustix::io::Errno) -> Self {
        Self(error.raw_os_error())
    }
}

impl std::fmt::Debug for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", std::io::Error::from_raw_os_error(self.0))
    }
}
