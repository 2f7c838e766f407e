//! UAR pages and the BlueFlame registers in them. Libraries of today allocate a page at a time; with older kernels, pages
//! came with the context ("static"), and the driver spread QPs over their registers.

use crate::abi_mlx5::{CreateQp, qp_flag};
use crate::context::{Context, lock};
use crate::device_file::identity;
use crate::errno::Errno;
use crate::hca::Hca;
use crate::ioctl::Request;
use crate::strict;
use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};

/// Bytes of a UAR page, which is what the program maps.
pub(crate) const PAGE_BYTES: usize = 4096;
/// Bytes of a BlueFlame register: two halves.
pub(crate) const REGISTER_BYTES: u32 = 512;
/// BlueFlame registers of a page that are for programs (`MLX5_NON_FP_BFREGS_PER_UAR`).
const REGISTERS_PER_PAGE: u32 = 2;
/// BlueFlame registers of a page, as libmlx5 numbers them (`MLX5_BFREGS_PER_UAR`).
const NUMBERED_PER_PAGE: u32 = 4;
/// Registers in pages that a context with static pages may add.
pub(crate) const MAX_DYNAMIC_REGISTERS: u32 = 512;
/// "No register of the context's": `MLX5_IB_INVALID_BFREG`.
const NO_REGISTER: u32 = 1 << 31;

/// A page allocated by itself.
pub(crate) struct UarPage {
    index: u32,
}

impl UarPage {
    pub(crate) fn release(&self, hca: &Hca) -> Result<(), Errno> {
        free(hca, self.index)
    }
}

/// Allocates a page, which the file of `context` has where `place` says.
fn allocate(context: &Context, non_cached: bool, place: impl FnOnce(u32) -> u64) -> Result<u32, Errno> {
    context.hca.command(|device| {
        let index = device.alloc_uar_in(&context.file, place)?;
        if non_cached {
            device.set_non_cached(index)?;
        }
        Ok(index)
    })
}

/// Frees page `index`, which no mapping of the program's can ring from now on.
fn free(hca: &Hca, index: u32) -> Result<(), Errno> {
    hca.command(|device| device.free_uar(index))?;
    strict::forget(hca, index);
    Ok(())
}

/// mmap offsets, in pages: a command in bits 15:8, an index in bits 7:0 and from bit 16 on (`mlx5_vma_to_pgoff`).
mod offset {
    /// `enum mlx5_ib_mmap_cmd`.
    pub(super) const REGULAR: u64 = 0;
    pub(super) const WRITE_COMBINING: u64 = 2;
    pub(super) const NON_CACHED: u64 = 3;
    pub(super) const ALLOC_WRITE_COMBINING: u64 = 6;
    /// Pages allocated by themselves (`MLX5_IB_MMAP_OFFSET_START`).
    pub(super) const ALLOCATED: u64 = 9;

    pub(super) fn encode(command: u64, index: u64) -> u64 {
        (index >> 8 << 16 | command << 8 | index & 0xff) << 12
    }

    pub(super) fn decode(offset: u64) -> (u64, u64) {
        let page = offset >> 12;
        (page >> 8 & 0xff, page >> 16 << 8 | page & 0xff)
    }
}

/// `UAR_OBJ_ALLOC`: 0x1000 handle, 0x1001 type, 0x1002 mmap offset, 0x1003 length, 0x1004 page.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    // `enum mlx5_ib_uapi_uar_alloc_type`; the memory behind it is cached either way.
    const WITH_BLUEFLAME: u64 = 0;
    const NON_CACHED: u64 = 1;
    let kind = request.input(0x1001)?;
    match kind {
        WITH_BLUEFLAME if context.hca.settings.no_write_combining => return Err(Errno::EOPNOTSUPP),
        WITH_BLUEFLAME | NON_CACHED => {}
        _ => return Err(Errno::EOPNOTSUPP),
    }
    let place = |index| offset::encode(offset::ALLOCATED, context.first_uar() + u64::from(index));
    let index = allocate(context, kind == NON_CACHED, place)?;
    let handle = context.insert(Arc::new(UarPage { index }));
    request.put(0x1002, &place(index))?;
    request.put(0x1003, &(PAGE_BYTES as u64))?;
    request.put(0x1004, &index)?;
    request.put_handle(0x1000, handle)
}

/// `UAR_OBJ_DESTROY`: 0x1000 handle.
pub(crate) fn destroy(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    context.destroy(request.handle(0x1000)?, |page: &Arc<UarPage>| page.release(&context.hca)).map(drop)
}

/// The page that a device file has at byte `at`.
fn page_at(context: &Context, at: u64) -> Result<u32, Errno> {
    let (command, index) = offset::decode(at);
    let index = if command == offset::ALLOCATED { index.wrapping_sub(context.first_uar()) } else { index };
    let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
    let uars = || context.static_uars.get().ok_or(Errno::EINVAL);
    match command {
        offset::ALLOCATED => Ok(index),
        offset::REGULAR | offset::WRITE_COMBINING | offset::NON_CACHED => uars()?.page(index).ok_or(Errno::EINVAL),
        offset::ALLOC_WRITE_COMBINING => lock(&uars()?.added).get(&index).copied().ok_or(Errno::EINVAL),
        // Core clock, clock info, device memory.
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// Maps what a device file has at `at`: a UAR page. The address, or why not.
///
/// What the file has can be mapped without our help, too, by whoever calls the kernel himself: the pages are there. This
/// refuses what the kernel would, and has strict mode watch the mapping before anything can be stored to it.
pub(crate) fn map(
    context: &Context,
    address: *mut libc::c_void,
    len: usize,
    protection: i32,
    flags: i32,
    at: u64,
) -> Result<*mut libc::c_void, Errno> {
    if len != PAGE_BYTES || protection & libc::PROT_EXEC != 0 || flags & libc::MAP_SHARED == 0 {
        return Err(Errno::EINVAL);
    }
    let (command, _) = offset::decode(at);
    let write_combining = matches!(command, offset::WRITE_COMBINING | offset::ALLOC_WRITE_COMBINING);
    if write_combining && context.hca.settings.no_write_combining {
        return Err(Errno::EPERM);
    }
    if let (offset::ALLOC_WRITE_COMBINING, index) = offset::decode(at) {
        let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
        context.static_uars.get().ok_or(Errno::EINVAL)?.add_page(context, index)?;
    }
    let page = page_at(context, at)?;
    context.hca.map_uar(page, &context.file, (address, protection, flags), strict::watch)
}

/// Has strict mode watch the pages of `context` that were mapped without our help. To be called when a queue is made:
/// nothing that was stored before can have been a doorbell.
pub(crate) fn watch_unseen(context: &Context) {
    if !context.hca.settings.strict {
        return;
    }
    for (address, at) in mappings(context) {
        if let Ok(page) = page_at(context, at)
            && !strict::is_watched(address)
            && let Err(error) = context.hca.watch_uar(page, address, strict::watch)
        {
            log::error!("UAR page {page} is not watched: {error:?}");
        }
    }
}

/// The mapped pages of a device file: address and offset in the file.
fn mappings(context: &Context) -> Vec<(usize, u64)> {
    let Some((_, inode)) = identity(context.file.fd().as_raw_fd()) else { return Vec::new() };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let pages = |line: &str| {
        // address-end protection offset device inode path (proc_pid_maps(5)).
        let mut fields = line.split_ascii_whitespace();
        let (from, to) = fields.next()?.split_once('-')?;
        let hex = |text| usize::from_str_radix(text, 16).ok();
        let (from, to, at) = (hex(from)?, hex(to)?, hex(fields.nth(1)?)?);
        let of_file = fields.nth(1)?.parse() == Ok(inode) && line.contains("/memfd:");
        of_file.then(|| (from..to).step_by(PAGE_BYTES).map(move |page| (page, (at + page - from) as u64)))
    };
    maps.lines().filter_map(pages).flatten().collect()
}

/// The pages that come with a context, and how many QPs use each of their registers.
pub(crate) struct StaticUars {
    pages: Vec<u32>,
    /// QPs by register, numbered as the kernel does: two to a page.
    users: Mutex<Vec<u32>>,
    /// The last registers, each for one QP.
    low_latency: u32,
    /// Pages added on demand, by their index.
    added: Mutex<BTreeMap<u32, u32>>,
}

impl StaticUars {
    /// Pages for `registers` registers, the last `low_latency` of which are for one QP each.
    pub(crate) fn new(context: &Context, registers: u32, low_latency: u32) -> Result<Self, Errno> {
        const MAX_REGISTERS: u32 = 1024;
        if registers > MAX_REGISTERS {
            return Err(Errno::ENOMEM);
        }
        let registers = registers.next_multiple_of(REGISTERS_PER_PAGE);
        let mut uars = Self {
            pages: Vec::new(),
            users: Mutex::new(vec![0; registers as usize]),
            low_latency,
            added: Mutex::default(),
        };
        let non_cached = context.hca.settings.no_write_combining;
        for index in 0..registers / REGISTERS_PER_PAGE {
            // As which libmlx5 maps them.
            let place = |_| offset::encode(offset::REGULAR, index.into());
            match allocate(context, non_cached, place) {
                Ok(page) => uars.pages.push(page),
                Err(error) => {
                    uars.release(&context.hca);
                    return Err(error);
                }
            }
        }
        Ok(uars)
    }

    pub(crate) fn release(&self, hca: &Hca) {
        for &page in self.pages.iter().chain(lock(&self.added).values()) {
            if let Err(error) = free(hca, page) {
                log::warn!("UAR page {page}: {error:?}");
            }
        }
    }

    /// Registers.
    pub(crate) fn registers(&self) -> u32 {
        lock(&self.users).len() as u32
    }

    /// The page on which CQs are armed.
    pub(crate) fn first_page(&self) -> u32 {
        self.pages[0]
    }

    fn page(&self, index: u32) -> Option<u32> {
        self.pages.get(index as usize).copied()
    }

    /// The page that the program adds as `index`.
    fn add_page(&self, context: &Context, index: u32) -> Result<u32, Errno> {
        if index >= MAX_DYNAMIC_REGISTERS / REGISTERS_PER_PAGE {
            return Err(Errno::EINVAL);
        }
        let mut added = lock(&self.added);
        if added.contains_key(&index) {
            return Err(Errno::EINVAL);
        }
        let place = |_| offset::encode(offset::ALLOC_WRITE_COMBINING, index.into());
        let page = allocate(context, false, place)?;
        added.insert(index, page);
        Ok(page)
    }

    /// A register for a QP, as `mlx5_ib` chooses: one for itself while there are any, else the shared one with the
    /// fewest users.
    fn take(&self) -> u32 {
        let mut users = lock(&self.users);
        let first_single = users.len() - self.low_latency as usize;
        let single = (first_single..users.len()).find(|&register| users[register] == 0);
        // Register 0 has no BlueFlame; it serves when there is no other.
        let shared = || (1..first_single).min_by_key(|&register| users[register]).unwrap_or(0);
        let register = single.unwrap_or_else(shared);
        users[register] += 1;
        register as u32
    }

    fn put_back(&self, register: u32) {
        lock(&self.users)[register as usize] -= 1;
    }
}

/// Where a QP's doorbell is rung.
pub(crate) enum Register {
    /// In a page that the program has named.
    Page(u32),
    /// In one of the context's pages.
    Static {
        /// The context it belongs to, which itself holds the QPs.
        context: std::sync::Weak<Context>,
        /// Page.
        page: u32,
        /// Number, two to a page.
        register: u32,
    },
}

impl Register {
    /// What `driver` asks for.
    pub(crate) fn choose(context: &Arc<Context>, driver: &CreateQp) -> Result<Self, Errno> {
        if driver.flags & qp_flag::UAR_PAGE_INDEX != 0 {
            return Ok(Self::Page(driver.bfreg_index));
        }
        let uars = context.static_uars.get().ok_or(Errno::EINVAL)?;
        if driver.flags & qp_flag::BFREG_INDEX != 0 {
            let page = driver.bfreg_index / REGISTERS_PER_PAGE;
            return lock(&uars.added).get(&page).copied().map(Self::Page).ok_or(Errno::EINVAL);
        }
        let register = uars.take();
        let page = uars.pages[(register / REGISTERS_PER_PAGE) as usize];
        Ok(Self::Static { context: Arc::downgrade(context), page, register })
    }

    /// The page.
    pub(crate) fn page(&self) -> u32 {
        match self {
            Self::Page(page) | Self::Static { page, .. } => *page,
        }
    }

    /// The number that libmlx5 knows the register by.
    pub(crate) fn number(&self) -> u32 {
        match self {
            Self::Page(_) => NO_REGISTER,
            Self::Static { register, .. } => {
                register / REGISTERS_PER_PAGE * NUMBERED_PER_PAGE + register % REGISTERS_PER_PAGE
            }
        }
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        if let Self::Static { context, register, .. } = self
            && let Some(context) = context.upgrade()
            && let Some(uars) = context.static_uars.get()
        {
            uars.put_back(*register);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_what_the_kernel_decodes() {
        assert_eq!(offset::encode(offset::ALLOCATED, 0x123), 0x1_0923 << 12);
        for index in [0, 1, 0xff, 0x100, 0xffff] {
            let encoded = offset::encode(offset::ALLOCATED, index);
            assert_eq!(offset::decode(encoded), (offset::ALLOCATED, index));
        }
        // libmlx5: command 2, index 3.
        assert_eq!(offset::decode(0x203 << 12), (2, 3));
    }

    #[test]
    fn registers_are_shared_last() {
        let uars =
            StaticUars { pages: vec![0; 8], users: Mutex::new(vec![0; 16]), low_latency: 4, added: Mutex::default() };
        let taken: Vec<_> = (0..16).map(|_| uars.take()).collect();
        assert_eq!(taken, [12, 13, 14, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1]);
        uars.put_back(13);
        assert_eq!(uars.take(), 13);
    }
}
