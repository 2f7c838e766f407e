use core::cell::Cell;
use core::marker::PhantomData;

use super::exclusive::{FlushMode, TwoFences};
use super::parts::{Halves, RegisterError, RegisterParts};
use super::register::{Half, Register};
use super::sealed::Sealed;
use crate::arch;

/// A register that many queues of one thread ring in turn, with no lock.
///
/// Every queue on the register uses the same value, by reference, or by `Rc` with feature `std`, so that the halves alternate
/// over the doorbells of all of them. The type ties the queues to the thread:
///
/// ```compile_fail,E0277
/// # use blueflame::{SendQueue, db::ThreadRegister, wqe::Rc};
/// fn send<T: Send>() {}
/// send::<SendQueue<Rc, &ThreadRegister>>();
/// ```
///
/// A thread with many queues spares registers by it, which the device has in hundreds only, and the CPU's translations of
/// their pages.
#[derive(Debug)]
pub struct ThreadRegister<F: FlushMode = TwoFences> {
    halves: Cell<Halves>,
    mode: PhantomData<F>,
}

impl<F: FlushMode> ThreadRegister<F> {
    /// Takes the register over for all its users.
    ///
    /// # Errors
    /// Parts whose size or alignment cannot be.
    ///
    /// # Safety
    /// `parts.reg` must be valid for 8-byte stores at `0..max(8, 2 * size)`, as long as the value is used, and nothing
    /// but this value may store there.
    pub unsafe fn from_parts(parts: RegisterParts) -> Result<Self, RegisterError> {
        Ok(Self { halves: Cell::new(Halves::new(parts)?), mode: PhantomData })
    }

    /// Sends doorbells that may still be in the CPU's write-combining buffers to the device. Must run on the CPU that
    /// rang.
    #[inline]
    pub fn flush(&self) {
        arch::mmio_flush_writes();
    }

    #[inline(always)]
    fn ring_in_turn(&self, store: impl FnOnce(Half<'_>)) {
        let mut halves = self.halves.get();
        arch::mmio_wc_start();
        store(Half::new(halves.due()));
        if F::FLUSH {
            arch::mmio_flush_writes();
        }
        halves.alternate();
        self.halves.set(halves);
    }
}

impl<F: FlushMode> Sealed for &ThreadRegister<F> {}
impl<F: FlushMode> Register for &ThreadRegister<F> {
    #[inline]
    fn size(&self) -> usize {
        self.halves.get().size()
    }

    #[inline(always)]
    fn ring(&mut self, store: impl FnOnce(Half<'_>)) {
        self.ring_in_turn(store);
    }
}

#[cfg(feature = "std")]
impl<F: FlushMode> Sealed for std::rc::Rc<ThreadRegister<F>> {}
#[cfg(feature = "std")]
impl<F: FlushMode> Register for std::rc::Rc<ThreadRegister<F>> {
    #[inline]
    fn size(&self) -> usize {
        self.halves.get().size()
    }

    #[inline(always)]
    fn ring(&mut self, store: impl FnOnce(Half<'_>)) {
        self.ring_in_turn(store);
    }
}
