//! Memory of other devices, which a dma-buf stands for.

use core::fmt;
use core::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use rdma_sys as sys;

use super::access::Access;
use super::registration::Registration;
use super::rights::refuse;
use crate::types::{Lkey, Rkey};
use crate::verbs::error::{Error, in_range};
use crate::verbs::pd::ProtectionDomain;
use crate::wqe::{Remote, Sge};

/// Registered memory of a dma-buf (`ibv_reg_dmabuf_mr`), typically a GPU's. It has addresses, which requests name, and no pointers:
/// this crate does not map it. The kernel keeps the memory until this is dropped; the descriptor may be closed.
pub struct DmaBufRegion {
    registration: Registration<()>,
    iova: u64,
    len: u64,
}

impl fmt::Debug for DmaBufRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DmaBufRegion")
            .field("addr", &format_args!("{:#x}", self.iova))
            .field("len", &self.len)
            .field("access", &self.access())
            .finish_non_exhaustive()
    }
}

impl ProtectionDomain {
    /// Registers the bytes `range` of a dma-buf. Requests name the first of them by the address `iova`, which is any number with the
    /// same offset into a page as `range` begins with; `range.start` itself, for example.
    ///
    /// Linux pins such memory or follows its moves, whichever the exporter can do; [`Access::ON_DEMAND`] is not for it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no bytes; [`Error::AccessExcess`]; [`Error::Unsupported`] where kernel or driver has no dma-bufs; a
    /// failed call: `EBADF`, or `EINVAL` for a file that is no dma-buf or is shorter, and for an `iova` of another offset.
    pub fn register_dmabuf(
        &self,
        file: BorrowedFd<'_>,
        range: Range<u64>,
        iova: u64,
        access: Access,
    ) -> Result<DmaBufRegion, Error> {
        let len = range.end.saturating_sub(range.start);
        in_range("bytes of a dma-buf to register", len, 1..=isize::MAX as u64)?;
        refuse(access, Access::ON_DEMAND)?;
        let (fd, flags) = (file.as_raw_fd(), access.bits() as i32);
        // SAFETY: the domain is alive, the descriptor open. No Rust reference to the memory can come of it: mapping it is
        // `unsafe`, and who does so answers for other users of the file.
        let registration = unsafe {
            // 64 bits, which `isize::MAX` bounds.
            let mr = sys::ibv_reg_dmabuf_mr(self.as_raw(), range.start, len as usize, iova, fd, flags);
            Registration::over("ibv_reg_dmabuf_mr", mr, access, (), &self.handle)
        }
        .map_err(|error| error.unsupported("registering dma-bufs"))?;
        Ok(DmaBufRegion { registration, iova, len })
    }
}

impl DmaBufRegion {
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

    /// What the registration permits.
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
