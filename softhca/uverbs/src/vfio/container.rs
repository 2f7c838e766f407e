//! `/dev/vfio/vfio`: a container. It has groups, and the addresses of their functions.

use super::abi::{
    API_VERSION, CAP_DMA_AVAIL, CAP_IOVA_RANGE, CapDmaAvail, CapHeader, CapIovaRange, DmaMap, DmaUnmap, IommuInfo,
    UNMAP_ALL, extension, iommu_flag, map_flag, request,
};
use super::argument;
use super::space::{AddressSpace, MAX_MAPPINGS, RANGES, Request};
use crate::launch::settings;
use crate::process::{Errno, lock, user};
use std::sync::{Arc, Mutex};
use zerocopy::IntoBytes;

/// Sizes of pages that mappings are multiples of: 4 KiB, 2 MiB, 1 GiB, as an IOMMU has them.
const PAGE_SIZES: u64 = 1 << 12 | 1 << 21 | 1 << 30;

/// A container.
#[derive(Debug, Default)]
pub(super) struct Container {
    pub(super) space: Arc<AddressSpace>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    groups: usize,
    /// A kind of IOMMU was chosen.
    has_iommu: bool,
}

impl Container {
    /// A group has come.
    pub(super) fn join(&self) {
        lock(&self.state).groups += 1;
    }

    /// A group has gone; the mappings go with the last one.
    pub(super) fn leave(&self) {
        let mut state = lock(&self.state);
        state.groups -= 1;
        if state.groups == 0 {
            state.has_iommu = false;
            self.space.clear();
        }
    }

    /// Whether functions of its groups can be opened.
    pub(super) fn has_iommu(&self) -> bool {
        lock(&self.state).has_iommu
    }

    /// Answers a request (`vfio_fops_unl_ioctl`, `vfio_iommu_type1_ioctl`).
    pub(super) fn ioctl(&self, number: u64, argument: u64) -> Result<i32, Errno> {
        match number {
            request::GET_API_VERSION => Ok(API_VERSION),
            request::CHECK_EXTENSION => Ok(self.check_extension(argument)),
            request::SET_IOMMU => self.set_iommu(argument),
            // Without groups, nobody knows which kind of IOMMU is meant.
            _ if !self.has_iommu() => Err(Errno::EINVAL),
            request::IOMMU_GET_INFO => self.info(argument),
            request::IOMMU_MAP_DMA => self.map(argument),
            request::IOMMU_UNMAP_DMA => self.unmap(argument),
            _ => Err(Errno::ENOTTY),
        }
        .inspect_err(|error| log::debug!("container: request {number:#x}: {error:?}"))
    }

    fn check_extension(&self, asked: u64) -> i32 {
        let known = [extension::TYPE1_IOMMU, extension::TYPE1_V2_IOMMU, extension::DMA_CC_IOMMU, extension::UNMAP_ALL];
        i32::from(known.contains(&asked))
    }

    fn set_iommu(&self, kind: u64) -> Result<i32, Errno> {
        let mut state = lock(&self.state);
        if state.groups == 0 || state.has_iommu {
            return Err(Errno::EINVAL);
        }
        // The first version would let programs unmap parts of a mapping.
        if kind != extension::TYPE1_V2_IOMMU {
            return Err(Errno::ENODEV);
        }
        state.has_iommu = true;
        Ok(0)
    }

    fn info(&self, at: u64) -> Result<i32, Errno> {
        /// Without the capabilities' offset, which older programs do not know.
        const LEAST: usize = 16;
        const BYTES: usize = size_of::<IommuInfo>();
        let argsz = argument::size(at, LEAST)?;
        let capabilities = self.capabilities();
        let mut info = IommuInfo {
            argsz: argsz as u32,
            flags: iommu_flag::PGSIZES | iommu_flag::CAPS,
            iova_pgsizes: PAGE_SIZES,
            cap_offset: 0,
            pad: 0,
        };
        if argsz < BYTES + capabilities.len() {
            info.argsz = (BYTES + capabilities.len()) as u32;
        } else {
            info.cap_offset = BYTES as u32;
            user::write(at + BYTES as u64, &capabilities)?;
        }
        let known = if argsz >= BYTES { BYTES } else { LEAST };
        user::write(at, &info.as_bytes()[..known])?;
        Ok(0)
    }

    /// The capabilities, as they lie behind the structure.
    fn capabilities(&self) -> Vec<u8> {
        const FIRST: usize = size_of::<IommuInfo>();
        // At most 65535.
        let available = self.space.available().min(MAX_MAPPINGS) as u32;
        let next = (FIRST + size_of::<CapDmaAvail>()) as u32;
        let mut bytes = Vec::new();
        let header = CapHeader { id: CAP_DMA_AVAIL, version: 1, next };
        bytes.extend(CapDmaAvail { header, avail: available, pad: 0 }.as_bytes());
        let header = CapHeader { id: CAP_IOVA_RANGE, version: 1, next: 0 };
        bytes.extend(CapIovaRange { header, nr_iovas: RANGES.len() as u32, reserved: 0 }.as_bytes());
        bytes.extend(RANGES.as_bytes());
        bytes
    }

    fn map(&self, at: u64) -> Result<i32, Errno> {
        let asked: DmaMap = argument::read(at, size_of::<DmaMap>())?;
        if asked.flags & !(map_flag::READ | map_flag::WRITE) != 0 {
            return Err(Errno::EINVAL);
        }
        let request = Request {
            iova: asked.iova,
            len: asked.size,
            address: asked.vaddr,
            readable: asked.flags & map_flag::READ != 0,
            writable: asked.flags & map_flag::WRITE != 0,
        };
        let rule = settings().ok_or(Errno::ENODEV)?.memlock;
        self.space.map(&request, rule)?;
        Ok(0)
    }

    fn unmap(&self, at: u64) -> Result<i32, Errno> {
        let asked: DmaUnmap = argument::read(at, size_of::<DmaUnmap>())?;
        let DmaUnmap { flags, iova, size, .. } = asked;
        let unmapped = match flags {
            UNMAP_ALL if iova == 0 && size == 0 => self.space.clear(),
            0 => {
                let page = crate::process::page_bytes();
                let last = size.checked_sub(1).and_then(|last| iova.checked_add(last)).ok_or(Errno::EINVAL)?;
                if (iova | size) % page != 0 {
                    return Err(Errno::EINVAL);
                }
                self.space.unmap(iova, last)?
            }
            // Dirty pages and addresses that are to come are not known here.
            _ => return Err(Errno::EINVAL),
        };
        user::write(at, DmaUnmap { size: unmapped, ..asked }.as_bytes())?;
        Ok(0)
    }
}
