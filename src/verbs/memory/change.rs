//! Changing a registration: other memory, other rights, another domain (`ibv_rereg_mr`).

use core::fmt;
use std::sync::Arc;

use blueflame_sys as sys;

use super::buffer::{Buffer, checked_range};
use super::rights;
use super::source::Memory;
use crate::verbs::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{CallError, Error};

/// The changes to a registration: one or several, made together ([`Buffer::reregister`]).
#[doc(alias = "ibv_rereg_mr")]
#[derive(Default)]
#[must_use = "nothing changes yet"]
pub struct Change<'a> {
    memory: Option<Box<dyn Memory>>,
    access: Option<Access>,
    domain: Option<&'a ProtectionDomain>,
}

impl fmt::Debug for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (memory, domain) = (self.memory.is_some(), self.domain.is_some());
        f.debug_struct("Change")
            .field("memory", &memory)
            .field("access", &self.access)
            .field("domain", &domain)
            .finish()
    }
}

impl<'a> Change<'a> {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Other memory, of any size: the old memory is dropped when the device can no longer reach it.
    pub fn memory(self, memory: impl Memory) -> Self {
        Self { memory: Some(Box::new(memory)), ..self }
    }

    /// Other rights.
    pub fn access(self, access: Access) -> Self {
        Self { access: Some(access), ..self }
    }

    /// Another domain of the same device.
    pub fn domain(self, domain: &'a ProtectionDomain) -> Self {
        Self { domain: Some(domain), ..self }
    }

    /// `enum ibv_rereg_mr_flags`.
    fn flags(&self) -> u32 {
        let flag = |given, flag: sys::ibv_rereg_mr_flags| if given { flag } else { 0 };
        flag(self.memory.is_some(), sys::IBV_REREG_MR_CHANGE_TRANSLATION)
            | flag(self.domain.is_some(), sys::IBV_REREG_MR_CHANGE_PD)
            | flag(self.access.is_some(), sys::IBV_REREG_MR_CHANGE_ACCESS)
    }
}

/// A registration that did not change.
#[derive(Debug)]
pub struct NotReregistered {
    /// Why.
    pub error: Error,
    /// The buffer as it was. `None` if the command failed: libibverbs then does not tell the device's state of the
    /// region (`IBV_REREG_MR_ERR_CMD`), so the region has been deregistered.
    pub buffer: Option<Buffer>,
}

impl fmt::Display for NotReregistered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for NotReregistered {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// `enum ibv_rereg_mr_err_code`: nothing happened.
const ERR_INPUT: i32 = -1;
const ERR_DONT_FORK_NEW: i32 = -2;
/// The region has changed, and a forked child does not get the old memory.
const ERR_DO_FORK_OLD: i32 = -3;

impl Buffer {
    /// Changes the registration of this buffer, which must be the only piece of it. Cheaper than a new registration
    /// where the kernel keeps the region. The keys may change even so: read them again, and tell peers.
    ///
    /// With other memory, the returned buffer is all of that memory.
    ///
    /// ```no_run
    /// use blueflame::verbs::{Access, Buffer};
    /// use blueflame::verbs::memory::{Change, NotReregistered};
    ///
    /// /// From now on peers may READ it, and not write it any more.
    /// fn publish(page: Buffer) -> Result<Buffer, NotReregistered> {
    ///     page.reregister(Change::new().access(Access::REMOTE_READ))
    /// }
    /// ```
    ///
    /// # Errors
    /// These return the buffer as it was: [`Error::InPieces`] if there are other pieces, [`Error::ForeignDevice`],
    /// [`Error::OutOfRange`] for no changes or memory of no bytes, [`Error::Unsupported`]. A failed call returns no
    /// buffer.
    #[doc(alias = "ibv_rereg_mr")]
    pub fn reregister(mut self, mut change: Change<'_>) -> Result<Self, NotReregistered> {
        let range = match self.check(&mut change) {
            Ok(range) => range,
            Err(error) => return Err(NotReregistered { error, buffer: Some(self) }),
        };
        let Some(registration) = Arc::get_mut(&mut self.registration) else {
            return Err(NotReregistered { error: Error::InPieces, buffer: Some(self) });
        };
        if registration.under_mut().dma_handle.is_some() {
            // Linux, mlx5_ib `mlx5_ib_rereg_user_mr`.
            let error = Error::Unsupported { what: "changing a registration that has a DMA handle" };
            return Err(NotReregistered { error, buffer: Some(self) });
        }
        let (start, len) = range.unwrap_or((self.start, self.len));
        let access = change.access.unwrap_or(registration.access);
        let (addr, bytes) = if range.is_some() { (start.as_ptr().cast(), len) } else { (core::ptr::null_mut(), 0) };
        if range.is_some() {
            // The device makes pointers of it.
            let _ = start.as_ptr().expose_provenance();
        }
        let domain = change.domain.map_or(core::ptr::null_mut(), ProtectionDomain::as_raw);
        let flags = change.access.map_or(0, Access::bits);
        // SAFETY: region and domain are alive; `Memory` vouches for the new range as long as that memory, which the
        // registration keeps from here on. No other code looks at the region: it has one owner, which is borrowed here.
        let returned =
            unsafe { sys::ibv_rereg_mr(registration.raw(), change.flags() as i32, domain, addr, bytes, flags as i32) };
        if !matches!(returned, 0 | ERR_DO_FORK_OLD) {
            let error = Error::from(CallError::last("ibv_rereg_mr"));
            if matches!(returned, ERR_INPUT | ERR_DONT_FORK_NEW) {
                return Err(NotReregistered { error, buffer: Some(self) });
            }
            // The device may know either memory, until the region is gone.
            registration.under_mut().other = change.memory;
            return Err(NotReregistered { error, buffer: None });
        }
        registration.access = access;
        registration.read_keys();
        if let Some(domain) = change.domain {
            registration.set_pd(domain);
        }
        // The device no longer knows the old memory: drop it here.
        if let Some(memory) = change.memory {
            registration.under_mut().memory = memory;
        }
        (self.start, self.len) = (start, len);
        Ok(self)
    }

    /// Makes the checks that are possible before the call. Returns the range of the new memory.
    fn check(&self, change: &mut Change<'_>) -> Result<Option<(core::ptr::NonNull<u8>, usize)>, Error> {
        let pd = self.registration.pd();
        if change.flags() == 0 {
            return Err(Error::OutOfRange { what: "changes of a registration", value: 0, min: 1, max: 3 });
        }
        if let Some(domain) = change.domain {
            pd.context.check("memory region", [domain.into()])?;
        }
        if let Some(access) = change.access {
            rights::check(&pd.context, access)?;
        }
        change.memory.as_mut().map(|memory| checked_range(memory.as_mut())).transpose()
    }
}
