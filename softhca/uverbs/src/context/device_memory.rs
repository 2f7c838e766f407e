//! Device memory (`ibv_alloc_dm`): memory of the device that programs map from its file, and requests name by keys.

use super::objects::{Object, Rank};
use super::offset;
use crate::device::Hca;
use crate::device::limits::DEVICE_MEMORY_BYTES;
use crate::process::{Errno, Mapping, lock, page_bytes};
use rustix::fs::{FallocateFlags, fallocate};
use softhca::uar::UarMemory;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};

/// Sizes are multiples of this (`MLX5_MEMIC_BASE_SIZE`).
const UNIT: u64 = 64;
/// Allocations begin at a page, so the largest alignment is that of a page, as log2 of bytes.
const MAX_LOG_ALIGNMENT: u32 = 12;

/// Which pages of a file's device memory are taken.
///
/// They are those of this process: another one that has the file open gets none.
#[derive(Debug, Default)]
pub(crate) struct DeviceMemory {
    /// First page and number of pages, in ascending order.
    taken: Mutex<Vec<(u64, u64)>>,
}

impl DeviceMemory {
    /// Takes the first gap of `pages` pages.
    fn take(&self, pages: u64) -> Result<u64, Errno> {
        let mut taken = lock(&self.taken);
        let (mut at, mut index) = (0, 0);
        for &(first, count) in &*taken {
            if first - at >= pages {
                break;
            }
            (at, index) = (first + count, index + 1);
        }
        // As many pages as there are can be told by one command in an mmap offset.
        if pages > (u64::from(DEVICE_MEMORY_BYTES) / page_bytes()).saturating_sub(at) {
            return Err(Errno::ENOMEM);
        }
        taken.insert(index, (at, pages));
        Ok(at)
    }

    /// Pages of what begins at page `first`.
    pub(super) fn pages_at(&self, first: u64) -> Option<u64> {
        lock(&self.taken).iter().find(|piece| piece.0 == first).map(|piece| piece.1)
    }

    fn give_back(&self, first: u64) {
        lock(&self.taken).retain(|piece| piece.0 != first);
    }

    /// Allocates `length` bytes of what `file` has, all zero, at a multiple of `1 << log_alignment` bytes.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        file: &UarMemory,
        length: u64,
        log_alignment: u32,
    ) -> Result<Piece, Errno> {
        if length == 0 || log_alignment > MAX_LOG_ALIGNMENT {
            return Err(Errno::EINVAL);
        }
        let bytes = length.checked_next_multiple_of(UNIT).ok_or(Errno::EINVAL)?;
        let pages = bytes.div_ceil(page_bytes());
        let first = self.take(pages)?;
        let mapping = map(file, first, pages * page_bytes()).inspect_err(|_| self.give_back(first))?;
        Ok(Piece { of: self.clone(), first, length, mapping })
    }
}

/// Maps `len` bytes of device memory from page `first` of `file` on. They are zeros.
fn map(file: &UarMemory, first: u64, len: u64) -> Result<Mapping, Errno> {
    let at = offset::encode(offset::DEVICE_MEMORY, first);
    // The content of the last owner is not shown. The call fails for memory that never existed.
    for mode in [FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, FallocateFlags::empty()] {
        fallocate(file.fd(), mode, at, len)?;
    }
    Mapping::of(file.fd().as_raw_fd(), at, len as usize)
}

/// Allocated device memory.
pub(crate) struct Piece {
    of: Arc<DeviceMemory>,
    first: u64,
    /// Bytes that were asked for.
    pub(crate) length: u64,
    /// Of its pages in this process, by which the device reaches it.
    mapping: Mapping,
}

impl Piece {
    /// Number of the first page, as `mmap` offsets name it.
    pub(crate) fn first_page(&self) -> u64 {
        self.first
    }

    /// Where the device finds it.
    pub(crate) fn address(&self) -> u64 {
        self.mapping.at() as u64
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.of.give_back(self.first);
    }
}

impl Object for Piece {
    fn rank(&self) -> Rank {
        Rank::DeviceMemory
    }

    fn release(&self, _: &Hca) -> Result<(), Errno> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gap_is_taken() {
        let all = u64::from(DEVICE_MEMORY_BYTES) / page_bytes();
        let memory = DeviceMemory::default();
        assert_eq!([memory.take(2), memory.take(3), memory.take(1)], [Ok(0), Ok(2), Ok(5)]);
        memory.give_back(2);
        assert_eq!([memory.take(4), memory.take(2), memory.take(1)], [Ok(6), Ok(2), Ok(4)]);
        assert_eq!((memory.pages_at(6), memory.pages_at(7)), (Some(4), None));
        assert_eq!((memory.take(all - 9), memory.take(u64::MAX)), (Err(Errno::ENOMEM), Err(Errno::ENOMEM)));
        assert_eq!((memory.take(all - 10), memory.take(1)), (Ok(10), Err(Errno::ENOMEM)));
    }
}
