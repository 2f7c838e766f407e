//! The buffers of a striding queue: which of them are free, and how many frames lie in the others. This module depends
//! on neither CQEs nor rings.
//!
//! ```text
//!   Slab { given_back, users } <─┬─ BufferState { count, next } ── buffer of 2^n bytes
//!                                ├─ BufferState                 ── buffer
//!                                └─ BufferState                 ── buffer
//! ```
//!
//! While a buffer is posted, its count is [`POSTED`] less the frames that were dropped, so no drop takes it to zero.
//! When the device is done with the buffer, the queue replaces `POSTED` by the number of frames that were kept. The
//! frame whose drop takes the count to zero puts the buffer into the list `given_back`: a stack, to which any thread
//! pushes, and of which the queue takes all entries at once. So an entry cannot be popped and pushed again behind the
//! back of a thread that pushes. `tests/striding_model` has schedules of such threads.
use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::queue::striding::strides::Strides;
use crate::types::Lkey;

/// The end of a list of buffers.
const NONE: u32 = u32::MAX;

/// The count of a posted buffer of which no kept frame was dropped. More than the frames of a buffer, of which each has
/// a stride.
const POSTED: u32 = 1 << 31;

const _: () = assert!(POSTED > 1 << Strides::LIMITS.max_log_count);

/// The state of one buffer, on a cache line of its own: frames of neighbouring buffers are dropped by other threads.
#[repr(align(64))]
pub struct BufferState {
    count: AtomicU32,
    /// The next buffer in a list.
    next: AtomicU32,
    index: u32,
    start: NonNull<u8>,
    slab: NonNull<Slab>,
}

impl fmt::Debug for BufferState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferState").field("index", &self.index).field("start", &self.start).finish_non_exhaustive()
    }
}

/// The state that all buffers share.
pub struct Slab {
    /// The buffer that was given back last.
    given_back: AtomicU32,
    /// The [`StridedMemory`], its guards, and buffers in which only frames keep the memory.
    users: AtomicUsize,
    states: NonNull<BufferState>,
    buffers: u32,
    strides: Strides,
    lkey: Lkey,
    release: unsafe fn(NonNull<Slab>),
}

impl fmt::Debug for Slab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab").field("buffers", &self.buffers).field("strides", &self.strides).finish_non_exhaustive()
    }
}

/// Raw parts of a [`StridedMemory`].
#[derive(Clone, Copy, Debug)]
pub struct SlabParts {
    /// Room for the shared state. Its contents do not matter.
    pub slab: NonNull<MaybeUninit<Slab>>,
    /// Room for the state of `buffers` buffers. Its contents do not matter.
    pub states: NonNull<MaybeUninit<BufferState>>,
    /// How many buffers: 1 to 2^31.
    pub buffers: u32,
    /// The first byte of the buffers, which lie behind each other.
    pub start: NonNull<u8>,
    /// The key that the buffers are registered with.
    pub lkey: Lkey,
    /// How each buffer is divided.
    pub strides: Strides,
    /// Called once, with `slab`, when the memory and all its frames are gone: it may free all of the above. The thread
    /// is the one that dropped the last of them.
    pub release: unsafe fn(NonNull<Slab>),
}

/// Registered memory, divided into equal buffers for the WQEs of one striding receive queue.
///
/// The memory lasts as long as this value, any of its [guards](MemoryGuard), or any [`Frame`](super::Frame) in it.
#[derive(Debug)]
pub struct StridedMemory {
    /// The first of the queue's own list of free buffers.
    free: u32,
    guard: MemoryGuard,
}

/// Keeps the memory of a [`StridedMemory`]: its buffers stay valid and registered.
///
/// The object that a queue belongs to has one, because the device may write to posted buffers until the object is
/// destroyed.
pub struct MemoryGuard {
    slab: NonNull<Slab>,
}

// SAFETY: the shared state is atomic or constant, and `SlabParts::release` may be called on any thread.
unsafe impl Send for MemoryGuard {}
// SAFETY: the shared state is atomic or constant, so several threads may use it at once.
unsafe impl Sync for MemoryGuard {}

impl fmt::Debug for MemoryGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slab().fmt(f)
    }
}

impl MemoryGuard {
    #[inline]
    fn slab(&self) -> &Slab {
        // SAFETY: valid until `release`, before which this guard would have to be gone.
        unsafe { self.slab.as_ref() }
    }
}

impl Drop for MemoryGuard {
    fn drop(&mut self) {
        // SAFETY: a guard is a user, and this one is none any more.
        unsafe { leave(self.slab) };
    }
}

impl StridedMemory {
    /// Memory of raw parts. All its buffers are free.
    ///
    /// # Safety
    /// - `slab` and `states` are aligned, writable memory for one [`Slab`] and `buffers` [`BufferState`]s, which no
    ///   other code uses.
    /// - `start` is `buffers` times [`Strides::wqe_bytes`] bytes, registered with `lkey` for the device to write. No
    ///   other code writes them, and no Rust reference to them exists.
    /// - All of this stays valid until `release` is called, which any thread may do. `release` does not panic.
    #[must_use]
    pub unsafe fn from_parts(parts: SlabParts) -> Self {
        let SlabParts { slab, states, buffers, start, lkey, strides, release } = parts;
        let (slab, states) = (slab.cast::<Slab>(), states.cast::<BufferState>());
        for index in 0..buffers {
            // The last buffer is the end of the list of free ones.
            let next = if index + 1 == buffers { NONE } else { index + 1 };
            // SAFETY: the number of one of the buffers.
            unsafe {
                let start = start.add(index as usize * strides.wqe_bytes() as usize);
                let (count, next) = (AtomicU32::new(0), AtomicU32::new(next));
                states.add(index as usize).write(BufferState { count, next, index, start, slab });
            }
        }
        let free = if buffers == 0 { NONE } else { 0 };
        let (given_back, users) = (AtomicU32::new(NONE), AtomicUsize::new(1));
        // SAFETY: the caller promises aligned, writable memory for one slab, which no other code uses.
        unsafe { slab.write(Slab { given_back, users, states, buffers, strides, lkey, release }) };
        Self { free, guard: MemoryGuard { slab } }
    }

    /// One more guard of the memory.
    ///
    /// # Panics
    /// If half of all guards that can be counted exist, which takes as many that were forgotten.
    #[must_use]
    pub fn guard(&self) -> MemoryGuard {
        let users = self.slab().users.fetch_add(1, Ordering::Relaxed);
        if users >= usize::MAX / 2 {
            // A refused guard that counted would let the count wrap, and the memory go.
            self.slab().users.fetch_sub(1, Ordering::Relaxed);
            panic!("{users} guards of one memory");
        }
        MemoryGuard { slab: self.guard.slab }
    }

    /// How many use the memory: this value, guards and frames that were kept.
    #[cfg(all(test, feature = "std"))]
    pub(super) fn users(&self) -> &AtomicUsize {
        &self.slab().users
    }

    /// How each buffer is divided.
    #[inline]
    #[must_use]
    pub fn strides(&self) -> Strides {
        self.slab().strides
    }

    /// How many buffers there are.
    #[must_use]
    pub fn buffers(&self) -> u32 {
        self.slab().buffers
    }

    /// The most completions of a queue that has `receives` of the buffers posted at a time: one of each stride.
    #[must_use]
    pub fn completions(&self, receives: u32) -> u32 {
        receives.min(self.buffers()).saturating_mul(self.strides().count())
    }

    #[inline]
    pub(super) fn lkey(&self) -> Lkey {
        self.slab().lkey
    }

    #[inline]
    fn slab(&self) -> &Slab {
        self.guard.slab()
    }

    /// The state of a buffer.
    ///
    /// # Safety
    /// There are more buffers than `index`.
    #[inline]
    pub(super) unsafe fn state(&self, index: u32) -> NonNull<BufferState> {
        // SAFETY: the caller promises more buffers than `index`, and each has a state.
        unsafe { self.slab().states.add(index as usize) }
    }

    /// Takes a free buffer, if there is one.
    #[inline(always)]
    pub(super) fn take_free(&mut self) -> Option<NonNull<BufferState>> {
        if self.free == NONE {
            self.free = self.take_given_back();
        }
        if self.free == NONE {
            return None;
        }
        // SAFETY: the number of a free buffer.
        let state = unsafe { self.state(self.free) };
        // SAFETY: the state of a buffer of the memory, in the queue's list.
        self.free = unsafe { state.as_ref() }.next.load(Ordering::Relaxed);
        Some(state)
    }

    /// All buffers that were given back: the first one's index. Their `next` link them.
    #[inline(always)]
    fn take_given_back(&self) -> u32 {
        let given_back = &self.slab().given_back;
        if given_back.load(Ordering::Relaxed) == NONE {
            return NONE;
        }
        // All that threads have read from the buffers is read before the device writes there: their drops were before
        // the pushes, and these before this.
        given_back.swap(NONE, Ordering::Acquire)
    }

    /// A buffer is not posted any more, and `kept` of its frames were kept. It is free once all of these are dropped.
    ///
    /// # Safety
    /// The buffer belongs to this memory, and is posted. `kept` counts every frame of it that was kept, dropped or not.
    #[inline(always)]
    pub(super) unsafe fn close(&mut self, state: NonNull<BufferState>, kept: u32) {
        // SAFETY: the state of a buffer of the memory.
        let state = unsafe { state.as_ref() };
        if state.close(kept) {
            state.next.store(self.free, Ordering::Relaxed);
            self.free = state.index;
        }
    }
}

impl BufferState {
    /// Its first byte.
    #[inline]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its number.
    #[inline]
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// It is posted, and has no frames.
    #[inline]
    pub(super) fn post(&self) {
        self.count.store(POSTED, Ordering::Relaxed);
    }

    /// It is not posted any more, and `kept` of its frames were kept. Returns whether all of these are dropped already:
    /// then the buffer is free, and in no list.
    #[inline]
    fn close(&self, kept: u32) -> bool {
        if self.count.load(Ordering::Acquire) == POSTED - kept {
            return true;
        }
        // SAFETY: valid: the queue that calls this has the memory.
        let users = unsafe { &self.slab.as_ref().users };
        // Before the count can reach zero. Its last frame takes this back.
        users.fetch_add(1, Ordering::Relaxed);
        if self.count.fetch_sub(POSTED - kept, Ordering::AcqRel) == POSTED - kept {
            // The last one was dropped since the look above. The queue is another user.
            users.fetch_sub(1, Ordering::Relaxed);
            return true;
        }
        false
    }

    /// A frame in the buffer is gone.
    ///
    /// # Safety
    /// The frame was kept, and counts in [`close`](Self::close). It is not used any more.
    #[inline(always)]
    pub(super) unsafe fn give_back(this: NonNull<Self>) {
        // SAFETY: the frame keeps the memory. All that this thread has read from the buffer is read before.
        if unsafe { this.as_ref() }.count.fetch_sub(1, Ordering::Release) == 1 {
            // SAFETY: no frame is left, and the queue has closed the buffer.
            unsafe { Self::free(this) };
        }
    }

    /// # Safety
    /// The last frame of a closed buffer is gone.
    #[cold]
    #[inline(never)]
    unsafe fn free(this: NonNull<Self>) {
        // SAFETY: the buffer still counts as a user.
        let (state, slab) = unsafe { (this.as_ref(), this.as_ref().slab) };
        // Other threads have read their frames before the buffer is given back: the zero ends the chain of their
        // subtractions, so this load synchronizes with each of them.
        state.count.load(Ordering::Acquire);
        // SAFETY: the buffer still counts as a user, so the slab is there.
        let given_back = unsafe { &slab.as_ref().given_back };
        let mut first = given_back.load(Ordering::Relaxed);
        loop {
            state.next.store(first, Ordering::Relaxed);
            match given_back.compare_exchange_weak(first, state.index, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(other) => first = other,
            }
        }
        // SAFETY: the user that `close` has counted.
        unsafe { leave(slab) };
    }
}

/// A user leaves.
///
/// # Safety
/// It was one, and does not use the memory after this.
unsafe fn leave(slab: NonNull<Slab>) {
    // SAFETY: valid as long as there are users.
    if unsafe { slab.as_ref() }.users.fetch_sub(1, Ordering::Release) == 1 {
        // SAFETY: this is the last user, so the memory stays until `release`; the function is copied out before.
        let release = unsafe {
            // The other users' accesses are done before the memory goes, see `BufferState::free`.
            slab.as_ref().users.load(Ordering::Acquire);
            slab.as_ref().release
        };
        // SAFETY: the last user is gone.
        unsafe { release(slab) };
    }
}
