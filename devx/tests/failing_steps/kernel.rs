//! Commands that the software device's kernel refuses on request (`softhca-run --help`).

use std::ffi::{CStr, c_int, c_void};

/// A function of the preloaded object.
pub(crate) fn function(name: &CStr) -> *mut c_void {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!symbol.is_null(), "no {name:?}: run this by ./run test, or under softhca-run");
    symbol
}

/// The kernel refuses this thread's `nth` command from now on; 0: none.
pub(crate) fn refuse_command(nth: u64, errno: c_int) {
    let refuse = function(c"softhca_refuse");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u64, c_int)>(refuse)(nth, errno) };
}
