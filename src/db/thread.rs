use core::cell::Cell;
use core::marker::PhantomData;

use super::mode::{FlushMode, TwoFences};
use super::register::{Half, Halves, Register, RegisterParts, Stored};
use crate::arch;
use crate::arch::copy::{BlockCopy, DefaultCopy};
use crate::sealed::Sealed;
use crate::setup::SetupError;

/// A register that many queues of one thread ring in turn, with no lock.
///
/// Every queue on the register uses the same value, by reference, or by `Rc` with feature `std`. So the halves
/// alternate over the doorbells of all of them. The type ties the queues to the thread:
///
/// ```compile_fail,E0277
/// # use blueflame::{SendQueue, db::ThreadRegister, transport};
/// fn send<T: Send>() {}
/// send::<SendQueue<transport::Rc, &ThreadRegister>>();
/// ```
///
/// It saves registers, and TLB entries for their pages.
#[derive(Debug)]
pub struct ThreadRegister<F: FlushMode = TwoFences, C: BlockCopy = DefaultCopy> {
    halves: Cell<Halves>,
    copy: C,
    mode: PhantomData<F>,
}

impl<F: FlushMode> ThreadRegister<F> {
    /// Takes the register over for all its users, copying by the [`DefaultCopy`] routine.
    ///
    /// # Errors
    /// The size or the alignment is invalid.
    ///
    /// # Safety
    /// `parts.reg` must be valid for stores at `0..max(8, 2 * size)`, as long as the value is used, with no reference
    /// to it. Nothing but this value may store there. If `size` is zero, others may, as for
    /// [`ExclusiveRegister::from_parts`](super::ExclusiveRegister::from_parts).
    pub unsafe fn from_parts(parts: RegisterParts) -> Result<Self, SetupError> {
        Ok(Self { halves: Cell::new(Halves::new(parts)?), copy: DefaultCopy::default(), mode: PhantomData })
    }
}

impl<F: FlushMode, C: BlockCopy> ThreadRegister<F, C> {
    /// Gives the register another [copy routine](crate::arch::copy), before it is shared.
    #[must_use]
    pub fn with_copy<D: BlockCopy>(self, copy: D) -> ThreadRegister<F, D> {
        ThreadRegister { halves: self.halves, copy, mode: PhantomData }
    }

    /// Sends doorbells that may still be in the CPU's write-combining buffers to the device. Call it on the CPU that
    /// rang.
    #[inline]
    pub fn flush(&self) {
        arch::mmio_flush_writes();
    }

    #[inline(always)]
    fn ring_in_turn(&self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        let mut halves = self.halves.get();
        arch::mmio_wc_start();
        store(Half::new(halves.due(), self.copy)).then::<F>();
        halves.alternate();
        self.halves.set(halves);
    }
}

impl<F: FlushMode, C: BlockCopy> Sealed for &ThreadRegister<F, C> {}
impl<F: FlushMode, C: BlockCopy> Register for &ThreadRegister<F, C> {
    type Copy = C;

    #[inline]
    fn size(&self) -> usize {
        self.halves.get().size()
    }

    #[inline(always)]
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        self.ring_in_turn(store);
    }
}

#[cfg(feature = "std")]
impl<F: FlushMode, C: BlockCopy> Sealed for std::rc::Rc<ThreadRegister<F, C>> {}
#[cfg(feature = "std")]
impl<F: FlushMode, C: BlockCopy> Register for std::rc::Rc<ThreadRegister<F, C>> {
    type Copy = C;

    #[inline]
    fn size(&self) -> usize {
        self.halves.get().size()
    }

    #[inline(always)]
    fn ring_doorbell(&mut self, store: impl FnOnce(Half<'_, C>) -> Stored) {
        self.ring_in_turn(store);
    }
}
