//! Forks and signal handlers: the promises of SECURITY.md.
//!
//! Forks and signals belong here. Threads belong in `tests/verbs` and `tests/thread_domain.rs`.
//!
//! Needs an mlx5 device. `./run test` starts the software device with:
//!
//! ```text
//! softhca-run --
//! ```

#![cfg(feature = "verbs")]

#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::rc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blueflame::db::ThreadRegister;
use blueflame::types::{Psn, WrId};
use blueflame::verbs::{Access, Buffer, Device, OwnedCq, Pool, ProtectionDomain, QueuePair, ThreadDomain};
use blueflame::{transport, wqe};
use blueflame_sys as sys;

use on_device::device;

const PAGE: usize = 4096;
const LONG: Duration = Duration::from_secs(60);

thread_local! {
    static IN_HANDLER: Cell<bool> = const { Cell::new(false) };
}

/// Something was allocated or freed in the handler.
static ALLOCATED: AtomicBool = AtomicBool::new(false);

/// The system's, which may hold its lock where a signal comes: the handler must not ask for any.
struct Watched;

impl Watched {
    fn look() {
        // A thread that ends has none any more.
        if IN_HANDLER.try_with(Cell::get).unwrap_or(false) {
            ALLOCATED.store(true, Ordering::Relaxed);
        }
    }
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::look();
        // SAFETY: passed on to the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::look();
        // SAFETY: passed on to the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// A queue pair that is connected to itself, with a register and a completion queue of its own.
struct End {
    pair: QueuePair<transport::Rc, rc::Rc<ThreadRegister>>,
    cq: OwnedCq,
    _domain: ThreadDomain,
    buffer: Buffer,
    posted: u64,
    done: u64,
}

impl End {
    fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        let domain = pd.thread_domain().expect("a thread domain");
        let cq = device.completion_queue(64).thread_domain(&domain).build().expect("a completion queue");
        let mut pair =
            pd.queue_pair(&cq, &cq).sends(32).receives(32).inline(28).build_in(&domain).expect("a queue pair");
        let path = device.path(1, None).expect("a path");
        let here = pair.qp.endpoint_with(&path, Psn::truncate(0x77));
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &here, &here).expect("connect");
        let buffer = Pool::new(pd, PAGE, Access::ALL).expect("a pool").take(PAGE).expect("all of it");
        Self { pair, cq, _domain: domain, buffer, posted: 0, done: 0 }
    }

    /// Writes the number of the request, if there is room, and takes the waiting completions; false after an error.
    fn step(&mut self) -> bool {
        let number = (self.posted + 1).to_le_bytes();
        let request = wqe::write(self.buffer.remote()).inline(&number).signaled(WrId(self.posted));
        // SAFETY: inline, and the buffer is read when all is done.
        if self.posted < self.done + 16 && unsafe { self.pair.sq.post_unchecked(&request) }.is_ok() {
            self.posted += 1;
        }
        let mut well = true;
        let (pair, done) = (&mut self.pair, &mut self.done);
        self.cq.poll_with(16, |cqe| {
            well &= cqe.check().is_ok() && pair.sq.retire(&cqe).is_ok();
            *done += 1;
        });
        well
    }

    /// Waits until all requests are complete. Gives the number in the buffer.
    fn finish(&mut self) -> u64 {
        let begin = Instant::now();
        while self.done < self.posted {
            self.cq.poll_with(16, |cqe| {
                cqe.check().unwrap_or_else(|error| panic!("{error}"));
                self.pair.sq.retire(&cqe).expect("outstanding");
                self.done += 1;
            });
            assert!(begin.elapsed() < LONG, "{} of {} completions", self.done, self.posted);
            std::thread::yield_now();
        }
        let mut bytes = [0; 8];
        self.buffer.read(0, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Where its rings and doorbell records are.
    fn places(&self) -> [usize; 4] {
        let (mut qp, mut cq) = (sys::mlx5dv_qp::ZERO, sys::mlx5dv_cq::ZERO);
        let cq_raw: *mut sys::ibv_cq = self.cq.handle().as_raw();
        let mut object = sys::mlx5dv_obj {
            qp: sys::mlx5dv_pair { r#in: self.pair.qp.as_raw(), out: &raw mut qp },
            cq: sys::mlx5dv_pair { r#in: cq_raw, out: &raw mut cq },
            ..sys::mlx5dv_obj::ZERO
        };
        // SAFETY: both are alive, and the results are locals.
        let known = unsafe { sys::mlx5dv_init_obj(&raw mut object, sys::MLX5DV_OBJ_QP | sys::MLX5DV_OBJ_CQ) };
        assert_eq!(known, 0);
        [qp.sq.buf.addr(), qp.dbrec.addr(), cq.buf.addr(), cq.dbrec.addr()]
    }
}

/// Runs `child` in a child of a fork. Gives its exit code.
///
/// # Safety
/// There may be other threads: `child` makes only calls that a signal handler may make.
unsafe fn in_child(child: impl FnOnce() -> i32) -> i32 {
    let mut status = 0;
    // SAFETY: `child` makes only calls that a signal handler may make, as the caller promises; the parent waits for it.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(child()),
            pid => assert_eq!(libc::waitpid(pid, &mut status, 0), pid),
        }
    }
    assert!(libc::WIFEXITED(status), "status {status:#x}");
    libc::WEXITSTATUS(status)
}

/// How many of `places` this process has. The kernel looks, so that one that is not there is no fault.
fn mapped(places: &[usize]) -> i32 {
    let mut ends = [0; 2];
    // SAFETY: the calls get a local, its descriptors, and addresses that the kernel checks.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let there = |&&place: &&usize| libc::write(ends[1], std::ptr::without_provenance(place), 1) == 1;
        let count = places.iter().filter(there).count();
        for end in ends {
            libc::close(end);
        }
        count as i32
    }
}

#[test]
fn the_child_of_a_fork_has_no_ring_of_its_parents() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let mut end = End::new(&device, &pd);
    let places = end.places();
    assert_eq!(mapped(&places), 4);
    assert!(end.step());
    // SAFETY: it makes pipes, and writes to them.
    assert_eq!(unsafe { in_child(|| mapped(&places)) }, 0);
    // The parent goes on, in the pages that the device knows: from the first write on they would be others if the child
    // had them.
    for _ in 0..100 {
        assert!(end.step());
    }
    assert_eq!(end.finish(), end.posted);
}

/// The handler's end, how many requests it has posted, and how often the handler ran well.
static HANDLERS: AtomicPtr<End> = AtomicPtr::new(std::ptr::null_mut());
static POSTED: AtomicU64 = AtomicU64::new(0);
static WELL: AtomicUsize = AtomicUsize::new(0);
static BADLY: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handle(_: libc::c_int) {
    IN_HANDLER.set(true);
    // SAFETY: nobody else has it while the handler is installed, and a signal is blocked in its own handler.
    let well = unsafe { HANDLERS.load(Ordering::Acquire).as_mut() }.is_some_and(|end| {
        let well = end.step();
        POSTED.store(end.posted, Ordering::Relaxed);
        well
    });
    (if well { &WELL } else { &BADLY }).fetch_add(1, Ordering::Relaxed);
    IN_HANDLER.set(false);
}

#[test]
fn a_signal_handler_posts_polls_and_retires() {
    const SIGNALS: usize = 2000;
    const REQUESTS: u64 = 100;
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let [mut own, mut handlers] = [(); 2].map(|()| End::new(&device, &pd));
    HANDLERS.store(&raw mut handlers, Ordering::Release);
    let handler: extern "C" fn(libc::c_int) = handle;
    // SAFETY: the handler posts, polls and retires, and changes atomics: signal handlers may do that.
    let before = unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };
    // SAFETY: always valid.
    let this = unsafe { libc::pthread_self() };
    let sender = std::thread::spawn(move || {
        let begin = Instant::now();
        let mut signals = 0;
        // The handler posts while there is room. A slow device makes room rarely, so it takes more signals.
        while (signals < SIGNALS || POSTED.load(Ordering::Relaxed) < REQUESTS) && begin.elapsed() < LONG {
            // SAFETY: the thread waits for this one.
            unsafe { libc::pthread_kill(this, libc::SIGUSR1) };
            signals += 1;
            // One at a time: a signal that comes twice is delivered once.
            while WELL.load(Ordering::Relaxed) + BADLY.load(Ordering::Relaxed) < signals && begin.elapsed() < LONG {
                std::hint::spin_loop();
            }
        }
        signals
    });
    while !sender.is_finished() {
        assert!(own.step());
        // It is interrupted here as well, with the allocator's locks held.
        std::hint::black_box(vec![0_u8; 1 << (own.posted % 12)]);
    }
    let signals = sender.join().expect("no panic");
    // SAFETY: as it was.
    unsafe { libc::signal(libc::SIGUSR1, before) };
    assert_eq!((WELL.load(Ordering::Relaxed), BADLY.load(Ordering::Relaxed)), (signals, 0));
    assert!(!ALLOCATED.load(Ordering::Relaxed), "the handler allocated");
    assert!(signals >= SIGNALS && handlers.posted >= REQUESTS, "{signals} signals, {} requests", handlers.posted);
    for end in [&mut own, &mut handlers] {
        assert_eq!(end.finish(), end.posted);
    }
}
