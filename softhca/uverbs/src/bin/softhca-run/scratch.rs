//! Directories of the launcher's own, for as long as the program runs. Hardened machines permit no programs in `/tmp`,
//! containers have a small `/dev/shm` without programs, or nothing that can be written but one of the two.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file system in memory. Some disks' take a millisecond for each of the hundreds of files that a device has in sysfs.
const MEMORY: &str = "/dev/shm";
/// Bytes that must be free for the files of a device with two ports: twice as many as they take.
const ROOM: u64 = 1 << 20;

/// A directory for an object of `bytes` bytes that programs load.
pub(crate) fn executable(bytes: usize) -> Result<TempDir, String> {
    let places = [Some(std::env::temp_dir()), Some(MEMORY.into())];
    first(places.into_iter().chain(rest()), "holds programs", |usable| {
        if usable.executable { usable.has(bytes as u64) } else { Err("mounted noexec".to_owned()) }
    })
}

/// Whether the file system of `file` holds programs and libraries; true if it does not say.
pub(crate) fn is_executable(file: &Path) -> bool {
    Usable::of(file).map_or(true, |usable| usable.executable)
}

/// A directory for the files of `devices` devices.
pub(crate) fn roomy(devices: u32) -> Result<TempDir, String> {
    let places = [Some(MEMORY.into()), Some(std::env::temp_dir())];
    let fit = |usable: &Usable| usable.has(u64::from(devices) * ROOM);
    first(places.into_iter().chain(rest()), "has room for the devices' files", fit)
}

/// Where else programs may write.
fn rest() -> impl Iterator<Item = Option<PathBuf>> {
    let named = ["XDG_RUNTIME_DIR", "HOME"].map(|name| std::env::var_os(name).map(PathBuf::from));
    [Some("/var/tmp".into())].into_iter().chain(named)
}

/// A file system's properties.
struct Usable {
    executable: bool,
    /// Bytes that this user may still write.
    free: u64,
}

impl Usable {
    /// Returns an error unless there is room for `bytes` bytes.
    fn has(&self, bytes: u64) -> Result<(), String> {
        if self.free >= bytes { Ok(()) } else { Err(format!("{} of {bytes} bytes free", self.free)) }
    }

    fn of(place: &Path) -> io::Result<Self> {
        let name = CString::new(place.as_os_str().as_bytes())?;
        // SAFETY: plain data, for which all zeros is valid.
        let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
        // SAFETY: a string that ends with a zero byte, and a place for the result.
        if unsafe { libc::statvfs(name.as_ptr(), &mut found) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // A tmpfs without a limit has no blocks.
        let free = if found.f_blocks == 0 { u64::MAX } else { found.f_bavail.saturating_mul(found.f_frsize) };
        Ok(Self { executable: found.f_flag & libc::ST_NOEXEC == 0, free })
    }
}

/// A new directory in the first of `places` that is fit. `which` names the ability that no place has.
fn first(
    places: impl Iterator<Item = Option<PathBuf>>,
    which: &str,
    fit: impl Fn(&Usable) -> Result<(), String>,
) -> Result<TempDir, String> {
    let mut tried: Vec<(PathBuf, String)> = Vec::new();
    for place in places.flatten() {
        if tried.iter().any(|(other, _)| *other == place) {
            continue;
        }
        let usable = Usable::of(&place).map_err(|error| error.to_string()).and_then(|usable| fit(&usable));
        let made = usable.and_then(|()| {
            let made = tempfile::Builder::new().prefix("softhca-run-").tempdir_in(&place);
            // Without the path of the new directory.
            made.map_err(|error| error.kind().to_string())
        });
        match made {
            Ok(directory) => return Ok(directory),
            Err(why) => tried.push((place, why)),
        }
    }
    let tried: Vec<String> = tried.iter().map(|(place, why)| format!("{}: {why}", place.display())).collect();
    Err(format!("no directory {which} and can be written ({}): set TMPDIR to one that does", tried.join("; ")))
}
