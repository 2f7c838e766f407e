//! A memory region and the memory under it, of any kind.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::types::{Lkey, Rkey};
use crate::verbs::Access;
use crate::verbs::domain::protection::{PdHandle, ProtectionDomain};
use crate::verbs::error::{Error, non_null};
use crate::verbs::event::event;

/// A memory region (`ibv_mr`) with the memory under it: memory of this process, of the device, or nothing that this
/// crate keeps. First the device loses access, then the memory goes, then the domain.
pub(super) struct Registration<M> {
    mr: NonNull<sys::ibv_mr>,
    pub(super) lkey: Lkey,
    pub(super) rkey: Rkey,
    pub(super) access: Access,
    under: ManuallyDrop<M>,
    pd: Arc<PdHandle>,
}

// SAFETY: the region is only read (keys), freed (once, by the last owner), or changed by its sole owner; libibverbs
// allows all of it from any thread.
unsafe impl<M: Send> Send for Registration<M> {}
// SAFETY: shared use reads plain numbers, and never `under`.
unsafe impl<M> Sync for Registration<M> {}

impl<M> Registration<M> {
    /// Takes over what `call` has returned, and keeps `under` as long as the device can reach it.
    ///
    /// # Safety
    /// `mr` is null with `errno`, or a new region of `pd`, with these rights, that no other code frees.
    pub(super) unsafe fn over(
        call: &'static str,
        mr: *mut sys::ibv_mr,
        access: Access,
        under: M,
        pd: &Arc<PdHandle>,
    ) -> Result<Self, Error> {
        let mr = non_null(call, mr)?;
        let mut this =
            Self { mr, lkey: Lkey(0), rkey: Rkey(0), access, under: ManuallyDrop::new(under), pd: Arc::clone(pd) };
        this.read_keys();
        event!(
            DEBUG,
            "memory registered",
            number = this.number(),
            bytes = this.region().length,
            access = access.bits(),
            call
        );
        Ok(this)
    }

    /// Keys are looked up in the structure of libibverbs, which a re-registration changes.
    pub(super) fn read_keys(&mut self) {
        let mr = self.region();
        (self.lkey, self.rkey) = (Lkey(mr.lkey), Rkey(mr.rkey));
    }

    fn region(&self) -> &sys::ibv_mr {
        // SAFETY: not deregistered; the library fills it in, and changes it in calls on this value alone.
        unsafe { &*self.mr.as_ptr() }
    }

    pub(super) fn raw(&self) -> *mut sys::ibv_mr {
        self.mr.as_ptr()
    }

    pub(super) fn pd(&self) -> &Arc<PdHandle> {
        &self.pd
    }

    /// Records that the region belongs to another domain now.
    pub(super) fn set_pd(&mut self, pd: &ProtectionDomain) {
        self.pd = Arc::clone(&pd.handle);
    }

    /// The memory that this value keeps for the device. The caller leaves all memory there that the device can reach.
    pub(super) fn under_mut(&mut self) -> &mut M {
        &mut self.under
    }

    /// The kernel's number of it, for events. (Not a key: on mlx5 both keys are the same number, and anyone with that
    /// number can access the memory.)
    #[cfg(feature = "tracing")]
    pub(super) fn number(&self) -> u32 {
        // SAFETY: not deregistered; written once.
        unsafe { (*self.mr.as_ptr()).handle }
    }
}

impl<M> Drop for Registration<M> {
    fn drop(&mut self) {
        #[cfg(feature = "tracing")]
        let number = self.number();
        // SAFETY: a region of libibverbs, deregistered once.
        let returned = unsafe { sys::ibv_dereg_mr(self.mr.as_ptr()) };
        // The key is invalid for the device from here on: a request that still names it fails instead of touching the
        // memory. Unless the kernel refused (a memory window is bound to the region): then the device may still write
        // the memory, and leaking it is the only safe thing left.
        if returned != 0 {
            event!(WARN, "memory cannot be deregistered: it is leaked", number, errno = returned);
        } else {
            event!(DEBUG, "memory deregistered", number);
            // SAFETY: dropped here only, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.under) };
        }
    }
}
