//! UAR pages and the BlueFlame registers in them. Libraries of today allocate a page at a time; with older kernels,
//! pages came with the context ("static"), and the driver spread QPs over their registers.

use super::offset;
use crate::abi::mlx5::{CreateQp, qp_flag};
use crate::device::Hca;
use crate::process::{Errno, lock};
use softhca::error::Object as DeviceObject;
use softhca::firmware::Uid;
use softhca::uar::UarMemory;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

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

/// Allocates a page, which `file` has where `place` says; the device's number for it.
pub(crate) fn allocate(
    (hca, user): (&Hca, Uid),
    file: &UarMemory,
    non_cached: bool,
    place: impl FnOnce(u32) -> u64,
) -> Result<u32, Errno> {
    hca.create(user, DeviceObject::Uar, |device| {
        let index = device.alloc_uar_in(file, place)?;
        if non_cached {
            device.set_non_cached(index)?;
        }
        Ok(index)
    })
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
    pub(crate) fn new(
        (hca, user): (&Hca, Uid),
        file: &UarMemory,
        registers: u32,
        low_latency: u32,
    ) -> Result<Self, Errno> {
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
        let non_cached = hca.settings.no_write_combining;
        for index in 0..registers / REGISTERS_PER_PAGE {
            // As which libmlx5 maps them.
            let place = |_| offset::encode(offset::REGULAR, index.into());
            match allocate((hca, user), file, non_cached, place) {
                Ok(page) => uars.pages.push(page),
                Err(error) => {
                    uars.release(hca);
                    return Err(error);
                }
            }
        }
        Ok(uars)
    }

    pub(crate) fn release(&self, hca: &Hca) {
        for &page in self.pages.iter().chain(lock(&self.added).values()) {
            if let Err(error) = hca.free_uar(page) {
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

    pub(super) fn page(&self, index: u32) -> Option<u32> {
        self.pages.get(index as usize).copied()
    }

    /// The page that the program adds as `index`.
    pub(super) fn add_page(&self, (hca, user): (&Hca, Uid), file: &UarMemory, index: u32) -> Result<u32, Errno> {
        if index >= MAX_DYNAMIC_REGISTERS / REGISTERS_PER_PAGE {
            return Err(Errno::EINVAL);
        }
        let mut added = lock(&self.added);
        if added.contains_key(&index) {
            return Err(Errno::EINVAL);
        }
        let place = |_| offset::encode(offset::ALLOC_WRITE_COMBINING, index.into());
        let page = allocate((hca, user), file, false, place)?;
        added.insert(index, page);
        Ok(page)
    }

    /// The page of the register that the program counts as `register` among those of added pages.
    pub(crate) fn page_of_added(&self, register: u32) -> Option<u32> {
        if register > MAX_DYNAMIC_REGISTERS { None } else { self.added(register / REGISTERS_PER_PAGE) }
    }

    /// The page that the program has added as `index`.
    pub(super) fn added(&self, index: u32) -> Option<u32> {
        lock(&self.added).get(&index).copied()
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
        /// Those that it is one of.
        of: Arc<StaticUars>,
        /// Page.
        page: u32,
        /// Number, two to a page.
        register: u32,
    },
}

impl Register {
    /// The request of `driver`, for a context with these registers.
    pub(crate) fn choose(uars: Option<&Arc<StaticUars>>, driver: &CreateQp) -> Result<Self, Errno> {
        if driver.flags & qp_flag::UAR_PAGE_INDEX != 0 {
            return Ok(Self::Page(driver.bfreg_index));
        }
        let uars = uars.ok_or(Errno::EINVAL)?;
        if driver.flags & qp_flag::BFREG_INDEX != 0 {
            let page = driver.bfreg_index / REGISTERS_PER_PAGE;
            return uars.added(page).map(Self::Page).ok_or(Errno::EINVAL);
        }
        let register = uars.take();
        let page = uars.pages[(register / REGISTERS_PER_PAGE) as usize];
        Ok(Self::Static { of: uars.clone(), page, register })
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
        if let Self::Static { of, register, .. } = self {
            of.put_back(*register);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
