//! A program's uses of the descriptor of an open file: describing, commanding, mapping, duplicating and closing it.

use super::answer::{answer, answer_of, describe};
use crate::context::{Context, device_file, mapping};
use crate::device::Hca;
use crate::process::{Errno, fds, real, uncancelled};
use crate::rdma_cm::EventFile;
use crate::{abi, commands, strict, umad, vfio};
use libc::{c_int, c_uint, c_ulong, c_void, off_t, size_t};

/// Major and minor number of the device of ours that `fd` is open for, a file with this status.
///
/// # Safety
/// `status` is valid to read, as for [`describe`].
unsafe fn number_behind(fd: c_int, status: *const c_void) -> Option<(u32, u32)> {
    if fds::get_as::<EventFile>(fd).is_some() {
        return Some(softhca_settings::MANAGER_NUMBER);
    }
    if let Some(index) = umad::index_of(fd) {
        return Some(softhca_settings::umad_number(index));
    }
    // SAFETY: passed on to the caller.
    let context = if unsafe { may_be_ours(status) } { device_file::find(fd) } else { None };
    context.map(|context| softhca_settings::device_number(context.hca.index))
}

/// Whether `status` can be that of an open file of ours: memory that has no name. This keeps a question about any other
/// file as cheap as it is.
///
/// # Safety
/// `status` is valid to read, as for [`describe`].
unsafe fn may_be_ours(status: *const c_void) -> bool {
    let status = status.cast::<libc::stat>();
    // SAFETY: the caller promises that `status` can be read as a `struct stat`.
    unsafe { (*status).st_mode & libc::S_IFMT == libc::S_IFREG && (*status).st_nlink == 0 }
}

/// Declares functions that describe the file of a descriptor.
macro_rules! fstats {
    ($($name:ident([$($before:ident: $before_ty:ty)?]);)*) => {
        $(
            /// Describes a device of ours, or what libc describes.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name($($before: $before_ty,)? fd: c_int, out: *mut c_void) -> c_int {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                let result = unsafe { real::$name($($before,)? fd, out) };
                if result == 0 {
                    // SAFETY: libc has just filled it in.
                    if let Some(number) = unsafe { number_behind(fd, out) } {
                        // SAFETY: `out` can be written: libc has just filled it in.
                        unsafe { describe(number, out) };
                    }
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

/// Answers commands to our devices.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, arg: *mut c_void) -> c_int {
    if vfio::is_vfio(request) {
        if let Some(file) = vfio::find(fd) {
            return answer_of(|| file.ioctl(request, arg as u64));
        }
    }
    let verbs = request == abi::RDMA_VERBS_IOCTL;
    let context = if verbs || fds::is_ours(fd) { device_file::find(fd) } else { None };
    match context {
        Some(context) if verbs => answer_of(|| commands::run(&context, arg as u64).map(|()| 0)),
        // The requests that Linux answers for each file: on a descriptor, whether it blocks and whether exec closes it.
        // SAFETY: arguments are passed on from the caller.
        Some(_) if matches!(request, libc::FIONBIO | libc::FIOCLEX | libc::FIONCLEX) => unsafe {
            real::ioctl(fd, request, arg)
        },
        Some(_) => answer(Err(Errno::ENOTTY)),
        None => match umad::find(fd).filter(|_| umad::is_request(request)) {
            Some(file) => answer_of(|| file.ioctl(request, arg as u64).map(|()| 0)),
            // SAFETY: arguments are passed on from the caller.
            None => unsafe { real::ioctl(fd, request, arg) },
        },
    }
}

/// Maps UAR pages of our devices, and registers of our functions.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn mmap(
    at: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let mapped = if let Some(context) = fds::get_as::<Context>(fd) {
        mapping::map(&context, at, len, protection, flags, offset as u64)
    } else if let Some(file) = fds::get_as::<vfio::File>(fd) {
        let opened = file.device().ok_or(Errno::ENODEV);
        opened.and_then(|opened| opened.map(at, len, (protection, flags), offset as u64))
    } else {
        // SAFETY: arguments are passed on from the caller.
        return unsafe { real::mmap(at, len, protection, flags, fd, offset) };
    };
    mapped.unwrap_or_else(|error| {
        log::debug!("mmap at {offset:#x}: {error:?}");
        error.set();
        libc::MAP_FAILED
    })
}

/// Maps UAR pages of our devices, and registers of our functions.
///
/// # Safety
/// The conditions of libc's function.
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

/// Ends the watch on unmapped pages.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn munmap(at: *mut c_void, len: size_t) -> c_int {
    strict::unwatch(at as usize, len);
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::munmap(at, len) }
}

/// Ends the file of `fd`, if it is ours, before the number can be another file's. The kernel leaves `errno` alone when
/// it closes a file, and programs look at it afterwards.
fn end(fd: c_int) {
    if let Some(file) = fds::remove(fd) {
        let before = Errno::last();
        uncancelled(|| file.close(fd));
        before.set();
    }
}

/// Closes our devices and event files.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    end(fd);
    // SAFETY: the argument is passed on from the caller.
    unsafe { real::close(fd) }
}

/// Closes our devices and event files among others, but not what we have open beside them.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    // With a flag, descriptors stay, or stay with the other threads.
    if flags != 0 {
        // SAFETY: arguments are passed on from the caller.
        return unsafe { real::close_range(first, last, flags) };
    }
    fds::ours_in(first, last).for_each(end);
    sparing_own(first, last, |from| {
        // The last one may be our own: then nothing is left. (A range that was empty from the beginning is the caller's
        // error.)
        let is_done = from > last && from != first;
        // SAFETY: arguments are passed on from the caller.
        if is_done { 0 } else { unsafe { real::close_range(from, last, 0) } }
    })
}

/// Closes descriptors from `first` to `last`, except our own. `rest` closes those after the last of our own: it gets
/// the first of them.
fn sparing_own<T>(first: c_uint, last: c_uint, rest: impl FnOnce(c_uint) -> T) -> T {
    Hca::hold_descriptors(|devices| {
        let mut own: Vec<c_uint> = Vec::new();
        // A child of the program closes its own copies.
        if !devices.is_empty() {
            let all = devices.iter().copied().chain(fds::own_in(first, last));
            own.extend(all.filter_map(|fd| c_uint::try_from(fd).ok()).filter(|fd| (first..=last).contains(fd)));
        }
        own.sort_unstable();
        let mut from = first;
        for own in own {
            if from < own {
                // SAFETY: these are the program's, which has asked for it.
                unsafe { real::close_range(from, own - 1, 0) };
            }
            // Descriptors are below 2^31.
            from = own + 1;
        }
        rest(from)
    })
}

/// Closes our devices and event files among others, but not what we have open beside them.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn closefrom(first: c_int) {
    let first = first.max(0) as c_uint;
    fds::ours_in(first, c_uint::MAX).for_each(end);
    // SAFETY: the argument is the caller's, or larger.
    sparing_own(first, c_uint::MAX, |from| unsafe { real::closefrom(from as c_int) });
}

/// Ends the file of `to`, which is about to become a duplicate of `from`.
fn end_before_dup(from: c_int, to: c_int) {
    // SAFETY: takes no pointers.
    if from != to && fds::is_ours(to) && unsafe { libc::fcntl(from, libc::F_GETFD) } >= 0 {
        end(to);
    }
}

/// Closes our devices and event files when another file takes their number.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn dup2(from: c_int, to: c_int) -> c_int {
    end_before_dup(from, to);
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::dup2(from, to) }
}

/// Closes our devices and event files when another file takes their number.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    end_before_dup(from, to);
    // SAFETY: arguments are passed on from the caller.
    unsafe { real::dup3(from, to, flags) }
}
