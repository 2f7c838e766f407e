//! The program: started, told of signals, waited for.

use super::namespace::Namespace;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Signals that somebody may send to the launcher when the program is meant.
const FORWARDED: [libc::c_int; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// Whether this process was started with SIGPIPE ignored. Rust's runtime always ignores it, and starts children with
/// the default. So the earlier setting must be read before `main`.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look_at_sigpipe;

extern "C" fn look_at_sigpipe() {
    PIPE_IGNORED.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
}

/// Whether `signal` is ignored.
fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: asks only; zeros are a valid action.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

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

/// Runs `command` in `namespace`, with `env` added to the environment; gives its exit code as a shell does.
pub(crate) fn run(
    command: &[OsString],
    env: Vec<(&'static str, OsString)>,
    namespace: Option<Namespace>,
) -> io::Result<u8> {
    let Some((program, arguments)) = command.split_first() else { return Ok(0) };
    let handler: extern "C" fn(libc::c_int) = forward;
    // An ignored signal stays ignored, here and in the program (nohup(1)): a handler would make it the default there.
    for signal in FORWARDED.into_iter().filter(|&signal| !is_ignored(signal)) {
        // SAFETY: the handler only loads an atomic and calls kill.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
    let mut started = Command::new(program);
    started.args(arguments).envs(env);
    if PIPE_IGNORED.load(Ordering::Relaxed) {
        // SAFETY: the closure makes one call, which is allowed between fork and exec.
        unsafe {
            started.pre_exec(|| {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
                Ok(())
            });
        }
    }
    if let Some(namespace) = namespace {
        // SAFETY: the closure makes system calls only, which is allowed between fork and exec.
        unsafe { started.pre_exec(move || namespace.enter()) };
    }
    let mut child = match started.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("softhca-run: {}: {error}", Path::new(program).display());
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
