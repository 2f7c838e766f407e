//! A server in a process of its own, on a private network.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// Ends with the value.
pub(crate) struct Process {
    child: Child,
    /// Where the sockets are.
    folder: Arc<TempDir>,
    sockets: Vec<PathBuf>,
}

impl Process {
    /// A server of as many functions, which listen.
    pub(crate) fn start(functions: usize, options: &[&str]) -> Self {
        Self::spawn(functions, options).listening()
    }

    /// A server of as many functions, which may end before they listen.
    pub(crate) fn spawn(functions: usize, options: &[&str]) -> Self {
        Self::at(Arc::new(tempfile::tempdir().expect("a folder")), functions, options)
    }

    /// Another one at the same sockets, after this one.
    pub(crate) fn again(self, options: &[&str]) -> Self {
        self.beside(options).listening()
    }

    /// Another one at the same sockets.
    pub(crate) fn beside(&self, options: &[&str]) -> Self {
        Self::at(self.folder.clone(), self.sockets.len(), options)
    }

    fn at(folder: Arc<TempDir>, functions: usize, options: &[&str]) -> Self {
        let sockets: Vec<PathBuf> = (0..functions).map(|n| folder.path().join(n.to_string())).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_softhca-vfio-user"));
        command.arg("--private").args(options).stdout(Stdio::piped()).stderr(Stdio::piped());
        sockets.iter().for_each(|socket| _ = command.arg("--socket").arg(socket));
        let child = command.spawn().expect("the server");
        Self { child, folder, sockets }
    }

    /// Waits until it says that it listens.
    fn listening(mut self) -> Self {
        let said = BufReader::new(self.child.stdout.take().expect("its output"));
        let lines: Vec<String> = said.lines().take(self.sockets.len()).map(|line| line.expect("text")).collect();
        for (line, socket) in lines.iter().zip(&self.sockets) {
            assert!(line.ends_with(&format!("listens at {}", socket.display())), "{line}");
        }
        assert_eq!(lines.len(), self.sockets.len(), "{lines:?}");
        self
    }

    pub(crate) fn socket(&self, n: usize) -> &Path {
        &self.sockets[n]
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_some()
    }

    pub(crate) fn terminate(&self) {
        let pid = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("a signal");
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a signal");
    }

    /// Waits for its end. Returns the exit code, none after a signal, and its output on standard error.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        if let Some(mut error) = self.child.stderr.take() {
            error.read_to_string(&mut said).expect("text");
        }
        (self.child.wait().expect("its end").code(), said)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
