use std::sync::{
    atomic::{AtomicU32, AtomicUsize},
    mpsc,
};

use super::*;
use crate::uar::Doorbell;

/// Counts the runner's calls; every unit of `work` takes one step and raises an event.
#[derive(Default)]
struct Counter {
    work: Arc<AtomicU32>,
    steps: Arc<AtomicUsize>,
    doorbells: Vec<(u32, usize, Vec<u8>)>,
    deadline: Option<Duration>,
    late: Option<mpsc::Sender<Duration>>,
    events: u32,
}

impl Step for Counter {
    fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        self.doorbells.push((uar, offset, stored.to_vec()));
    }

    fn step(&mut self, now: Duration) -> bool {
        self.steps.fetch_add(1, Ordering::Relaxed);
        if let Some(deadline) = self.deadline.filter(|deadline| *deadline <= now) {
            self.deadline = None;
            self.late.take().unwrap().send(now - deadline).unwrap();
            return true;
        }
        let busy = self.work.load(Ordering::Acquire) > 0;
        if busy {
            self.work.fetch_sub(1, Ordering::AcqRel);
            self.events += 1;
        }
        busy
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.deadline
    }

    fn next_event(&mut self) -> Option<Event> {
        let cqn = self.events.checked_sub(1)?;
        self.events = cqn;
        Some(Event::Completion { cqn })
    }
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_micros(20));
    }
    start.elapsed()
}

#[test]
fn work_is_done_and_events_come_without_the_lock() {
    let counter = Counter::default();
    let work = Arc::clone(&counter.work);
    let device = Arc::new(Mutex::new(counter));
    let (sender, receiver) = mpsc::channel();
    let runner = Runner::start(Arc::clone(&device), Notify::new(), None, {
        let device = Arc::clone(&device);
        move |event| {
            // Would deadlock if the lock were held.
            drop(device.lock());
            sender.send(event).unwrap();
        }
    })
    .unwrap();
    for _ in 0..100 {
        work.fetch_add(1, Ordering::Release);
        runner.wake();
        let event = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(event, Event::Completion { cqn: 0 });
    }
    runner.stop();
    assert_eq!(Arc::strong_count(&device), 1, "the thread is gone");
}

#[test]
fn doorbells_reach_the_device_in_order() {
    let device = Arc::new(Mutex::new(Counter::default()));
    let notify = Notify::new();
    let queue = Arc::new(DoorbellQueue::new(64, notify.clone()));
    let runner = Runner::start(Arc::clone(&device), notify, Some(Arc::clone(&queue)), |_| {}).unwrap();
    for number in 0..1000u16 {
        while queue.push(Doorbell::new(1, number, &number.to_be_bytes()).unwrap()).is_err() {
            thread::yield_now();
        }
    }
    wait_until("doorbells", || device.lock().doorbells.len() == 1000);
    runner.stop();
    for (number, doorbell) in device.lock().doorbells.iter().enumerate() {
        assert_eq!(*doorbell, (1, number, (number as u16).to_be_bytes().to_vec()));
    }
}

#[test]
fn work_that_wakes_nobody_is_found() {
    let counter = Counter::default();
    let work = Arc::clone(&counter.work);
    let runner = Runner::start(Arc::new(Mutex::new(counter)), Notify::new(), None, |_| {}).unwrap();
    thread::sleep(Duration::from_millis(20));
    work.fetch_add(1, Ordering::Release);
    wait_until("work", || work.load(Ordering::Acquire) == 0);
    runner.stop();
}

#[test]
fn sleep_grows_with_the_silence() {
    let micros = |silence: u64| sleep_after(Duration::from_micros(silence)).as_micros();
    assert_eq!([0, 2, 160, 240, 800].map(micros), [20, 20, 20, 30, 100]);
    assert_eq!([8_000, 100_000, 128_000].map(micros), [1000, 1000, 1000]);
    assert_eq!([256_000, 640_000, 10_000_000].map(micros), [2000, 5000, 5000]);
    assert_eq!(sleep_after(Duration::MAX), LONGEST_SLEEP);
}

#[test]
fn spins_are_as_long_as_they_pay() {
    let after = |spin: Duration, silences: &[u64]| {
        silences.iter().fold(spin, |spin, &silence| spin_after(spin, Duration::from_micros(silence)))
    };
    assert_eq!(after(SHORTEST_SPIN, &[10, 10, 0, 1]), SHORTEST_SPIN * 4);
    assert_eq!(after(SHORTEST_SPIN, &[29; 9]), LONGEST_SPIN);
    assert_eq!(after(LONGEST_SPIN, &[30]), LONGEST_SPIN / 2);
    assert_eq!(after(LONGEST_SPIN, &[50; 9]), SHORTEST_SPIN);
}

#[test]
fn deadlines_are_kept() {
    let (sender, receiver) = mpsc::channel();
    let counter = Counter { deadline: Some(Duration::from_micros(20_300)), late: Some(sender), ..Counter::default() };
    let runner = Runner::start(Arc::new(Mutex::new(counter)), Notify::new(), None, |_| {}).unwrap();
    let late = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(late < Duration::from_secs(1), "{late:?}");
    runner.stop();
}

#[test]
fn an_idle_device_steps_rarely() {
    let counter = Counter::default();
    let steps = Arc::clone(&counter.steps);
    let runner = Runner::start(Arc::new(Mutex::new(counter)), Notify::new(), None, |_| {}).unwrap();
    thread::sleep(Duration::from_millis(50));
    let before = steps.load(Ordering::Relaxed);
    let start = Instant::now();
    thread::sleep(Duration::from_millis(200));
    let (steps, milliseconds) = (steps.load(Ordering::Relaxed) - before, start.elapsed().as_millis() as usize);
    // Two steps per sleep, one before and one after announcing it. More than a hundred if the thread has just begun.
    assert!(steps <= 2 * milliseconds + 200, "{steps} steps in {milliseconds} ms");
    assert!(steps > 0);
    runner.stop();
}

/// CPU time of the thread that runs this, which a callback does on the device's thread.
#[cfg(target_os = "linux")]
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(target_os = "linux")]
#[test]
fn an_idle_device_costs_next_to_nothing() {
    let counter = Counter::default();
    let work = Arc::clone(&counter.work);
    let (sender, receiver) = mpsc::channel();
    let device = Arc::new(Mutex::new(counter));
    let runner = Runner::start(device, Notify::new(), None, move |_| sender.send(thread_cpu_time()).unwrap()).unwrap();
    let cpu_time = || {
        work.fetch_add(1, Ordering::Release);
        runner.wake();
        receiver.recv_timeout(Duration::from_secs(20)).unwrap()
    };
    let (start, before) = (Instant::now(), cpu_time());
    thread::sleep(Duration::from_secs(3));
    let share = (cpu_time() - before).as_secs_f64() / start.elapsed().as_secs_f64();
    eprintln!("idle device: {:.2} % of a core", share * 100.0);
    // Below 1 % where timers are cheap; the limit allows for a loaded virtual machine.
    assert!(share < 0.03, "{share}");
    runner.stop();
}

#[test]
fn a_callback_may_drop_the_runner() {
    let counter = Counter::default();
    let work = Arc::clone(&counter.work);
    let slot: Arc<Mutex<Option<Runner>>> = Arc::default();
    let (sender, receiver) = mpsc::channel();
    let runner = Runner::start(Arc::new(Mutex::new(counter)), Notify::new(), None, {
        let slot = Arc::clone(&slot);
        move |_| {
            drop(slot.lock().take());
            sender.send(()).unwrap();
        }
    })
    .unwrap();
    *slot.lock() = Some(runner);
    work.fetch_add(1, Ordering::Release);
    receiver.recv_timeout(Duration::from_secs(20)).unwrap();
    receiver.recv_timeout(Duration::from_secs(20)).unwrap_err();
}

#[cfg(target_os = "linux")]
#[test]
fn signals_are_left_to_the_application() {
    let (sender, receiver) = mpsc::channel();
    let counter = Counter::default();
    counter.work.store(1, Ordering::Release);
    let runner = Runner::start(Arc::new(Mutex::new(counter)), Notify::new(), None, move |_| {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        sender.send(status).unwrap();
    })
    .unwrap();
    let blocked = |status: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let theirs = blocked(&receiver.recv_timeout(Duration::from_secs(20)).unwrap());
    let ours = blocked(&std::fs::read_to_string("/proc/thread-self/status").unwrap());
    let bit = |signal: i32| 1u64 << (signal - 1);
    assert_ne!(theirs & bit(libc::SIGINT), 0);
    assert_ne!(theirs & bit(libc::SIGALRM), 0);
    assert_eq!(theirs & bit(libc::SIGSEGV), 0);
    assert_eq!(ours & bit(libc::SIGINT), 0);
    runner.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_may_drop_its_copy() {
    let _alone = crate::wire::test_frames::FORKING.lock();
    let counter = Counter::default();
    let work = Arc::clone(&counter.work);
    let runner = Runner::start(Arc::new(Mutex::new(counter)), Notify::new(), None, |_| {}).unwrap();
    // SAFETY: the child only drops the runner, which makes no system call but for its process id, and exits at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(runner);
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    wait_until("the child's end", || {
        // SAFETY: `status` is valid.
        unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) == child }
    });
    assert_eq!(status, 0);
    work.fetch_add(1, Ordering::Release);
    wait_until("work", || work.load(Ordering::Acquire) == 0);
    runner.stop();
}
