//! The program: started, told of signals, waited for.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

/// Signals that somebody may send to the launcher when the program is meant.
const FORWARDED: [libc::c_int; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// The program's process; 0 = not started yet.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn forward(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: kill may be called in a handler; the process is ours until it has been waited for, which happens
        // after this handler can no longer matter.
        unsafe { libc::kill(child, signal) };
    }
}

/// Runs `command` with `env` added to the environment; gives its exit code as a shell does.
pub(crate) fn run(command: &[OsString], env: Vec<(OsString, OsString)>) -> io::Result<u8> {
    let Some((program, arguments)) = command.split_first() else { return Ok(0) };
    let handler: extern "C" fn(libc::c_int) = forward;
    for signal in FORWARDED {
        // SAFETY: the handler only loads an atomic and calls kill.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
    let mut child = match Command::new(program).args(arguments).envs(env).spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("softhca-run: {}: {error}", program.display());
            return Ok(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 });
        }
    };
    // Process ids are positive 32-bit numbers.
    CHILD.store(child.id() as i32, Ordering::Relaxed);
    let status = child.wait()?;
    CHILD.store(0, Ordering::Relaxed);
    // Codes and signal numbers have 8 bits.
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)) as u8)
}
