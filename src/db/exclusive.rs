use core::marker::PhantomData;

use super::parts::{Halves, RegisterError, RegisterParts};
use super::register::{Half, Register};
use super::sealed::Sealed;
use crate::arch;
use crate::arch::copy::{BlockCopy, Usual};

/// Whether a doorbell ends with a flush of the CPU's write-combining buffers: [`TwoFences`] or [`OneFence`].
pub trait FlushMode: Sealed + 'static {
    /// Whether [`arch::mmio_flush_writes`] follows the store.
    const FLUSH: bool;
}

/// Barrier, store, flush: rdma-core's order (`providers/mlx5/qp.c`, `post_send_db`), and the default.
#[derive(Clone, Copy, Debug)]
pub struct TwoFences;

/// Barrier, store: the flush is left to the next doorbell's barrier.
///
/// Why that is in order: rdma-core flushes so that two CPUs that take turns on one register cannot have their doorbells
/// overtake each other in write-combining buffers. An exclusive register has one writer at a time, and a half is stored
/// to again only two doorbells later, with at least one [`arch::mmio_wc_start`] of the same CPU between; that barrier
/// drains the buffers on x86 (`sfence`) and waits for the store on Arm (`dsb st`). A queue that moves to another
/// thread moves by a synchronising operation of the application, which is no such barrier: call
/// [`ExclusiveRegister::flush`] (or the queue's `flush`) before.
///
/// What it gives up: nothing bounds how long the *last* doorbell may stay in the CPU. A BlueFlame copy of 64 bytes
/// fills a buffer, and CPUs send full buffers at once; an 8-byte doorbell does not fill one. So this mode is for queues
/// that post without pause, or that call [`ExclusiveRegister::flush`] before they go idle. No figure of this project
/// was taken on write-combining memory of a device.
#[derive(Clone, Copy, Debug)]
pub struct OneFence;

impl Sealed for TwoFences {}
impl Sealed for OneFence {}
impl FlushMode for TwoFences {
    const FLUSH: bool = true;
}
impl FlushMode for OneFence {
    const FLUSH: bool = false;
}

/// A register that one queue (or several queues of one owner, in turn) rings, with no lock.
///
/// It can move to another thread and cannot be shared:
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
pub struct ExclusiveRegister<F: FlushMode = TwoFences, C: BlockCopy = Usual> {
    pub(super) halves: Halves,
    copy: C,
    mode: PhantomData<F>,
}

// SAFETY: the register is device memory with no tie to a thread. It is not `Sync`: ringing takes `&mut self`, and the
// constructor's caller vouches that nothing else stores to the register.
unsafe impl<F: FlushMode, C: BlockCopy> Send for ExclusiveRegister<F, C> {}

impl ExclusiveRegister {
    /// Takes the register over, in rdma-core's order of barriers, copying by the [`Usual`] routine.
    ///
    /// # Errors
    /// Parts whose size or alignment cannot be.
    ///
    /// # Safety
    /// `parts.reg` must be valid for stores at `0..max(8, 2 * size)`, as long as the value is used, and nothing
    /// else may store there: the queue pair has its own thread domain or UAR, and no other value was made of the same
    /// register.
    pub unsafe fn from_parts(parts: RegisterParts) -> Result<Self, RegisterError> {
        Ok(Self::new(Halves::new(parts)?, Usual::default()))
    }
}

impl<F: FlushMode, C: BlockCopy> ExclusiveRegister<F, C> {
    #[inline]
    pub(super) const fn new(halves: Halves, copy: C) -> Self {
        Self { halves, copy, mode: PhantomData }
    }

    /// The same register in another flush mode.
    #[must_use]
    pub fn with_mode<M: FlushMode>(self) -> ExclusiveRegister<M, C> {
        // What the old mode may have left in the CPU's buffers must not wait for the new one.
        arch::mmio_flush_writes();
        ExclusiveRegister::new(self.halves, self.copy)
    }

    /// The same register with another [copy routine](crate::arch::copy).
    #[must_use]
    pub fn with_copy<D: BlockCopy>(self, copy: D) -> ExclusiveRegister<F, D> {
        ExclusiveRegister::new(self.halves, copy)
    }

    /// Sends doorbells that may still be in the CPU's write-combining buffers to the device. Must run on the CPU that
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
    fn ring(&mut self, store: impl FnOnce(Half<'_, C>)) {
        arch::mmio_wc_start();
        store(Half::new(self.halves.due(), self.copy));
        if F::FLUSH {
            arch::mmio_flush_writes();
        }
        // After the flush, as rdma-core does, so that the doorbell does not wait for this.
        self.halves.alternate();
    }
}
