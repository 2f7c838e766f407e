//! The handlers of strict mode, and those of the program, which get what is not ours.

use super::{Next, STEPPING, Stepping, find};
use crate::context::lock;
use crate::errno::Errno;
use crate::interpose::real;
use libc::{c_int, c_void, siginfo_t};
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bit of the flags register that makes the CPU trap after the next instruction.
const TRAP_FLAG: i64 = 0x100;

/// The two signals that are ours.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGTRAP];

/// The program's actions for them, which our handlers read without a lock: a store to one is not seen halfway only
/// because programs do not change the action for a signal while they raise it.
struct Actions(UnsafeCell<[libc::sigaction; 2]>);

// SAFETY: written under `CHANGING` only; see above for reading.
unsafe impl Sync for Actions {}

// SAFETY: integers and a pointer that is an integer, for all of which zero is valid: the default action.
static PROGRAMS: Actions = Actions(UnsafeCell::new(unsafe { std::mem::zeroed() }));
static CHANGING: Mutex<()> = Mutex::new(());
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

fn slot(signal: c_int) -> Option<*mut libc::sigaction> {
    let index = SIGNALS.iter().position(|&ours| ours == signal)?;
    Some(PROGRAMS.0.get().cast::<libc::sigaction>().wrapping_add(index))
}

/// Installs our handlers; the program's actions from before are kept.
pub(super) fn take_over() -> Result<(), Errno> {
    let _guard = lock(&CHANGING);
    if TAKEN_OVER.load(Ordering::Acquire) {
        return Ok(());
    }
    for signal in SIGNALS {
        let Some(programs) = slot(signal) else { continue };
        // SAFETY: all zeros are a valid action, completed below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = handle;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: both actions are valid; `programs` is written under the lock.
        if unsafe { real::sigaction(signal, &action, programs) } != 0 {
            return Err(Errno::last());
        }
    }
    TAKEN_OVER.store(true, Ordering::Release);
    Ok(())
}

/// The program's `sigaction` for a signal that is ours: remembered instead of installed. `false` if it is not ours.
///
/// # Safety
/// Pointers are null or valid, as for `sigaction`.
pub(crate) unsafe fn exchange_action(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> bool {
    if !TAKEN_OVER.load(Ordering::Acquire) {
        return false;
    }
    let Some(programs) = slot(signal) else { return false };
    let _guard = lock(&CHANGING);
    // SAFETY: `programs` is one of our two actions, under the lock; the others by the caller's promise.
    unsafe {
        if !old.is_null() {
            *old = *programs;
        }
        if !new.is_null() {
            *programs = *new;
        }
    }
    true
}

/// Handler of both signals.
extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: saved and restored for the code that was interrupted; the location is always valid.
    let errno = unsafe { *libc::__errno_location() };
    let ours = STEPPING.with(|stepping| {
        // SAFETY: of this thread alone, and a handler of ours does not interrupt another: neither stores to a watched
        // page nor steps.
        let stepping = unsafe { &mut *stepping.get() };
        // SAFETY: the kernel's, for a handler with SA_SIGINFO.
        let (info, context) = unsafe { (&*info, &mut *context.cast::<libc::ucontext_t>()) };
        if signal == libc::SIGSEGV { fault(stepping, info, context) } else { trap(stepping, context) }
    });
    if !ours {
        chain(signal, info, context);
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// SIGSEGV: a store to a watched page?
fn fault(stepping: &mut Stepping, info: &siginfo_t, context: &mut libc::ucontext_t) -> bool {
    // SAFETY: SIGSEGV's information has an address.
    let address = unsafe { info.si_addr() } as usize;
    let stepped = stepping.is_under_way();
    match find(address) {
        // An instruction that stores to two pages finds the second one closed; there is none among doorbells.
        Some(page) if stepping.open.is_none() => {
            let flags = &mut context.uc_mcontext.gregs[libc::REG_EFL as usize];
            if !stepped {
                stepping.was_stepped = *flags & TRAP_FLAG != 0;
                stepping.blocked = context.uc_sigmask;
                stepping.begin();
                // No handler of the program may run while other threads wait for their turn.
                // SAFETY: a set of the kernel's, changed in place.
                unsafe {
                    libc::sigfillset(&mut context.uc_sigmask);
                    for signal in SIGNALS {
                        libc::sigdelset(&mut context.uc_sigmask, signal);
                    }
                }
            }
            *flags |= TRAP_FLAG;
            stepping.open(page);
            true
        }
        _ => {
            if stepped {
                // The program's own fault, in the middle of a doorbell: what was stored was stored.
                finish(stepping, context);
            }
            false
        }
    }
}

/// SIGTRAP: the end of a step?
fn trap(stepping: &mut Stepping, context: &mut libc::ucontext_t) -> bool {
    if !stepping.is_under_way() {
        return false;
    }
    if let Some(page) = stepping.open {
        stepping.close(page);
    }
    let instruction = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    if stepping.advance(instruction) == Next::Run {
        finish(stepping, context);
    }
    true
}

/// Ends the stepping of a thread.
fn finish(stepping: &mut Stepping, context: &mut libc::ucontext_t) {
    if let Some(page) = stepping.open {
        stepping.close(page);
    }
    stepping.end();
    context.uc_sigmask = stepping.blocked;
    if !stepping.was_stepped {
        context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
}

/// Does what the program wants done about a signal that is not ours.
fn chain(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(programs) = slot(signal) else { return };
    // SAFETY: one of our two actions; see `Actions`.
    let action = unsafe { *programs };
    match action.sa_sigaction {
        libc::SIG_IGN if signal == libc::SIGTRAP => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: installs the default action, which ends the process when the instruction is tried again.
            unsafe { real::signal(signal, libc::SIG_DFL) };
            if signal == libc::SIGTRAP {
                // A trap is not repeated.
                // SAFETY: raises the signal that was just taken from us.
                unsafe { libc::raise(signal) };
            }
        }
        handler if action.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the program has installed this as a handler with SA_SIGINFO.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the program has installed this as a handler without SA_SIGINFO.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
