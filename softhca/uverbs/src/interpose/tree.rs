//! More ways to look into the kernel's tree of devices: streams, listings, attributes, links resolved. For programs without a
//! namespace in which the tree lies over `/sys`.

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
            /// As for libc's function.
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

/// Declares functions that resolve the links of a path. The result is a place in the kernel's tree.
macro_rules! resolves {
    ($($name:ident(path $(, $after:ident: $after_ty:ty)*);)*) => {
        $(
            /// Resolves the links of a path of our tree, or of what libc resolves.
            ///
            /// # Safety
            /// As for libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(path: *const c_char $(, $after: $after_ty)*) -> *mut c_char {
                // SAFETY: arguments are passed on from the caller, to the function that they are for.
                let resolved = unsafe { paths::redirected(path, |path| real::$name(path $(, $after)*)) };
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
