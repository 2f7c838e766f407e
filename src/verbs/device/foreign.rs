//! Refuses objects of other devices, and of other opens of the same device.
//!
//! Each device numbers its objects, and each open has its own table of handles, from 0 on (Linux
//! `drivers/infiniband/core/rdma_core.c`, `lookup_get_idr_uobject`). libibverbs sends the handle alone. So the kernel
//! takes a foreign handle for an object of this open, and the device takes a foreign number for one of its own.

use blueflame_sys as sys;

use crate::verbs::Error;
use crate::verbs::device::open::Context;

/// An object of an open device that a call takes to make or use another one.
#[derive(Clone, Copy)]
pub(in crate::verbs) struct Part {
    /// Its name in errors.
    pub(in crate::verbs) name: &'static str,
    /// Its context.
    pub(in crate::verbs) context: *mut sys::ibv_context,
}

impl Context {
    /// Refuses to make `object` here, of a part that is not of this context.
    ///
    /// # Errors
    /// [`Error::ForeignDevice`].
    pub(in crate::verbs) fn check<const N: usize>(&self, object: &'static str, parts: [Part; N]) -> Result<(), Error> {
        match parts.into_iter().find(|part| part.context != self.raw()) {
            Some(part) => Err(Error::ForeignDevice { object, part: part.name }),
            None => Ok(()),
        }
    }
}
