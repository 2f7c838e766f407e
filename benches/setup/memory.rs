//! Bytes of memory that a queue pair takes: this crate's, counted where it allocates, and libmlx5's, as the C library tells.
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use blueflame::transport;
use blueflame::verbs::QueuePair;

use crate::bare::Shape;
use crate::{Rig, SHAPE};

/// Queue pairs that exist at a time.
const COUNT: usize = 512;

/// Bytes in use of what this program allocates, in Rust. Neither libmlx5 nor the software device allocate here: the one is C, the
/// other an object with an allocator of its own.
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

/// What `COUNT` things take, each: by this program, and by everybody.
fn taken<T>(make: impl Fn() -> T) -> [f64; 2] {
    // What is kept for the next ones is there.
    drop((0..COUNT).map(|_| make()).collect::<Vec<_>>());
    let mut all = Vec::with_capacity(COUNT);
    let before = [IN_USE.load(Ordering::Relaxed), heap()];
    all.extend((0..COUNT).map(|_| make()));
    let after = [IN_USE.load(Ordering::Relaxed), heap()];
    drop(all);
    [0, 1].map(|at| (after[at] as f64 - before[at] as f64) / COUNT as f64)
}

/// Prints what a queue pair takes, and what it takes more with longer queues.
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
