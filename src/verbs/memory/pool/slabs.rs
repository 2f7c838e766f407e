//! A pool that grows: registered buffers of one size for one thread.

use core::cell::RefCell;
use core::num::NonZeroUsize;
use core::ptr::NonNull;

use crate::queue::owning::{FreeList, PoolBuffer, Slot, SlotPool};
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{Error, in_range};
use crate::verbs::memory::pool::fixed::POOL_ALIGN;
use crate::verbs::pages::map;
use crate::verbs::{Access, Buffer};

/// Registered buffers of one size: handed out, taken back, and made in slabs as they are needed.
///
/// A pool belongs to one thread, so [`take`](Self::take) and giving back are a few instructions with no lock. Make a
/// pool for each thread. A buffer lasts as long as its [value](PoolBuffer), even if the pool is dropped first.
/// [`OwningSendQueue`](crate::queue::OwningSendQueue) keeps that value until the request has completed, so no other
/// request gets the buffer while the device uses it:
///
/// ```no_run
/// use blueflame::queue::OwningSendQueue;
/// use blueflame::verbs::memory::PoolBuffer;
/// use blueflame::verbs::{Access, BufferPool, Owned, OwnedCq, ProtectionDomain, Qp};
/// use blueflame::{Remote, SendQueue, transport, wqe};
///
/// type Sends = OwningSendQueue<Owned<SendQueue<transport::Rc>, Qp>, PoolBuffer>;
///
/// fn send_pages(pd: &ProtectionDomain, sq: &mut Sends, cq: &mut OwnedCq, pages: &[[u8; 4096]], to: Remote)
/// -> Result<(), Box<dyn std::error::Error>> {
///     let pool = BufferPool::new(pd, 4096, Access::LOCAL_READ)?;
///     let (mut place, mut left) = (to, pages.len());
///     for page in pages {
///         let mut buffer = pool.take()?;
///         buffer.write(page);
///         sq.gather(wqe::write(place), buffer, 4096)?;
///         place = place.at(4096);
///         // What has completed goes back to the pool by itself, as it is dropped here.
///         left -= cq.try_poll_with(16, |cqe| sq.complete(&cqe).map(drop))?;
///     }
///     while left > 0 {
///         left -= cq.try_poll_with(16, |cqe| sq.complete(&cqe).map(drop))?;
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct BufferPool {
    pool: SlotPool,
    slabs: NonNull<Slabs>,
    pd: ProtectionDomain,
    access: Access,
    bytes: u32,
    limit: usize,
}

/// The memory of a [`BufferPool`], which the pool and its buffers keep.
// The list is at the address of the whole.
#[repr(C)]
#[derive(Debug)]
struct Slabs {
    list: FreeList,
    made: RefCell<Vec<Slab>>,
}

/// Buffers that were made together. The slots never move: nothing is pushed to the vector.
#[derive(Debug)]
struct Slab {
    slots: Vec<Slot>,
    /// Keeps the memory registered.
    _memory: Buffer,
}

/// Frees what [`BufferPool::new`] has made.
///
/// # Safety
/// The list is one of [`Slabs`], and has no users any more. Called once.
unsafe fn release(list: NonNull<FreeList>) {
    // SAFETY: the list is the first field of a box that `BufferPool::new` has leaked.
    drop(unsafe { Box::from_raw(list.cast::<Slabs>().as_ptr()) });
}

/// Bytes of the first slab, if buffers are not larger: a huge page. Each slab is as large as all before it together.
const FIRST_SLAB_BYTES: usize = 2 << 20;
/// Bytes of the largest slab, if buffers are not larger.
const MOST_SLAB_BYTES: usize = 256 << 20;

impl BufferPool {
    /// A pool of buffers of `bytes` bytes each, at multiples of [`POOL_ALIGN`] bytes. The first ones are made at once,
    /// so that the first [`take`](Self::take) is as fast as any.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for buffers of no bytes, or of more than an entry can name; the errors of registering
    /// memory.
    pub fn new(pd: &ProtectionDomain, bytes: u32, access: Access) -> Result<Self, Error> {
        in_range("bytes of a buffer of a pool", bytes.into(), 1..=crate::wqe::limits::MAX_SGE_BYTES.into())?;
        let slabs = Box::new(Slabs { list: FreeList::new(release), made: RefCell::new(Vec::new()) });
        let slabs = NonNull::from(Box::leak(slabs));
        // SAFETY: a new list, which stays where it is until `release`, and has no other user.
        let pool = unsafe { SlotPool::from_parts(slabs.cast()) };
        let pool = Self { pool, slabs, pd: pd.clone(), access, bytes, limit: usize::MAX };
        pool.grow()?;
        Ok(pool)
    }

    /// Limits the number of buffers. The buffers of the first slab exist in any case.
    #[must_use]
    pub fn limit(self, buffers: NonZeroUsize) -> Self {
        Self { limit: buffers.get(), ..self }
    }

    /// Takes a buffer. If all are taken, makes some more, which takes as long as registering memory does.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] at the [limit](Self::limit); the errors of registering memory. Existing buffers stay as
    /// they are.
    #[inline]
    pub fn take(&self) -> Result<PoolBuffer, Error> {
        match self.pool.take() {
            Some(buffer) => Ok(buffer),
            None => self.take_new(),
        }
    }

    /// Takes a buffer, if there is one. This never makes buffers: use it where no call may take long.
    #[inline]
    #[must_use]
    pub fn take_made(&self) -> Option<PoolBuffer> {
        self.pool.take()
    }

    #[cold]
    #[inline(never)]
    fn take_new(&self) -> Result<PoolBuffer, Error> {
        self.grow()?;
        // There are some now.
        self.pool.take().ok_or(Error::OutOfRange { what: "buffers of a pool", value: 1, min: 0, max: 0 })
    }

    /// Makes a slab.
    fn grow(&self) -> Result<(), Error> {
        // SAFETY: `release` frees it when the pool is gone. No code borrows it for writing.
        let slabs = unsafe { self.slabs.as_ref() };
        let made = self.made();
        in_range("buffers of a pool", made as u64 + 1, 0..=self.limit as u64)?;
        let step = (self.bytes as usize).next_multiple_of(POOL_ALIGN);
        let wanted = (made * step).clamp(FIRST_SLAB_BYTES, MOST_SLAB_BYTES).max(step);
        let count = (wanted / step).min(self.limit - made);
        let (memory, _) = map(count * step)?;
        let memory = self.pd.register(memory, self.access)?;
        let (lkey, rkey) = (memory.lkey(), memory.rkey());
        let slot = |n| {
            // SAFETY: the buffer has `count * step` bytes.
            let start = unsafe { memory.as_ptr().add(n * step) };
            Slot::new(self.slabs.cast(), start, self.bytes, lkey, rkey)
        };
        let mut slots: Vec<_> = (0..count).map(slot).collect();
        let first = slots.as_mut_ptr();
        slabs.made.borrow_mut().push(Slab { slots, _memory: memory });
        for n in (0..count).rev() {
            // SAFETY: slots of the slab, which stays where it is, as does its memory, until `release`; each is added
            // once.
            unsafe { self.pool.add(NonNull::new_unchecked(first.add(n))) };
        }
        Ok(())
    }

    /// The number of buffers, taken or not.
    #[must_use]
    pub fn made(&self) -> usize {
        // SAFETY: as in `grow`.
        let slabs = unsafe { self.slabs.as_ref() };
        slabs.made.borrow().iter().map(|slab| slab.slots.len()).sum()
    }

    /// Buffers that are taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.pool.taken()
    }

    /// Bytes of each buffer.
    #[must_use]
    pub fn buffer_bytes(&self) -> u32 {
        self.bytes
    }
}
