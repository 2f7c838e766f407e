//! Counting a process's instructions one by one.
//!
//! A child of this process (`fork`) prepares and does the work; this process steps it (`PTRACE_SINGLESTEP`) and looks
//! at its program counter after each step. Only instructions between calls of [`mark`] count. So the count depends on
//! the program alone: not on start-up, signals, caches, other processes or the machine. An instruction that repeats
//! itself (`rep movsb`) counts once.
use std::arch::asm;

use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork};

/// Divides a child's execution into parts: each call ends a part.
#[inline(never)]
pub(crate) fn mark() {
    // SAFETY: no instruction. Earlier stores have been made when the mark is seen.
    unsafe { asm!("", options(nostack, preserves_flags)) }
}

/// Counts of the instructions that a child executed.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Instructions between one [`mark`] and the next.
    pub(crate) parts: Vec<u64>,
    /// Instructions of each call of the function watched, from its first to its return.
    pub(crate) calls: Vec<u64>,
}

/// Runs `work` in a child, on the value that `prepare` makes there, and counts between calls of [`mark`]. `watched` is
/// the address of a function; its calls are counted apart.
///
/// `prepare` runs in the child, before the steps, because a device belongs to the process that opened it.
///
/// # Errors
/// In words: the system forbids tracing, or the child did not end well.
pub(crate) fn count<T>(
    watched: Option<usize>,
    prepare: impl FnOnce() -> T,
    work: impl FnOnce(&mut T),
) -> Result<Counts, String> {
    // Only speed depends on it, so an error changes nothing.
    let _ = stay_on_one_cpu();
    let forbidden =
        |call: &'static str| move |error: nix::Error| format!("{call}: {error} (is ptrace forbidden here?)");
    // SAFETY: this process has one thread, because only its children open devices. So the child may do anything.
    match unsafe { fork() }.map_err(forbidden("fork"))? {
        ForkResult::Child => {
            std::panic::set_hook(Box::new(|panic| {
                eprintln!("{panic}");
                // SAFETY: as below. A trace of the stack would take minutes, step by step.
                unsafe { nix::libc::_exit(1) }
            }));
            let mut prepared = prepare();
            let traced = ptrace::traceme().and_then(|()| raise(Signal::SIGSTOP));
            if traced.is_ok() {
                work(&mut prepared);
            }
            // SAFETY: ends the process without running anything of the parent's. The kernel takes back all that was
            // prepared.
            unsafe { nix::libc::_exit(if traced.is_ok() { 0 } else { 1 }) }
        }
        ForkResult::Parent { child } => match waitpid(child, None).map_err(forbidden("waitpid"))? {
            WaitStatus::Stopped(_, Signal::SIGSTOP) => follow(child, watched).map_err(forbidden("ptrace"))?,
            other => Err(format!("the child could not be traced, it is {other:?}: is ptrace forbidden here?")),
        },
    }
}

/// Keeps this process and its children on one CPU. At each step they take turns: on two CPUs each turn wakes an idle
/// CPU, which takes several times as long.
fn stay_on_one_cpu() -> nix::Result<()> {
    let mut one = CpuSet::new();
    one.set(sched_getcpu()?)?;
    sched_setaffinity(Pid::from_raw(0), &one)
}

/// Steps a stopped child to its end.
fn follow(child: Pid, watched: Option<usize>) -> nix::Result<Result<Counts, String>> {
    let mark = mark as *const () as usize;
    let mut counts = Counts::default();
    // Instructions since the last mark; nothing before the first.
    let mut part = None;
    // Where the call that is under way returns to, and its instructions so far.
    let mut call: Option<(usize, u64)> = None;
    let mut last = cpu::program_counter(child)?;
    loop {
        ptrace::step(child, None)?;
        match waitpid(child, None)? {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
            WaitStatus::Exited(_, 0) => return Ok(Ok(counts)),
            other => return Ok(Err(format!("the child did not end well: {other:?}"))),
        }
        let at = cpu::program_counter(child)?;
        if at == last {
            continue;
        }
        last = at;
        if let Some(instructions) = &mut part {
            *instructions += 1;
        }
        if at == mark {
            counts.parts.extend(part.replace(0));
        }
        match &mut call {
            Some((returns_to, instructions)) => {
                *instructions += 1;
                if at == *returns_to {
                    counts.calls.push(*instructions);
                    call = None;
                }
            }
            None if Some(at) == watched && part.is_some() => call = Some((cpu::return_address(child)?, 0)),
            None => {}
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod cpu {
    use nix::sys::ptrace::{getregs, read};
    use nix::unistd::Pid;

    /// The address of the next instruction.
    pub(super) fn program_counter(child: Pid) -> nix::Result<usize> {
        Ok(getregs(child)?.rip as usize)
    }

    /// Where a function returns to, at its first instruction.
    pub(super) fn return_address(child: Pid) -> nix::Result<usize> {
        let stack = getregs(child)?.rsp as usize;
        Ok(read(child, std::ptr::without_provenance_mut(stack))? as usize)
    }
}

#[cfg(target_arch = "aarch64")]
mod cpu {
    use nix::sys::ptrace::getregs;
    use nix::unistd::Pid;

    /// The address of the next instruction.
    pub(super) fn program_counter(child: Pid) -> nix::Result<usize> {
        Ok(getregs(child)?.pc as usize)
    }

    /// Where a function returns to, at its first instruction: the link register.
    pub(super) fn return_address(child: Pid) -> nix::Result<usize> {
        Ok(getregs(child)?.regs[30] as usize)
    }
}

/// Other architectures are not supported: their register names are not known here, and stepping may not work there.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod cpu {
    use nix::Error;
    use nix::unistd::Pid;

    pub(super) fn program_counter(_: Pid) -> nix::Result<usize> {
        Err(Error::ENOTSUP)
    }

    pub(super) fn return_address(_: Pid) -> nix::Result<usize> {
        Err(Error::ENOTSUP)
    }
}
