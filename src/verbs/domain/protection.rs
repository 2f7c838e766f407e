//! Protection domains, and the thread domains that give a queue pair a doorbell register of its own.

use core::ptr::NonNull;
use std::sync::Arc;

use blueflame_sys as sys;

use crate::db::RegisterParts;
use crate::verbs::device::open::Context;
use crate::verbs::domain::placement::{self, Placement};
use crate::verbs::error::non_null;
use crate::verbs::event::event;
use crate::verbs::{CallError, Device, Error};

/// A protection domain (`ibv_pd`): memory and queues work together only within one. Cheap to clone.
#[doc(alias("ibv_pd", "ibv_alloc_pd"))]
#[derive(Clone, Debug)]
pub struct ProtectionDomain {
    pub(crate) handle: Arc<PdHandle>,
}

/// The domain that every object made in it keeps alive.
#[derive(Debug)]
pub(crate) struct PdHandle {
    raw: NonNull<sys::ibv_pd>,
    /// Whether it is another library's to free.
    adopted: bool,
    pub(crate) context: Arc<Context>,
}

// SAFETY: libibverbs counts and locks the state that its calls share; a domain may be used from any thread and from
// several.
unsafe impl Send for PdHandle {}
// SAFETY: libibverbs counts and locks the state that its calls share, so several threads may use a domain at once.
unsafe impl Sync for PdHandle {}

impl PdHandle {
    /// The kernel's number of it, for events.
    #[cfg(feature = "tracing")]
    fn number(&self) -> u32 {
        // SAFETY: alive; written once.
        unsafe { (*self.raw.as_ptr()).handle }
    }

    pub(crate) fn raw(&self) -> *mut sys::ibv_pd {
        self.raw.as_ptr()
    }
}

impl Drop for PdHandle {
    fn drop(&mut self) {
        event!(DEBUG, "protection domain freed", number = self.number(), adopted = self.adopted);
        if !self.adopted {
            // SAFETY: from `ibv_alloc_pd`; everything made in it held this object and is gone.
            unsafe { sys::ibv_dealloc_pd(self.raw.as_ptr()) };
        }
    }
}

impl Device {
    /// Makes a protection domain.
    ///
    /// # Errors
    /// A failed call.
    pub fn protection_domain(&self) -> Result<ProtectionDomain, Error> {
        // SAFETY: the context is open.
        let raw = non_null("ibv_alloc_pd", unsafe { sys::ibv_alloc_pd(self.context.raw()) })?;
        Ok(ProtectionDomain::over(raw, false, Arc::clone(&self.context)))
    }
}

impl ProtectionDomain {
    /// # Safety
    /// As [`adopt_pd`](crate::verbs::adopt::adopt_pd).
    pub(in crate::verbs) unsafe fn adopt(raw: NonNull<sys::ibv_pd>) -> Result<Self, Error> {
        // SAFETY: the caller vouches for the domain, which has its context written once.
        let context = NonNull::new(unsafe { (*raw.as_ptr()).context })
            .ok_or_else(|| Error::Parts { object: "protection domain", why: "no context".into() })?;
        // SAFETY: the context of a domain that is alive.
        let Device { context } = unsafe { Device::adopt(context) }?;
        Ok(Self::over(raw, true, context))
    }

    fn over(raw: NonNull<sys::ibv_pd>, adopted: bool, context: Arc<Context>) -> Self {
        let handle = PdHandle { raw, adopted, context };
        event!(DEBUG, "protection domain made", number = handle.number(), device = handle.context.name(), adopted);
        Self { handle: Arc::new(handle) }
    }

    /// The device it is of.
    #[must_use]
    pub fn device(&self) -> Device {
        Device { context: Arc::clone(&self.handle.context) }
    }

    /// The raw domain, for calls this crate does not wrap; alive as long as `self` or anything made in it.
    #[must_use]
    pub fn as_raw(&self) -> *mut sys::ibv_pd {
        self.handle.raw()
    }
}

/// A parent domain: a protection domain with a thread domain, hence with a doorbell register that libmlx5 gives to
/// nothing else (`mlx5_alloc_td`, `mlx5_attach_dedicated_uar` in rdma-core's `providers/mlx5/verbs.c`). If asked for,
/// it also has memory of its own for records and rings.
///
/// Where write combining does not work, there are no such registers. From rdma-core 60 on, all thread domains then have
/// the context's one register without BlueFlame. Before, `ibv_alloc_td` fails, and queue pairs made without a thread
/// domain have that register (`mlx5_get_qp_uar`). Kernels that give out registers with the context have that effect,
/// too. So a parent domain is made even if there is no thread domain, after any error: only the register of the queue
/// pair counts ([`check`](Self::check)).
#[derive(Debug)]
pub(crate) struct ParentDomain {
    parent: NonNull<sys::ibv_pd>,
    td: Result<NonNull<sys::ibv_td>, CallError>,
    placement: Option<Arc<Placement>>,
    pd: Arc<PdHandle>,
}

// SAFETY: as `PdHandle`; the placement locks.
unsafe impl Send for ParentDomain {}
// SAFETY: as for `PdHandle`: libibverbs locks what its calls share. The placement has a lock of its own.
unsafe impl Sync for ParentDomain {}

impl ParentDomain {
    pub(crate) fn new(pd: &ProtectionDomain, placement: Option<Arc<Placement>>) -> Result<Self, Error> {
        let pd = Arc::clone(&pd.handle);
        let context = pd.context.raw();
        let mut attr = sys::ibv_td_init_attr::ZERO;
        // SAFETY: the context is open as long as `pd` lives; the attributes live until the call returns.
        let td = non_null("ibv_alloc_td", unsafe { sys::ibv_alloc_td(context, &raw mut attr) });
        let mut attr = sys::ibv_parent_domain_init_attr {
            pd: pd.raw(),
            td: td.map_or(core::ptr::null_mut(), NonNull::as_ptr),
            comp_mask: 0,
            alloc: None,
            free: None,
            pd_context: core::ptr::null_mut(),
        };
        if let Some(placement) = &placement {
            placement::announce(placement, &mut attr);
        }
        // SAFETY: both domains are alive, of this context, and freed after the parent domain, and so is the placement.
        let parent = unsafe { sys::ibv_alloc_parent_domain(context, &raw mut attr) };
        match non_null("ibv_alloc_parent_domain", parent) {
            Ok(parent) => {
                event!(DEBUG, "thread domain made", own_register = td.is_ok());
                Ok(Self { parent, td, placement, pd })
            }
            Err(error) => {
                if let Ok(td) = td {
                    // SAFETY: just made, and nothing was made of it.
                    unsafe { sys::ibv_dealloc_td(td.as_ptr()) };
                }
                Err(error.into())
            }
        }
    }

    /// Refuses a register that other queues may have as well: a register with BlueFlame, of a queue pair that could not
    /// be made in a thread domain.
    ///
    /// # Errors
    /// Why there is no thread domain.
    pub(crate) fn check(&self, register: RegisterParts) -> Result<(), Error> {
        match self.td {
            Err(error) if register.size != 0 => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The parent domain, to be used where a protection domain is asked for.
    pub(crate) fn raw(&self) -> *mut sys::ibv_pd {
        self.parent.as_ptr()
    }

    /// The protection domain it was made of.
    pub(crate) fn pd(&self) -> &Arc<PdHandle> {
        &self.pd
    }
}

impl Drop for ParentDomain {
    fn drop(&mut self) {
        // SAFETY: the objects made in it held this one and are gone; the parent first, since it refers to the thread
        // domain, and both before the protection domain that `pd` keeps.
        let in_use = unsafe { sys::ibv_dealloc_pd(self.parent.as_ptr()) } != 0;
        if let Ok(td) = self.td {
            // SAFETY: from `ibv_alloc_td`, freed once; libmlx5 refuses if a parent domain still refers to it.
            unsafe { sys::ibv_dealloc_td(td.as_ptr()) };
        }
        if in_use {
            // An object could not be destroyed: the device may go on using its ring and its record.
            event!(WARN, "thread domain still in use: its memory is leaked");
            core::mem::forget(self.placement.take());
        }
    }
}
