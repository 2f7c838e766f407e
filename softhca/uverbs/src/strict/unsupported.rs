//! Strict mode needs a CPU that can be made to execute one instruction: see `strict/mod.rs`.

use super::trapped::Trapped;
use crate::process::Errno;

/// Refuses.
pub(crate) fn watch(_: &'static Trapped, _: usize, _: usize, _: u32) -> Result<(), Errno> {
    log::error!("stores are trapped by single-stepping, which is there for x86-64 only");
    Err(Errno::EOPNOTSUPP)
}

/// Nothing is told.
pub(crate) fn know(_: &'static Trapped, _: usize, _: u32) {}

/// Nothing is ever watched.
pub(crate) fn unwatch(_: usize, _: usize) {}

/// Nothing is ever watched.
pub(crate) fn is_watched(_: usize) -> bool {
    false
}

/// Nothing is ever watched.
pub(crate) fn forget(_: &Trapped, _: u32) {}

/// No signal is taken over.
///
/// # Safety
/// None needed.
pub(crate) unsafe fn exchange_action(_: i32, _: *const libc::sigaction, _: *mut libc::sigaction) -> bool {
    false
}

/// Signals that may be blocked: all.
pub(crate) fn without_ours(set: libc::sigset_t) -> libc::sigset_t {
    set
}

/// Nothing is ever left out.
pub(crate) fn take_refused() -> Vec<String> {
    Vec::new()
}
