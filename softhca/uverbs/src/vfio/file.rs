//! Open files below `/dev/vfio`, and functions that were got by them.

use super::container::Container;
use super::device::Opened;
use super::group::{Files, Group};
use super::paths::Path;
use crate::process::fds::{self, OpenFile};
use crate::process::{Errno, Identity, identity, lock};
use libc::c_int;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{dup, fcntl_dupfd_cloexec};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::{Arc, Mutex, Weak};

/// An open file.
pub(crate) struct File {
    kind: Kind,
    identity: Identity,
}

/// Of what kind.
#[derive(Clone)]
enum Kind {
    Container(Arc<Container>),
    Group(Arc<Group>),
    Device(Arc<Opened>),
}

/// The open files, to find one by a descriptor that the program has got without us.
pub(super) static OPEN: Mutex<Vec<Weak<File>>> = Mutex::new(Vec::new());

/// Opens what `path` names; its descriptor.
pub(crate) fn open(path: Path, flags: c_int) -> Result<RawFd, Errno> {
    let kind = match path {
        Path::Container => Kind::Container(Arc::default()),
        Path::Group(index) => Kind::Group(Group::open(index)?),
    };
    new(flags, kind)
}

/// A new descriptor of `kind`, opened with these flags.
fn new(flags: c_int, kind: Kind) -> Result<RawFd, Errno> {
    let close_on_exec = flags & libc::O_CLOEXEC != 0;
    let fd = match &kind {
        Kind::Container(_) | Kind::Group(_) => {
            memfd_create("softhca-vfio", if close_on_exec { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() })?
        }
        // The program maps the BAR's memory from it.
        Kind::Device(opened) if close_on_exec => fcntl_dupfd_cloexec(opened.endpoint.bar.fd(), 0)?,
        Kind::Device(opened) => dup(opened.endpoint.bar.fd())?,
    };
    let identity = identity(fd.as_raw_fd()).ok_or(Errno::EBADF)?;
    let mut open = lock(&OPEN);
    open.retain(|file| file.strong_count() > 0);
    // Two descriptors of one function are one file.
    let known = open.iter().filter_map(Weak::upgrade).find(|file| file.identity == identity);
    let file = known.unwrap_or_else(|| {
        let file = Arc::new(File { kind, identity });
        open.push(Arc::downgrade(&file));
        file
    });
    fds::insert(fd.as_raw_fd(), file)?;
    Ok(fd.into_raw_fd())
}

/// The file of ours that `fd` is open for, also if the program has duplicated a descriptor. To be asked where that
/// matters only: it takes a system call.
pub(crate) fn find(fd: RawFd) -> Option<Arc<File>> {
    if fds::is_ours(fd) {
        return fds::get_as(fd);
    }
    let identity = identity(fd)?;
    let file = lock(&OPEN).iter().filter_map(Weak::upgrade).find(|file| file.identity == identity)?;
    fds::insert(fd, file.clone()).ok()?;
    Some(file)
}

/// The open files, as groups have them.
struct Open;

impl Files for Open {
    fn container(&self, fd: RawFd) -> Result<Arc<Container>, Errno> {
        let Some(file) = find(fd) else {
            // SAFETY: plain call.
            let is_open = unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0;
            return Err(if is_open { Errno::EINVAL } else { Errno::EBADF });
        };
        let Kind::Container(container) = &file.kind else { return Err(Errno::EINVAL) };
        Ok(container.clone())
    }

    fn add(&self, opened: Arc<Opened>) -> Result<RawFd, Errno> {
        new(libc::O_CLOEXEC, Kind::Device(opened))
    }
}

impl File {
    /// Answers a request.
    pub(crate) fn ioctl(&self, number: u64, argument: u64) -> Result<c_int, Errno> {
        match &self.kind {
            Kind::Container(container) => container.ioctl(number, argument),
            Kind::Group(group) => group.ioctl(number, argument, &Open),
            Kind::Device(opened) => opened.ioctl(number, argument),
        }
    }

    /// The function, if it is one's.
    pub(crate) fn device(&self) -> Option<&Opened> {
        match &self.kind {
            Kind::Device(opened) => Some(opened),
            _ => None,
        }
    }

    /// A descriptor of the program's for the same file, besides `fd`, that we do not know of.
    fn unseen_descriptor(&self, fd: RawFd) -> Option<RawFd> {
        let own = match &self.kind {
            Kind::Device(opened) => Some(opened.endpoint.bar.fd().as_raw_fd()),
            _ => None,
        };
        let open = std::fs::read_dir("/proc/self/fd").ok()?;
        open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).find(|&other: &RawFd| {
            other != fd && Some(other) != own && !fds::is_ours(other) && identity(other) == Some(self.identity)
        })
    }
}

impl OpenFile for File {
    /// The open file ends with its last descriptor.
    fn close(self: Arc<Self>, fd: RawFd) {
        if let Some(another) = self.unseen_descriptor(fd) {
            // If there is no room for it, the file ends now.
            let _ = fds::insert(another, self);
        }
    }
}
