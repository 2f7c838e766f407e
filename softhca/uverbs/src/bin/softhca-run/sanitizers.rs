//! The sanitizers of gcc and clang, in programs into which the object is preloaded. A script may start such a program, so
//! all programs get these variables.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The variables `ASAN_OPTIONS` and `TSAN_OPTIONS`, after the user's options, for a program that preloads an object of
/// this name. `scratch` is there as long as the program runs.
pub(crate) fn variables(object: &OsStr, scratch: &Path) -> io::Result<[(&'static str, OsString); 2]> {
    // The runtime would end a program in which it does not come first. After our object it works as well: each of our
    // functions calls the next definition, which is the runtime's.
    let asan = extended("ASAN_OPTIONS", "verify_asan_link_order", OsStr::new("0"));
    // The object is not instrumented. ThreadSanitizer would call its calls of libc's functions races, since it does not
    // see how its threads wait for each other.
    let suppressions = scratch.join("tsan");
    std::fs::write(&suppressions, [b"called_from_lib:", object.as_bytes(), b"\n"].concat())?;
    let quoted = [b"\"", suppressions.as_os_str().as_bytes(), b"\""].concat();
    let tsan = extended("TSAN_OPTIONS", "suppressions", OsStr::from_bytes(&quoted));
    Ok([("ASAN_OPTIONS", asan), ("TSAN_OPTIONS", tsan)])
}

/// The user's options in `variable`, and `option` unless the user has set it.
fn extended(variable: &str, option: &str, value: &OsStr) -> OsString {
    let mut options = std::env::var_os(variable).unwrap_or_default();
    let name = format!("{option}=");
    if options.as_bytes().windows(name.len()).any(|part| part == name.as_bytes()) {
        return options;
    }
    if !options.is_empty() {
        options.push(":");
    }
    options.push(name);
    options.push(value);
    options
}
