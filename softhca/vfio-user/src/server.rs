//! The socket of a function, and who connects to it: one at a time.

use crate::backend::{interrupts, regions};
use crate::endpoint::Endpoint;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a connection, or a server, has ended.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The socket cannot be made.
    #[error("{}", path.display())]
    Bind {
        /// Where it was to be.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The socket takes no connections.
    #[error("no connections any more")]
    Accept(#[source] io::Error),
    /// The peer does not keep to the protocol, or the device has a mistake. The log has the details.
    #[error("a message has stopped the server")]
    Broken,
}

/// A socket that waits for machine monitors. It is removed when the value is dropped.
pub struct Server {
    server: vfio_user::Server,
    path: PathBuf,
    /// Device and inode of the socket.
    file: Option<(u64, u64)>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens at `path`. A socket that a dead process has left there is replaced.
    ///
    /// # Errors
    /// [`ServerError::Bind`].
    pub fn bind(path: &Path) -> Result<Self, ServerError> {
        let fault = |source| ServerError::Bind { path: path.to_path_buf(), source };
        remove_left_over(path).map_err(fault)?;
        let listener = UnixListener::bind(path).map_err(fault)?;
        let server = vfio_user::Server::from_owned_fd(OwnedFd::from(listener), true, interrupts(), regions());
        Ok(Self { server, path: path.to_path_buf(), file: identity(path) })
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the socket: nobody finds it any more.
    pub fn remove_socket(&self) {
        // Somebody may have put another one there.
        if self.file.is_some() && identity(&self.path) == self.file {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Waits for a monitor, and serves it until it leaves. The function is as new then.
    ///
    /// # Errors
    /// [`ServerError::Accept`], or [`ServerError::Broken`]: nothing is known of the function's state then, and it must
    /// not be served any more. A peer that dies is no error.
    pub fn serve(&self, endpoint: &mut Endpoint) -> Result<(), ServerError> {
        let backend = &mut endpoint.backend;
        // The crate has conditions on messages that end in panics.
        let ended = catch_unwind(AssertUnwindSafe(|| self.server.run(backend)));
        match ended {
            Ok(Ok(())) => log::info!("{}: the monitor has left", self.path.display()),
            Ok(Err(vfio_user::Error::SocketAccept(error))) => return Err(ServerError::Accept(error)),
            Ok(Err(error)) => log::warn!("{}: the monitor is gone: {error}", self.path.display()),
            Err(_) => return Err(ServerError::Broken),
        }
        backend.forget();
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.remove_socket();
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = path.symlink_metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Removes a socket at which nobody listens.
fn remove_left_over(path: &Path) -> io::Result<()> {
    let is_socket = path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if is_socket && UnixStream::connect(path).is_err_and(refused) {
        log::info!("{}: removed, nobody listens", path.display());
        std::fs::remove_file(path)?;
    }
    Ok(())
}
