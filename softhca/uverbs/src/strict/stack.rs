//! Stacks that our handlers work on. A signal is delivered on a stack of the program's. A few kilobytes, of which the
//! kernel uses most, are enough for the program's own handlers, and for this. The size that our handlers need depends
//! on the compiler.
//!
//! A thread has one only while it is in a handler, in which all signals are blocked. So there are as many as threads
//! are likely to be there at once; if more are, the last ones wait for the first.

use crate::process::{Errno, real};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a stack; far more than the handlers need where nobody has optimised them.
const STACK_BYTES: usize = 64 << 10;
/// Bytes below each stack that permit nothing.
const GUARD_BYTES: usize = 4096;
const PLACE_BYTES: usize = GUARD_BYTES + STACK_BYTES;
/// Handlers that run at once.
const STACKS: usize = 64;

/// The lowest byte of all of them.
static PLACES: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
/// Those that a thread is on.
static TAKEN: [AtomicBool; STACKS] = [const { AtomicBool::new(false) }; STACKS];

/// Makes the stacks. Memory is used of those only that were once needed.
pub(super) fn make() -> Result<(), Errno> {
    if !PLACES.load(Ordering::Acquire).is_null() {
        return Ok(());
    }
    let (prot, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: new memory, wherever the kernel puts it.
    let places = unsafe { real::mmap(std::ptr::null_mut(), STACKS * PLACE_BYTES, prot, flags, -1, 0) };
    if places == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    let places = places.cast::<u8>();
    for place in 0..STACKS {
        // SAFETY: the lowest bytes of a place, within the mapping.
        if unsafe { libc::mprotect(places.add(place * PLACE_BYTES).cast(), GUARD_BYTES, libc::PROT_NONE) } != 0 {
            return Err(Errno::last());
        }
    }
    PLACES.store(places, Ordering::Release);
    Ok(())
}

/// Calls `work` on a stack of ours. It must not unwind, nor jump away. Called in handlers in which all signals are
/// blocked, so that a thread has one such stack at most.
pub(super) fn on_our_own<T>(work: extern "C" fn(&mut T), argument: &mut T) {
    /// Longer than a handler waits for the device. Threads that a process had when it was forked are not in the child,
    /// and never return the stacks that they took.
    const PATIENCE: Duration = Duration::from_secs(30);
    let places = PLACES.load(Ordering::Acquire);
    if places.is_null() {
        return work(argument);
    }
    let mut begin = None;
    let free = || TAKEN.iter().position(|taken| !taken.load(Ordering::Relaxed) && !taken.swap(true, Ordering::Acquire));
    let index = loop {
        if let Some(index) = free() {
            break index;
        }
        if begin.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            return work(argument);
        }
        // SAFETY: takes no arguments; allowed in signal handlers.
        unsafe { libc::sched_yield() };
    };
    let top = places.wrapping_add((index + 1) * PLACE_BYTES);
    // SAFETY: `top` is a multiple of 16, as at every call; the stack below it is this thread's until it is given back.
    // R12 keeps the old stack, since `work` restores it. `argument` is valid and borrowed until `work` returns, which
    // it does.
    unsafe {
        std::arch::asm!(
            "xchg rsp, r12",
            "call {work}",
            "mov rsp, r12",
            work = in(reg) work,
            inout("r12") top => _,
            in("rdi") std::ptr::from_mut(argument),
            clobber_abi("C"),
        );
    }
    TAKEN[index].store(false, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn look(found: &mut usize) {
        *found = std::ptr::from_ref(&found).addr();
    }

    #[test]
    fn work_is_done_elsewhere_and_what_was_taken_is_given_back() {
        make().expect("memory");
        for _ in 0..2 * STACKS {
            let mut found = 0;
            on_our_own(look, &mut found);
            let at = found.wrapping_sub(PLACES.load(Ordering::Acquire).addr());
            assert!(at < STACKS * PLACE_BYTES, "{found:#x}");
            assert!(at % PLACE_BYTES >= GUARD_BYTES);
        }
    }
}
