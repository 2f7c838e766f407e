//! The device files: which paths name one, opening and closing them.

use super::Context;
use crate::device::Hca;
use crate::launch::settings;
use crate::process::fds::OpenFile;
use crate::process::forked::StaticLock;
use crate::process::{Errno, Identity, fds, identity, lock};
use libc::c_int;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstatfs, memfd_create};
use softhca::uar::UarMemory;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::{Arc, Mutex, Weak};

/// The device that `path` names: `/dev/infiniband/uverbsN` for an N that exists.
pub(crate) fn index(path: &[u8]) -> Option<u32> {
    let number = path.strip_prefix(b"/dev/infiniband/uverbs")?;
    let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
    settings().filter(|settings| number < settings.devices).map(|_| number)
}

/// The name of the memory behind an open file, as `/proc/self/fd` shows it.
fn name(index: u32) -> String {
    format!("softhca-uverbs{index}")
}

/// Opens device `index`: a descriptor that can be mapped. Its pages are the UAR pages, at the offsets that the commands
/// report. A program with its own code in place of libc's `mmap` gets them as well.
pub(crate) fn open(index: u32, flags: c_int) -> Result<RawFd, Errno> {
    let settings = settings().ok_or(Errno::ENOENT)?;
    let hca = Hca::get(index, settings)?;
    let close_on_exec = if flags & libc::O_CLOEXEC != 0 { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() };
    let fd = memfd_create(name(index), close_on_exec | MemfdFlags::ALLOW_SEALING)?;
    // No holder of the file can make it shorter, which would take mapped pages away.
    fcntl_add_seals(&fd, SealFlags::SHRINK)?;
    let context = Context::new(hca, own_descriptor(fd.as_raw_fd())?, false)?;
    register(fd.as_raw_fd(), context)?;
    Ok(fd.into_raw_fd())
}

/// Makes `fd` a descriptor of `context`.
fn register(fd: RawFd, context: Context) -> Result<Arc<Context>, Errno> {
    let context = Arc::new(context);
    lock(&OPEN).push((identity(fd).ok_or(Errno::EBADF)?, Arc::downgrade(&context)));
    fds::insert(fd, context.clone())?;
    Ok(context)
}

/// The device that `fd` is open for if another process has opened it, and passed the descriptor on.
fn passed(fd: RawFd) -> Option<u32> {
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    let name = link.to_str()?.strip_prefix("/memfd:softhca-uverbs")?;
    let index = name.strip_suffix(" (deleted)")?.parse().ok()?;
    settings().filter(|settings| index < settings.devices).map(|_| index)
}

/// The open files, by what tells them apart.
static OPEN: Mutex<Vec<(Identity, Weak<Context>)>> = Mutex::new(Vec::new());

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn StaticLock; 1] = [&OPEN];

/// The file of ours that `fd` is open for, also if the program has duplicated a descriptor or got it by another way
/// that we did not see. To be asked where that matters only: it takes a system call.
pub(crate) fn find(fd: RawFd) -> Option<Arc<Context>> {
    if fds::is_ours(fd) {
        return fds::get_as(fd);
    }
    let identity = identity(fd)?;
    let known = lock(&OPEN).iter().find(|(open, _)| *open == identity).and_then(|(_, context)| context.upgrade());
    if let Some(context) = known {
        fds::insert(fd, context.clone()).ok()?;
        return Some(context);
    }
    let import = |index| {
        let file = own_descriptor(fd).ok()?;
        register(fd, Context::new(Hca::get(index, settings()?).ok()?, file, true).ok()?).ok()
    };
    passed(fd).and_then(import)
}

/// A descriptor of ours for the memory that `fd` is open for. `EINVAL` for memory that can be made shorter. Anybody may
/// give it the name of a device file, and SIGBUS kills a process that touches memory behind its end. Huge pages, which
/// can run out, are refused, too.
fn own_descriptor(fd: RawFd) -> Result<UarMemory, Errno> {
    let own = fds::duplicate(fd)?;
    let is_memory = fstatfs(&own).is_ok_and(|system| i128::from(system.f_type) == i128::from(libc::TMPFS_MAGIC));
    let is_sealed = fcntl_get_seals(&own).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
    if is_memory && is_sealed { Ok(UarMemory::in_file(own)) } else { Err(Errno::EINVAL) }
}

impl OpenFile for Context {
    /// With the last descriptor all objects go.
    fn close(self: Arc<Self>, fd: RawFd) {
        if let Some(another) = another_descriptor(fd, &self) {
            // The program has duplicated the one that it opened.
            if fds::insert(another, self.clone()).is_ok() {
                return;
            }
        }
        lock(&OPEN).retain(|(_, open)| !std::ptr::eq(open.as_ptr(), &raw const *self));
        self.release();
        self.hca.settle();
    }
}

/// A descriptor of the program's for the same open file, besides `fd`.
fn another_descriptor(fd: RawFd, context: &Context) -> Option<RawFd> {
    let own = context.file.fd().as_raw_fd();
    let identity = identity(own)?;
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .find(|&other: &RawFd| other != fd && other != own && crate::process::identity(other) == Some(identity))
}
