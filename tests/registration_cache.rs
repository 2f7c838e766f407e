//! The registration cache: which memory it keeps registered, for how long, and what it does at each limit.
//!
//! The cache belongs here, other registrations in `tests/verbs/regions.rs`.
//!
//! The first run has all keys and as much pinned memory as the machine permits. In the others, the device or the kernel
//! runs out:
//!
//! ```text
//! softhca-run -- --skip=until
//! softhca-run --strict -- a_hit
//! softhca-run --max-mr 16 -- the_device_has_keys_until
//! softhca-run --memlock everybody -- the_kernel_pins_until
//! ```

#![cfg(feature = "verbs")]

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blueflame::cq::{CqeError, WcStatus};
use blueflame::transport::Rc;
use blueflame::verbs::memory::RegistrationCache;
use blueflame::verbs::{Access, CallError, Device, Error, OwnedCq, Pool, ProtectionDomain, QueuePair};
use blueflame::{Remote, Sge, WrId, wqe};
use memmap2::MmapMut;

#[path = "on_device/mod.rs"]
#[allow(dead_code, reason = "this program needs a part of it")]
mod on_device;
use on_device::{device, wait_for};

const PAGE: usize = 4096;

/// Pages that count how many of them were unmapped.
struct Pages {
    map: MmapMut,
    unmapped: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.unmapped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes memory, and knows how much of it is gone.
#[derive(Default)]
struct Memory {
    unmapped: Arc<AtomicUsize>,
}

impl Memory {
    /// `count` pages whose bytes are all `fill`.
    fn pages(&self, count: usize, fill: u8) -> Arc<Pages> {
        let mut map = MmapMut::map_anon(count * PAGE).expect("memory");
        map.fill(fill);
        Arc::new(Pages { map, unmapped: Arc::clone(&self.unmapped) })
    }

    fn page(&self) -> Arc<Pages> {
        self.pages(1, 0)
    }

    fn unmapped(&self) -> usize {
        self.unmapped.load(Ordering::Relaxed)
    }
}

fn domain() -> ProtectionDomain {
    device().protection_domain().expect("a PD")
}

/// A cache of memory that the device may read.
fn cache(pd: &ProtectionDomain, regions: usize, bytes: u64) -> RegistrationCache<Pages> {
    RegistrationCache::new(pd, Access::LOCAL_READ, regions, bytes).expect("a cache")
}

/// A queue pair that is connected to itself, and memory that it may write.
struct Loop {
    pair: QueuePair<Rc>,
    cq: OwnedCq,
    inbox: blueflame::verbs::Buffer,
}

impl Loop {
    fn new(device: &Device, pd: &ProtectionDomain) -> Self {
        let cq = device.completion_queue(16).build().expect("a CQ");
        let mut pair = pd.queue_pair::<Rc>(&cq, &cq).sends(8).no_receives().build().expect("a queue pair");
        let path = device.path(1, None).expect("a path");
        let itself = pair.qp.endpoint(&path);
        pair.qp.to_init(&path).expect("INIT");
        pair.connect(&path, &itself, &itself).expect("RTS");
        let inbox = Pool::new(pd, PAGE, Access::ALL).expect("a pool").take(PAGE).expect("a page");
        Self { pair, cq, inbox }
    }

    fn status(&mut self) -> Result<(), WcStatus> {
        let Self { pair, cq, .. } = self;
        wait_for("a completion", || {
            let cqe = cq.poll()?;
            pair.sq.retire(&cqe).expect("outstanding");
            match cqe.check() {
                Ok(_) => Some(Ok(())),
                Err(CqeError::Completion(error)) => Some(Err(error.status())),
                Err(error) => panic!("{error}"),
            }
        })
    }

    /// What the device finds at `entry`.
    fn gather(&mut self, entry: Sge) -> Result<Vec<u8>, WcStatus> {
        let request = wqe::write(self.inbox.remote()).gather([entry]).signaled(WrId(1));
        // SAFETY: the tests name memory that is there: registered, or not any more, and then the device refuses it.
        unsafe { self.pair.sq.post_unchecked(&request) }.expect("room");
        self.status()?;
        Ok(self.inbox.to_vec(0..entry.length as usize))
    }

    /// READs what is at `from`.
    fn read(&mut self, from: Remote, len: usize) -> Result<Vec<u8>, WcStatus> {
        let request = wqe::read(from).scatter([self.inbox.sge_of(0..len)]).signaled(WrId(2));
        // SAFETY: the inbox lives as long as the queue, and is looked at after the completion.
        unsafe { self.pair.sq.post_unchecked(&request) }.expect("room");
        self.status()?;
        Ok(self.inbox.to_vec(0..len))
    }
}

/// The kernel refuses this thread's next command.
fn refuse_next_command() {
    // SAFETY: looks a name up among the loaded objects.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"softhca_refuse".as_ptr()) };
    assert!(!symbol.is_null(), "no softhca_refuse: run this by ./run test, or under softhca-run");
    // SAFETY: the preloaded object's function of this name is of this type.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(u64, c_int)>(symbol)(1, libc::EIO) };
}

#[test]
fn memory_is_registered_once_and_the_device_reads_it() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (memory, mut line) = (Memory::default(), Loop::new(&device, &pd));
    let cache = RegistrationCache::new(&pd, Access::REMOTE_READ, 4, 1 << 20).expect("a cache");
    let pages = memory.pages(3, 0x5a);
    let region = cache.get(&pages).expect("registered");
    assert_eq!((region.addr(), region.len()), (pages.map.as_ptr().addr() as u64, 3 * PAGE as u64));
    assert_eq!((cache.regions(), cache.bytes()), (1, 3 * PAGE as u64));
    assert_eq!(line.gather(region.sge_of(5000, 8).expect("inside")), Ok(vec![0x5a; 8]));
    assert_eq!(line.read(region.remote().at(5000), 8), Ok(vec![0x5a; 8]));
    // The same memory, also by another owner.
    assert!(Arc::ptr_eq(&region, &cache.get(&pages).expect("a hit")));
    assert_eq!(cache.regions(), 1);
    // Other memory has a key of its own.
    let other = cache.get(&memory.pages(1, 0xa5)).expect("registered");
    assert_ne!(other.lkey(), region.lkey());
    assert_eq!(line.gather(other.sge_of(0, 4).expect("inside")), Ok(vec![0xa5; 4]));
    assert_eq!((cache.regions(), cache.bytes()), (2, 4 * PAGE as u64));
}

/// Two owners that lend the same bytes.
#[test]
fn memory_is_known_by_its_address() {
    struct Half(Arc<Pages>);
    impl AsRef<[u8]> for Half {
        fn as_ref(&self) -> &[u8] {
            &self.0.map[..PAGE]
        }
    }
    let (pd, pages) = (domain(), Memory::default().pages(2, 0));
    let cache = RegistrationCache::new(&pd, Access::LOCAL_READ, 4, 1 << 20).expect("a cache");
    let first = cache.get(&Arc::new(Half(Arc::clone(&pages)))).expect("registered");
    let again = cache.get(&Arc::new(Half(Arc::clone(&pages)))).expect("a hit");
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!((cache.regions(), first.len()), (1, PAGE as u64));
}

#[test]
fn a_hit_is_no_command() {
    let (pd, memory) = (domain(), Memory::default());
    let cache = cache(&pd, 4, 1 << 20);
    let page = memory.page();
    drop(cache.get(&page).expect("registered"));
    refuse_next_command();
    drop(cache.get(&page).expect("a hit"));
    let error = cache.get(&memory.page()).expect_err("the refused command");
    assert!(matches!(error, Error::Call(CallError { call: "ibv_reg_mr_iova2", errno: libc::EIO })), "{error}");
    assert_eq!((cache.regions(), cache.bytes()), (1, PAGE as u64), "as before the failed call");
}

/// In strict mode of seccomp, Linux kills a thread that calls it, except to read, write and exit.
#[test]
fn a_hit_is_no_system_call() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let (pd, memory) = (domain(), Memory::default());
    let (cache, page) = (Arc::new(cache(&pd, 4, 1 << 20)), memory.page());
    let first = cache.get(&page).expect("registered");
    let shared = (Arc::clone(&cache), Arc::clone(&page));
    let thread = std::thread::spawn(move || {
        // SAFETY: changes nothing but what this thread may call.
        assert_eq!(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT) }, 0, "seccomp");
        for _ in 0..1000 {
            let hit = shared.0.get(&shared.1);
            if hit.is_err() {
                break;
            }
        }
        DONE.store(true, Ordering::Release);
        // The end of a Rust thread makes other calls, such as that which frees its stack.
        loop {
            // SAFETY: ends this thread; it never gives back what it shares, which the test does not need.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
        }
    });
    let begin = Instant::now();
    while !DONE.load(Ordering::Acquire) {
        assert!(begin.elapsed() < Duration::from_secs(20), "a hit called the kernel");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::mem::forget(thread);
    assert!(Arc::strong_count(&first) >= 2);
}

#[test]
fn the_least_recently_used_goes_first() {
    let (pd, memory) = (domain(), Memory::default());
    let cache = cache(&pd, 3, 1 << 20);
    let pages: Vec<_> = (0..4).map(|_| memory.page()).collect();
    for page in &pages[..3] {
        drop(cache.get(page).expect("registered"));
    }
    // The first is used again, so the second is the oldest.
    drop(cache.get(&pages[0]).expect("a hit"));
    drop(cache.get(&pages[3]).expect("in place of the second"));
    assert_eq!(cache.regions(), 3);
    let counts: Vec<_> = pages.iter().map(Arc::strong_count).collect();
    assert_eq!(counts, [2, 1, 2, 2], "the cache is the other owner");
    drop(cache.get(&pages[1]).expect("in place of the third"));
    assert_eq!(pages.iter().map(Arc::strong_count).collect::<Vec<_>>(), [2, 2, 1, 2]);
}

#[test]
fn a_region_in_use_stays_and_a_full_cache_says_so() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (memory, mut line) = (Memory::default(), Loop::new(&device, &pd));
    let cache = cache(&pd, 2, 1 << 20);
    let held = [memory.pages(1, 1), memory.pages(1, 2)].map(|page| cache.get(&page).expect("registered"));
    let third = memory.pages(1, 3);
    let error = cache.get(&third).expect_err("both are in use");
    assert_eq!(error, Error::AllInUse { what: "regions", used: 2, wanted: 1, limit: 2 });
    assert!(error.to_string().contains("has 2 regions in use, so 1 more exceed its limit of 2"), "{error}");
    let [first, second] = held;
    assert_eq!(line.gather(first.sge_of(0, 2).expect("inside")), Ok(vec![1; 2]));
    // The oldest is held: the other one goes.
    let key = second.sge_of(0, 2).expect("inside");
    drop(second);
    assert_eq!(memory.unmapped(), 0, "its room is not needed yet");
    let third = cache.get(&third).expect("in place of the second");
    assert_eq!(memory.unmapped(), 1, "the cache was its last owner");
    assert_eq!(line.gather(first.sge_of(0, 2).expect("inside")), Ok(vec![1; 2]));
    assert_eq!(line.gather(third.sge_of(0, 2).expect("inside")), Ok(vec![3; 2]));
    assert_eq!(line.gather(key), Err(WcStatus::LocProtErr), "its key has gone with it");
}

#[test]
fn bytes_have_a_limit() {
    let (pd, memory) = (domain(), Memory::default());
    let cache = cache(&pd, 100, 8 * PAGE as u64);
    let small: Vec<_> = (0..8).map(|_| memory.page()).collect();
    for page in &small {
        drop(cache.get(page).expect("registered"));
    }
    assert_eq!((cache.regions(), cache.bytes()), (8, 8 * PAGE as u64));
    // As many go as the new one needs, and no more.
    let large = cache.get(&memory.pages(5, 0)).expect("registered");
    assert_eq!((cache.regions(), cache.bytes()), (4, 8 * PAGE as u64));
    let error = cache.get(&memory.pages(4, 0)).expect_err("three are left");
    let limit = 8 * PAGE as u64;
    assert_eq!(error, Error::AllInUse { what: "bytes", used: 5 * PAGE as u64, wanted: 4 * PAGE as u64, limit });
    assert_eq!((cache.regions(), cache.bytes()), (1, 5 * PAGE as u64), "all that are not in use went, to try");
    drop(large);
    // It would never fit.
    let error = cache.get(&memory.pages(9, 0)).expect_err("too large");
    assert_eq!(
        error,
        Error::OutOfRange { what: "bytes of memory to cache", value: 9 * PAGE as u64, min: 1, max: limit }
    );
    assert_eq!(cache.regions(), 1, "nothing went for that");
    drop(cache.get(&memory.pages(8, 0)).expect("all of it"));
}

#[test]
fn memory_stays_mapped_under_its_key() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (memory, mut line) = (Memory::default(), Loop::new(&device, &pd));
    let cache = cache(&pd, 4, 1 << 20);
    let mut pages = memory.pages(1, 7);
    let region = cache.get(&pages).expect("registered");
    assert!(Arc::get_mut(&mut pages).is_none(), "the cache is an owner");
    drop(pages);
    assert_eq!(line.gather(region.sge_of(0, 3).expect("inside")), Ok(vec![7; 3]));
    drop(region);
    cache.clear();
    assert_eq!((cache.regions(), cache.bytes(), memory.unmapped()), (0, 0, 1));
}

#[test]
fn a_dropped_cache_leaves_what_is_held() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (memory, mut line) = (Memory::default(), Loop::new(&device, &pd));
    let cache = cache(&pd, 4, 1 << 20);
    let held = cache.get(&memory.pages(1, 9)).expect("registered");
    drop(cache.get(&memory.page()).expect("registered"));
    cache.clear();
    assert_eq!((cache.regions(), memory.unmapped()), (1, 1), "one is held");
    drop(cache.get(&memory.page()).expect("registered"));
    drop(cache);
    assert_eq!(memory.unmapped(), 2);
    assert_eq!(line.gather(held.sge_of(0, 3).expect("inside")), Ok(vec![9; 3]));
    drop(held);
    assert_eq!(memory.unmapped(), 3);
}

#[test]
fn invalid_caches_and_memory_are_refused() {
    let pd = domain();
    let new = |access, regions, bytes| RegistrationCache::<[u8]>::new(&pd, access, regions, bytes).map(drop);
    for (what, regions, bytes) in [("regions", 0, 1), ("bytes", 1, 0)] {
        let error = new(Access::LOCAL_READ, regions, bytes).expect_err("a limit of 0");
        assert!(matches!(error, Error::OutOfRange { what: found, value: 0, .. } if found.starts_with(what)), "{error}");
    }
    for not in [Access::REMOTE_WRITE, Access::REMOTE_ATOMIC, Access::MW_BIND] {
        let error = new(not | Access::REMOTE_READ, 1, 1).expect_err("peers write");
        assert_eq!(error, Error::AccessExcess { not });
    }
    assert_eq!(new(Access::LOCAL_WRITE | Access::REMOTE_READ | Access::RELAXED_ORDERING, 1, 1), Ok(()));
    let cache = RegistrationCache::<[u8]>::new(&pd, Access::LOCAL_READ, 1, 1 << 20).expect("a cache");
    let error = cache.get(&Arc::from([])).expect_err("no bytes");
    assert_eq!(error, Error::OutOfRange { what: "bytes of memory to cache", value: 0, min: 1, max: 1 << 20 });
    cache.get(&Arc::from(*b"from the heap")).expect("any owner of bytes");
}

/// A `Weak` does not keep a region; one that was turned into an `Arc` does.
#[test]
fn a_weak_region_is_not_held() {
    let (pd, memory) = (domain(), Memory::default());
    let cache = cache(&pd, 1, 1 << 20);
    let weak = Arc::downgrade(&cache.get(&memory.page()).expect("registered"));
    assert!(weak.upgrade().is_some());
    drop(cache.get(&memory.page()).expect("in its place"));
    assert!(weak.upgrade().is_none());
    assert_eq!(memory.unmapped(), 1);
}

#[test]
fn threads_share_a_cache() {
    const THREADS: usize = 4;
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let (memory, cache) = (Memory::default(), cache(&pd, THREADS + 2, 1 << 20));
    // More than the cache may hold at once; each thread holds one at a time.
    let pages: Vec<_> = (0..12).map(|fill| memory.pages(1, fill)).collect();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (device, pd, cache, pages) = (&device, &pd, &cache, &pages);
            scope.spawn(move || {
                let mut line = Loop::new(device, pd);
                for round in 0..300 {
                    let fill = (round * (thread + 1) + thread) % pages.len();
                    let region = cache.get(&pages[fill]).expect("others hold three");
                    assert!(cache.regions() <= THREADS + 2);
                    assert_eq!(line.gather(region.sge_of(0, 2).expect("inside")), Ok(vec![fill as u8; 2]));
                }
            });
        }
    });
    assert_eq!(cache.bytes(), (cache.regions() * PAGE) as u64);
    drop(pages);
    cache.clear();
    assert_eq!((cache.regions(), memory.unmapped()), (0, 12));
}

/// Of a device with few memory keys (`--max-mr`).
#[test]
fn the_device_has_keys_until_the_cache_makes_room() {
    let device = device();
    let limit = device.attr().max_mr;
    assert!(limit <= 64, "{limit} keys: run this under softhca-run --max-mr 16");
    let pd = device.protection_domain().expect("a PD");
    let (memory, cache) = (Memory::default(), cache(&pd, 1000, 1 << 30));
    // All of them, and then as many again.
    for _ in 0..2 * limit {
        drop(cache.get(&memory.page()).expect("the oldest has gone"));
        assert!(cache.regions() <= limit as usize);
    }
    assert_eq!(memory.unmapped() + cache.regions(), 2 * limit as usize);
    // Nothing can go: the device's own error.
    let mut held = Vec::new();
    let error = loop {
        match cache.get(&memory.page()) {
            Ok(region) => held.push(region),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Call(CallError { call: "ibv_reg_mr_iova2", errno: libc::ENOMEM })), "{error}");
    assert_eq!(cache.regions(), held.len());
    drop(held.pop());
    cache.get(&memory.page()).expect("there is room again");
}

/// Of a kernel that pins little memory (`--memlock everybody`, `ulimit -l`).
#[test]
fn the_kernel_pins_until_the_cache_makes_room() {
    const LIMIT: usize = 1 << 20;
    let (pd, memory) = (domain(), Memory::default());
    let cache = cache(&pd, 1000, 1 << 30);
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads the limit into a local.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) }, 0);
    limit.rlim_cur = LIMIT as u64;
    // SAFETY: lowers the limit of this process, which runs this test alone.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) }, 0);
    for _ in 0..2 * LIMIT / PAGE {
        drop(cache.get(&memory.page()).expect("the oldest has gone"));
        assert!(cache.bytes() <= LIMIT as u64);
    }
    // One that needs the room of many.
    let large = cache.get(&memory.pages(200, 0)).expect("pinned in place of others");
    assert!(cache.bytes() <= LIMIT as u64);
    let error = cache.get(&memory.pages(200, 0)).expect_err("the large one is held");
    let Error::Call(call) = error else { panic!("{error}") };
    assert_eq!((call.call, call.errno), ("ibv_reg_mr_iova2", libc::ENOMEM));
    assert!(call.hint().expect("a hint").contains("locked-memory limit"));
    assert_eq!(cache.regions(), 1, "the others went");
    drop(large);
    cache.get(&memory.pages(200, 0)).expect("there is room again");
}
