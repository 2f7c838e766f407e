//! Registered buffers of one size that are taken from a free list and go back to it by themselves: for one thread, with
//! no lock.
//!
//! ```text
//!   FreeList { first, users } <── home ── slot   slot   slot      each in a slab of memory that the list's home keeps
//!       │                                  ▲ next  ▲       │
//!       └──────────────────────────────────┘       └───────┘
//! ```
//!
//! Knows no registration: `verbs::BufferPool` makes slabs. You may make slabs of your own registered memory.
use core::cell::Cell;
use core::fmt;
use core::num::NonZeroU64;
use core::ptr::NonNull;

use crate::queue::buffer::DeviceBuffer;
use crate::shared_copy::{copy_in, copy_out};
use crate::types::{Lkey, Rkey};
use crate::wqe::{Remote, Sge};

/// A pool's free buffers, and how many users it has: the pool itself, and each buffer that it has handed out.
pub struct FreeList {
    first: Cell<Option<NonNull<Slot>>>,
    users: Cell<usize>,
    release: unsafe fn(NonNull<FreeList>),
}

impl fmt::Debug for FreeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeList").field("users", &self.users.get()).finish_non_exhaustive()
    }
}

impl FreeList {
    /// No slots, and no user. `release` is called once, when the pool and all its buffers are gone. It may free the
    /// list, its slots and their memory.
    #[must_use]
    pub const fn new(release: unsafe fn(NonNull<Self>)) -> Self {
        Self { first: Cell::new(None), users: Cell::new(0), release }
    }
}

/// One buffer: its memory, and its place in the free list.
pub struct Slot {
    next: Cell<Option<NonNull<Slot>>>,
    home: NonNull<FreeList>,
    start: NonNull<u8>,
    len: u32,
    lkey: Lkey,
    rkey: Rkey,
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("start", &self.start).field("len", &self.len).finish_non_exhaustive()
    }
}

impl Slot {
    /// A buffer of `len` bytes at `start`, registered with these keys, of the pool `home`.
    #[must_use]
    pub const fn new(home: NonNull<FreeList>, start: NonNull<u8>, len: u32, lkey: Lkey, rkey: Rkey) -> Self {
        Self { next: Cell::new(None), home, start, len, lkey, rkey }
    }
}

/// A pool of one thread: takes the buffer that was given back last, so the one that is most likely in the CPU's caches.
///
/// It does not grow by itself: `verbs::BufferPool` does.
pub struct SlotPool {
    // A pointer, so that neither the pool nor its buffers may go to another thread.
    list: NonNull<FreeList>,
}

impl fmt::Debug for SlotPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotPool").field("taken", &self.taken()).finish_non_exhaustive()
    }
}

impl SlotPool {
    /// The pool of `list`.
    ///
    /// # Safety
    /// The list has no user, and stays where it is until it is [released](FreeList::new). It is used by this pool and
    /// its buffers alone. Its release function may be called then.
    #[must_use]
    pub unsafe fn from_parts(list: NonNull<FreeList>) -> Self {
        let pool = Self { list };
        pool.list().users.set(1);
        pool
    }

    #[inline(always)]
    fn list(&self) -> &FreeList {
        // SAFETY: `from_parts`' caller vouches for it as long as it has users, and the pool is one. All its fields are
        // cells.
        unsafe { self.list.as_ref() }
    }

    /// Puts a slot into the pool.
    ///
    /// # Safety
    /// The slot belongs to this pool (its `home`) and is in it only once. Slot and memory stay valid until
    /// the list is [released](FreeList::new), the memory registered and nobody else's.
    pub unsafe fn add(&self, slot: NonNull<Slot>) {
        // SAFETY: the caller promises that the slot stays valid until the list is released.
        unsafe { slot.as_ref() }.next.set(self.list().first.replace(Some(slot)));
    }

    /// Takes a buffer; `None` if all are taken. It goes back when it is dropped.
    #[inline]
    #[must_use]
    pub fn take(&self) -> Option<PoolBuffer> {
        let list = self.list();
        let slot = list.first.get()?;
        // SAFETY: a slot of the list, which `add`'s caller vouches for.
        list.first.set(unsafe { slot.as_ref() }.next.get());
        // There are fewer slots than bytes of memory.
        list.users.set(list.users.get().wrapping_add(1));
        Some(PoolBuffer { slot })
    }

    /// Buffers that are taken.
    #[inline]
    #[must_use]
    pub fn taken(&self) -> usize {
        self.list().users.get().wrapping_sub(1)
    }
}

impl Drop for SlotPool {
    fn drop(&mut self) {
        // SAFETY: the pool is a user, and is none any more.
        unsafe { leave(self.list) };
    }
}

/// A user leaves.
///
/// # Safety
/// It was one, and does not use the list after this.
#[inline(always)]
unsafe fn leave(list: NonNull<FreeList>) {
    // SAFETY: valid as long as there are users.
    let users = unsafe { &list.as_ref().users };
    let left = users.get().wrapping_sub(1);
    users.set(left);
    if left == 0 {
        // SAFETY: the last one.
        unsafe { release(list) };
    }
}

/// # Safety
/// Nobody uses the list any more.
#[cold]
#[inline(never)]
unsafe fn release(list: NonNull<FreeList>) {
    // SAFETY: the caller promises that nobody uses the list any more; `from_parts`' caller allows the release then.
    unsafe { (list.as_ref().release)(list) }
}

/// A registered buffer of a pool. Dropping it gives it back to the pool. Its memory lasts as long as the buffer, even
/// after the pool is gone.
///
/// [`OwningSendQueue`](crate::queue::OwningSendQueue) and its like keep it until its request has completed: then
/// posting is safe, and the buffer cannot be taken again while the device uses it.
///
/// A pool and its buffers stay on one thread:
///
/// ```compile_fail,E0277
/// fn send(buffer: blueflame::queue::owning::PoolBuffer) {
///     fn to_a_thread<T: Send>(_: T) {}
///     to_a_thread(buffer);
/// }
/// ```
// A pointer to a slot: as large as a `wr_id`, and never zero.
pub struct PoolBuffer {
    slot: NonNull<Slot>,
}

impl fmt::Debug for PoolBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolBuffer")
            .field("addr", &format_args!("{:#x}", self.addr()))
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

impl Drop for PoolBuffer {
    #[inline]
    fn drop(&mut self) {
        let slot = self.slot();
        let home = slot.home;
        // SAFETY: the list is valid: this buffer is one of its users.
        slot.next.set(unsafe { home.as_ref() }.first.replace(Some(self.slot)));
        // SAFETY: this buffer is one of the list's users, and this was its last use.
        unsafe { leave(home) };
    }
}

impl PoolBuffer {
    #[inline(always)]
    fn slot(&self) -> &Slot {
        // SAFETY: valid until the pool's memory is released, for which this buffer would have to be gone.
        unsafe { self.slot.as_ref() }
    }

    /// Address of the first byte.
    #[inline]
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.slot().start.as_ptr().addr() as u64
    }

    /// Bytes it has room for.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.slot().len
    }

    /// The buffer as a place for the peer's requests.
    #[inline]
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote { addr: self.addr(), rkey: self.slot().rkey }
    }

    /// The first `bytes` bytes, or all if there are fewer, as a scatter/gather entry.
    #[inline]
    #[must_use]
    pub fn sge_of(&self, bytes: u32) -> Sge {
        Sge { addr: self.addr(), length: bytes.min(self.capacity()), lkey: self.slot().lkey }
    }

    /// Copies `data` to its beginning: as much as there is room for. Returns how much.
    #[inline]
    pub fn write(&mut self, data: &[u8]) -> usize {
        let bytes = data.len().min(self.capacity() as usize);
        let data = data.get(..bytes).unwrap_or_default();
        // SAFETY: that many bytes of memory that nobody else has, and to which no reference exists.
        unsafe { copy_in(data, self.slot().start.as_ptr()) };
        bytes
    }

    /// Copies from its beginning into `out`: as much as there is. Returns how much.
    #[inline]
    pub fn read(&self, out: &mut [u8]) -> usize {
        let bytes = out.len().min(self.capacity() as usize);
        let out = out.get_mut(..bytes).unwrap_or_default();
        // SAFETY: as in `write`.
        unsafe { copy_out(self.slot().start.as_ptr(), out) };
        bytes
    }

    /// The first byte, for callers that know that nothing is in flight to the buffer.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.slot().start
    }
}

// SAFETY: the memory stays registered and this buffer's alone until it is dropped; an identifier that is not turned
// back keeps it for good.
unsafe impl DeviceBuffer for PoolBuffer {
    #[inline]
    fn sge(&self) -> Sge {
        self.sge_of(u32::MAX)
    }

    #[inline]
    fn into_wr_id(self) -> NonZeroU64 {
        let address = self.slot.as_ptr().expose_provenance() as u64;
        core::mem::forget(self);
        // SAFETY: an address of a value is not zero.
        unsafe { NonZeroU64::new_unchecked(address) }
    }

    #[inline]
    unsafe fn from_wr_id(wr_id: NonZeroU64) -> Self {
        let address = core::ptr::with_exposed_provenance_mut(wr_id.get() as usize);
        // SAFETY: the address of a slot, which is not zero, of a buffer that `into_wr_id` has forgotten.
        Self { slot: unsafe { NonNull::new_unchecked(address) } }
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::rc::Rc;
    use std::vec::Vec;

    use super::*;

    /// A pool with all that it needs.
    #[repr(C)]
    struct Rack {
        list: FreeList,
        slots: Vec<Slot>,
        memory: Box<[[u8; 64]]>,
        _alive: Rc<()>,
    }

    /// # Safety
    /// The list belongs to a rack that nobody uses any more.
    unsafe fn release_rack(list: NonNull<FreeList>) {
        // SAFETY: the list is the first field of the box that `rack` has leaked.
        drop(unsafe { Box::from_raw(list.cast::<Rack>().as_ptr()) });
    }

    fn rack(count: usize) -> (SlotPool, std::rc::Weak<()>) {
        let alive = Rc::new(());
        let weak = Rc::downgrade(&alive);
        let memory = (0..count).map(|_| [0; 64]).collect();
        let list = FreeList::new(release_rack);
        let rack = Box::leak(Box::new(Rack { list, slots: Vec::new(), memory, _alive: alive }));
        let rack = NonNull::from(rack);
        // SAFETY: the slots are made once and never move; memory and list stay until `release`.
        unsafe {
            let memory = (*rack.as_ptr()).memory.as_mut_ptr();
            let slot = |n| {
                let start = NonNull::new_unchecked(memory.add(n).cast());
                Slot::new(rack.cast(), start, 64, Lkey(5), Rkey(6))
            };
            (*rack.as_ptr()).slots = (0..count).map(slot).collect();
            let slots = (*rack.as_ptr()).slots.as_mut_ptr();
            let pool = SlotPool::from_parts(rack.cast());
            for n in (0..count).rev() {
                pool.add(NonNull::new_unchecked(slots.add(n)));
            }
            (pool, weak)
        }
    }

    #[test]
    fn the_last_one_given_back_is_taken_first() {
        let (pool, _) = rack(3);
        let [a, b, c] = [(); 3].map(|()| pool.take().expect("three"));
        assert!(pool.take().is_none() && pool.taken() == 3);
        let (at_a, at_b) = (a.addr(), b.addr());
        assert_eq!((at_b - at_a, c.addr() - at_b), (64, 64));
        drop(a);
        drop(b);
        assert_eq!(pool.taken(), 1);
        let again = [(); 2].map(|()| pool.take().expect("two"));
        assert_eq!(again.each_ref().map(PoolBuffer::addr), [at_b, at_a]);
    }

    #[test]
    fn memory_outlives_the_pool_for_its_buffers() {
        let (pool, alive) = rack(2);
        let (mut first, second) = (pool.take().expect("two"), pool.take().expect("two"));
        drop(pool);
        assert_eq!(first.write(&[7; 100]), 64, "as much as there is room for");
        let wr_id = first.into_wr_id();
        drop(second);
        assert!(alive.upgrade().is_some());
        // SAFETY: of a buffer, used once.
        let first = unsafe { PoolBuffer::from_wr_id(wr_id) };
        let mut bytes = [0; 80];
        assert_eq!((first.read(&mut bytes), bytes[63], bytes[64]), (64, 7, 0));
        assert_eq!(first.sge(), Sge { addr: first.addr(), length: 64, lkey: Lkey(5) });
        assert_eq!((first.sge_of(9).length, first.remote().rkey), (9, Rkey(6)));
        drop(first);
        assert!(alive.upgrade().is_none(), "the last one has released all");
        let (pool, alive) = rack(0);
        assert!(pool.take().is_none());
        drop(pool);
        assert!(alive.upgrade().is_none());
    }

    proptest::proptest! {
        /// No buffer is handed out twice, for any order of returns.
        #[test]
        fn buffers_are_handed_out_once(steps in proptest::collection::vec((0_usize..3, 0_usize..20), 1..200)) {
            let (pool, alive) = rack(16);
            let mut held = Vec::new();
            for (step, which) in steps {
                if step > 0 {
                    let taken = pool.take();
                    proptest::prop_assert_eq!(taken.is_none(), held.len() == 16);
                    held.extend(taken);
                } else if !held.is_empty() {
                    drop(held.swap_remove(which % held.len()));
                }
                let mut addresses: Vec<_> = held.iter().map(PoolBuffer::addr).collect();
                addresses.sort_unstable();
                addresses.dedup();
                proptest::prop_assert_eq!((addresses.len(), pool.taken()), (held.len(), held.len()));
            }
            drop(pool);
            proptest::prop_assert_eq!(alive.upgrade().is_some(), !held.is_empty());
            drop(held);
            proptest::prop_assert!(alive.upgrade().is_none());
        }
    }
}
