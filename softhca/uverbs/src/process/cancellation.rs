//! Cancellation of threads (`pthread_cancel`). libc's functions that can be cancelled unwind the stack of a thread, and
//! Rust's frames on it end the process, or leave locks behind.

use libc::c_int;

/// `PTHREAD_CANCEL_DISABLE`.
const DISABLE: c_int = 1;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// Runs `work`, in which this thread cannot be cancelled. A cancellation waits for the next function of libc that can
/// be.
pub(crate) fn uncancelled<T>(work: impl FnOnce() -> T) -> T {
    let mut state = 0;
    // SAFETY: the place for the state from before is a local.
    unsafe { pthread_setcancelstate(DISABLE, &raw mut state) };
    let result = work();
    // SAFETY: the place for the state is a local; the state is the one from before.
    unsafe { pthread_setcancelstate(state, &raw mut state) };
    result
}
