//! The functions of libc that the program calls and we answer, each for our files only; everything else goes on to libc.
//!
//! Variadic functions are defined with their last argument fixed: on the Linux ABIs integers are passed alike either way.

use crate::errno::Errno;
use crate::fds::{self, File};
use crate::{device_file, ioctl, rdma_cm, strict, uar};
use libc::{c_char, c_int, c_uint, c_ulong, c_void, mode_t, off_t, size_t};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Declares how to call the next definition of a function of libc after ours.
macro_rules! real {
    ($($name:ident: fn($($arg:ident: $ty:ty),* $(; $dots:tt)?) -> $ret:ty;)*) => {
        $(
            /// The function of libc.
            ///
            /// # Safety
            /// As for libc's function.
            pub(crate) unsafe fn $name($($arg: $ty),*) -> $ret {
                static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without zero bytes"),
                };
                let next = resolve(&NEXT, NAME);
                // SAFETY: `next` is the address of the function of this name, which has this type.
                let next: unsafe extern "C" fn($($ty),* $(, $dots)?) -> $ret = unsafe { std::mem::transmute(next) };
                // SAFETY: passed on to the caller.
                unsafe { next($($arg),*) }
            }
        )*
    };
}

/// What libc has, past our own definitions.
pub(crate) mod real {
    use super::*;

    /// The definition of `name` after ours, which `cache` remembers.
    pub(crate) fn resolve(cache: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
        let known = cache.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: `name` ends with a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
        if found.is_null() {
            // Only functions that libc exports call on here: theirs would be missing from every program.
            std::process::abort();
        }
        cache.store(found, Ordering::Relaxed);
        found
    }

    real! {
        open: fn(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        open64: fn(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        openat: fn(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        openat64: fn(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
        __open_2: fn(path: *const c_char, flags: c_int) -> c_int;
        __open64_2: fn(path: *const c_char, flags: c_int) -> c_int;
        stat: fn(path: *const c_char, out: *mut c_void) -> c_int;
        stat64: fn(path: *const c_char, out: *mut c_void) -> c_int;
        __xstat: fn(version: c_int, path: *const c_char, out: *mut c_void) -> c_int;
        __xstat64: fn(version: c_int, path: *const c_char, out: *mut c_void) -> c_int;
        access: fn(path: *const c_char, mode: c_int) -> c_int;
        fstat: fn(fd: c_int, out: *mut c_void) -> c_int;
        fstat64: fn(fd: c_int, out: *mut c_void) -> c_int;
        __fxstat: fn(version: c_int, fd: c_int, out: *mut c_void) -> c_int;
        __fxstat64: fn(version: c_int, fd: c_int, out: *mut c_void) -> c_int;
        ioctl: fn(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int;
        mmap: fn(at: *mut c_void, len: size_t, prot: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void;
        munmap: fn(at: *mut c_void, len: size_t) -> c_int;
        close: fn(fd: c_int) -> c_int;
        close_range: fn(first: c_uint, last: c_uint, flags: c_int) -> c_int;
        closefrom: fn(first: c_int) -> ();
        dup2: fn(from: c_int, to: c_int) -> c_int;
        dup3: fn(from: c_int, to: c_int, flags: c_int) -> c_int;
        socket: fn(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
        sigaction: fn(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
        signal: fn(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
        pthread_sigmask: fn(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int;
        sigprocmask: fn(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int;
    }
}

/// A character device that is everywhere, and what there is to say about ours but for their numbers.
const STAND_IN: &CStr = c"/dev/null";

/// The device that `path` names: `/dev/infiniband/uverbsN`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn named(path: *const c_char) -> Option<u32> {
    if path.is_null() {
        return None;
    }
    // SAFETY: passed on to the caller.
    let path = unsafe { CStr::from_ptr(path) };
    device_file::index(path.to_bytes())
}

/// Whether `path` names the connection manager's file.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn names_manager(path: *const c_char) -> bool {
    // SAFETY: passed on to the caller.
    !path.is_null() && rdma_cm::is_path(unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// `path`, or what stands in for it if it names a device of ours.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn redirected(path: *const c_char) -> *const c_char {
    // SAFETY: passed on to the caller.
    if unsafe { named(path).is_some() || names_manager(path) } { STAND_IN.as_ptr() } else { path }
}

/// What libc's functions return for `result`.
fn answer(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|error| {
        error.set();
        -1
    })
}

/// Opens the device that `path` names, or leaves it to `otherwise`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn open_with(path: *const c_char, flags: c_int, otherwise: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: passed on to the caller.
    if unsafe { names_manager(path) } {
        return answer(rdma_cm::open(flags));
    }
    // SAFETY: passed on to the caller.
    let Some(index) = (unsafe { named(path) }) else { return otherwise() };
    answer(device_file::open(index, flags))
}

/// Declares functions that open a file. Each is libc's function of that name.
macro_rules! opens {
    ($($name:ident([$($before:ident: $before_ty:ty)?] path, flags $(, $after:ident: $after_ty:ty)?);)*) => {
        $(
            /// Opens a device of ours, or what libc opens.
            ///
            /// # Safety
            /// As for libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $($before: $before_ty,)? path: *const c_char, flags: c_int $(, $after: $after_ty)?
            ) -> c_int {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                unsafe { open_with(path, flags, || real::$name($($before,)? path, flags $(, $after)?)) }
            }
        )*
    };
}

opens! {
    open([] path, flags, mode: mode_t);
    open64([] path, flags, mode: mode_t);
    openat([dir: c_int] path, flags, mode: mode_t);
    openat64([dir: c_int] path, flags, mode: mode_t);
    __open_2([] path, flags);
    __open64_2([] path, flags);
}

/// Major and minor number of the device of ours that `path` names.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn number_at(path: *const c_char) -> Option<(u32, u32)> {
    // SAFETY: passed on to the caller.
    if unsafe { names_manager(path) } {
        return Some(softhca_settings::MANAGER_NUMBER);
    }
    // SAFETY: passed on to the caller.
    unsafe { named(path) }.map(softhca_settings::device_number)
}

/// Major and minor number of the device of ours that `fd` is open for, a file with this status.
///
/// # Safety
/// `status` is valid to read, as for [`describe`].
unsafe fn number_behind(fd: c_int, status: *const c_void) -> Option<(u32, u32)> {
    if let Some(File::ConnectionManager(_)) = fds::get(fd) {
        return Some(softhca_settings::MANAGER_NUMBER);
    }
    // SAFETY: passed on to the caller.
    let context = if unsafe { may_be_ours(status) } { device_file::find(fd) } else { None };
    context.map(|context| softhca_settings::device_number(context.hca.index))
}

/// Makes `status`, of the stand-in or of an open file, that of the device with this number.
///
/// # Safety
/// `status` is valid to write, as a `struct stat` of this machine's, which has 64 bits: then there is only one.
unsafe fn describe((major, minor): (u32, u32), status: *mut c_void) {
    const MODE: mode_t = libc::S_IFCHR | 0o666;
    let status = status.cast::<libc::stat>();
    // SAFETY: the caller's promise.
    unsafe {
        (*status).st_mode = MODE;
        (*status).st_rdev = libc::makedev(major, minor);
        (*status).st_size = 0;
    }
}

/// Declares functions that say what is at a path.
macro_rules! stats {
    ($($name:ident([$($before:ident: $before_ty:ty)?]);)*) => {
        $(
            /// Describes a device of ours, or what libc describes.
            ///
            /// # Safety
            /// As for libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($before: $before_ty,)? path: *const c_char, out: *mut c_void) -> c_int {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                let result = unsafe { real::$name($($before,)? redirected(path), out) };
                // SAFETY: passed on to the caller; libc has written to `out`.
                if result == 0 && let Some(number) = unsafe { number_at(path) } {
                    // SAFETY: libc has just filled it in.
                    unsafe { describe(number, out) };
                }
                result
            }
        )*
    };
}

stats! {
    stat([]);
    stat64([]);
    __xstat([version: c_int]);
    __xstat64([version: c_int]);
}

/// Whether `status` can be that of an open file of ours: memory that has no name. This keeps a question about any other
/// file as cheap as it is.
///
/// # Safety
/// `status` is valid to read, as for [`describe`].
unsafe fn may_be_ours(status: *const c_void) -> bool {
    let status = status.cast::<libc::stat>();
    // SAFETY: the caller's promise.
    unsafe { (*status).st_mode & libc::S_IFMT == libc::S_IFREG && (*status).st_nlink == 0 }
}

/// Declares functions that say what is behind a descriptor.
macro_rules! fstats {
    ($($name:ident([$($before:ident: $before_ty:ty)?]);)*) => {
        $(
            /// Describes a device of ours, or what libc describes.
            ///
            /// # Safety
            /// As for libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($before: $before_ty,)? fd: c_int, out: *mut c_void) -> c_int {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                let result = unsafe { real::$name($($before,)? fd, out) };
                // SAFETY: libc has just filled it in.
                if result == 0 && let Some(number) = unsafe { number_behind(fd, out) } {
                    // SAFETY: likewise.
                    unsafe { describe(number, out) };
                }
                result
            }
        )*
    };
}

fstats! {
    fstat([]);
    fstat64([]);
    __fxstat([version: c_int]);
    __fxstat64([version: c_int]);
}

/// Says of a device of ours what is true of its stand-in, that it may be read and written; or what libc says.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::access(redirected(path), mode) }
}

/// Answers commands to our devices.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    let verbs = request == crate::abi::RDMA_VERBS_IOCTL;
    let context = if verbs || fds::is_ours(fd) { device_file::find(fd) } else { None };
    match context {
        Some(context) if verbs => answer(ioctl::run(&context, arg as u64).map(|()| 0)),
        Some(_) => answer(Err(Errno::ENOTTY)),
        // SAFETY: arguments are passed on from the caller.
        None => unsafe { real::ioctl(fd, request, arg) },
    }
}

/// Maps UAR pages of our devices.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn mmap(
    at: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let Some(File::Device(context)) = fds::get(fd) else {
        // SAFETY: arguments are passed on from the caller.
        return unsafe { real::mmap(at, len, protection, flags, fd, offset) };
    };
    uar::map(&context, at, len, protection, flags, offset as u64).unwrap_or_else(|error| {
        log::debug!("mmap at {offset:#x}: {error:?}");
        error.set();
        libc::MAP_FAILED
    })
}

/// Maps UAR pages of our devices.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn mmap64(
    at: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: passed on; on the 64-bit machines that we are for, both are one function.
    unsafe { mmap(at, len, protection, flags, fd, offset) }
}

/// Ends the watch on what is unmapped.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn munmap(at: *mut c_void, len: size_t) -> c_int {
    strict::unwatch(at as usize, len);
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::munmap(at, len) }
}

/// Ends what is behind `fd`, if it is ours, before the number can be another file's.
fn end(fd: c_int) {
    match fds::remove(fd) {
        Some(File::Device(context)) => device_file::close(fd, &context),
        Some(File::ConnectionManager(file)) => rdma_cm::close(&file),
        Some(File::Events(_)) | None => {}
    }
}

/// Closes our devices and event files.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    end(fd);
    // SAFETY: the argument is passed on from the caller.
    unsafe { real::close(fd) }
}

/// Closes our devices and event files among others.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    // With a flag, descriptors stay, or stay with the other threads.
    if flags == 0 {
        fds::ours_in(first, last).for_each(end);
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::close_range(first, last, flags) }
}

/// Closes our devices and event files among others.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn closefrom(first: c_int) {
    fds::ours_in(first.max(0).cast_unsigned(), c_uint::MAX).for_each(end);
    // SAFETY: the argument is passed on from the caller.
    unsafe { real::closefrom(first) }
}

/// Ends what is behind `to`, which is about to become a duplicate of `from`.
fn end_before_dup(from: c_int, to: c_int) {
    // SAFETY: takes no pointers.
    if from != to && fds::is_ours(to) && unsafe { libc::fcntl(from, libc::F_GETFD) } >= 0 {
        end(to);
    }
}

/// Closes our devices and event files when another file takes their number.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn dup2(from: c_int, to: c_int) -> c_int {
    end_before_dup(from, to);
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::dup2(from, to) }
}

/// Closes our devices and event files when another file takes their number.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    end_before_dup(from, to);
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::dup3(from, to, flags) }
}

/// Refuses the netlink socket by which libibverbs asks the kernel for devices: it looks into sysfs then.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    const NETLINK_RDMA: c_int = 20;
    if domain == libc::AF_NETLINK && protocol == NETLINK_RDMA && device_file::settings().is_some() {
        return answer(Err(Errno::EPROTONOSUPPORT));
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::socket(domain, kind, protocol) }
}

/// Keeps the signals of strict mode ours; the program's action is called for what is not.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    // SAFETY: pointers are passed on from the caller.
    if unsafe { strict::exchange_action(signal, new, old) } {
        return 0;
    }
    // SAFETY: null, or the caller's action.
    let new = unsafe { new.as_ref() };
    let new = new.map(|new| libc::sigaction { sa_mask: strict::without_ours(new.sa_mask), ..*new });
    // SAFETY: null or an action of ours; the rest is passed on from the caller.
    unsafe { real::sigaction(signal, new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old) }
}

/// Declares functions that change which signals the calling thread blocks.
macro_rules! masks {
    ($($name:ident;)*) => {
        $(
            /// Keeps the signals of strict mode unblocked.
            ///
            /// # Safety
            /// As for libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
                // SAFETY: null, or the caller's set.
                let mut new = unsafe { new.as_ref() }.copied();
                if how != libc::SIG_UNBLOCK {
                    new = new.map(strict::without_ours);
                }
                // SAFETY: null or a set of ours; the rest is passed on from the caller.
                unsafe { real::$name(how, new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old) }
            }
        )*
    };
}

masks! {
    pthread_sigmask;
    sigprocmask;
}

/// Keeps the signals of strict mode ours, likewise.
///
/// # Safety
/// As for libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn signal(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    // SAFETY: all zeros are a valid action.
    let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    new.sa_sigaction = handler;
    new.sa_flags = libc::SA_RESTART;
    // SAFETY: both actions are locals.
    if unsafe { strict::exchange_action(signal, &new, &mut old) } {
        return old.sa_sigaction;
    }
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::signal(signal, handler) }
}
