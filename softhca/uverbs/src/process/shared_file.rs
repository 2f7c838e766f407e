//! Files that stand for dma-bufs: memory that other devices, or other processes, have as well.

use super::errno::Errno;
use super::mapping::Mapping;
use super::page::page_bytes;

/// File systems whose files are memory (`linux/magic.h`): dma-bufs, memfds and other files of tmpfs, huge pages.
const MEMORY: [i64; 3] = [0x444d_4142, 0x0102_1994, 0x9584_58f6];

/// A mapped part of one.
pub(crate) struct SharedFile {
    mapping: Mapping,
    /// The offset of the requested part in the mapping.
    offset: u64,
}

impl SharedFile {
    /// Maps `length` bytes at `offset` of what `fd` is open for.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for a file that is no memory, or that is shorter; what mapping it gives.
    pub(crate) fn map(fd: i32, offset: u64, length: u64) -> Result<Self, Errno> {
        // SAFETY: plain data, for which all zeros is valid.
        let mut system: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: the call fills in a local.
        if unsafe { libc::fstatfs(fd, &mut system) } != 0 {
            return Err(Errno::EBADF);
        }
        let end = offset.checked_add(length).ok_or(Errno::EINVAL)?;
        // How long a dma-buf is, its file's status does not say.
        // SAFETY: plain calls; the position, if the file has one, is put back.
        let size = unsafe {
            let position = libc::lseek(fd, 0, libc::SEEK_CUR);
            let size = libc::lseek(fd, 0, libc::SEEK_END);
            libc::lseek(fd, position.max(0), libc::SEEK_SET);
            size
        };
        if !MEMORY.contains(&(system.f_type as i64)) || u64::try_from(size).map_err(|_| Errno::EINVAL)? < end {
            return Err(Errno::EINVAL);
        }
        let inside = offset % page_bytes();
        let len = usize::try_from(length + inside).map_err(|_| Errno::EINVAL)?;
        let mapped = |protection| Mapping::with(protection, fd, offset - inside, len);
        let mapping = mapped(libc::PROT_READ | libc::PROT_WRITE).or_else(|_| mapped(libc::PROT_READ))?;
        Ok(Self { mapping, offset: inside })
    }

    /// Address of the first byte that was asked for.
    pub(crate) fn address(&self) -> u64 {
        self.mapping.at() as u64 + self.offset
    }
}
