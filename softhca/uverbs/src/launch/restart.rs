//! Programs that the launcher has not started, in containers: where the environment names the launcher, this object has
//! it start the program anew. A process keeps its number: it becomes the launcher, and the program its child.

use super::log::print;
use libc::{c_char, c_int, c_void};
use softhca_settings::{LAUNCHER_VARIABLE, OPTIONS_VARIABLE, Settings};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Called when the object is loaded, before the program's own code. glibc passes these arguments.
extern "C" fn begin(_: c_int, arguments: *const *const c_char, environment: *const *const c_char) {
    let Some(launcher) = std::env::var_os(LAUNCHER_VARIABLE).filter(|launcher| !launcher.is_empty()) else { return };
    if !matches!(Settings::from_env(|name| std::env::var_os(name)), Ok(None)) {
        return;
    }
    // SAFETY: lists of strings that the C library has passed, each ending with null.
    let [arguments, environment] = [arguments, environment].map(|list| unsafe { strings(list) });
    let options = std::env::var_os(OPTIONS_VARIABLE).unwrap_or_default();
    let options = options.as_bytes().split(u8::is_ascii_whitespace).filter(|option| !option.is_empty());
    let own_name = arguments.first().map(|name| program(OsStr::from_bytes(name))).unwrap_or_default();
    let mut words = vec![launcher.as_bytes().to_vec()];
    words.extend(options.map(<[u8]>::to_vec));
    words.extend([b"--".to_vec(), own_name.into_vec()]);
    words.extend(arguments.into_iter().skip(1));
    let object = object();
    let kept = environment.into_iter().filter_map(|variable| for_launcher(variable, &object)).collect();
    let error = execute(&launcher, words, kept);
    // The program goes on, as on a machine without devices.
    print(&format!("softhca: {LAUNCHER_VARIABLE}={}: {error}; there are no devices\n", Path::new(&launcher).display()));
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = begin;

/// Copies of the strings in a list.
///
/// # Safety
/// `list` is null, or a list of strings that ends with null.
unsafe fn strings(mut list: *const *const c_char) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    // SAFETY: passed on to the caller; the list goes on until its null.
    while let Some(string) = unsafe { list.as_ref() }.filter(|string| !string.is_null()) {
        // SAFETY: a string of the list.
        all.push(unsafe { CStr::from_ptr(*string) }.to_bytes().to_vec());
        list = list.wrapping_add(1);
    }
    all
}

/// The word that starts this program: its own name, by which some programs know what to do, if a shell would find the
/// program by it. Otherwise its file.
fn program(name: &OsStr) -> OsString {
    let Ok(file) = std::fs::read_link("/proc/self/exe") else { return name.to_owned() };
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    // The dynamic loader by itself, which was given the program.
    let is_loader = file.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-"));
    let is_found = found(name).is_some_and(|path| is_loader || identity(&path) == identity(&file));
    if is_found { name.to_owned() } else { file.into_os_string() }
}

/// The file that a shell runs for `name`.
fn found(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(name.into());
    }
    let executable = |file: &Path| file.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| executable(file))
}

/// The name by which the loader has found this object.
fn object() -> Vec<u8> {
    // SAFETY: plain data, for which all zeros is valid.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address in this object, and a place for the result.
    if unsafe { libc::dladdr(object as *const c_void, &mut found) } == 0 {
        return Vec::new();
    }
    // SAFETY: the name of a loaded object, which ends with a zero byte.
    unsafe { CStr::from_ptr(found.dli_fname) }.to_bytes().to_vec()
}

/// A variable as the launcher gets it: it must not be restarted, and preloads the object of its choice.
fn for_launcher(variable: Vec<u8>, object: &[u8]) -> Option<Vec<u8>> {
    const PRELOAD: &[u8] = b"LD_PRELOAD=";
    if variable.strip_prefix(LAUNCHER_VARIABLE.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")) {
        return None;
    }
    let Some(objects) = variable.strip_prefix(PRELOAD) else { return Some(variable) };
    let others = objects.split(|byte| b": ".contains(byte)).filter(|other| !other.is_empty() && *other != object);
    let others = others.collect::<Vec<_>>().join(&b':');
    (!others.is_empty()).then(|| [PRELOAD, &others].concat())
}

/// Becomes the program `file`, or says why not.
fn execute(file: &OsStr, words: Vec<Vec<u8>>, environment: Vec<Vec<u8>>) -> std::io::Error {
    let terminated = |words: Vec<Vec<u8>>| words.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>();
    let (file, words, environment) = match (CString::new(file.as_bytes()), terminated(words), terminated(environment)) {
        (Ok(file), Ok(words), Ok(environment)) => (file, words, environment),
        _ => return std::io::ErrorKind::InvalidInput.into(),
    };
    let list =
        |words: &[CString]| -> Vec<_> { words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect() };
    // SAFETY: strings that end with a zero byte, and lists of them that end with null.
    unsafe { libc::execve(file.as_ptr(), list(&words).as_ptr(), list(&environment).as_ptr()) };
    std::io::Error::last_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_is_not_restarted() {
        let left = |variable: &str| {
            let left = for_launcher(variable.into(), b"/opt/a.so")?;
            Some(String::from_utf8(left).unwrap())
        };
        assert_eq!(left("SOFTHCA_LAUNCHER=/opt/softhca-run"), None);
        assert_eq!(left("SOFTHCA_OPTIONS=--strict").as_deref(), Some("SOFTHCA_OPTIONS=--strict"));
        assert_eq!(left("LD_PRELOAD=/opt/a.so"), None);
        assert_eq!(left("LD_PRELOAD=b.so /opt/a.so:c.so").as_deref(), Some("LD_PRELOAD=b.so:c.so"));
    }

    #[test]
    fn programs_keep_their_names_where_these_lead_to_them() {
        let own = std::env::current_exe().unwrap();
        assert_eq!(program(OsStr::new("sh")), own.as_os_str());
        assert_eq!(program(OsStr::new("-sh")), own.as_os_str());
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("other");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert_eq!(program(link.as_os_str()), link.as_os_str());
    }
}
