//! Waking a sleeping device: by words in private memory, or in memory that processes share.
//!
//! The sleeper announces its sleep, looks for work once more, and sleeps. The waker makes its work visible, then looks
//! for the announcement. Each has a full fence in between, so at least one of the two sees the other's store. Waking
//! costs a system call only if there is a sleeper that nobody has woken.
//!
//! Required: never does the sleeper see no work while the waker sees no sleeper.
//!
//! ```text
//! sleeper                              waker
//! sleeping = 1, bell                   work = 1
//! fence(SeqCst)                        fence(SeqCst)
//! if work == 0 { sleep }               if sleeping == 1 and bell is the announced one { bell += 1, wake }
//! ```
//!
//! With weaker fences each side may read before its own store is visible: both read 0, and the work waits until the
//! sleep ends by itself.
//!
//! Wakers in other processes write to the bell alone. The sleeper's own words are in memory that they can only read, so
//! none of them can have the others take a sleeper for an awake one. A store to the bell costs at most the sleep in
//! which it happens: the next announcement has the new value.
//!
//! A thread other than the sleeper may look for work, too: a program that polls. After each look, it says when the next
//! one will be. Until then, no waker wakes the sleeper, which would only take the CPU from the looking thread. The
//! sleeper then sleeps for [`ATTENDED_SLEEP`] at most, so work that comes just after the last look waits no longer than
//! that.

use std::{
    any::Any,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering, fence},
    },
    time::Duration,
};

/// The sleeper's words. Only its process writes to them. All zeros is the initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct SleeperWords {
    /// One of [`AWAKE`], [`ASLEEP`], [`FAST_ASLEEP`]; in the other bits, those of the bell when it fell asleep.
    sleeping: AtomicU32,
    /// When the next look of another thread for work is due, in nanoseconds of the monotonic clock; 0 = none ever was,
    /// [`LOOKING`].
    next_look: AtomicU64,
}

/// Counts wake-ups, in steps of [`WAKE_UP`]; the futex. All wakers write to it.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct Bell(AtomicU32);

/// A wake-up adds this to the bell.
const WAKE_UP: u32 = 4;
/// The bits of `sleeping` that are none of the bell's.
const STATE: u32 = WAKE_UP - 1;
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
/// No look announces a next one that is later than this. `rc_pingpong` looks again after 5 us, or 15 if it loses its CPU
/// meanwhile. With 20 us here, its messages took twice as long.
pub const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_micros(50);

/// Wakes one sleeper. Clones wake the same.
#[derive(Clone, Debug)]
pub struct Waker {
    sleeper: NonNull<SleeperWords>,
    bell: NonNull<Bell>,
    /// Keeps both alive.
    _owner: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the words are atomics, alive as long as `_owner`, which may itself be sent and shared.
unsafe impl Send for Waker {}
// SAFETY: the words are atomics, alive as long as `_owner`, which may itself be sent and shared.
unsafe impl Sync for Waker {}

impl Waker {
    /// Words somewhere else, such as in memory that processes share.
    ///
    /// # Safety
    /// The words are aligned. As long as `owner` lives, `sleeper` is valid for atomic reads, and `bell` for atomic
    /// reads and writes. Only atomic accesses are made to them by anyone.
    pub(crate) unsafe fn at(
        sleeper: NonNull<SleeperWords>,
        bell: NonNull<Bell>,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self { sleeper, bell, _owner: owner }
    }

    /// Wakes the sleeper, if there is one that nobody has woken, and no other thread is about to look for work. Call it
    /// after the work was made visible.
    ///
    /// May be called in a signal handler: it takes no lock and allocates nothing. On architectures where rustix makes
    /// system calls through libc it may change `errno`.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        // Acquire: the bell is then at least as far as the announcement says.
        let announced = self.sleeper().sleeping.load(Ordering::Acquire);
        if announced & STATE != AWAKE && self.is_unheard(announced) && !self.is_attended() {
            self.rouse(announced);
        }
    }

    /// Whether nobody has rung since that sleep was announced.
    fn is_unheard(&self, announced: u32) -> bool {
        (self.bell().0.load(Ordering::Relaxed) ^ announced) & !STATE == 0
    }

    /// Ends the sleep that was announced so.
    fn rouse(&self, announced: u32) {
        let bell = &self.bell().0;
        let ring = |rung: u32| ((rung ^ announced) & !STATE == 0).then(|| rung.wrapping_add(WAKE_UP));
        // Another waker may be the first.
        if bell.fetch_update(Ordering::Release, Ordering::Relaxed, ring).is_ok() {
            rouse(bell);
        }
    }

    /// Whether another thread looks for work, or will do so soon.
    fn is_attended(&self) -> bool {
        self.is_look_due(Duration::ZERO)
    }

    /// Whether another thread looks for work, will do so soon, or was to do so in the last `delay`.
    fn is_look_due(&self, delay: Duration) -> bool {
        match self.sleeper().next_look.load(Ordering::Relaxed) {
            0 => false,
            LOOKING => true,
            at => {
                let (now, at) = (LookTime::now(), LookTime(at));
                // A look that is far off was announced by another clock.
                now.since(at) <= delay && at.since(now) <= LONGEST_BETWEEN_LOOKS
            }
        }
    }

    fn sleeper(&self) -> &SleeperWords {
        // SAFETY: aligned and alive as long as `_owner` by the contract of `at`, or owned by the `Arc` made in `new`;
        // only atomics, so a shared reference permits the others' writes.
        unsafe { self.sleeper.as_ref() }
    }

    fn bell(&self) -> &Bell {
        // SAFETY: as in `sleeper`.
        unsafe { self.bell.as_ref() }
    }
}

/// A sleeper: a handle for its own process, which writes to its words. Clones are the same sleeper.
#[derive(Clone, Debug)]
pub struct Notify(Waker);

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl Notify {
    /// Words in private memory.
    #[must_use]
    pub fn new() -> Self {
        let owner = Arc::new((SleeperWords::default(), Bell::default()));
        let (sleeper, bell) = (NonNull::from(&owner.0), NonNull::from(&owner.1));
        Self(Waker { sleeper, bell, _owner: owner })
    }

    /// The sleeper that `waker` wakes.
    ///
    /// # Safety
    /// The waker's sleeper words are also valid for atomic writes.
    pub(crate) unsafe fn of(waker: Waker) -> Self {
        Self(waker)
    }

    /// Wakes the sleeper: see [`Waker::wake`].
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Announces sleep. The caller now looks for work once more. Then it calls [`Self::wait`] with the returned value,
    /// or [`Self::cancel`].
    #[must_use]
    pub fn prepare(&self) -> u32 {
        let seen = self.0.bell().0.load(Ordering::Relaxed);
        self.announce(seen, ASLEEP);
        // The announcement comes before the last look for work (the other half is in `wake`).
        fence(Ordering::SeqCst);
        seen
    }

    /// Says how the sleep is that began when the bell was `seen`.
    fn announce(&self, seen: u32, state: u32) {
        self.0.sleeper().sleeping.store(seen & !STATE | state, Ordering::Release);
    }

    /// Takes the announcement back.
    pub fn cancel(&self) {
        self.0.sleeper().sleeping.store(AWAKE, Ordering::Relaxed);
    }

    /// Sleeps until woken, at most `timeout`, and at most [`ATTENDED_SLEEP`] while another thread looks for work often.
    /// Returns at once if woken since [`Self::prepare`] returned `seen`. May return early.
    ///
    /// Off Linux there is no futex: it sleeps for `timeout`, and [`Self::wake`] does not shorten it.
    pub fn wait(&self, seen: u32, timeout: Duration) {
        sleep(&self.0.bell().0, seen, self.limited(seen, timeout));
        self.cancel();
    }

    /// The time to sleep, which is announced if it is a long one.
    fn limited(&self, seen: u32, timeout: Duration) -> Duration {
        if timeout <= ATTENDED_SLEEP {
            return timeout;
        }
        self.announce(seen, FAST_ASLEEP);
        // Either a look sees this announcement, or its time is seen here (the other half is in `begin_look`).
        fence(Ordering::SeqCst);
        if !self.was_attended() {
            return timeout;
        }
        self.announce(seen, ASLEEP);
        ATTENDED_SLEEP
    }

    /// Whether another thread looks for work, or will do so soon.
    #[must_use]
    pub fn is_attended(&self) -> bool {
        self.0.is_attended()
    }

    /// Whether another thread has looked for work in the last [`ATTENDED_SLEEP`].
    #[must_use]
    pub fn was_attended(&self) -> bool {
        self.0.is_look_due(ATTENDED_SLEEP)
    }

    /// Says that this thread, which is not the sleeper, begins to look for work. Ended by [`Self::end_look`].
    pub fn begin_look(&self) {
        self.0.sleeper().next_look.store(LOOKING, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // From now on, it must not sleep for long.
        let announced = self.0.sleeper().sleeping.load(Ordering::Acquire);
        if announced & STATE == FAST_ASLEEP {
            self.0.rouse(announced);
        }
    }

    /// Says that this thread has looked for work, and will look again by the time `next`, at most
    /// [`LONGEST_BETWEEN_LOOKS`] from now.
    pub fn end_look(&self, next: LookTime) {
        self.0.sleeper().next_look.store(next.0, Ordering::Relaxed);
    }
}

/// The time of a look for work: of the monotonic clock, which all processes of a machine share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookTime(u64);

impl LookTime {
    /// The present time. Off Linux there is none.
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

    /// The time `later` than this one, by less than an hour.
    #[must_use]
    pub const fn after(self, later: Duration) -> Self {
        Self(self.0 + later.as_nanos() as u64)
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
        let woken = notify.0.bell().0.load(Ordering::Relaxed) != seen;
        notify.cancel();
        woken
    }

    /// A sleeper may be woken by many. Each wake-up is a system call, and the first has ended the sleep.
    #[test]
    fn a_sleep_is_ended_once() {
        let notify = Notify::new();
        let rung = || notify.0.bell().0.load(Ordering::Relaxed);
        let seen = notify.prepare();
        (0..3).for_each(|_| notify.wake());
        assert_eq!(rung(), seen.wrapping_add(WAKE_UP));
        notify.cancel();
        notify.wake();
        assert_eq!(rung(), seen.wrapping_add(WAKE_UP), "nobody sleeps");
    }

    /// Every waker can write anything there. The next sleep is as before.
    #[test]
    fn a_bell_with_any_value_wakes_the_next_sleep() {
        let notify = Notify::new();
        for stored in [0, 1, 3, 4, u32::MAX, 0x8000_0002] {
            let _ = notify.prepare();
            notify.0.bell().0.store(stored, Ordering::Relaxed);
            notify.cancel();
            assert!(wakes(&notify), "{stored:#x}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_looks_for_work_is_left_to_find_it() {
        let notify = Notify::new();
        assert!(wakes(&notify), "no other thread has ever looked");
        notify.begin_look();
        assert!(!wakes(&notify), "one is looking");
        notify.end_look(LookTime(LookTime::now().0 - 1));
        assert!(wakes(&notify), "the next look is late");
        // A look that is far off was announced by another clock.
        notify.end_look(LookTime::now().after(Duration::from_secs(1000)));
        assert!(wakes(&notify));
        // Each thread may lose its CPU between two lines, but not each time.
        let is_left_alone = || {
            notify.end_look(LookTime::now().after(LONGEST_BETWEEN_LOOKS));
            !wakes(&notify)
        };
        assert!((0..1000).any(|_| is_left_alone()), "the next look is soon");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn sleeps_are_short_while_another_thread_looks_for_work() {
        let (notify, long) = (Notify::new(), Duration::from_secs(20));
        let seen = notify.prepare();
        assert_eq!(notify.limited(seen, long), long);
        notify.begin_look();
        assert_ne!(notify.0.bell().0.load(Ordering::Relaxed), seen, "the first look ends a long sleep");
        let seen = notify.prepare();
        assert_eq!(notify.limited(seen, long), ATTENDED_SLEEP);
        notify.begin_look();
        assert_eq!(notify.0.bell().0.load(Ordering::Relaxed), seen, "a short sleep is left alone");
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
