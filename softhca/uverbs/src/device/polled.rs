//! Programs that poll step the device: while a program waits for a completion, its thread does the device's work.
//!
//! With two programs that poll on two CPUs, the devices' threads have no CPU of their own. Each message would need a
//! sleep that ends and a thread that is woken across CPUs, tens of microseconds. The thread of the device goes on as
//! before: it steps the device for programs that wait for events, or for memory to change.

use super::hca::Hca;
use super::stepped::{STEPS_BY_POLL, Stepped};
use crate::process::forked;
use parking_lot::Mutex as DeviceMutex;
use softhca::notify::{LookTime, Notify};
use softhca::runner::Step;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A program polls in a loop if its polls follow each other within this time. The device's thread is not kept asleep
/// for other polls.
const LOOP: Duration = Duration::from_micros(20);

/// A device that threads of the program step when they poll.
pub(crate) struct Polled {
    core: Arc<DeviceMutex<Stepped>>,
    /// Tells those that bring work whether a thread polls.
    notify: Notify,
    /// When a thread has last polled, as [`LookTime::nanoseconds`].
    last: AtomicU64,
}

impl Hca {
    /// The device for threads that poll. In strict mode there is none: a store to a register waits for the device's
    /// thread there. The handler of a signal may store while its thread steps the device, and would wait for itself. A
    /// sink is stepped by its program.
    pub(crate) fn polled(&self) -> Option<Polled> {
        let runner = self.runner.as_ref().filter(|_| !self.settings.strict)?;
        Some(Polled { core: self.core.clone(), notify: runner.notify(), last: AtomicU64::new(0) })
    }

    /// Steps with work that threads of the program made when they polled.
    pub(crate) fn steps_by_polls(&self) -> u64 {
        self.core.lock().steps_by_polls
    }
}

impl Polled {
    /// Steps the device once, unless another thread does so. True if there was work.
    pub(crate) fn step(&self) -> bool {
        // The child of a fork has only a copy of its parent's device.
        if forked::is_child() {
            return false;
        }
        STEPS_BY_POLL.set(true);
        let worked = self.core.try_lock().is_some_and(|mut core| self.step_locked(&mut core));
        STEPS_BY_POLL.set(false);
        worked
    }

    fn step_locked(&self, core: &mut Stepped) -> bool {
        let begin = LookTime::now();
        let before = self.last.swap(begin.nanoseconds(), Ordering::Relaxed);
        let in_loop = begin.since(LookTime::from_nanoseconds(before)) < LOOP;
        if in_loop {
            self.notify.begin_look();
        }
        // The device's clock is this one. To read a clock takes as long as the rest of an idle step.
        let worked = core.step(Duration::from_nanos(begin.nanoseconds()));
        core.steps_by_polls += u64::from(worked);
        if in_loop {
            self.notify.end_look(if worked { LookTime::now() } else { begin });
        }
        worked
    }
}
