//! How a program looks for devices and opens them, by paths.

use super::answer::{answer, describe, describe_extended};
use super::paths;
use crate::context::device_file;
use crate::process::{real, uncancelled};
use crate::rdma_cm;
use crate::umad;
use crate::vfio;
use libc::{c_char, c_int, c_uint, c_void, mode_t, size_t, ssize_t};

/// Opens the device that `path` names, or leaves it to `otherwise`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn open_with(path: *const c_char, flags: c_int, otherwise: impl FnOnce(*const c_char) -> c_int) -> c_int {
    // SAFETY: passed on to the caller.
    if unsafe { paths::is_manager(path) } {
        return answer(uncancelled(|| rdma_cm::open(flags)));
    }
    // SAFETY: passed on to the caller.
    if let Some(path) = unsafe { paths::vfio(path) } {
        return answer(uncancelled(|| vfio::open(path, flags)));
    }
    // SAFETY: passed on to the caller.
    if let Some(index) = unsafe { paths::umad(path) } {
        return answer(uncancelled(|| umad::open(index, flags)));
    }
    // SAFETY: passed on to the caller.
    match unsafe { paths::device(path) } {
        Some(index) => answer(uncancelled(|| device_file::open(index, flags))),
        // SAFETY: passed on to the caller.
        None => unsafe { paths::redirected(path, otherwise) },
    }
}

/// Declares functions that open a file. Each is libc's function of that name.
macro_rules! opens {
    ($($name:ident([$($before:ident: $before_ty:ty)?] path, flags $(, $after:ident: $after_ty:ty)?);)*) => {
        $(
            /// Opens a device of ours, or what libc opens.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $($before: $before_ty,)? path: *const c_char, flags: c_int $(, $after: $after_ty)?
            ) -> c_int {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                unsafe { open_with(path, flags, |path| real::$name($($before,)? path, flags $(, $after)?)) }
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
    if unsafe { paths::is_manager(path) } {
        return Some(softhca_settings::MANAGER_NUMBER);
    }
    // SAFETY: passed on to the caller.
    if let Some(path) = unsafe { paths::vfio(path) } {
        return Some(path.number());
    }
    // SAFETY: passed on to the caller.
    if let Some(index) = unsafe { paths::umad(path) } {
        return Some(softhca_settings::umad_number(index));
    }
    // SAFETY: passed on to the caller.
    unsafe { paths::device(path) }.map(softhca_settings::device_number)
}

/// Declares functions that describe the file at a path.
macro_rules! stats {
    ($($name:ident([$($before:ident: $before_ty:ty),*] path, out $(, $after:ident: $after_ty:ty)?);)*) => {
        $(
            /// Describes a device of ours, or what libc describes.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $($before: $before_ty,)* path: *const c_char, out: *mut c_void $(, $after: $after_ty)?
            ) -> c_int {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                let ask = |path| unsafe { real::$name($($before,)* path, out $(, $after)?) };
                // SAFETY: passed on to the caller.
                let result = unsafe { paths::redirected(path, ask) };
                if result == 0 {
                    // SAFETY: passed on to the caller; libc has written to `out`.
                    if let Some(number) = unsafe { number_at(path) } {
                        // SAFETY: libc has just filled it in.
                        unsafe { describe(number, out) };
                    }
                }
                result
            }
        )*
    };
}

stats! {
    stat([] path, out);
    stat64([] path, out);
    __xstat([version: c_int] path, out);
    __xstat64([version: c_int] path, out);
    lstat([] path, out);
    lstat64([] path, out);
    __lxstat([version: c_int] path, out);
    __lxstat64([version: c_int] path, out);
    fstatat([dir: c_int] path, out, flags: c_int);
    fstatat64([dir: c_int] path, out, flags: c_int);
    __fxstatat([version: c_int, dir: c_int] path, out, flags: c_int);
    __fxstatat64([version: c_int, dir: c_int] path, out, flags: c_int);
}

/// Describes a device of ours, or what libc describes. Rust's standard library and coreutils ask this way.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn statx(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut c_void) -> c_int {
    // SAFETY: arguments are passed on from the caller.
    let result = unsafe { paths::redirected(path, |path| real::statx(dir, path, flags, mask, out)) };
    if result != 0 {
        return result;
    }
    // SAFETY: passed on to the caller.
    if let Some(number) = unsafe { number_at(path) } {
        // SAFETY: libc has just filled it in.
        unsafe { describe_extended(number, out) };
    }
    result
}

/// Answers for a device of ours as for its stand-in, which may be read and written; or as libc does.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: arguments are passed on from the caller.
    unsafe { paths::redirected(path, |path| real::access(path, mode)) }
}

/// Declares functions that say where a link leads.
macro_rules! readlinks {
    ($($name:ident([$($before:ident: $before_ty:ty)?] path, out, len $(, $after:ident: $after_ty:ty)?);)*) => {
        $(
            /// Says where a link of our tree leads, or what libc says.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $($before: $before_ty,)? path: *const c_char, out: *mut c_char, len: size_t $(, $after: $after_ty)?
            ) -> ssize_t {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                unsafe { paths::redirected(path, |path| real::$name($($before,)? path, out, len $(, $after)?)) }
            }
        )*
    };
}

readlinks! {
    readlink([] path, out, len);
    readlinkat([dir: c_int] path, out, len);
    __readlink_chk([] path, out, len, room: size_t);
    __readlinkat_chk([dir: c_int] path, out, len, room: size_t);
}
