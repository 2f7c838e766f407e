//! The thread that tells a program of requests without answers. A file has it while such requests wait.

use crate::process::{Errno, lock};
use softhca::runner::spawn;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

/// The thread of a file.
#[derive(Default)]
pub(super) struct Timer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The process that it runs in; 0 = none. The child of a fork has a copy of the file, but not the thread.
    process: u32,
    /// A deadline has come nearer, or has gone.
    is_new: bool,
}

impl Timer {
    /// Has the thread look for deadlines. It starts if it does not run. `expire` ends the requests that are over at a
    /// time, and gives the next deadline.
    pub(super) fn look(
        self: &Arc<Self>,
        expire: impl Fn(Instant) -> Option<Instant> + Send + 'static,
    ) -> Result<(), Errno> {
        let mut state = lock(&self.state);
        state.is_new = true;
        let process = std::process::id();
        if state.process != process {
            let timer = self.clone();
            spawn("softhca-umad", move || timer.run(&expire))
                .map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::EAGAIN)))?;
            state.process = process;
        }
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Has the thread end, since nothing waits any more.
    pub(super) fn end(&self) {
        lock(&self.state).is_new = true;
        self.changed.notify_one();
    }

    fn run(&self, expire: &dyn Fn(Instant) -> Option<Instant>) {
        loop {
            lock(&self.state).is_new = false;
            let next = expire(Instant::now());
            let mut state = lock(&self.state);
            let Some(next) = next else {
                if state.is_new {
                    continue;
                }
                state.process = 0;
                return;
            };
            while !state.is_new {
                let left = next.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
