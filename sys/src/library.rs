//! Libraries that are loaded while the program runs.

use core::ffi::{CStr, c_char, c_void};
use core::fmt;
use core::ptr::{null, null_mut};
use std::ffi::CString;

/// A library of rdma-core that is not where the dynamic loader looks, or is too old to have a function.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unavailable {
    /// The library, by the name of its interface: `libibverbs.so.1`.
    pub library: &'static str,
    /// The function that it lacks, and the version of its symbols; `None` if it is the library that is missing.
    pub symbol: Option<(&'static str, &'static str)>,
    /// The file that was found. Its name ends with rdma-core's release: `libmlx5.so.1.24.44.0`.
    pub found: Option<String>,
    /// The dynamic loader's message.
    pub why: String,
}

/// What brings the libraries, with libmlx5, which libibverbs loads by itself.
const PACKAGES: &str = "rdma-core's libraries: ibverbs-providers (Debian, Ubuntu), libibverbs (Fedora, RHEL, openSUSE), \
                        rdma-core (Arch, Alpine, Gentoo)";

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { library, symbol, found, why } = self;
        match symbol {
            None if cfg!(target_feature = "crt-static") => write!(
                f,
                "cannot load {library}: {why}; this program is linked statically, and so loads no library: build it with \
                 -C target-feature=-crt-static"
            ),
            None => write!(f, "cannot load {library}: {why}; install {PACKAGES}"),
            Some((symbol, version)) => {
                write!(f, "{library} has no {symbol} of version {version}")?;
                if let Some(found) = found {
                    write!(f, " (found: {found})")?;
                }
                write!(f, ": {why}; install a later release of {PACKAGES}")
            }
        }
    }
}

/// The same text: a `main` that returns an error prints this form, and its reader wants to know what to install.
impl fmt::Debug for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Unavailable {}

/// A loaded library. It stays loaded.
///
/// A linker would take the first library of a name on its path, and other crates put their own there: `rdma-mummy-sys`
/// (and so `sideway`) puts a stub of libmlx5 there that lacks most functions. A library that is loaded by the name of
/// its interface is the copy that libibverbs itself loads when it looks for devices.
#[derive(Debug)]
pub(crate) struct Library {
    name: &'static str,
    handle: *mut c_void,
    replaceable: bool,
}

impl Library {
    /// Loads libibverbs or libmlx5, or finds it where it is loaded.
    ///
    /// If it is `replaceable`, a function of the program or of `LD_PRELOAD` takes the place of the library's own function
    /// of the same name, as in a linked program, and finds the library's as the next one.
    pub(crate) fn open(name: &'static str, replaceable: bool) -> Result<Self, Unavailable> {
        let unavailable = |why| Unavailable { library: name, symbol: None, found: None, why };
        let file = CString::new(name).map_err(|error| unavailable(error.to_string()))?;
        let scope = if replaceable { libc::RTLD_GLOBAL } else { libc::RTLD_LOCAL };
        // SAFETY: a string, which names a library of rdma-core. On loading, it only registers its drivers with libibverbs.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | scope) };
        if handle.is_null() { Err(unavailable(loader_message())) } else { Ok(Self { name, handle, replaceable }) }
    }

    /// The address of a function. `version` is that of the library's symbols: a later library that changes a function
    /// keeps the old one under the old version.
    pub(crate) fn find(&self, symbol: &'static str, version: &'static str) -> Result<*mut c_void, Unavailable> {
        let text = |text: &str| CString::new(text).map_err(|error| self.lacks(symbol, version, error.to_string()));
        let (name, of_version) = (text(symbol)?, text(version)?);
        // SAFETY: the library is loaded, and both are strings.
        let own = unsafe { versioned(self.handle, &name, &of_version) };
        if own.is_null() {
            return Err(self.lacks(symbol, version, loader_message()));
        }
        if !self.replaceable {
            return Ok(own);
        }
        // SAFETY: a string.
        let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // If the library itself is first, its default version may be another one.
        Ok(if first.is_null() || object_of(first) == object_of(own) { own } else { first })
    }

    fn lacks(&self, symbol: &'static str, version: &'static str, why: String) -> Unavailable {
        Unavailable { library: self.name, symbol: Some((symbol, version)), found: self.file(), why }
    }

    /// The file, without symbolic links; `None` if the kernel does not tell.
    fn file(&self) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        // The file's name begins with the library's up to the interface's number: `libmlx5.so.1.24.44.0`.
        let path = maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5));
        path.filter(|path| path.rsplit('/').next().is_some_and(|file| file.starts_with(self.name)))
            .map(str::to_owned)
            .next()
    }
}

/// `dlvsym`.
///
/// # Safety
/// `handle` is of a loaded library.
#[cfg(target_env = "gnu")]
unsafe fn versioned(handle: *mut c_void, symbol: &CStr, version: &CStr) -> *mut c_void {
    // SAFETY: the caller promises a loaded library; both are strings.
    unsafe { libc::dlvsym(handle, symbol.as_ptr(), version.as_ptr()) }
}

/// `dlsym`: other C libraries, such as musl, know nothing of versions.
///
/// # Safety
/// `handle` is of a loaded library.
#[cfg(not(target_env = "gnu"))]
unsafe fn versioned(handle: *mut c_void, symbol: &CStr, _: &CStr) -> *mut c_void {
    // SAFETY: the caller promises a loaded library; the name is a string.
    unsafe { libc::dlsym(handle, symbol.as_ptr()) }
}

/// Where the loaded object begins that has this address.
fn object_of(address: *mut c_void) -> *mut c_void {
    let mut found =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    // SAFETY: any address may be asked for; the structure is ours. If it fails, all of it stays null.
    unsafe { libc::dladdr(address, &raw mut found) };
    found.dli_fbase
}

/// The message of `dlerror` for the call that has just failed.
fn loader_message() -> String {
    // SAFETY: returns a string that stays until this thread's next call of the kind, or null.
    let message = unsafe { libc::dlerror() }.cast_const().cast::<c_char>();
    if message.is_null() {
        return String::new();
    }
    // SAFETY: not null, so a string that stays until this thread's next call of the kind.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}
