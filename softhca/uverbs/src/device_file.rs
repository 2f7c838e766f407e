//! The device files: which paths name one, opening and closing them.

use crate::context::{Context, lock};
use crate::errno::Errno;
use crate::fds::{self, File};
use crate::hca::Hca;
use crate::interpose::real;
use libc::c_int;
use softhca::uar::UarMemory;
use softhca_settings::Settings;
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// The launcher's settings; `None` if the process was not started by it.
pub(crate) fn settings() -> Option<&'static Arc<Settings>> {
    static SETTINGS: OnceLock<Option<Arc<Settings>>> = OnceLock::new();
    SETTINGS
        .get_or_init(|| match Settings::from_env(|name| std::env::var_os(name)) {
            Ok(settings) => settings.map(|settings| {
                // The program may have a logger of its own, but not of our copy of the crate.
                let _ = env_logger::Builder::new().parse_filters(&settings.log).try_init();
                Arc::new(settings)
            }),
            Err(error) => {
                eprintln!("softhca: {error}; there are no devices");
                None
            }
        })
        .as_ref()
}

/// The device that `path` names: `/dev/infiniband/uverbsN` for an N that exists.
pub(crate) fn index(path: &[u8]) -> Option<u32> {
    let number = path.strip_prefix(b"/dev/infiniband/uverbs")?;
    let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
    settings().filter(|settings| number < settings.devices).map(|_| number)
}

/// The name of the memory behind an open file, as `/proc/self/fd` shows it.
fn name(index: u32) -> CString {
    CString::new(format!("softhca-uverbs{index}")).unwrap_or_default()
}

/// Opens device `index`: a descriptor that can be mapped. What is mapped from it are the UAR pages, at the offsets that
/// the commands tell; a program that has put its own code in the place of libc's `mmap` gets them like any other.
pub(crate) fn open(index: u32, flags: c_int) -> Result<RawFd, Errno> {
    let settings = settings().ok_or(Errno::ENOENT)?;
    let hca = Hca::get(index, settings)?;
    let close_on_exec = if flags & libc::O_CLOEXEC != 0 { libc::MFD_CLOEXEC } else { 0 };
    let options = close_on_exec | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a string that ends with a zero byte.
    let fd = new_descriptor(unsafe { libc::memfd_create(name(index).as_ptr(), options) })?;
    let context = Context::new(hca, own_descriptor(fd.as_raw_fd())?, false)?;
    // Whoever has the file cannot make it shorter, which would take mapped pages away.
    // SAFETY: plain call.
    if unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) } != 0 {
        return Err(Errno::last());
    }
    register(fd.as_raw_fd(), context)?;
    Ok(fd.into_raw_fd())
}

/// Makes `fd` a descriptor of `context`.
fn register(fd: RawFd, context: Context) -> Result<Arc<Context>, Errno> {
    let context = Arc::new(context);
    lock(&OPEN).push((identity(fd).ok_or(Errno::EBADF)?, Arc::downgrade(&context)));
    fds::insert(fd, File::Device(context.clone()))?;
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

/// The file of ours that `fd` is open for, also if the program has duplicated a descriptor or got it by another way that
/// we did not see. To be asked where that matters only: it takes a system call.
pub(crate) fn find(fd: RawFd) -> Option<Arc<Context>> {
    if let Some(file) = fds::get(fd) {
        return match file {
            File::Device(context) => Some(context),
            File::Events(_) | File::ConnectionManager(_) => None,
        };
    }
    let identity = identity(fd)?;
    let known = lock(&OPEN).iter().find(|(open, _)| *open == identity).and_then(|(_, context)| context.upgrade());
    if let Some(context) = known {
        fds::insert(fd, File::Device(context.clone())).ok()?;
        return Some(context);
    }
    let import = |index| {
        register(fd, Context::new(Hca::get(index, settings()?).ok()?, own_descriptor(fd).ok()?, true).ok()?).ok()
    };
    passed(fd).and_then(import)
}

/// What a call has returned, as a descriptor.
fn new_descriptor(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: a descriptor that a call has just made, so nobody else has it.
    if fd < 0 { Err(Errno::last()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}

/// A descriptor of ours for what `fd` is open for.
fn own_descriptor(fd: RawFd) -> Result<UarMemory, Errno> {
    // SAFETY: plain call.
    new_descriptor(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) }).map(UarMemory::in_file)
}

/// Descriptor `fd` is about to be closed. With the last one for `context` all its objects go.
pub(crate) fn close(fd: RawFd, context: &Arc<Context>) {
    if let Some(another) = another_descriptor(fd, context) {
        // The program has duplicated the one that it opened.
        if fds::insert(another, File::Device(context.clone())).is_ok() {
            return;
        }
    }
    lock(&OPEN).retain(|(_, open)| !std::ptr::eq(open.as_ptr(), &raw const **context));
    context.close();
    context.hca.settle();
}

/// A descriptor of the program's for the same open file, besides `fd`.
fn another_descriptor(fd: RawFd, context: &Context) -> Option<RawFd> {
    let own = context.file.fd().as_raw_fd();
    let identity = identity(own)?;
    let open = std::fs::read_dir("/proc/self/fd").ok()?;
    open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .find(|&other: &RawFd| other != fd && other != own && self::identity(other) == Some(identity))
}

/// What tells one file from another: of its file system, and its number there.
pub(crate) type Identity = (u64, u64);

/// What `fd` is open for.
pub(crate) fn identity(fd: RawFd) -> Option<Identity> {
    // SAFETY: plain data, for which all zeros is valid.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills in a local.
    let known = unsafe { real::fstat(fd, (&raw mut status).cast()) } == 0;
    known.then_some((status.st_dev, status.st_ino))
}
