//! Waking a sleeping device: by two words, in private memory or in memory that processes share.
//!
//! The sleeper announces its sleep, looks for work once more, and sleeps. The waker makes its work visible, then looks
//! for the announcement. Each has a full fence in between, so at least one of the two sees the other's store. Waking
//! costs a system call only if there is a sleeper.
//!
//! Required: never does the sleeper see no work while the waker sees no sleeper.
//!
//! ```text
//! sleeper                              waker
//! sleeping = 1                         work = 1
//! fence(SeqCst)                        fence(SeqCst)
//! if work == 0 { sleep }               if sleeping == 1 { wake }
//! ```
//!
//! With weaker fences each side may read before its own store is visible: both read 0, and the work waits until the
//! sleep ends by itself.

use std::{
    any::Any,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering, fence},
    },
    time::Duration,
};

/// The words. All zeros is the initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub struct NotifyWords {
    /// Counts wake-ups; the futex.
    sequence: AtomicU32,
    /// 1 while the owner sleeps or is about to.
    sleeping: AtomicU32,
}

/// A handle to the words of one sleeper. Clones are the same sleeper.
#[derive(Clone, Debug)]
pub struct Notify {
    words: NonNull<NotifyWords>,
    /// Keeps `words` alive.
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the words are atomics, alive as long as `_owner`, which may itself be sent and shared.
unsafe impl Send for Notify {}
// SAFETY: as above.
unsafe impl Sync for Notify {}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl Notify {
    /// Words in private memory.
    #[must_use]
    pub fn new() -> Self {
        let owner = Arc::new(NotifyWords::default());
        Self { words: NonNull::from(&*owner), _owner: owner }
    }

    /// Words somewhere else, such as in memory that processes share.
    ///
    /// # Safety
    /// `words` is aligned, and valid for reads and atomic writes as long as `owner` lives. Only atomic accesses are
    /// made to it by anyone.
    #[must_use]
    pub unsafe fn at(words: NonNull<NotifyWords>, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Self { words, _owner: owner }
    }

    /// Announces sleep. The caller now looks for work once more. Then it calls [`Self::wait`] with the returned value,
    /// or [`Self::cancel`].
    #[must_use]
    pub fn prepare(&self) -> u32 {
        let words = self.words();
        let seen = words.sequence.load(Ordering::Relaxed);
        words.sleeping.store(1, Ordering::Relaxed);
        // The announcement comes before the last look for work (the other half is in `wake`).
        fence(Ordering::SeqCst);
        seen
    }

    /// Takes the announcement back.
    pub fn cancel(&self) {
        self.words().sleeping.store(0, Ordering::Relaxed);
    }

    /// Sleeps until woken, at most `timeout`. Returns at once if woken since [`Self::prepare`] returned `seen`. May
    /// return early.
    ///
    /// Off Linux there is no futex: it sleeps for `timeout`, and [`Self::wake`] does not shorten it.
    pub fn wait(&self, seen: u32, timeout: Duration) {
        sleep(&self.words().sequence, seen, timeout);
        self.cancel();
    }

    /// Wakes the sleeper, if there is one. Call it after the work was made visible.
    ///
    /// May be called in a signal handler: it takes no lock and allocates nothing. On architectures where rustix makes
    /// system calls through libc it may change `errno`.
    pub fn wake(&self) {
        let words = self.words();
        fence(Ordering::SeqCst);
        if words.sleeping.load(Ordering::Relaxed) != 0 && words.sleeping.swap(0, Ordering::Relaxed) != 0 {
            words.sequence.fetch_add(1, Ordering::Release);
            rouse(&words.sequence);
        }
    }

    fn words(&self) -> &NotifyWords {
        // SAFETY: aligned and alive as long as `_owner` by the contract of `at`, or owned by the `Arc` made in `new`;
        // only atomics, so a shared reference permits the others' writes.
        unsafe { self.words.as_ref() }
    }
}

#[cfg(target_os = "linux")]
fn sleep(word: &AtomicU32, seen: u32, timeout: Duration) {
    use rustix::thread::futex;
    let timeout = rustix::time::Timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    // All results mean the same to the caller, who looks for work again: woken, timed out, word changed, interrupted.
    // The flags are empty, not PRIVATE: the word may be shared between processes.
    let _ = futex::wait(word, futex::Flags::empty(), seen, Some(&timeout));
}

#[cfg(target_os = "linux")]
fn rouse(word: &AtomicU32) {
    use rustix::thread::futex;
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

#[cfg(not(target_os = "linux"))]
fn sleep(word: &AtomicU32, seen: u32, timeout: Duration) {
    if word.load(Ordering::Acquire) == seen {
        std::thread::sleep(timeout);
    }
}

#[cfg(not(target_os = "linux"))]
fn rouse(_word: &AtomicU32) {}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicBool, thread, time::Instant};

    use super::*;

    #[test]
    fn nothing_is_missed_between_the_last_look_and_sleep() {
        let notify = Notify::new();
        let seen = notify.prepare();
        notify.wake();
        let start = Instant::now();
        notify.wait(seen, Duration::from_secs(20));
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn sleep_ends_by_itself() {
        let notify = Notify::new();
        let seen = notify.prepare();
        let start = Instant::now();
        notify.wait(seen, Duration::from_millis(2));
        assert!(start.elapsed() >= Duration::from_millis(2));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_sleeper_is_woken_by_every_piece_of_work() {
        const ROUNDS: u32 = 2000;
        let notify = Notify::new();
        let work = Arc::new(AtomicU32::new(0));
        let late = Arc::new(AtomicBool::new(false));
        let sleeper = thread::spawn({
            let (notify, work, late) = (notify.clone(), Arc::clone(&work), Arc::clone(&late));
            move || {
                for round in 1..=ROUNDS {
                    while work.load(Ordering::Acquire) < round {
                        let seen = notify.prepare();
                        if work.load(Ordering::Acquire) >= round {
                            notify.cancel();
                            break;
                        }
                        let start = Instant::now();
                        notify.wait(seen, Duration::from_secs(30));
                        if start.elapsed() > Duration::from_secs(15) {
                            late.store(true, Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        for round in 0..ROUNDS {
            work.fetch_add(1, Ordering::Release);
            notify.wake();
            if round % 16 == 0 {
                thread::yield_now();
            }
        }
        sleeper.join().unwrap();
        assert!(!late.load(Ordering::Relaxed));
    }
}
