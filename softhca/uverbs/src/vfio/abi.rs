//! The VFIO ABI, as the kernel's uapi header has it (`linux/vfio.h`): requests and structures. This is data only.

use crate::abi::abi;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Requests. Two of them can have one number: the file tells them apart.
pub(super) mod request {
    /// `_IO(';', 100 + number)`: a size is nowhere in it.
    const fn vfio(number: u64) -> u64 {
        0x3b << 8 | (100 + number)
    }

    pub(crate) const GET_API_VERSION: u64 = vfio(0);
    pub(crate) const CHECK_EXTENSION: u64 = vfio(1);
    pub(crate) const SET_IOMMU: u64 = vfio(2);
    pub(crate) const GROUP_GET_STATUS: u64 = vfio(3);
    pub(crate) const GROUP_SET_CONTAINER: u64 = vfio(4);
    pub(crate) const GROUP_UNSET_CONTAINER: u64 = vfio(5);
    pub(crate) const GROUP_GET_DEVICE_FD: u64 = vfio(6);
    pub(crate) const DEVICE_GET_INFO: u64 = vfio(7);
    pub(crate) const DEVICE_GET_REGION_INFO: u64 = vfio(8);
    pub(crate) const DEVICE_GET_IRQ_INFO: u64 = vfio(9);
    pub(crate) const DEVICE_SET_IRQS: u64 = vfio(10);
    pub(crate) const DEVICE_RESET: u64 = vfio(11);
    pub(crate) const IOMMU_GET_INFO: u64 = vfio(12);
    pub(crate) const IOMMU_MAP_DMA: u64 = vfio(13);
    pub(crate) const IOMMU_UNMAP_DMA: u64 = vfio(14);

    /// Whether `request` is one of VFIO's.
    pub(crate) fn is_vfio(request: u64) -> bool {
        request >> 8 == 0x3b
    }
}

/// What `GET_API_VERSION` answers.
pub(super) const API_VERSION: i32 = 0;

/// The extensions of a container (`VFIO_CHECK_EXTENSION`).
pub(super) mod extension {
    pub(crate) const TYPE1_IOMMU: u64 = 1;
    pub(crate) const TYPE1_V2_IOMMU: u64 = 3;
    pub(crate) const DMA_CC_IOMMU: u64 = 4;
    pub(crate) const UNMAP_ALL: u64 = 9;
}

pub(super) mod group_flag {
    pub(crate) const VIABLE: u32 = 1 << 0;
    pub(crate) const CONTAINER_SET: u32 = 1 << 1;
}

pub(super) mod device_flag {
    pub(crate) const RESET: u32 = 1 << 0;
    pub(crate) const PCI: u32 = 1 << 1;
}

pub(super) mod region_flag {
    pub(crate) const READ: u32 = 1 << 0;
    pub(crate) const WRITE: u32 = 1 << 1;
    pub(crate) const MMAP: u32 = 1 << 2;
    pub(crate) const CAPS: u32 = 1 << 3;
}

/// `VFIO_REGION_INFO_CAP_MSIX_MAPPABLE`: the table of interrupts can be mapped with the rest.
pub(super) const CAP_MSIX_MAPPABLE: u16 = 3;

/// Regions of a PCI function.
pub(super) mod region {
    pub(crate) const BAR0: u32 = 0;
    pub(crate) const ROM: u32 = 6;
    pub(crate) const CONFIG: u32 = 7;
    /// How many there are; the last one, VGA, is not one of a network card's.
    pub(crate) const COUNT: u32 = 9;
}

/// Interrupts of a PCI function.
pub(super) mod irq {
    pub(crate) const MSIX: u32 = 2;
    pub(crate) const ERROR: u32 = 3;
    pub(crate) const REQUEST: u32 = 4;
    pub(crate) const COUNT: u32 = 5;
}

pub(super) mod irq_flag {
    pub(crate) const EVENTFD: u32 = 1 << 0;
    pub(crate) const NORESIZE: u32 = 1 << 3;
}

pub(super) mod irq_set_flag {
    pub(crate) const DATA_NONE: u32 = 1 << 0;
    pub(crate) const DATA_BOOL: u32 = 1 << 1;
    pub(crate) const DATA_EVENTFD: u32 = 1 << 2;
    pub(crate) const ACTION_MASK: u32 = 1 << 3;
    pub(crate) const ACTION_UNMASK: u32 = 1 << 4;
    pub(crate) const ACTION_TRIGGER: u32 = 1 << 5;
    pub(crate) const DATA: u32 = DATA_NONE | DATA_BOOL | DATA_EVENTFD;
    pub(crate) const ACTION: u32 = ACTION_MASK | ACTION_UNMASK | ACTION_TRIGGER;
}

pub(super) mod iommu_flag {
    pub(crate) const PGSIZES: u32 = 1 << 0;
    pub(crate) const CAPS: u32 = 1 << 1;
}

/// `VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE`.
pub(super) const CAP_IOVA_RANGE: u16 = 1;
/// `VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL`.
pub(super) const CAP_DMA_AVAIL: u16 = 3;

pub(super) mod map_flag {
    pub(crate) const READ: u32 = 1 << 0;
    pub(crate) const WRITE: u32 = 1 << 1;
}

/// `VFIO_DMA_UNMAP_FLAG_ALL`.
pub(super) const UNMAP_ALL: u32 = 1 << 1;

abi! {
    /// `struct vfio_group_status`.
    struct GroupStatus {
        argsz: u32,
        flags: u32,
    }

    /// `struct vfio_device_info`, without its capabilities.
    struct DeviceInfo {
        argsz: u32,
        flags: u32,
        num_regions: u32,
        num_irqs: u32,
    }

    /// `struct vfio_region_info`.
    struct RegionInfo {
        argsz: u32,
        flags: u32,
        index: u32,
        /// Offset of the first capability.
        cap_offset: u32,
        size: u64,
        /// Where the region begins in the device's file.
        offset: u64,
    }

    /// `struct vfio_info_cap_header`.
    struct CapHeader {
        id: u16,
        version: u16,
        /// Offset of the next one.
        next: u32,
    }

    /// `struct vfio_irq_info`.
    struct IrqInfo {
        argsz: u32,
        flags: u32,
        index: u32,
        count: u32,
    }

    /// `struct vfio_irq_set`, without its data.
    struct IrqSet {
        argsz: u32,
        flags: u32,
        index: u32,
        start: u32,
        count: u32,
    }

    /// `struct vfio_iommu_type1_info`.
    struct IommuInfo {
        argsz: u32,
        flags: u32,
        iova_pgsizes: u64,
        cap_offset: u32,
        pad: u32,
    }

    /// `struct vfio_iommu_type1_info_cap_iova_range`, without its list.
    struct CapIovaRange {
        header: CapHeader,
        nr_iovas: u32,
        reserved: u32,
    }

    /// `struct vfio_iova_range`.
    struct IovaRange {
        start: u64,
        /// The last one.
        end: u64,
    }

    /// `struct vfio_iommu_type1_info_dma_avail`.
    struct CapDmaAvail {
        header: CapHeader,
        avail: u32,
        /// Where the next capability begins at a multiple of 8.
        pad: u32,
    }

    /// `struct vfio_iommu_type1_dma_map`.
    struct DmaMap {
        argsz: u32,
        flags: u32,
        vaddr: u64,
        iova: u64,
        size: u64,
    }

    /// `struct vfio_iommu_type1_dma_unmap`, without its data.
    struct DmaUnmap {
        argsz: u32,
        flags: u32,
        iova: u64,
        size: u64,
    }
}
