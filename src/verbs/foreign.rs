//! Refuses objects of other devices, and of other opens of the same device.
//!
//! Each device numbers its objects, and each open has its own table of handles, from 0 on (Linux
//! `drivers/infiniband/core/rdma_core.c`, `lookup_get_idr_uobject`). libibverbs sends the handle alone. So the kernel takes a foreign
//! handle for an object of this open, and the device takes a foreign number for one of its own.

use rdma_sys as sys;

use super::device::Context;
use super::pd::PdHandle;
use super::thread_domain::ThreadDomainHandle;
use super::xrcd::XrcdHandle;
use super::{CompletionChannel, Cq, DeviceMemory, Error, ProtectionDomain, Qp, Srq};

/// An object of an open device that a call takes to make or use another one.
pub(super) trait Part {
    /// Its name in errors.
    fn name(&self) -> &'static str;

    /// Its context.
    fn context(&self) -> *mut sys::ibv_context;
}

/// Objects whose structure of libibverbs says which context they are of: those that were adopted do, too.
macro_rules! parts {
    ($($part:ty, $name:literal;)*) => { $(
        impl Part for $part {
            fn name(&self) -> &'static str {
                $name
            }

            fn context(&self) -> *mut sys::ibv_context {
                // SAFETY: alive as long as `self`; written once, when it was made.
                unsafe { (*self.as_raw()).context }
            }
        }
    )* };
}

parts! {
    Cq, "completion queue";
    Srq, "shared receive queue";
    Qp, "queue pair";
    CompletionChannel, "completion channel";
    ProtectionDomain, "protection domain";
}

/// Objects of which this crate knows the context.
macro_rules! kept {
    ($($part:ty, $name:literal, $context:expr;)*) => { $(
        impl Part for $part {
            fn name(&self) -> &'static str {
                $name
            }

            fn context(&self) -> *mut sys::ibv_context {
                let of: fn(&Self) -> &Context = $context;
                of(self).raw()
            }
        }
    )* };
}

kept! {
    ThreadDomainHandle, "thread domain", |domain| &domain.pd().context;
    XrcdHandle, "XRC domain", |domain| domain.context();
    DeviceMemory, "device memory", |memory| memory.context();
    PdHandle, "buffer", |pd| &pd.context;
}

impl Context {
    /// Refuses to make `object` here, of a part that is not of this context.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`].
    pub(super) fn check<const N: usize>(&self, object: &'static str, parts: [&dyn Part; N]) -> Result<(), Error> {
        match parts.into_iter().find(|part| part.context() != self.raw()) {
            Some(part) => Err(Error::ForeignDevice { object, part: part.name() }),
            None => Ok(()),
        }
    }
}
