//! How long a device's thread looks for work before it sleeps: longer where work comes again soon and a core is free.
//!
//! A sleep that a timer ends costs 20 us and more. A program that posts again within that time is served at once by a thread that
//! still looks. But a thread that spins where cores are scarce takes the time that the program itself needs to post: the scheduler
//! then interrupts it. Such an interruption shows as a gap between two looks, and ends long spinning for a while.

use std::time::{Duration, Instant};

/// How long the thread looks in any case. With two polling programs and two devices on two cores, more of it takes the time that
/// the others need to answer.
const SHORTEST: Duration = Duration::from_micros(2);
/// How long it looks at most: what it wastes of a core each time that work does not come again.
const LONGEST: Duration = Duration::from_micros(50);
/// A gap between two looks that no look takes: another thread has had the core.
const GAP: Duration = Duration::from_micros(25);
/// How long it does not spin longer after the first interruption, and after many: each doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The state of it.
#[derive(Debug)]
pub(super) struct Spin {
    window: Duration,
    /// The last work.
    worked: Instant,
    /// The last look, if the thread has not slept since.
    looked: Option<Instant>,
    /// No longer spinning before this.
    paused_until: Instant,
    pause: Duration,
}

impl Spin {
    /// A thread that begins to look at `now`.
    pub(super) fn new(now: Instant) -> Self {
        Self { window: SHORTEST, worked: now, looked: None, paused_until: now, pause: FIRST_PAUSE }
    }

    /// There was work at `now`.
    pub(super) fn found(&mut self, now: Instant) {
        let silence = now.saturating_duration_since(self.worked);
        (self.worked, self.looked) = (now, None);
        if silence > LONGEST {
            self.window = (self.window / 2).max(SHORTEST);
        } else if silence > self.window && now >= self.paused_until {
            self.window = (self.window * 2).max(silence).min(LONGEST);
        }
        // Long undisturbed: an interruption counts as the first again.
        if now.saturating_duration_since(self.paused_until) > 4 * self.pause {
            self.pause = FIRST_PAUSE;
        }
    }

    /// There was none: whether to look again at once.
    pub(super) fn looks_on(&mut self, now: Instant) -> bool {
        let gap = self.looked.replace(now).map_or(Duration::ZERO, |before| now.saturating_duration_since(before));
        if gap > GAP {
            self.window = SHORTEST;
            self.paused_until = now + self.pause;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
        self.silence(now) < self.window
    }

    /// The thread has slept since it looked last.
    pub(super) fn slept(&mut self) {
        self.looked = None;
    }

    /// How long there has been no work.
    pub(super) fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.worked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: Duration = Duration::from_micros(1);

    /// Looks at each microsecond from `from` until it would sleep; says for how many it looked.
    fn looks(spin: &mut Spin, from: Instant) -> u32 {
        (1..).find(|&n| !spin.looks_on(from + n * MICROSECOND)).expect("it sleeps some time")
    }

    /// Work every `every`, `times`, from `now` on, without interruption; when the last one came.
    fn work(spin: &mut Spin, mut now: Instant, every: Duration, times: u32) -> Instant {
        for _ in 0..times {
            spin.slept();
            now += every;
            spin.found(now);
        }
        now
    }

    #[test]
    fn it_looks_longer_where_work_comes_soon_and_not_where_it_comes_late() {
        let start = Instant::now();
        let mut spin = Spin::new(start);
        assert_eq!(looks(&mut spin, start), 2);
        let now = work(&mut spin, start, 30 * MICROSECOND, 1);
        assert_eq!(looks(&mut spin, now), 30);
        let now = work(&mut spin, now, 45 * MICROSECOND, 2);
        assert_eq!(looks(&mut spin, now), 50);
        let now = work(&mut spin, now, 200 * MICROSECOND, 1);
        assert_eq!(looks(&mut spin, now), 25);
        let now = work(&mut spin, now, 200 * MICROSECOND, 10);
        assert_eq!(looks(&mut spin, now), 2);
    }

    #[test]
    fn who_is_interrupted_sleeps_early_for_a_while_and_longer_each_time() {
        let start = Instant::now();
        let mut spin = Spin::new(start);
        let mut now = work(&mut spin, start, 30 * MICROSECOND, 2);
        let mut pause = FIRST_PAUSE;
        for _ in 0..3 {
            assert!(spin.looks_on(now + MICROSECOND));
            now += 4000 * MICROSECOND;
            assert!(!spin.looks_on(now), "another thread had the core");
            let calm = now + pause;
            while now + 60 * MICROSECOND < calm {
                now = work(&mut spin, now, 30 * MICROSECOND, 1);
                assert_eq!(looks(&mut spin, now), 2);
            }
            now = work(&mut spin, now, 30 * MICROSECOND, 5);
            assert_eq!(looks(&mut spin, now), 30, "it tries again");
            pause *= 2;
        }
    }

    #[test]
    fn a_sleep_is_no_interruption() {
        let start = Instant::now();
        let mut spin = Spin::new(start);
        let now = work(&mut spin, start, 30 * MICROSECOND, 2);
        looks(&mut spin, now);
        spin.slept();
        let now = now + 30 * MICROSECOND;
        spin.looks_on(now);
        spin.found(now + 15 * MICROSECOND);
        assert!(looks(&mut spin, now + 15 * MICROSECOND) >= 30);
    }
}
