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
//!
//! A thread other than the sleeper may look for work, too: a program that polls. While it looks often, no waker wakes
//! the sleeper, which would only take the CPU from the looking thread. The sleeper then sleeps for [`ATTENDED_SLEEP`]
//! at most, so work that comes just after the last look waits no longer than that.

use std::{
    any::Any,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering, fence},
    },
    time::Duration,
};

/// The words. All zeros is the initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub struct NotifyWords {
    /// Counts wake-ups; the futex.
    sequence: AtomicU32,
    /// One of [`AWAKE`], [`ASLEEP`], [`FAST_ASLEEP`].
    sleeping: AtomicU32,
    /// When another thread has last looked for work, in nanoseconds of the monotonic clock; 0 = never, [`LOOKING`].
    attended: AtomicU64,
}

/// The owner is awake.
const AWAKE: u32 = 0;
/// It sleeps or is about to.
const ASLEEP: u32 = 1;
/// It sleeps for longer than [`ATTENDED_SLEEP`].
const FAST_ASLEEP: u32 = 2;
/// Another thread is looking for work at present.
const LOOKING: u64 = u64::MAX;
/// The longest sleep of the owner while another thread looks for work often.
pub const ATTENDED_SLEEP: Duration = Duration::from_micros(200);
/// A look that is no older than this will be followed by the next one soon: the waker leaves the work to that one.
/// Loops that poll look again in less than one microsecond.
const RECENT_LOOK: Duration = Duration::from_micros(3);

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
        words.sleeping.store(ASLEEP, Ordering::Relaxed);
        // The announcement comes before the last look for work (the other half is in `wake`).
        fence(Ordering::SeqCst);
        seen
    }

    /// Takes the announcement back.
    pub fn cancel(&self) {
        self.words().sleeping.store(AWAKE, Ordering::Relaxed);
    }

    /// Sleeps until woken, at most `timeout`, and at most [`ATTENDED_SLEEP`] while another thread looks for work often.
    /// Returns at once if woken since [`Self::prepare`] returned `seen`. May return early.
    ///
    /// Off Linux there is no futex: it sleeps for `timeout`, and [`Self::wake`] does not shorten it.
    pub fn wait(&self, seen: u32, timeout: Duration) {
        sleep(&self.words().sequence, seen, self.limited(timeout));
        self.cancel();
    }

    /// The time to sleep, which is announced if it is a long one.
    fn limited(&self, timeout: Duration) -> Duration {
        if timeout <= ATTENDED_SLEEP {
            return timeout;
        }
        let words = self.words();
        // A waker may have taken the announcement back already: then the sleep ends at once.
        let _ = words.sleeping.compare_exchange(ASLEEP, FAST_ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        // Either a look sees this announcement, or its time is seen here (the other half is in `begin_look`).
        fence(Ordering::SeqCst);
        if !self.was_attended(ATTENDED_SLEEP) {
            return timeout;
        }
        let _ = words.sleeping.compare_exchange(FAST_ASLEEP, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        ATTENDED_SLEEP
    }

    /// Says that this thread, which is not the sleeper, begins to look for work, and will look again within
    /// microseconds. Ended by [`Self::end_look`].
    pub fn begin_look(&self) {
        let words = self.words();
        words.attended.store(LOOKING, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // From now on, it must not sleep for long.
        if words.sleeping.load(Ordering::Relaxed) == FAST_ASLEEP {
            self.rouse_sleeper();
        }
    }

    /// Says that this thread has looked for work, at the time `now`.
    pub fn end_look(&self, now: LookTime) {
        self.words().attended.store(now.0, Ordering::Relaxed);
    }

    /// Whether another thread looks for work, or has done so in the last `time`.
    fn was_attended(&self, time: Duration) -> bool {
        match self.words().attended.load(Ordering::Relaxed) {
            0 => false,
            LOOKING => true,
            at => LookTime::now().0.checked_sub(at).is_some_and(|age| u128::from(age) < time.as_nanos()),
        }
    }

    /// Wakes the sleeper, if there is one, and no other thread looks for work at this time. Call it after the work was
    /// made visible.
    ///
    /// May be called in a signal handler: it takes no lock and allocates nothing. On architectures where rustix makes
    /// system calls through libc it may change `errno`.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.words().sleeping.load(Ordering::Relaxed) != AWAKE && !self.was_attended(RECENT_LOOK) {
            self.rouse_sleeper();
        }
    }

    fn rouse_sleeper(&self) {
        let words = self.words();
        if words.sleeping.swap(AWAKE, Ordering::Relaxed) != AWAKE {
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

/// The time of a look for work: of the monotonic clock, which all processes of a machine share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookTime(u64);

impl LookTime {
    /// The present time. Off Linux there is none, and looks have no effect.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub const fn now() -> Self {
        Self(0)
    }

    /// The present time.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn now() -> Self {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // By libc, as `Instant` does: rustix takes the kernel's function from where valgrind has hidden it.
        // SAFETY: the place is valid, and this clock is always there.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        Self(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
    }

    /// Nanoseconds of the clock.
    #[must_use]
    pub const fn nanoseconds(self) -> u64 {
        self.0
    }

    /// The time with these nanoseconds.
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// The time from `earlier` to this one; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
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

    /// Whether a wake-up now wakes a sleeper that announces its sleep now.
    fn wakes(notify: &Notify) -> bool {
        let seen = notify.prepare();
        notify.wake();
        let woken = notify.words().sequence.load(Ordering::Relaxed) != seen;
        notify.cancel();
        woken
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_looks_for_work_is_left_to_find_it() {
        let notify = Notify::new();
        assert!(wakes(&notify), "no other thread has ever looked");
        notify.begin_look();
        assert!(!wakes(&notify), "one is looking");
        let now = LookTime::now();
        notify.end_look(LookTime(now.0 - RECENT_LOOK.as_nanos() as u64));
        assert!(wakes(&notify), "the last look was long ago");
        // A time in the future is that of another clock.
        notify.end_look(LookTime(now.0 + 1_000_000_000_000));
        assert!(wakes(&notify));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sleeps_are_short_while_another_thread_looks_for_work() {
        let (notify, long) = (Notify::new(), Duration::from_secs(20));
        let _ = notify.prepare();
        assert_eq!(notify.limited(long), long);
        let seen = notify.words().sequence.load(Ordering::Relaxed);
        notify.begin_look();
        assert_ne!(notify.words().sequence.load(Ordering::Relaxed), seen, "the first look ends a long sleep");
        let seen = notify.prepare();
        assert_eq!(notify.limited(long), ATTENDED_SLEEP);
        notify.begin_look();
        assert_eq!(notify.words().sequence.load(Ordering::Relaxed), seen, "a short sleep is left alone");
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
