//! Programs that poll, or yield the CPU, step the device: while a program waits for a completion, its thread does the
//! device's work.
//!
//! With two programs that poll on two CPUs, the devices' threads have no CPU of their own. Each message would need a
//! sleep that ends and a thread that is woken across CPUs, tens of microseconds. The thread of the device goes on as
//! before: it steps the device for programs that wait for events, or for memory to change without a yield.

use super::stepped::{STEPS_BY_POLL, Stepped};
use crate::process::{allocator, forked};
use parking_lot::Mutex as DeviceMutex;
use softhca::notify::{LONGEST_BETWEEN_LOOKS, LookTime, Notify};
use softhca::runner::{Runner, Step};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::Duration;

/// A program polls or yields in a loop if it does so again within this time. The device's thread is not kept asleep for
/// others.
const LOOP: Duration = LONGEST_BETWEEN_LOOKS;

/// A device that threads of the program step.
pub(crate) struct Polled {
    core: Arc<DeviceMutex<Stepped>>,
    /// Tells those that bring work whether a thread steps the device.
    notify: Notify,
    /// When a thread has last done so, as [`LookTime::nanoseconds`].
    last: AtomicU64,
    /// The one before it in the list that [`YIELDED`] begins.
    before: Option<&'static Self>,
}

/// Begins the list of the devices that yields step, which only grows.
static YIELDED: AtomicPtr<Polled> = AtomicPtr::new(null_mut());

impl Polled {
    /// The device for threads that poll and yield. Called under the lock of all devices.
    ///
    /// Yields step it only if the program has libc's `malloc`, which waits for its locks in the kernel. Others may yield
    /// in the middle of an allocation, and a step allocates.
    pub(super) fn new(core: &Arc<DeviceMutex<Stepped>>, runner: &Runner) -> &'static Self {
        let (core, notify, last) = (core.clone(), runner.notify(), AtomicU64::new(0));
        // Devices are never freed.
        let new = Box::leak(Box::new(Self { core, notify, last, before: Self::yielded() }));
        if allocator::is_libcs() {
            YIELDED.store(new, Ordering::Release);
        }
        new
    }

    /// The device whose list has all that yields step.
    fn yielded() -> Option<&'static Self> {
        // SAFETY: null, or a device that `new` has leaked.
        unsafe { YIELDED.load(Ordering::Acquire).as_ref() }
    }

    /// The devices that the calling thread steps when it yields. None, if it is stepping one: then the handler of a
    /// signal yields.
    #[cfg_attr(
        not(all(has_naked_functions, any(target_arch = "x86_64", target_arch = "aarch64"))),
        expect(dead_code, reason = "there is no `interpose::yields`")
    )]
    pub(crate) fn all_yielded() -> impl Iterator<Item = &'static Self> {
        let last = Self::yielded().filter(|_| !STEPS_BY_POLL.get());
        std::iter::successors(last, |polled| polled.before)
    }

    /// Steps the device once, unless another thread does so. A program that does so in a loop does it again within
    /// `interval`, at most [`LONGEST_BETWEEN_LOOKS`]. True if there was work.
    pub(crate) fn step(&self, interval: Duration) -> bool {
        // The child of a fork has only a copy of its parent's device.
        if forked::is_child() {
            return false;
        }
        STEPS_BY_POLL.set(true);
        let worked = self.core.try_lock().is_some_and(|mut core| self.step_locked(&mut core, interval));
        STEPS_BY_POLL.set(false);
        worked
    }

    fn step_locked(&self, core: &mut Stepped, interval: Duration) -> bool {
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
            let end = if worked { LookTime::now() } else { begin };
            self.notify.end_look(end.after(interval));
        }
        worked
    }
}
