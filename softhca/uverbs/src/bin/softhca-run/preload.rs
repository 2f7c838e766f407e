//! The object to preload, and how the dynamic loader is told of it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const NAME: &str = "libsofthca_uverbs.so";

/// The object that was built together with this program; empty if none was.
static EMBEDDED: &[u8] = softhca_embed::shared_object!("softhca_uverbs");

/// The value of `LD_PRELOAD` for `file`, or for the object that was built together with this program, before other
/// objects to preload. `scratch` is there as long as the program runs.
pub(crate) fn variable(file: Option<&Path>, scratch: &Path) -> Result<OsString, String> {
    let object = match file {
        Some(file) => file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?,
        None => own(scratch)?,
    };
    let mut all = loadable(object, scratch)?.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        all.push(":");
        all.push(others);
    }
    Ok(all)
}

/// A path of `object` that the loader takes as it is. It splits `LD_PRELOAD` at colons and spaces, with no way to quote
/// them, and replaces names after a dollar sign (ld.so(8)).
fn loadable(object: PathBuf, scratch: &Path) -> Result<PathBuf, String> {
    let is_plain = |path: &OsStr| !path.as_bytes().iter().any(|byte| b": $".contains(byte));
    if is_plain(object.as_os_str()) {
        return Ok(object);
    }
    let link = scratch.join(NAME);
    if !is_plain(link.as_os_str()) {
        return Err(format!(
            "{} cannot be preloaded, nor a link to it in {}: set TMPDIR to a directory without colon, space and \
            dollar sign",
            object.display(),
            scratch.display()
        ));
    }
    symlink(&object, &link).map_err(|error| format!("{}: {error}", link.display()))?;
    Ok(link)
}

/// The object that was built together with this program. In a build directory it lies there, where debuggers find it;
/// an installed program brings it along.
fn own(scratch: &Path) -> Result<PathBuf, String> {
    if let Some(object) = beside_this_program() {
        return Ok(object);
    }
    if EMBEDDED.is_empty() {
        return Err(format!("{NAME} is not beside this program, and was not built into it; name it with --preload"));
    }
    let object = scratch.join(NAME);
    std::fs::write(&object, EMBEDDED).map_err(|error| format!("{}: {error}", object.display()))?;
    Ok(object)
}

/// An object in the directory of this program, or, after `cargo test`, one below it.
fn beside_this_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let directory = program.parent()?;
    [directory.join(NAME), directory.join("deps").join(NAME)].into_iter().find(|file| file.exists())
}
