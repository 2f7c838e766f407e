//! The program's allocator, which this object has, too.

use std::ffi::CStr;

/// Whether `malloc` is libc's: a program, or a library that it loads at its start, may bring another.
pub(crate) fn is_libcs() -> bool {
    let object = |scope, name: &CStr| {
        // SAFETY: plain data, for which all zeros is valid.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: a pseudo-handle, a name that ends with a zero byte, and a place for the result. Any address may be
        // asked about.
        (unsafe { libc::dladdr(libc::dlsym(scope, name.as_ptr()), &mut found) } != 0).then_some(found.dli_fbase)
    };
    let libc = object(libc::RTLD_NEXT, c"sched_yield");
    libc.is_some() && object(libc::RTLD_DEFAULT, c"malloc") == libc
}
