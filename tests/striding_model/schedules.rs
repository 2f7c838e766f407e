//! The schedules: a queue that posts buffers again, and threads that drop its frames. Schedules belong here, atomics in
//! `sync.rs`.

use std::cell::Cell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use loom::cell::UnsafeCell;
use loom::thread;

use super::memory::{BufferState, Slab, SlabParts, StridedMemory};
use super::strides::Strides;
use crate::sync::atomic::Ordering;
use crate::sync::{Weakened, made, others_may_run, weaken};
use crate::types::Lkey;

const BUFFERS: usize = 2;

/// The bytes of the buffers: never touched. [`Touched`] stands for them.
static BYTES: [u8; BUFFERS << 14] = [0; BUFFERS << 14];

thread_local! {
    /// Which buffers' bytes are checked when the memory is released. (The model's threads are one of the system's.)
    static BEHIND: Cell<Option<&'static Bytes>> = const { Cell::new(None) };
    static RELEASED: Cell<usize> = const { Cell::new(0) };
}

/// Each buffer's bytes: loom sees a write that is not ordered after each read.
struct Bytes([UnsafeCell<()>; BUFFERS]);

impl Bytes {
    /// A thread reads its frame.
    fn read(&self, index: u32) {
        self.0[index as usize].with(|_| ());
    }

    /// The device writes, because the buffer is posted; or the memory is freed.
    fn write(&self, index: u32) {
        self.0[index as usize].with_mut(|_| ());
    }
}

/// Frees what [`Queue::new`] made.
unsafe fn release(slab: NonNull<Slab>) {
    RELEASED.set(RELEASED.get() + 1);
    let bytes = BEHIND.take().expect("released once");
    (0..BUFFERS as u32).for_each(|index| bytes.write(index));
    // SAFETY: leaked in `Queue::new`; this is called once.
    drop(unsafe { Box::from_raw(slab.cast::<MaybeUninit<Slab>>().as_ptr()) });
}

/// The queue's side. It has no destructor that runs while a failed schedule is taken apart.
struct Queue {
    memory: ManuallyDrop<StridedMemory>,
    bytes: &'static Bytes,
}

/// A kept frame in a buffer.
struct Kept {
    state: NonNull<BufferState>,
    bytes: &'static Bytes,
}

// SAFETY: as that of the crate's frames.
unsafe impl Send for Kept {}

impl Kept {
    /// Reads the frame, and drops it.
    fn end(self) {
        // SAFETY: the frame keeps the memory.
        let index = unsafe { self.state.as_ref() }.index();
        self.bytes.read(index);
        // SAFETY: kept, and dropped once.
        unsafe { BufferState::give_back(self.state) };
        others_may_run();
    }
}

impl Queue {
    fn new() -> Self {
        let bytes: &'static Bytes = Box::leak(Box::new(Bytes(std::array::from_fn(|_| UnsafeCell::new(())))));
        BEHIND.set(Some(bytes));
        RELEASED.set(0);
        let states = Box::leak(Box::new([const { MaybeUninit::<BufferState>::uninit() }; BUFFERS]));
        let parts = SlabParts {
            slab: NonNull::from(Box::leak(Box::new(MaybeUninit::uninit()))),
            states: NonNull::from(states).cast(),
            buffers: BUFFERS as u32,
            start: NonNull::from(&BYTES).cast(),
            lkey: Lkey(1),
            strides: Strides::new(8, 6).expect("possible"),
            release,
        };
        // SAFETY: made for it, and never freed before `release`; no code looks at the bytes.
        Self { memory: ManuallyDrop::new(unsafe { StridedMemory::from_parts(parts) }), bytes }
    }

    /// Posts a free buffer, if there is one: the device writes there.
    fn post(&mut self) -> Option<NonNull<BufferState>> {
        others_may_run();
        let state = self.memory.take_free()?;
        // SAFETY: the state of a buffer of the memory.
        let posted = unsafe { state.as_ref() };
        posted.post();
        self.bytes.write(posted.index());
        Some(state)
    }

    /// A frame of a posted buffer, kept.
    fn keep(&self, state: NonNull<BufferState>) -> Kept {
        Kept { state, bytes: self.bytes }
    }

    fn close(&mut self, state: NonNull<BufferState>, kept: u32) {
        // SAFETY: posted, with so many frames kept.
        unsafe { self.memory.close(state, kept) };
    }

    /// The queue is gone.
    fn end(self) {
        drop(ManuallyDrop::into_inner(self.memory));
    }

    /// Each buffer is free, once.
    fn has_all(mut self) {
        let mut posted: Vec<u32> = Vec::new();
        while let Some(state) = self.post() {
            // SAFETY: as in `post`.
            posted.push(unsafe { state.as_ref() }.index());
            assert!(posted.len() <= BUFFERS, "{posted:?}");
        }
        posted.sort_unstable();
        assert_eq!(posted, [0, 1]);
        assert_eq!(RELEASED.get(), 0);
        self.end();
        assert_eq!(RELEASED.get(), 1);
    }
}

/// Two threads drop the frames of one buffer while the queue closes it and posts it again.
fn frames_of_one_buffer() {
    let mut queue = Queue::new();
    let first = queue.post().expect("free");
    let threads = [(); 2].map(|()| {
        let frame = queue.keep(first);
        thread::spawn(move || frame.end())
    });
    queue.close(first, 2);
    // The other buffer, and the first one if it is free already.
    let (second, again) = (queue.post().expect("free"), queue.post());
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    queue.close(second, 0);
    if let Some(again) = again {
        queue.close(again, 0);
    }
    queue.has_all();
}

/// Two threads give back a buffer each. The queue takes them as they come, and gives back one of them again.
fn buffers_given_back() {
    let mut queue = Queue::new();
    let threads = [(); BUFFERS].map(|()| {
        let state = queue.post().expect("free");
        let frame = queue.keep(state);
        queue.close(state, 1);
        thread::spawn(move || frame.end())
    });
    if let Some(state) = queue.post() {
        let frame = queue.keep(state);
        queue.close(state, 1);
        frame.end();
    }
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    queue.has_all();
}

/// Frames outlive the queue: one of a buffer that is closed, one of the open one.
fn memory_released() {
    let mut queue = Queue::new();
    let (closed, open) = (queue.post().expect("free"), queue.post().expect("free"));
    let frames = [queue.keep(closed), queue.keep(open)];
    queue.close(closed, 1);
    let threads = frames.map(|frame| thread::spawn(move || frame.end()));
    queue.bytes.read(1);
    queue.close(open, 1);
    queue.end();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    assert_eq!(RELEASED.get(), 1);
}

fn every_schedule(of: fn()) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(of);
}

#[test]
fn a_buffer_is_posted_again_after_its_frames_were_read() {
    every_schedule(frames_of_one_buffer);
}

#[test]
fn buffers_given_back_by_threads_are_neither_lost_nor_doubled() {
    every_schedule(buffers_given_back);
}

#[test]
fn memory_is_released_once_after_its_last_use() {
    every_schedule(memory_released);
}

/// A schedule breaks a rule if an access has this ordering.
fn breaks(function: &'static str, operation: &'static str, ordering: Ordering) {
    let access = Weakened { function, operation, ordering };
    let broken = [frames_of_one_buffer, buffers_given_back, memory_released].into_iter().any(|schedules| {
        weaken(Some(access));
        let broken = catch_unwind(AssertUnwindSafe(|| every_schedule(schedules))).is_err();
        assert!(!broken || made() > 0, "{access:?} was not made");
        broken
    });
    assert!(broken, "{access:?}, made {} times, breaks no rule", made());
    weaken(None);
}

/// Negative controls.
macro_rules! controls {
    ($($name:ident: $function:literal $operation:literal $ordering:ident;)*) => {$(
        #[test]
        fn $name() {
            breaks($function, $operation, Ordering::$ordering);
        }
    )*};
}

controls! {
    the_look_of_a_close_acquires: "close" "load" Relaxed;
    the_subtraction_of_a_close_acquires: "close" "fetch_sub" Release;
    a_dropped_frame_releases: "give_back" "fetch_sub" Relaxed;
    the_last_frame_acquires: "free" "load" Relaxed;
    a_push_releases: "free" "compare_exchange_weak" Relaxed;
    taking_the_list_acquires: "take_given_back" "swap" Relaxed;
    a_user_that_leaves_releases: "leave" "fetch_sub" Relaxed;
    the_last_user_acquires: "leave" "load" Relaxed;
}
