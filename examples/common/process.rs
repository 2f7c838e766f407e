//! A second process of this program, which can be killed.

use std::process::{Child, Command, Stdio};

use crate::Failure;

/// A running copy of this program, which does not outlive the value.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    /// Starts this program with other arguments. Its standard output is kept for [`finish`](Self::finish); its standard
    /// error is shown.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start<I: IntoIterator<Item = String>>(arguments: I) -> Result<Self, Failure> {
        let child = Command::new(std::env::current_exe()?)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Self(child))
    }

    /// Kills it: it gets no chance to say good-bye.
    ///
    /// # Errors
    /// A failed call.
    pub fn kill(&mut self) -> Result<(), Failure> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    /// Waits until it exits with code 0 and returns its output. Not for programs that print more than a pipe holds.
    ///
    /// # Errors
    /// Any other exit code than 0.
    pub fn finish(mut self) -> Result<String, Failure> {
        let status = self.0.wait()?;
        if !status.success() {
            return Err(format!("a process of this program failed: {status}").into());
        }
        let pipe = self.0.stdout.take().ok_or("the process has no pipe")?;
        Ok(std::io::read_to_string(pipe)?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Fails if the process has already ended, which is the good case.
        let _ = self.kill();
    }
}
