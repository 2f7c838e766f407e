//! Registered memory that this crate does not map: it has addresses, which requests name, and no pointers.

use core::fmt;

use blueflame_sys as sys;

use super::registration::Registration;
use crate::types::{Lkey, Rkey};
use crate::verbs::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::Error;
use crate::wqe::{Remote, Sge};

/// Registered memory, and `M` that it keeps: [`DmaBufRegion`](super::DmaBufRegion),
/// [`DeviceRegion`](super::DeviceRegion), regions of a [`RegistrationCache`](super::RegistrationCache).
pub struct Region<M> {
    registration: Registration<M>,
    iova: u64,
    len: u64,
}

impl<M> fmt::Debug for Region<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("addr", &format_args!("{:#x}", self.iova))
            .field("len", &self.len)
            .field("access", &self.access())
            .finish_non_exhaustive()
    }
}

impl<M> Region<M> {
    /// Takes over what `call` has returned: `len` bytes, which requests name from `iova` on.
    ///
    /// # Safety
    /// As [`Registration::over`].
    pub(super) unsafe fn over(
        call: &'static str,
        mr: *mut sys::ibv_mr,
        access: Access,
        under: M,
        pd: &ProtectionDomain,
        (iova, len): (u64, u64),
    ) -> Result<Self, Error> {
        // SAFETY: the caller promises null with `errno`, or a new region of `pd` that no other code frees.
        let registration = unsafe { Registration::over(call, mr, access, under, &pd.handle) }?;
        Ok(Self::of(registration, (iova, len)))
    }

    /// The region of a registration: `len` bytes, which requests name from `iova` on.
    pub(super) fn of(registration: Registration<M>, (iova, len): (u64, u64)) -> Self {
        Self { registration, iova, len }
    }

    /// The address by which requests name its first byte.
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.iova
    }

    /// Bytes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a region has at least one byte")]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The key by which this side's requests name the memory.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        self.registration.lkey
    }

    /// The key by which the peer's requests name the memory.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        self.registration.rkey
    }

    /// The rights of the registration.
    #[must_use]
    pub fn access(&self) -> Access {
        self.registration.access
    }

    /// `length` bytes from `offset` on as a scatter/gather entry; `None` if they leave the region.
    #[must_use]
    pub fn sge_of(&self, offset: u64, length: u32) -> Option<Sge> {
        let inside = offset.checked_add(length.into()).is_some_and(|end| end <= self.len);
        inside.then(|| Sge { addr: self.iova.wrapping_add(offset), length, lkey: self.lkey() })
    }

    /// The region as a place for the peer's requests.
    #[must_use]
    pub fn remote(&self) -> Remote {
        Remote { addr: self.iova, rkey: self.rkey() }
    }
}
