//! A thread that steps a device: fast while there is work, asleep when there is none. It must never know the work
//! inside a step.
//!
//! A doorbell that is an ordinary store wakes no thread, so an idle device looks for doorbells now and then. Its
//! sleeps grow with the time without work, up to [`LONGEST_SLEEP`]. Frames, doorbells that a front end hands over, and
//! [`Runner::wake`] end the sleep at once.
//!
//! Before it sleeps, the thread spins, but only for as long as that has paid lately. With two polling programs and two
//! devices on two cores, a spinning thread takes the time that the others need to answer.
//!
//! Another thread that has the device's lock may step the device, too. It says so by [`Notify::begin_look`], and the
//! runner's thread is then left asleep.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

pub use crate::thread::spawn;
use crate::{
    device::Device,
    event::Event,
    notify::{ATTENDED_SLEEP, Notify},
    thread::run_when_woken,
    uar::DoorbellQueue,
};

/// How long the thread looks for more work at least before it sleeps.
const SHORTEST_SPIN: Duration = Duration::from_micros(2);
/// How long it looks at most: see [`spin_after`]. A sender of small messages prepares a hundred in 10 to 20 us, and sends
/// nothing meanwhile. Half of this halved the rate of 8-byte WRITEs by `ib_write_bw`.
const LONGEST_SPIN: Duration = Duration::from_micros(30);
/// The first sleep. Shorter sleeps do not pay: where cores are scarce, each wake-up takes CPU time from the programs
/// that the device waits for. Measured on 2 cores with two programs that poll memory, an 8-byte WRITE takes 44 to 73 us
/// one way with 20 us, and 105 to 260 us with 5 us.
const SHORTEST_SLEEP: Duration = Duration::from_micros(20);
/// The longest sleep in the first 128 ms or so of silence: how long a doorbell waits at most in a program that pauses
/// for milliseconds.
const LONGEST_NAP: Duration = Duration::from_millis(1);
/// The longest sleep of all: how long the first doorbell after a long silence waits at most. A virtual machine can take
/// 20 to 30 us of CPU time for each timer that ends a sleep, so sleeps of 1 ms would take 2 % of a core.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(5);
/// Doorbells handed to the device before each step, at most.
const DOORBELLS_PER_STEP: usize = 256;

/// A runner steps this: a [`Device`]. See its methods of the same names.
pub trait Step: Send {
    /// A doorbell was rung.
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]);
    /// When the clock of [`Self::step`] was 0; `None`: when the runner started.
    fn zero(&self) -> Option<Instant> {
        None
    }
    /// Does a bounded amount of work; true if there was any. `now` is the runner's clock.
    fn step(&mut self, now: Duration) -> bool;
    /// When the earliest timer is due, by the clock of `step`.
    fn next_deadline(&self) -> Option<Duration>;
    /// Takes the oldest event.
    fn next_event(&mut self) -> Option<Event>;
}

impl Step for Device {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.doorbell(uar, offset, stored);
    }

    fn step(&mut self, now: Duration) -> bool {
        self.step(now)
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.next_deadline()
    }

    fn next_event(&mut self) -> Option<Event> {
        self.next_event()
    }
}

/// A running device thread. Dropping it stops the thread.
#[derive(Debug)]
pub struct Runner {
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
    /// The process that started the thread: in a forked child there is none.
    pid: u32,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    notify: Notify,
}

impl Runner {
    /// Starts a thread that steps `device`.
    ///
    /// `notify` wakes it: the wire's, if the wire has one, else a new one. `doorbells` are handed to the device in
    /// order; their queue was made with the same `notify`. `on_event` gets the device's events, in order, without the
    /// device's lock held; it must not wait for the thread that drops the runner.
    ///
    /// The thread takes no signals but those that its own faults raise.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn start<D: Step + 'static>(
        device: Arc<Mutex<D>>,
        notify: Notify,
        doorbells: Option<Arc<DoorbellQueue>>,
        on_event: impl FnMut(Event) + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), notify });
        let work = Work { device, doorbells, on_event, shared: Arc::clone(&shared), events: Vec::new() };
        let thread = spawn("softhca", move || work.run())?;
        Ok(Self { thread: Some(thread), shared, pid: std::process::id() })
    }

    /// Tells the thread that there may be work. Cheap if it is not asleep.
    pub fn wake(&self) {
        self.shared.notify.wake();
    }

    /// A handle that wakes the thread, and may also be used in a signal handler.
    #[must_use]
    pub fn notify(&self) -> Notify {
        self.shared.notify.clone()
    }

    /// Stops the thread and waits for its end. Others may step the device afterwards.
    pub fn stop(self) {
        // Dropping does it.
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if self.pid != std::process::id() {
            // A forked child: the thread was not copied, and must be neither joined nor detached.
            std::mem::forget(thread);
            return;
        }
        self.shared.stop.store(true, Ordering::Release);
        self.shared.notify.wake();
        // The callback may own the runner; a thread cannot wait for itself.
        if thread.thread().id() != thread::current().id() && thread.join().is_err() {
            log::error!("the device's thread has panicked");
        }
    }
}

struct Work<D, F> {
    device: Arc<Mutex<D>>,
    doorbells: Option<Arc<DoorbellQueue>>,
    on_event: F,
    shared: Arc<Shared>,
    /// Empty between steps; kept for its memory.
    events: Vec<Event>,
}

impl<D: Step, F: FnMut(Event)> Work<D, F> {
    fn run(mut self) {
        run_when_woken();
        let mut last_work = Instant::now();
        let mut spin = SHORTEST_SPIN;
        let clock = self.device.lock().zero().unwrap_or(last_work);
        while !self.shared.stop.load(Ordering::Acquire) {
            let now = Instant::now();
            let silence = now - last_work;
            if self.step(now - clock) {
                spin = spin_after(spin, silence);
                last_work = now;
                continue;
            }
            // Another thread that looks for work finds it sooner.
            if silence < SHORTEST_SPIN || silence < spin && !self.shared.notify.was_attended() {
                std::hint::spin_loop();
                continue;
            }
            let seen = self.shared.notify.prepare();
            // Once more: from here on, those that bring work see that we are about to sleep.
            if self.shared.stop.load(Ordering::Acquire) || self.step(now - clock) {
                self.shared.notify.cancel();
                spin = spin_after(spin, silence);
                last_work = now;
                continue;
            }
            let deadline = self.device.lock().next_deadline();
            let due = deadline.map_or(LONGEST_SLEEP, |deadline| deadline.saturating_sub(now - clock));
            // Another thread will find what comes meanwhile.
            let sleep = if self.shared.notify.is_attended() { ATTENDED_SLEEP } else { sleep_after(silence) };
            self.shared.notify.wait(seen, sleep.min(due).max(SHORTEST_SLEEP));
        }
    }

    /// Steps the device once and delivers its events; true if it had work.
    fn step(&mut self, now: Duration) -> bool {
        let mut device = self.device.lock();
        let mut busy = false;
        for _ in 0..DOORBELLS_PER_STEP {
            let Some(doorbell) = self.doorbells.as_ref().and_then(|queue| queue.pop()) else { break };
            device.doorbell(doorbell.uar, usize::from(doorbell.offset), doorbell.stored());
            busy = true;
        }
        busy |= device.step(now);
        self.events.extend(std::iter::from_fn(|| device.next_event()));
        // parking_lot hands the lock over to a waiting front end from time to time, so it is not starved.
        drop(device);
        for event in self.events.drain(..) {
            (self.on_event)(event);
        }
        busy
    }
}

/// Returns how long to look for more work from now on, where it was `spin`, and work has come after `silence`. It grows
/// while work comes so soon that no sleep would have paid, and shrinks otherwise. Programs that spin on the same CPU bring
/// no work while the thread has it. So beside them it shrinks.
fn spin_after(spin: Duration, silence: Duration) -> Duration {
    if silence <= SHORTEST_SPIN {
        // There was no pause.
        spin
    } else if silence < LONGEST_SPIN {
        (spin * 2).min(LONGEST_SPIN)
    } else {
        (spin / 2).max(SHORTEST_SPIN)
    }
}

/// Returns the time to sleep after `silence`, the time without work. Up to [`LONGEST_NAP`] it is 1/8 of the silence,
/// so a doorbell waits at most 1/8 of the silence before it. In the long run it is 1/128 of the silence, up to
/// [`LONGEST_SLEEP`].
fn sleep_after(silence: Duration) -> Duration {
    let nap = (silence / 8).clamp(SHORTEST_SLEEP, LONGEST_NAP);
    (silence / 128).clamp(nap, LONGEST_SLEEP)
}

#[cfg(test)]
mod tests;
