//! The object to preload, and how the dynamic loader is told of it.

use super::scratch;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const NAME: &str = "libsofthca_uverbs.so";

/// The object that was built together with this program; empty if none was.
static EMBEDDED: &[u8] = softhca_embed::shared_object!("softhca_uverbs");

/// An object that the loader takes.
pub(crate) struct Object {
    /// Its path, without colon, space and dollar sign: the loader splits `LD_PRELOAD` at colons and spaces, with no way
    /// to quote them, and replaces names after a dollar sign (ld.so(8)).
    path: PathBuf,
    /// Where it is, or a link to it, if it must be there as long as the program runs.
    _scratch: Option<TempDir>,
}

impl Object {
    /// That of `file`, or the one that was built together with this program. In a build directory it lies there, where
    /// debuggers find it; an installed program brings it along.
    pub(crate) fn new(file: Option<&Path>) -> Result<Self, String> {
        let object = match file {
            Some(file) => Some(file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?),
            None => beside_this_program(),
        };
        match object {
            Some(path) if !scratch::is_executable(&path) => {
                Err(format!("{}: its file system is mounted noexec, so no program can load it", path.display()))
            }
            Some(path) if is_plain(&path) => Ok(Self { path, _scratch: None }),
            None if EMBEDDED.is_empty() => {
                Err(format!("{NAME} is not beside this program, and was not built into it; name it with --preload"))
            }
            object => Self::in_scratch(object.as_deref()),
        }
    }

    /// A link to `object`, or a copy of the embedded one.
    fn in_scratch(object: Option<&Path>) -> Result<Self, String> {
        let scratch = scratch::executable(if object.is_some() { 0 } else { EMBEDDED.len() })?;
        let path = scratch.path().join(NAME);
        if !is_plain(&path) {
            return Err(format!(
                "{} cannot be preloaded, nor a link to it in {}: set TMPDIR to a directory without colon, space and \
                dollar sign",
                object.unwrap_or(Path::new(NAME)).display(),
                scratch.path().display()
            ));
        }
        let made = object.map_or_else(|| std::fs::write(&path, EMBEDDED), |object| symlink(object, &path));
        made.map_err(|error| format!("{}: {error}; set TMPDIR to another directory", path.display()))?;
        Ok(Self { path, _scratch: Some(scratch) })
    }

    /// The name that programs load it by.
    pub(crate) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// The value of `LD_PRELOAD`: this object, before others to preload.
    pub(crate) fn variable(&self) -> OsString {
        let mut all = self.path.clone().into_os_string();
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            all.push(":");
            all.push(others);
        }
        all
    }
}

fn is_plain(path: &Path) -> bool {
    !path.as_os_str().as_bytes().iter().any(|byte| b": $".contains(byte))
}

/// The bytes of the object that was built together with this program.
pub(crate) fn object() -> Result<Vec<u8>, String> {
    match beside_this_program() {
        Some(file) => std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display())),
        None if EMBEDDED.is_empty() => Err(format!("{NAME} is not beside this program, and was not built into it")),
        None => Ok(EMBEDDED.to_vec()),
    }
}

/// An object near this program.
fn beside_this_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    beside(program.parent()?)
}

/// The object in `directory`. In a build directory, cargo writes each new one below it, and copies it there only if it was
/// asked for the library: the copy may be old.
fn beside(directory: &Path) -> Option<PathBuf> {
    [directory.join("deps").join(NAME), directory.join(NAME)].into_iter().find(|file| file.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_copy_is_not_taken() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(beside(directory.path()), None);
        let [copy, new] = [NAME.to_owned(), format!("deps/{NAME}")].map(|name| directory.path().join(name));
        std::fs::write(&copy, "").unwrap();
        assert_eq!(beside(directory.path()).as_ref(), Some(&copy));
        std::fs::create_dir(directory.path().join("deps")).unwrap();
        std::fs::write(&new, "").unwrap();
        assert_eq!(beside(directory.path()), Some(new));
    }
}
