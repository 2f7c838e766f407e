//! More ways to look into the kernel's tree of devices: streams, listings, patterns, attributes, links resolved. For
//! programs without a namespace in which the tree lies over `/sys`.

use super::lookup::statx;
use super::paths;
use crate::process::real;
use libc::{c_char, c_int, c_void, size_t, ssize_t};

/// Declares functions that look at a path of the tree and do nothing else with it. Each is libc's function of that
/// name.
macro_rules! looks {
    ($($name:ident([$($before:ident: $before_ty:ty)?] path $(, $after:ident: $after_ty:ty)*) -> $ret:ty;)*) => {
        $(
            /// Looks into our tree, or where libc looks.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                $($before: $before_ty,)? path: *const c_char $(, $after: $after_ty)*
            ) -> $ret {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                unsafe { paths::redirected(path, |path| real::$name($($before,)? path $(, $after)*)) }
            }
        )*
    };
}

looks! {
    opendir([] path) -> *mut c_void;
    scandir([] path, out: *mut c_void, filter: *const c_void, compare: *const c_void) -> c_int;
    scandir64([] path, out: *mut c_void, filter: *const c_void, compare: *const c_void) -> c_int;
    fopen([] path, mode: *const c_char) -> *mut c_void;
    fopen64([] path, mode: *const c_char) -> *mut c_void;
    chdir([] path) -> c_int;
    faccessat([dir: c_int] path, mode: c_int, flags: c_int) -> c_int;
    euidaccess([] path, mode: c_int) -> c_int;
    eaccess([] path, mode: c_int) -> c_int;
    getxattr([] path, name: *const c_char, out: *mut c_void, room: size_t) -> ssize_t;
    lgetxattr([] path, name: *const c_char, out: *mut c_void, room: size_t) -> ssize_t;
    listxattr([] path, out: *mut c_char, room: size_t) -> ssize_t;
    llistxattr([] path, out: *mut c_char, room: size_t) -> ssize_t;
}

/// Declares functions that resolve the links of a path. The result is a place in the kernel's tree; a device of ours
/// resolves to itself.
macro_rules! resolves {
    ($($name:ident(path $(, $out:ident: $out_ty:ty $(, $room:ident: $room_ty:ty)?)?);)*) => {
        $(
            /// Resolves the links of a path of our tree, or of what libc resolves.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                path: *const c_char $(, $out: $out_ty $(, $room: $room_ty)?)?
            ) -> *mut c_char {
                // SAFETY: passed on to the caller.
                if unsafe { paths::is_device(path) } {
                    let [.., out] = [std::ptr::null_mut::<c_char>() $(, $out)?];
                    // SAFETY: the caller's string, and null or the caller's room for any path.
                    return unsafe { if out.is_null() { libc::strdup(path) } else { libc::strcpy(out, path) } };
                }
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                let ask = |path| unsafe { real::$name(path $(, $out $(, $room)?)?) };
                // SAFETY: passed on to the caller.
                let resolved = unsafe { paths::redirected(path, ask) };
                // SAFETY: libc's result: null, or a string that ends with a zero byte and is the caller's.
                unsafe { paths::name_as_kernel(resolved) };
                resolved
            }
        )*
    };
}

resolves! {
    realpath(path, out: *mut c_char);
    __realpath_chk(path, out: *mut c_char, room: size_t);
    canonicalize_file_name(path);
}

/// Describes a file to `glob`, which asks for its type alone.
unsafe extern "C" fn kind_of(path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: plain data, for which all zeros is valid.
    let mut found: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: `glob` gives a string that ends with a zero byte; the result is a local.
    let result = unsafe { statx(libc::AT_FDCWD, path, flags, libc::STATX_TYPE, (&raw mut found).cast()) };
    if result == 0 {
        // SAFETY: `glob` gives room for a description, in which zeros are valid.
        unsafe {
            out.write_bytes(0, 1);
            (*out).st_mode = found.stx_mode.into();
        }
    }
    result
}

unsafe extern "C" fn kind(path: *const c_char, out: *mut libc::stat) -> c_int {
    // SAFETY: passed on from `glob`.
    unsafe { kind_of(path, out, 0) }
}

unsafe extern "C" fn kind_of_link(path: *const c_char, out: *mut libc::stat) -> c_int {
    // SAFETY: passed on from `glob`.
    unsafe { kind_of(path, out, libc::AT_SYMLINK_NOFOLLOW) }
}

/// `glob_t` of glibc's `glob.h`: what `GLOB_ALTDIRFUNC` has `glob` look with, instead of its own functions.
#[repr(C)]
struct Glob {
    /// The results.
    before: [usize; 4],
    closedir: unsafe extern "C" fn(*mut libc::DIR) -> c_int,
    readdir: unsafe extern "C" fn(*mut libc::DIR) -> *mut libc::dirent,
    opendir: unsafe extern "C" fn(*const c_char) -> *mut c_void,
    lstat: unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int,
    stat: unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int,
}

/// Declares functions that find the paths of a pattern.
macro_rules! globs {
    ($($name:ident;)*) => {
        $(
            /// Finds the paths of a pattern in our tree, too.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(
                pattern: *const c_char, flags: c_int, error: *const c_void, out: *mut c_void
            ) -> c_int {
                let own = flags & libc::GLOB_ALTDIRFUNC != 0;
                if !own {
                    let out = out.cast::<Glob>();
                    // SAFETY: the caller's `glob_t`, in which these are for `glob` alone.
                    unsafe {
                        (&raw mut (*out).closedir).write(libc::closedir);
                        (&raw mut (*out).readdir).write(libc::readdir);
                        (&raw mut (*out).opendir).write(opendir);
                        (&raw mut (*out).lstat).write(kind_of_link);
                        (&raw mut (*out).stat).write(kind);
                    }
                }
                // SAFETY: arguments are passed on from the caller.
                unsafe { real::$name(pattern, flags | libc::GLOB_ALTDIRFUNC, error, out) }
            }
        )*
    };
}

globs! {
    glob;
    glob64;
}
