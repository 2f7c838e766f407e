//! The effects of the monitor's messages on the function.

use crate::guest_memory::{self, Shared};
use crate::stepped::Stepped;
use crate::vectors::Vectors;
use parking_lot::Mutex;
use softhca::memory::DmaMap;
use softhca::notify::Notify;
use softhca::pci::{BAR_BYTES, CONFIG_BYTES, VECTORS};
use std::fs::File;
use std::io;
use std::sync::Arc;
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX, VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX,
    VFIO_PCI_NUM_IRQS, VFIO_PCI_NUM_REGIONS, VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE, vfio_region_info,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, ServerBackend, ServerRegion};

/// The regions that the monitor may access: configuration space and BAR 0. All accesses are messages; nothing is
/// mapped.
pub(crate) fn regions() -> Vec<ServerRegion> {
    let region = |index| {
        let size = region_bytes(index);
        let flags = if size == 0 { 0 } else { VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE };
        let argsz = size_of::<vfio_region_info>() as u32;
        ServerRegion {
            region_info: vfio_region_info { argsz, index, size, flags, ..Default::default() },
            sparse_areas: Vec::new(),
            mmap_fd: None,
        }
    };
    (0..VFIO_PCI_NUM_REGIONS).map(region).collect()
}

/// The interrupts: MSI-X alone. Vectors can be added one by one.
pub(crate) fn interrupts() -> Vec<IrqInfo> {
    let interrupt = |index| match index {
        VFIO_PCI_MSIX_IRQ_INDEX => IrqInfo { index, flags: VFIO_IRQ_INFO_EVENTFD, count: VECTORS.into() },
        _ => IrqInfo { index, flags: 0, count: 0 },
    };
    (0..VFIO_PCI_NUM_IRQS).map(interrupt).collect()
}

/// Bytes of a region; 0: there is none.
fn region_bytes(region: u32) -> u64 {
    match region {
        VFIO_PCI_CONFIG_REGION_INDEX => CONFIG_BYTES as u64,
        VFIO_PCI_BAR0_REGION_INDEX => BAR_BYTES,
        _ => 0,
    }
}

/// A place in a region.
enum Place {
    Config(usize),
    Bar(u64),
}

impl Place {
    fn of(region: u32, offset: u64, len: usize) -> Option<Self> {
        offset.checked_add(len as u64).filter(|&end| end <= region_bytes(region))?;
        match region {
            VFIO_PCI_CONFIG_REGION_INDEX => usize::try_from(offset).ok().map(Self::Config),
            _ => Some(Self::Bar(offset)),
        }
    }
}

/// The parts of the function for one connection.
pub(crate) struct Backend {
    pub(crate) function: Arc<Mutex<Stepped>>,
    /// Wakes the function's thread.
    pub(crate) notify: Notify,
    pub(crate) memory: DmaMap,
    pub(crate) vectors: Vectors,
}

impl Backend {
    /// As if the function had just been plugged in: it forgets the memory and the requests of the last guest.
    pub(crate) fn forget(&self) {
        self.memory.clear();
        self.vectors.clear();
        self.function.lock().function.reset();
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let place = Place::of(region, offset, data.len()).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{} bytes at {offset:#x} of region {region}", data.len()),
            )
        })?;
        let mut stepped = self.function.lock();
        match place {
            Place::Config(at) => stepped.function.read_config(at, data),
            Place::Bar(at) => stepped.function.read(at, data),
        }
        log::trace!("read {region} {offset:#x}: {data:02x?}");
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        let Some(place) = Place::of(region, offset, data.len()) else {
            // An unclaimed store is lost, as on a bus. The monitor waits for no answer.
            log::warn!("store of {} bytes to byte {offset:#x} of region {region}, where nothing is", data.len());
            return Ok(());
        };
        log::trace!("write {region} {offset:#x}: {data:02x?}");
        {
            let mut stepped = self.function.lock();
            match place {
                Place::Config(at) => stepped.function.write_config(at, data),
                Place::Bar(at) => stepped.function.write(at, data),
            }
        }
        self.notify.wake();
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        guest_memory::map(&self.memory, Shared { address, bytes: size, offset, flags }, fd.as_ref())
            .inspect_err(|error| log::error!("memory at {address:#x}: {error}"))
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        guest_memory::unmap(&self.memory, address, size, flags)
            .inspect_err(|error| log::error!("memory at {address:#x}: {error}"))
    }

    fn reset(&mut self) -> io::Result<()> {
        self.function.lock().function.reset();
        self.vectors.reset();
        Ok(())
    }

    fn set_irqs(&mut self, index: u32, flags: u32, start: u32, count: u32, fds: Vec<File>) -> io::Result<()> {
        log::debug!("interrupts {index}: flags {flags:#x}, {count} from {start}, {} descriptors", fds.len());
        if index != VFIO_PCI_MSIX_IRQ_INDEX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the function has MSI-X alone"));
        }
        self.vectors.set(flags, start, count, fds).inspect_err(|error| log::error!("interrupts: {error}"))
    }
}
