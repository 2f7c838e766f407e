use core::marker::PhantomData;
use core::ptr::NonNull;

use super::mode::{FlushMode, TwoFences};
use super::register::{Half, Halves, Register, RegisterParts, Stored};
use crate::arch;
use crate::arch::copy::{BlockCopy, CopyRoutine, DefaultCopy};
use crate::sealed::Sealed;
use crate::setup::SetupError;

/// A register that one queue (or several queues of one owner, in turn) rings, with no lock.
///
/// It may move to another thread; two threads cannot share it:
///
/// ```
/// fn send<T: Send>() {}
/// send::<blueflame::db::ExclusiveRegister>();
/// ```
/// ```compile_fail,E0277
/// fn sync<T: Sync>() {}
/// sync::<blueflame::db::ExclusiveRegister>();
/// ```
#[derive(Debug)]
pub struct ExclusiveRegister<F: FlushMode = TwoFences, C: BlockCopy = DefaultCopy> {
    halves: Halves,
    copy: C,
    mode: PhantomData<F>,
}

// SAFETY: the register is device memory with no tie to a thread. It is not `Sync`: ringing takes `&mut self`, and the
// constructor's caller vouches that nothing else stores to the register.
unsafe impl<F: FlushMode, C: BlockCopy> Send for ExclusiveRegister<F, C> {}

impl ExclusiveRegister {
    /// Takes the register over, in rdma-core's order of barriers, copying by the [`DefaultCopy`] routine.
    ///
    /// # Errors
    /// The size or the alignment is invalid.
    ///
    /// # Safety
    /// `parts.reg` must be valid for stores at `0..max(8, 2 * size)`, as long as the value is used, with no reference
    /// to it. Nothing else may store there: the queue pair has its own thread domain or UAR, and no other value was
    /// made of the same register. If `size` is zero, others may store doorbells there. On a 64-bit CPU these may be
    /// any doorbells, because each is one store. On a 32-bit CPU they may be those of this crate only
    /// ([`arch::mmio_write64`] has the lock).
    pub unsafe fn from_parts(parts: RegisterParts) -> Result<Self, SetupError> {
        Ok(Self::new(Halves::new(parts)?, DefaultCopy::default()))
    }
}

impl<F: FlushMode, C: BlockCopy> ExclusiveRegister<F, C> {
    #[inline]
    const fn new(halves: Halves, copy: C) -> Self {
        Self { halves, copy, mode: PhantomData }
    }

    /// Changes the flush mode.
    #[must_use]
    pub fn with_mode<M: FlushMode>(self) -> ExclusiveRegister<M, C> {
        // The new mode may never flush doorbells that the old one has left in the CPU's buffers.
        arch::mmio_flush_writes();
        ExclusiveRegister::new(self.halves, self.copy)
    }

    /// Changes the [copy routine](crate::arch::copy).
    #[must_use]
    pub fn with_copy<D: BlockCopy>(self, copy: D) -> ExclusiveRegister<F, D> {
        ExclusiveRegister::new(self.halves, copy)
    }

    /// A register over ordinary memory, with the same halves. It has no BlueFlame if the copy routine stores to devices
    /// alone.
    ///
    /// # Safety
    /// As for [`from_parts`](ExclusiveRegister::from_parts): `page` is aligned to 4096 bytes, and as many are valid for
    /// stores.
    pub(crate) unsafe fn elsewhere(&self, page: NonNull<u8>) -> Self {
        let halves = self.halves.at(page);
        let reaches_memory = const { !matches!(C::ROUTINE, CopyRoutine::St64b) };
        Self::new(if reaches_memory { halves } else { halves.without_blueflame() }, self.copy)
    }

    /// Sends doorbells that may still be in the CPU's write-combining buffers to the device. Call it on the CPU that
    /// rang.
    #[inline]
    pub fn flush(&mut self) {
        arch::mmio_flush_writes();
    }
}

impl<F: FlushMode, C: BlockCopy> Sealed for ExclusiveRegister<F, C> {}
impl<F: FlushMode, C: BlockCopy> Register for ExclusiveRegister<F, C> {
    type Copy = C;

    #[inline]
    fn size(&self) -> usize {
        self.halves.size()
    }

    #[inline(always)]
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        arch::mmio_wc_start();
        store(Half::new(self.halves.due(), self.copy)).then::<F>();
        // After the flush, as rdma-core does, so that the doorbell does not wait for this.
        self.halves.alternate();
    }
}
