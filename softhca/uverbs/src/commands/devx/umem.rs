//! User memory, in which what commands make can lie: `MLX5_IB_OBJECT_DEVX_UMEM`.

use super::calls;
use crate::abi::access;
use crate::abi::mailbox::{self, NUMBER, fields, sizes};
use crate::commands::access as rights;
use crate::commands::request::Request;
use crate::context::{Context, Object, Rank};
use crate::device::{Hca, Opened, Pinned, Window};
use crate::process::{Errno, SharedFile, page_bytes};
use softhca::firmware::Uid;
use std::sync::Arc;

const CREATE_UMEM: u16 = 0xa08;
const DESTROY_UMEM: u16 = 0xa0a;
fields! {
    LOG_PAGE_SIZE: 0x11b, 5 = "create_umem_in.umem.log_page_size";
    PAGE_OFFSET: 0x120, 32 = "create_umem_in.umem.page_offset";
    NUM_OF_MTT: 0x140, 64 = "create_umem_in.umem.num_of_mtt";
}
// The pages follow, in 8 bytes each: address, and what may be done.
sizes! { CREATE_BYTES: 0x30 = "create_umem_in"; MTT_BYTES: 0x8 = "mtt"; }
const MTT_READ: u64 = 1;
const MTT_WRITE: u64 = 1 << 1;
/// log2 of the bytes of the device's pages (`MLX5_ADAPTER_PAGE_SHIFT`).
const ADAPTER_PAGE_SHIFT: u32 = 12;

/// Registered memory.
pub(crate) struct Umem {
    number: u32,
    user: Uid,
    _memory: Memory,
}

/// How the device reaches it.
enum Memory {
    Pinned { _pinned: Pinned },
    File { _opened: Opened, _file: SharedFile },
}

impl Object for Umem {
    fn rank(&self) -> Rank {
        Rank::Umem
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.carry_out_on(self.user, DESTROY_UMEM, self.number)
    }
}

/// The largest page size of `permitted`, a bit for each, in which `length` bytes at `address` can be registered; all of
/// the process's memory is in a row for the device (`devx_umem_find_best_pgsize`).
fn best_page_size(permitted: u64, address: u64, length: u64) -> Option<u64> {
    let page = page_bytes();
    let largest = length.checked_next_power_of_two()?.max(page);
    // The bits from the device's page size up to `largest`.
    let permitted = permitted & (largest | (largest - 1)) & !((1 << ADAPTER_PAGE_SHIFT) - 1);
    let mut size = 1_u64.checked_shl(permitted.checked_ilog2()?)?;
    // Parts of such a page would let the device reach more than was registered.
    while size > page && !(address % size == 0 && length % size == 0) {
        size /= 2;
    }
    Some(size)
}

/// The mailbox that registers `length` bytes at `address` for `user`.
fn creation(user: Uid, (address, length): (u64, u64), page: u64, writable: bool) -> Vec<u8> {
    let offset = address % page;
    let count = (offset + length).div_ceil(page);
    // The memory of all `count` pages exists.
    let mut input = mailbox::command(CREATE_UMEM, user.0, CREATE_BYTES + count as usize * MTT_BYTES);
    LOG_PAGE_SIZE.set(&mut input, (page.ilog2() - ADAPTER_PAGE_SHIFT).into());
    PAGE_OFFSET.set(&mut input, offset);
    NUM_OF_MTT.set(&mut input, count);
    let rights = if writable { MTT_READ | MTT_WRITE } else { MTT_READ };
    for (index, entry) in (0..count).zip(input[CREATE_BYTES..].chunks_exact_mut(MTT_BYTES)) {
        let at = address - offset + index * page;
        entry.copy_from_slice(&(at | rights).to_be_bytes());
    }
    input
}

/// `DEVX_UMEM_REG`: 0x1000 handle, 0x1001 address, 0x1002 length, 0x1003 access, 0x1004 its number, 0x1005 page sizes,
/// 0x1006 a file, in which the address is an offset.
pub(crate) fn register(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const PERMITTED: u32 = access::LOCAL_WRITE | access::REMOTE_WRITE | access::REMOTE_READ | access::RELAXED_ORDERING;
    let user = context.user();
    if user == softhca::firmware::DRIVER {
        return Err(Errno::EINVAL);
    }
    let (address, length): (u64, u64) = (request.input(0x1001)?, request.input(0x1002)?);
    let flags: u64 = request.optional(0x1003)?.unwrap_or(0);
    let flags = u32::try_from(flags).ok().filter(|flags| flags & !PERMITTED == 0).ok_or(Errno::EINVAL)?;
    rights::from_abi(flags)?;
    let writable = rights::are_writable(flags);
    let whole = address.checked_add(length).and_then(|end| end.checked_next_multiple_of(page_bytes()));
    if length == 0 || whole.is_none() {
        return Err(Errno::EINVAL);
    }
    let hca = &context.hca;
    if hca.has_failed() {
        // Linux' `mlx5_internal_err_ret_value` returns this.
        return Err(Errno::EIO);
    }
    let (memory, address) = match request.optional_handle(0x1006) {
        Some(fd) => {
            let file = SharedFile::map(i32::try_from(fd).map_err(|_| Errno::EBADF)?, address, length)?;
            let start = file.address();
            // Another process that has the file may take pages away.
            let opened = Opened::new(hca, Window::own(start, length));
            (Memory::File { _opened: opened, _file: file }, start)
        }
        None => {
            // Pages are registered as a whole.
            let inside = address % page_bytes();
            let pages = (inside + length).next_multiple_of(page_bytes());
            (Memory::Pinned { _pinned: Pinned::new(hca, address - inside, pages, writable)? }, address)
        }
    };
    let permitted: u64 = request.optional(0x1005)?.unwrap_or(u64::MAX << ADAPTER_PAGE_SHIFT);
    let page = best_page_size(permitted, address, length).ok_or(Errno::EINVAL)?;
    let number = NUMBER.get32(&hca.carry_out(&creation(user, (address, length), page, writable))?);
    let handle = context.insert(Arc::new(Umem { number, user, _memory: memory }));
    // It is the program's whether or not that hears its number.
    request.put_handle(0x1000, handle)?;
    request.put(0x1004, &number)
}

/// `DEVX_UMEM_DEREG`: 0x1000 handle.
pub(crate) fn deregister(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    calls::destroy(context, request, calls::DEREGISTER, |handle| context.destroy::<Umem>(handle).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::known;

    #[test]
    fn pages_are_as_large_as_they_may_be_but_not_larger_than_the_memory() {
        let all = u64::MAX << ADAPTER_PAGE_SHIFT;
        assert_eq!(best_page_size(all, 1 << 30, 1 << 21), Some(1 << 21));
        assert_eq!(best_page_size(all, 1 << 20, 1 << 21), Some(1 << 20), "by its address");
        assert_eq!(best_page_size(all, 1 << 30, 3 << 20), Some(1 << 20), "by its length");
        assert_eq!(best_page_size(all, 0x1234, 100), Some(4096));
        assert_eq!(best_page_size(1 << 12, 1 << 30, 1 << 21), Some(4096));
        assert_eq!(best_page_size(1 << 30, 1 << 30, 1 << 21), None);
        assert_eq!(best_page_size(0xfff, 1 << 30, 1 << 21), None);
        assert_eq!(best_page_size(all, 0, u64::MAX), None);
    }

    #[test]
    fn memory_is_described_where_linux_has_it() {
        assert_eq!(
            [MTT_WRITE, MTT_READ].map(u64::ilog2),
            ["mtt.wr_en", "mtt.rd_en"].map(|bit| 63 - known(bit).at as u32)
        );
    }

    #[test]
    fn all_pages_are_in_the_mailbox() {
        let input = creation(Uid(7), (0x12_3456, 0x2000), 0x1000, true);
        assert_eq!(input.len(), 0x30 + 3 * 8);
        assert_eq!(input[..4], [0x0a, 0x08, 0, 7]);
        assert_eq!((PAGE_OFFSET.get(&input), NUM_OF_MTT.get(&input), LOG_PAGE_SIZE.get(&input)), (0x456, 3, 0));
        assert_eq!(input[0x30..0x38], [0, 0, 0, 0, 0, 0x12, 0x30, 3]);
        assert_eq!(input[0x40..], [0, 0, 0, 0, 0, 0x12, 0x50, 3]);
        let input = creation(Uid(7), (1 << 30, 1 << 21), 1 << 20, false);
        assert_eq!((NUM_OF_MTT.get(&input), LOG_PAGE_SIZE.get(&input), input[0x3f]), (2, 8, 1));
    }
}
