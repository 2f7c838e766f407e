//! The device on another core than the program.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use super::rig;

/// CPUs that this program may use.
fn allowed() -> Vec<usize> {
    // SAFETY: a set of bits, for which zero is a value.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: the set is ours, of the size given.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: CPUs below the set's size.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Keeps this thread on these CPUs.
fn keep_on(cpus: &[usize]) {
    // SAFETY: a set of bits, for which zero is a value.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    for &cpu in cpus {
        // SAFETY: `allowed` says that there is such a CPU.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: the set is ours, of the size given.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    assert_eq!(result, 0, "sched_setaffinity: {}", std::io::Error::last_os_error());
}

/// A thread on another CPU that works as the device when asked to. While there is one, this thread stays on its own
/// CPU.
pub(crate) struct OtherCore {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
    cpus: Vec<usize>,
}

#[derive(Default)]
struct Desk {
    asked: AtomicBool,
    done: AtomicBool,
    closed: AtomicBool,
    completed: AtomicUsize,
}

impl OtherCore {
    /// `None` on one CPU.
    pub(crate) fn new() -> Option<Self> {
        let cpus = allowed();
        let &[here, there, ..] = &cpus[..] else { return None };
        keep_on(&[here]);
        let desk = Arc::new(Desk::default());
        let thread = std::thread::spawn({
            let desk = Arc::clone(&desk);
            move || {
                keep_on(&[there]);
                while !desk.closed.load(Ordering::Relaxed) {
                    if desk.asked.swap(false, Ordering::Acquire) {
                        desk.completed.store(rig::step(), Ordering::Relaxed);
                        desk.done.store(true, Ordering::Release);
                    }
                    std::thread::yield_now();
                }
            }
        });
        Some(Self { desk, thread: Some(thread), cpus })
    }

    /// [`rig::step`] there.
    pub(crate) fn step(&self) -> usize {
        self.desk.asked.store(true, Ordering::Release);
        while !self.desk.done.swap(false, Ordering::Acquire) {
            assert!(
                self.thread.as_ref().is_some_and(|thread| !thread.is_finished()),
                "the other core's thread has failed"
            );
            std::thread::yield_now();
        }
        self.desk.completed.load(Ordering::Relaxed)
    }
}

impl Drop for OtherCore {
    fn drop(&mut self) {
        self.desk.closed.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // If it panicked, `step` has noticed.
            let _ = thread.join();
        }
        keep_on(&self.cpus);
    }
}
