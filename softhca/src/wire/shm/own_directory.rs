//! The directory of a fabric, which must be the user's alone; and why a fabric cannot be joined.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::slot::SLOTS;

/// Why a fabric cannot be joined.
#[derive(Debug, Error)]
pub enum ShmError {
    /// All slots are taken.
    #[error("all {SLOTS} slots of the fabric at {} are taken", .0.display())]
    Full(PathBuf),
    /// The directory belongs to another user, or others may write to it.
    #[error("{} is not a directory of this user alone", .0.display())]
    NotOurs(PathBuf),
    /// The system said no.
    #[error("fabric at {}", directory.display())]
    Io {
        /// The fabric's directory.
        directory: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The user's fabric under `/dev/shm`. Makes it if there is none.
///
/// # Errors
/// [`ShmError::NotOurs`] if something of that name exists which others could have made or could change.
pub fn default_directory() -> Result<PathBuf, ShmError> {
    own_directory(&PathBuf::from(format!("/dev/shm/softhca-{}", user())))
}

/// The fabric at `directory`. Makes it if there is none. Returns its absolute path.
///
/// # Errors
/// [`ShmError::NotOurs`] if it is a symbolic link, another user's, or one that others may write to.
pub fn own_directory(directory: &Path) -> Result<PathBuf, ShmError> {
    let fault = |source| ShmError::Io { directory: directory.to_path_buf(), source };
    match DirBuilder::new().recursive(true).mode(0o700).create(directory) {
        // A link to nowhere, or no directory: the check says so.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.map_err(fault)?,
    }
    check_own(directory)?;
    directory.canonicalize().map_err(fault)
}

/// The user whom the system takes this process for. (Of rustix, this function's module is not compiled for MIPS.)
fn user() -> u32 {
    // SAFETY: the call has no arguments, and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether `directory` is one, and no symbolic link, that this user alone can write to.
pub(super) fn check_own(directory: &Path) -> Result<(), ShmError> {
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(directory).and_then(
            |directory| {
                let found = directory.metadata()?;
                Ok(found.uid() == user() && found.mode() & 0o022 == 0)
            },
        );
    match opened {
        Ok(true) => Ok(()),
        // With O_DIRECTORY, a link is not a directory; without, it is one too many.
        Err(error) if !matches!(error.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) => {
            Err(ShmError::Io { directory: directory.to_path_buf(), source: error })
        }
        _ => Err(ShmError::NotOurs(directory.to_path_buf())),
    }
}
