//! Signals: strict mode keeps the signals that it needs, even if the program asks for them.

use crate::process::real;
use crate::strict;
use libc::c_int;

/// Keeps the signals of strict mode ours; the program's action is called for others.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    // SAFETY: pointers are passed on from the caller.
    if unsafe { strict::exchange_action(signal, new, old) } {
        return 0;
    }
    // SAFETY: null, or the caller's action.
    let new = unsafe { new.as_ref() };
    let new = new.map(|new| libc::sigaction { sa_mask: strict::without_ours(new.sa_mask), ..*new });
    // SAFETY: null or an action of ours; the rest is passed on from the caller.
    unsafe { real::sigaction(signal, new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old) }
}

/// Declares functions that change which signals the calling thread blocks.
macro_rules! masks {
    ($($name:ident;)*) => {
        $(
            /// Keeps the signals of strict mode unblocked.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
                // SAFETY: null, or the caller's set.
                let mut new = unsafe { new.as_ref() }.copied();
                if how != libc::SIG_UNBLOCK {
                    new = new.map(strict::without_ours);
                }
                // SAFETY: null or a set of ours; the rest is passed on from the caller.
                unsafe { real::$name(how, new.as_ref().map_or(std::ptr::null(), std::ptr::from_ref), old) }
            }
        )*
    };
}

masks! {
    pthread_sigmask;
    sigprocmask;
}

/// Declares the functions that install a handler with flags of their own.
macro_rules! handlers {
    ($($name:ident: $flags:expr;)*) => {
        $(
            /// Keeps the signals of strict mode ours, likewise.
            ///
            /// # Safety
            /// The conditions of libc's function.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            pub unsafe extern "C" fn $name(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
                match exchange_handler(signal, handler, $flags) {
                    Some(old) => old,
                    // SAFETY: arguments are passed on from the caller.
                    None => unsafe { real::$name(signal, handler) },
                }
            }
        )*
    };
}

handlers! {
    signal: libc::SA_RESTART;
    bsd_signal: libc::SA_RESTART;
    ssignal: libc::SA_RESTART;
    sysv_signal: libc::SA_RESETHAND | libc::SA_NODEFER;
    __sysv_signal: libc::SA_RESETHAND | libc::SA_NODEFER;
}

/// Exchanges the handler of a signal that is ours; returns the previous handler.
fn exchange_handler(signal: c_int, handler: libc::sighandler_t, flags: c_int) -> Option<libc::sighandler_t> {
    // SAFETY: all zeros are a valid action.
    let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    new.sa_sigaction = handler;
    new.sa_flags = flags;
    // SAFETY: both actions are locals.
    unsafe { strict::exchange_action(signal, &new, &mut old) }.then_some(old.sa_sigaction)
}

/// Exchanges the handler and unblocks the signal, unless the program asks to hold it.
///
/// # Safety
/// The conditions of libc's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn sigset(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t {
    /// Blocks the signal (`signal.h`).
    const SIG_HOLD: libc::sighandler_t = 2;
    let old = if handler == SIG_HOLD { None } else { exchange_handler(signal, handler, 0) };
    // SAFETY: arguments are passed on from the caller.
    let Some(old) = old else { return unsafe { real::sigset(signal, handler) } };
    // SAFETY: sets of integers, and this thread's mask.
    unsafe {
        let [mut one, mut before]: [libc::sigset_t; 2] = std::mem::zeroed();
        libc::sigaddset(&mut one, signal);
        real::pthread_sigmask(libc::SIG_UNBLOCK, &one, &mut before);
        if libc::sigismember(&before, signal) == 1 { SIG_HOLD } else { old }
    }
}
