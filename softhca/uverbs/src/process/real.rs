//! The real calls of libc, past our own definitions.

use libc::{c_char, c_int, c_uint, c_ulong, c_void, mode_t, off_t, size_t, socklen_t, ssize_t};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

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

/// Declares how to call the next definition of a function of libc after ours.
macro_rules! real {
    ($($name:ident: fn($($arg:ident: $ty:ty),* $(; $dots:tt)?) -> $ret:ty;)*) => {
        $(
            /// The function of libc.
            ///
            /// # Safety
            /// The conditions of libc's function.
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
    statx: fn(dir: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut c_void) -> c_int;
    lstat: fn(path: *const c_char, out: *mut c_void) -> c_int;
    lstat64: fn(path: *const c_char, out: *mut c_void) -> c_int;
    __lxstat: fn(version: c_int, path: *const c_char, out: *mut c_void) -> c_int;
    __lxstat64: fn(version: c_int, path: *const c_char, out: *mut c_void) -> c_int;
    fstatat: fn(dir: c_int, path: *const c_char, out: *mut c_void, flags: c_int) -> c_int;
    fstatat64: fn(dir: c_int, path: *const c_char, out: *mut c_void, flags: c_int) -> c_int;
    __fxstatat: fn(version: c_int, dir: c_int, path: *const c_char, out: *mut c_void, flags: c_int) -> c_int;
    __fxstatat64: fn(version: c_int, dir: c_int, path: *const c_char, out: *mut c_void, flags: c_int) -> c_int;
    access: fn(path: *const c_char, mode: c_int) -> c_int;
    faccessat: fn(dir: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int;
    euidaccess: fn(path: *const c_char, mode: c_int) -> c_int;
    eaccess: fn(path: *const c_char, mode: c_int) -> c_int;
    getxattr: fn(path: *const c_char, name: *const c_char, out: *mut c_void, room: size_t) -> ssize_t;
    lgetxattr: fn(path: *const c_char, name: *const c_char, out: *mut c_void, room: size_t) -> ssize_t;
    listxattr: fn(path: *const c_char, out: *mut c_char, room: size_t) -> ssize_t;
    llistxattr: fn(path: *const c_char, out: *mut c_char, room: size_t) -> ssize_t;
    chdir: fn(path: *const c_char) -> c_int;
    opendir: fn(path: *const c_char) -> *mut c_void;
    scandir: fn(path: *const c_char, out: *mut c_void, filter: *const c_void, compare: *const c_void) -> c_int;
    scandir64: fn(path: *const c_char, out: *mut c_void, filter: *const c_void, compare: *const c_void) -> c_int;
    glob: fn(pattern: *const c_char, flags: c_int, error: *const c_void, out: *mut c_void) -> c_int;
    glob64: fn(pattern: *const c_char, flags: c_int, error: *const c_void, out: *mut c_void) -> c_int;
    fopen: fn(path: *const c_char, mode: *const c_char) -> *mut c_void;
    fopen64: fn(path: *const c_char, mode: *const c_char) -> *mut c_void;
    realpath: fn(path: *const c_char, out: *mut c_char) -> *mut c_char;
    __realpath_chk: fn(path: *const c_char, out: *mut c_char, room: size_t) -> *mut c_char;
    canonicalize_file_name: fn(path: *const c_char) -> *mut c_char;
    readlink: fn(path: *const c_char, out: *mut c_char, len: size_t) -> ssize_t;
    readlinkat: fn(dir: c_int, path: *const c_char, out: *mut c_char, len: size_t) -> ssize_t;
    __readlink_chk: fn(path: *const c_char, out: *mut c_char, len: size_t, room: size_t) -> ssize_t;
    __readlinkat_chk: fn(dir: c_int, path: *const c_char, out: *mut c_char, len: size_t, room: size_t) -> ssize_t;
    fstat: fn(fd: c_int, out: *mut c_void) -> c_int;
    fstat64: fn(fd: c_int, out: *mut c_void) -> c_int;
    __fxstat: fn(version: c_int, fd: c_int, out: *mut c_void) -> c_int;
    __fxstat64: fn(version: c_int, fd: c_int, out: *mut c_void) -> c_int;
    _exit: fn(code: c_int) -> !;
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
    bsd_signal: fn(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    ssignal: fn(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    sysv_signal: fn(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    __sysv_signal: fn(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    sigset: fn(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
    pthread_sigmask: fn(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int;
    sigprocmask: fn(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int;
}
// Functions that can be cancelled (`pthread_cancel`) unwind the stack then: `C-unwind`.

/// Declares how to call functions that can be cancelled, likewise.
macro_rules! cancelled {
    ($($name:ident: fn($($arg:ident: $ty:ty),*) -> ssize_t;)*) => {
        $(
            /// The function of libc.
            ///
            /// # Safety
            /// The conditions of libc's function.
            pub(crate) unsafe extern "C-unwind" fn $name($($arg: $ty),*) -> ssize_t {
                static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without zero bytes"),
                };
                let next = resolve(&NEXT, NAME);
                // SAFETY: `next` is the address of the function of this name, which has this type.
                let next: unsafe extern "C-unwind" fn($($ty),*) -> ssize_t = unsafe { std::mem::transmute(next) };
                // SAFETY: arguments are passed on from the caller.
                unsafe { next($($arg),*) }
            }
        )*
    };
}

cancelled! {
    write: fn(fd: c_int, data: *const c_void, len: size_t) -> ssize_t;
    send: fn(fd: c_int, data: *const c_void, len: size_t, flags: c_int) -> ssize_t;
    sendto: fn(fd: c_int, data: *const c_void, len: size_t, flags: c_int, to: *const c_void, to_len: socklen_t) -> ssize_t;
    sendmsg: fn(fd: c_int, message: *const c_void, flags: c_int) -> ssize_t;
    read: fn(fd: c_int, data: *mut c_void, len: size_t) -> ssize_t;
    __read_chk: fn(fd: c_int, data: *mut c_void, len: size_t, room: size_t) -> ssize_t;
    pread: fn(fd: c_int, data: *mut c_void, len: size_t, at: off_t) -> ssize_t;
    pread64: fn(fd: c_int, data: *mut c_void, len: size_t, at: off_t) -> ssize_t;
    __pread_chk: fn(fd: c_int, data: *mut c_void, len: size_t, at: off_t, room: size_t) -> ssize_t;
    __pread64_chk: fn(fd: c_int, data: *mut c_void, len: size_t, at: off_t, room: size_t) -> ssize_t;
    pwrite: fn(fd: c_int, data: *const c_void, len: size_t, at: off_t) -> ssize_t;
    pwrite64: fn(fd: c_int, data: *const c_void, len: size_t, at: off_t) -> ssize_t;
}
