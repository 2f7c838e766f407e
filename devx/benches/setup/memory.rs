//! Bytes of memory that a queue pair takes: this crate's, counted where it allocates, and libmlx5's, as the C library
//! tells.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use blueflame::transport;
use blueflame::verbs::QueuePair;
use blueflame_sys as sys;

use crate::bare::Shape;
use crate::devx::Devx;
use crate::rig::Rig;
use crate::shape::SHAPE;

/// Queue pairs that exist at a time.
const COUNT: usize = 512;

/// Bytes that this program's Rust code has allocated. Neither libmlx5 nor the software device allocates here: the one
/// is C, the other an object with a separate allocator.
static IN_USE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator; it counts besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Bytes in use of the C library's heap, by everybody in this process.
fn heap() -> usize {
    // SAFETY: reads counters.
    let info = unsafe { libc::mallinfo2() };
    info.uordblks + info.hblkhd
}

/// The bytes of each of `COUNT` things: this program's own, and all.
fn taken<T>(make: impl Fn() -> T) -> [f64; 2] {
    // The memory that libraries keep for the next queue pairs is there.
    drop((0..COUNT).map(|_| make()).collect::<Vec<_>>());
    let mut all = Vec::with_capacity(COUNT);
    let before = [IN_USE.load(Ordering::Relaxed), heap()];
    all.extend((0..COUNT).map(|_| make()));
    let after = [IN_USE.load(Ordering::Relaxed), heap()];
    drop(all);
    [0, 1].map(|at| (after[at] as f64 - before[at] as f64) / COUNT as f64)
}

/// Prints the memory of a queue pair, and the further memory of one with longer queues.
pub(crate) fn report(rig: &Rig) {
    let longer = [Shape { sends: 2 * SHAPE.sends, ..SHAPE }, Shape { receives: 2 * SHAPE.receives, ..SHAPE }];
    let [theirs, ours] = [taken(|| rig.theirs(SHAPE))[1], taken(|| rig.ours(SHAPE))[0]];
    let inline = size_of::<QueuePair<transport::Rc>>();
    println!("\nbytes of memory ({COUNT} queue pairs of {} sends, {} receives)", SHAPE.sends, SHAPE.receives);
    println!("  by hand: libmlx5, its rings, and the software device {theirs:>8.0}");
    println!("  blueflame, besides                                   {ours:>8.0} and {inline} in the value");
    for (shape, what) in longer.into_iter().zip(["sends", "receives"]) {
        let [theirs_longer, ours_longer] = [taken(|| rig.theirs(shape))[1], taken(|| rig.ours(shape))[0]];
        println!(
            "  with twice as many {what:<8} by hand {:>+8.0}, blueflame {:>+8.0}",
            theirs_longer - theirs,
            ours_longer - ours
        );
    }
}

/// Queue pairs of the comparison with DevX.
pub(crate) const MANY: usize = 10_000;

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = pages.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    // SAFETY: asks the C library for a number.
    pages * usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Memory that each of `count` things takes, by the resident pages of the process.
fn resident_each<T>(count: usize, make: impl Fn() -> T, look: impl FnOnce(&[T])) -> f64 {
    let mut all = Vec::with_capacity(count);
    let before = resident();
    all.extend((0..count).map(|_| make()));
    let after = resident();
    look(&all);
    (after as f64 - before as f64) / count as f64
}

/// Bytes that verbs registers for the rings of a queue pair: whole pages.
fn ring_bytes(qp: *mut sys::ibv_qp) -> usize {
    let mut parts = sys::mlx5dv_qp::ZERO;
    let mut asked = sys::mlx5dv_obj { qp: sys::mlx5dv_pair { r#in: qp, out: &raw mut parts }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the queue pair is alive, and libmlx5's; the answer is ours.
    assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut asked, sys::MLX5DV_OBJ_QP) }, 0);
    let bytes = |ring: &sys::mlx5dv_wq| ring.wqe_cnt as usize * ring.stride as usize;
    (bytes(&parts.sq) + bytes(&parts.rq)).next_multiple_of(4096)
}

/// The maker of queue pairs, as this program tells its child processes.
const MAKERS: [&str; 3] = ["by hand", "blueflame", "DevX"];
/// Bytes registered for each queue pair of DevX: 64 WQEBBs, 64 receives of 16 bytes, a record.
const ROOM: usize = 64 * 64 + 64 * 16 + 8;
/// Bytes registered besides: the CQ, and the end of the last page of records.
const BESIDES: usize = 128 << 10;
/// The maker of queue pairs in this process, and their number.
const MAKER: &str = "SETUP_MEMORY_OF";

/// Makes queue pairs and prints their memory, if this is the process for that. Each maker has a process, so that none
/// finds memory that another has freed.
pub(crate) fn is_measured(rig: &Rig) -> bool {
    let Ok(asked) = std::env::var(MAKER) else { return false };
    let (maker, count) = asked.split_once(',').expect("a maker and a number");
    let count = count.parse().expect("a number");
    let (mut registrations, mut bytes) = (count, 0.0);
    // libmlx5 gives each record a cache line, this crate in a thread domain eight bytes.
    let resident = match maker {
        "by hand" => resident_each(
            count,
            || rig.theirs_in(&rig.bare_domain, SHAPE),
            |all| {
                bytes = ring_bytes(all[0].qp.as_ptr()) as f64 + 64.0;
            },
        ),
        "blueflame" => resident_each(
            count,
            || rig.ours_of_one_thread(SHAPE),
            |all| {
                bytes = ring_bytes(all[0].qp.as_raw()) as f64 + 8.0;
            },
        ),
        _ => {
            // The registration counts, too: its pages are there from the beginning.
            let before = resident();
            let devx = Devx::new(&rig.pd.device(), count * ROOM + BESIDES);
            let empty = devx.memory().taken;
            let all: Vec<_> = (0..count).map(|_| devx.of_one_thread(SHAPE, &rig.path)).collect();
            let (after, rings) = (resident(), devx.memory());
            drop(all);
            (registrations, bytes) = (rings.registrations, (rings.taken - empty) as f64 / count as f64);
            (after as f64 - before as f64) / count as f64
        }
    };
    println!("  {maker:<28} {registrations:>13} {bytes:>16.0} {resident:>22.0}");
    true
}

/// Prints what many queue pairs of one thread take: with verbs a registration each, with DevX one for all.
pub(crate) fn report_many(count: usize) {
    println!("\n{count} queue pairs of {} sends, {} receives, one register", SHAPE.sends, SHAPE.receives);
    println!("  {:<28} {:>13} {:>16} {:>22}", "", "registrations", "rings, records", "resident, device's too");
    for maker in MAKERS {
        let program = std::env::current_exe().expect("this program's path");
        let status = std::process::Command::new(program).env(MAKER, format!("{maker},{count}")).status();
        assert!(status.expect("this program starts").success(), "{maker}");
    }
}
