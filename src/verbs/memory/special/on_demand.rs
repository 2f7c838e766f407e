//! On-demand paging: memory that the device may access without pinning.

use core::fmt;
use core::ops::Range;

use blueflame_sys as sys;

use crate::types::{Lkey, Rkey};
use crate::verbs::access::Access;
use crate::verbs::domain::protection::{PdHandle, ProtectionDomain};
use crate::verbs::error::{Error, zero};
use crate::verbs::memory::buffer::Buffer;
use crate::verbs::memory::registration::Registration;
use crate::verbs::memory::rights::require;
use crate::wqe::{Remote, Sge};

/// For which accesses pages are made present ([`Buffer::prefetch`]).
#[doc(alias = "ibv_advise_mr")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetch {
    /// The device will read them.
    Read,
    /// The device will write them: pages that are shared with a parent process, or are still the zero page, are copied.
    Write,
    /// The device learns of the pages that are present; the kernel brings no page in.
    Present,
}

impl Prefetch {
    /// `enum ibv_advise_mr_advice`.
    fn advice(self) -> u32 {
        match self {
            Self::Read => sys::IBV_ADVISE_MR_ADVICE_PREFETCH,
            Self::Write => sys::IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
            Self::Present => sys::IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
        }
    }
}

/// `IB_UVERBS_ADVISE_MR_FLAG_FLUSH`: the pages are there when the call returns.
const FLUSH: u32 = 1;
/// Bytes in one entry of a list; its length has 32 bits.
const ENTRY_BYTES: u64 = 1 << 30;

/// Prefetches `len` bytes at `addr`.
fn prefetch(pd: &PdHandle, lkey: Lkey, (addr, len): (u64, u64), how: Prefetch, wait: bool) -> Result<(), Error> {
    let mut list: Vec<_> = (0..len.div_ceil(ENTRY_BYTES))
        .map(|n| {
            let offset = n * ENTRY_BYTES;
            // At most 2^30.
            let length = (len - offset).min(ENTRY_BYTES) as u32;
            sys::ibv_sge { addr: addr.wrapping_add(offset), length, lkey: lkey.0 }
        })
        .collect();
    if list.is_empty() {
        return Ok(());
    }
    let flags = if wait { FLUSH } else { 0 };
    // The addresses of a region have fewer than 62 bits, so this is less than 2^32.
    let count = list.len() as u32;
    // SAFETY: the domain is alive, and the list lives until the call returns. The call only makes the listed memory
    // present.
    let returned = unsafe { sys::ibv_advise_mr(pd.raw(), how.advice(), flags, list.as_mut_ptr(), count) };
    match returned {
        libc::EOPNOTSUPP => Err(Error::Unsupported { what: "prefetching" }),
        returned => Ok(zero("ibv_advise_mr", returned)?),
    }
}

impl Buffer {
    /// Tells the device about pages before it needs them, so that the first access need not wait for a page fault.
    ///
    /// With `wait`, the pages are present when this returns, unless the kernel takes them away again. Without `wait`,
    /// the kernel does it later and does not report the result.
    ///
    /// # Errors
    /// [`Error::AccessMissing`] for memory that was not registered [`Access::ON_DEMAND`], or that the device may not
    /// write although the prefetch is for writing; [`Error::Unsupported`]; a failed call, for example `EFAULT` where no
    /// memory is mapped.
    ///
    /// # Panics
    /// If the range leaves the buffer, as indexing a slice would.
    pub fn prefetch(&self, range: Range<usize>, how: Prefetch, wait: bool) -> Result<(), Error> {
        let needs = if how == Prefetch::Write { Access::ON_DEMAND | Access::LOCAL_WRITE } else { Access::ON_DEMAND };
        require(self.access(), needs)?;
        let at = self.at(range.clone()).addr().get() as u64;
        prefetch(self.registration.pd(), self.lkey(), (at, range.len() as u64), how, wait)
    }
}

/// The on-demand registration of this process' whole address space: one key for all present and future memory
/// (`IBV_ACCESS_ON_DEMAND` of address 0, length `SIZE_MAX`).
#[doc(alias = "IBV_ACCESS_ON_DEMAND")]
pub struct AddressSpace(Registration<()>);

impl fmt::Debug for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressSpace").field("access", &self.access()).finish_non_exhaustive()
    }
}

impl ProtectionDomain {
    /// Registers the whole address space for what `access` permits; [`Access::ON_DEMAND`] is added.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device has no implicit on-demand paging; a failed call.
    ///
    /// # Safety
    /// With [`Access::LOCAL_WRITE`], a queue pair of this domain can have its requests write any memory of the process.
    /// With remote rights, every peer that has the rkey can do that as well. The caller makes sure that this happens to
    /// no memory in which Rust code does not expect it. The key also reaches memory that was unmapped and is mapped
    /// again for another purpose.
    pub unsafe fn register_address_space(&self, access: Access) -> Result<AddressSpace, Error> {
        if !self.handle.context.memory_attr()?.on_demand.implicit {
            return Err(Error::Unsupported { what: "registering the whole address space" });
        }
        let access = access | Access::ON_DEMAND;
        // SAFETY: the domain is alive. The caller vouches for the device's accesses by the key.
        let registration = unsafe {
            let mr = sys::ibv_reg_mr_iova2(self.as_raw(), core::ptr::null_mut(), usize::MAX, 0, access.bits());
            Registration::over("ibv_reg_mr_iova2", mr, access, (), &self.handle)
        }?;
        Ok(AddressSpace(registration))
    }
}

impl AddressSpace {
    /// The key by which this side's requests name memory.
    #[must_use]
    pub fn lkey(&self) -> Lkey {
        self.0.lkey
    }

    /// The key by which the peer's requests name memory.
    #[must_use]
    pub fn rkey(&self) -> Rkey {
        self.0.rkey
    }

    /// What it permits.
    #[must_use]
    pub fn access(&self) -> Access {
        self.0.access
    }

    /// Memory as a scatter/gather entry.
    #[must_use]
    pub fn sge(&self, start: *const u8, length: u32) -> Sge {
        Sge { addr: start.expose_provenance() as u64, length, lkey: self.lkey() }
    }

    /// An address as a place for the peer's requests.
    #[must_use]
    pub fn remote(&self, start: *const u8) -> Remote {
        Remote { addr: start.expose_provenance() as u64, rkey: self.rkey() }
    }

    /// Prefetches `len` bytes at `start`, like [`Buffer::prefetch`].
    ///
    /// # Errors
    /// As [`Buffer::prefetch`].
    pub fn prefetch(&self, start: *const u8, len: usize, how: Prefetch, wait: bool) -> Result<(), Error> {
        if how == Prefetch::Write {
            require(self.access(), Access::LOCAL_WRITE)?;
        }
        prefetch(self.0.pd(), self.lkey(), (start.addr() as u64, len as u64), how, wait)
    }
}
