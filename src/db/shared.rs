use core::cell::UnsafeCell;
use core::hint;
use core::sync::atomic::{AtomicBool, Ordering};

use super::register::{Half, Halves, Register, RegisterParts, Stored};
use crate::arch;
use crate::arch::copy::{BlockCopy, DefaultSharedCopy};
use crate::sealed::Sealed;
use crate::setup::SetupError;

/// A register that several queues ring, with a spin lock around each doorbell.
///
/// Every queue on the register must use the same value: by reference, or by `Arc` with feature `std`. Ringing spins
/// while another thread rings. The lock is held for one doorbell and its flush. A queue does nothing else in between,
/// so it cannot fail or block there. Do not ring it in a signal handler: if the signal interrupts a doorbell of the
/// same thread, the handler spins forever.
#[derive(Debug)]
pub struct SharedRegister<C: BlockCopy = DefaultSharedCopy> {
    locked: AtomicBool,
    halves: UnsafeCell<Halves>,
    /// Bytes in one half. It never changes, so reading it needs no lock.
    size: usize,
    copy: C,
}

// SAFETY: the register is device memory with no tie to a thread, see `Sync`.
unsafe impl<C: BlockCopy> Send for SharedRegister<C> {}
// SAFETY: `halves` and the register behind it are reached only in `ring_locked`, by the one thread that holds the lock.
unsafe impl<C: BlockCopy> Sync for SharedRegister<C> {}

impl SharedRegister {
    /// Takes the register over for all its users, copying by [`DefaultSharedCopy`].
    ///
    /// # Errors
    /// The size or the alignment is invalid.
    ///
    /// # Safety
    /// `parts.reg` must be valid for stores at `0..max(8, 2 * size)`, as long as the value is used, with no reference
    /// to it. Nothing but this value may store there. If `size` is zero, others may, as for
    /// [`ExclusiveRegister::from_parts`](super::ExclusiveRegister::from_parts).
    pub unsafe fn from_parts(parts: RegisterParts) -> Result<Self, SetupError> {
        let halves = Halves::new(parts)?;
        let size = halves.size();
        Ok(Self {
            locked: AtomicBool::new(false),
            halves: UnsafeCell::new(halves),
            size,
            copy: DefaultSharedCopy::default(),
        })
    }
}

impl<C: BlockCopy> SharedRegister<C> {
    /// Gives the register another [copy routine](crate::arch::copy), before it is shared.
    #[must_use]
    pub fn with_copy<D: BlockCopy>(self, copy: D) -> SharedRegister<D> {
        SharedRegister { locked: self.locked, halves: self.halves, size: self.size, copy }
    }

    #[inline]
    fn ring_locked(&self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            while self.locked.load(Ordering::Relaxed) {
                hint::spin_loop();
            }
        }
        // On drop: if `store` panics (this crate's never does), the others can go on.
        let _unlock = Unlock(&self.locked);
        arch::mmio_wc_start();
        // SAFETY: the lock is held, so no other thread has a reference to the halves, and `store` has none to give.
        let halves = unsafe { &mut *self.halves.get() };
        let _ = store(Half::new(halves.due(), self.copy));
        // Inside the lock: otherwise the next thread's doorbell could overtake this one in the CPUs' write-combining
        // buffers (rdma-core `providers/mlx5/qp.c`, `post_send_db`).
        arch::mmio_flush_writes();
        halves.alternate();
    }
}

struct Unlock<'a>(&'a AtomicBool);

impl Drop for Unlock<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<C: BlockCopy> Sealed for &SharedRegister<C> {}
impl<C: BlockCopy> Register for &SharedRegister<C> {
    type Copy = C;

    #[inline]
    fn size(&self) -> usize {
        self.size
    }

    #[inline]
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        self.ring_locked(store);
    }
}

#[cfg(feature = "std")]
impl<C: BlockCopy> Sealed for std::sync::Arc<SharedRegister<C>> {}
#[cfg(feature = "std")]
impl<C: BlockCopy> Register for std::sync::Arc<SharedRegister<C>> {
    type Copy = C;

    #[inline]
    fn size(&self) -> usize {
        self.size
    }

    #[inline]
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        self.ring_locked(store);
    }
}
