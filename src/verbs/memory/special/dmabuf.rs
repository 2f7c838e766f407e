//! Memory of other devices, by a dma-buf.

use core::ffi::CStr;
use core::ops::Range;
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use blueflame_sys as sys;

use crate::verbs::access::Access;
use crate::verbs::device::open::Device;
use crate::verbs::domain::protection::ProtectionDomain;
use crate::verbs::error::{Error, in_range, zero};
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
        let len = checked(&range, access)?;
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

    /// Registers the bytes `range` of a dma-buf that the device reaches through its Data Direct function, as
    /// [`Self::register_dmabuf`] does otherwise. The exporter must have mapped the memory for that function: it is the
    /// one at [`Device::data_direct_path`]. `iova` is a multiple of the page size.
    ///
    /// # Errors
    /// [`Error::Library`] with a libmlx5 before rdma-core 54; [`Error::Unsupported`] for a device without such a
    /// function; [`Error::OutOfRange`] also for an `iova` inside of a page; otherwise as [`Self::register_dmabuf`].
    #[doc(alias("mlx5dv_reg_dmabuf_mr", "MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT"))]
    pub fn register_dmabuf_data_direct(
        &self,
        file: BorrowedFd<'_>,
        range: Range<u64>,
        iova: u64,
        access: Access,
    ) -> Result<DmaBufRegion, Error> {
        // Linux says EINVAL for a device without the function, and for much else.
        if self.device().data_direct_path()?.is_none() {
            return Err(Error::Unsupported { what: "Data Direct" });
        }
        let len = checked(&range, access)?;
        in_range("offset of an address into a page", iova % page_bytes(), 0..=0)?;
        let (fd, flags) = (file.as_raw_fd(), access.bits() as i32);
        let direct = sys::MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT;
        // SAFETY: the domain is alive and of libmlx5, the descriptor open. The call creates no way to a Rust reference to
        // the memory: mapping the file is `unsafe`, and the code that maps it answers for other users of the file.
        unsafe {
            // 64 bits, which `isize::MAX` bounds.
            let mr = sys::mlx5dv_reg_dmabuf_mr(self.as_raw(), range.start, len as usize, iova, fd, flags, direct);
            Region::over("mlx5dv_reg_dmabuf_mr", mr, access, (), self, (iova, len))
        }
        .map_err(|error| error.unsupported("Data Direct"))
    }
}

impl Device {
    /// Where the device's Data Direct function is in sysfs: the second PCI function of a ConnectX-8, by which it reaches
    /// the memory of other devices ([`ProtectionDomain::register_dmabuf_data_direct`]). `None`: it has none.
    ///
    /// # Errors
    /// [`Error::Library`] with a libmlx5 before rdma-core 54; a failed call.
    #[doc(alias = "mlx5dv_get_data_direct_sysfs_path")]
    pub fn data_direct_path(&self) -> Result<Option<PathBuf>, Error> {
        sys::available::data_direct()?;
        // Paths of sysfs are shorter (Linux PATH_MAX).
        let mut path = vec![0_u8; libc::PATH_MAX as usize];
        // SAFETY: the context is open; the call writes a string to the buffer, within its length.
        let returned =
            unsafe { sys::mlx5dv_get_data_direct_sysfs_path(self.context.raw(), path.as_mut_ptr().cast(), path.len()) };
        // Kernels before Linux 6.12 do not know the question.
        if matches!(returned, libc::ENODEV | libc::EOPNOTSUPP | libc::EPROTONOSUPPORT) {
            return Ok(None);
        }
        zero("mlx5dv_get_data_direct_sysfs_path", returned)?;
        let path = CStr::from_bytes_until_nul(&path).map_or(&path[..], CStr::to_bytes);
        let path = Path::new(OsStr::from_bytes(path));
        Ok(Some(Path::new("/sys").join(path.strip_prefix("/").unwrap_or(path))))
    }
}

/// The bytes of `range`, if such a part of a dma-buf can be registered for this.
fn checked(range: &Range<u64>, access: Access) -> Result<u64, Error> {
    let len = range.end.saturating_sub(range.start);
    in_range("bytes of a dma-buf to register", len, 1..=isize::MAX as u64)?;
    refuse(access, Access::ON_DEMAND)?;
    Ok(len)
}

/// Bytes of a base page.
fn page_bytes() -> u64 {
    // SAFETY: takes a number, and returns one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}
