//! Memory of other devices, by a dma-buf.

use core::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use blueflame_sys as sys;

use crate::verbs::access::Access;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{Error, in_range};
use crate::verbs::memory::region::Region;
use crate::verbs::memory::rights::refuse;

/// Registered memory of a dma-buf (`ibv_reg_dmabuf_mr`), typically a GPU's. The kernel keeps the memory until this is
/// dropped; the descriptor may be closed.
#[doc(alias = "ibv_reg_dmabuf_mr")]
pub type DmaBufRegion = Region<()>;

impl ProtectionDomain {
    /// Registers the bytes `range` of a dma-buf. Requests name the first byte by the address `iova`. It may be any
    /// number with the same offset into a page as `range.start`, for example `range.start` itself.
    ///
    /// Linux pins such memory or follows its moves, as the exporter supports it. Do not use [`Access::ON_DEMAND`] for
    /// it.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for no bytes; [`Error::AccessExcess`]; [`Error::Unsupported`] where kernel or driver has
    /// no dma-bufs; a failed call: `EBADF`, or `EINVAL` for a file that is no dma-buf or is shorter, and for an `iova`
    /// of another offset.
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
        // SAFETY: the domain is alive, the descriptor open. The call creates no way to a Rust reference to the memory:
        // mapping the file is `unsafe`, and the code that maps it answers for other users of the file.
        unsafe {
            // 64 bits, which `isize::MAX` bounds.
            let mr = sys::ibv_reg_dmabuf_mr(self.as_raw(), range.start, len as usize, iova, fd, flags);
            Region::over("ibv_reg_dmabuf_mr", mr, access, (), self, (iova, len))
        }
        .map_err(|error| error.unsupported("registering dma-bufs"))
    }
}
