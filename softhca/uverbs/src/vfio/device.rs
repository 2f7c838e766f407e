//! The function's file: its description, its regions, its interrupts.

use super::abi::{
    CAP_MSIX_MAPPABLE, CapHeader, DeviceInfo, IrqInfo, IrqSet, RegionInfo, device_flag, irq, region, region_flag,
    request,
};
use super::endpoint::Endpoint;
use super::space::AddressSpace;
use super::{argument, irqs};
use crate::process::{Errno, user};
use softhca::pci::{BAR_BYTES, CONFIG_BYTES, MSIX_TABLE_OFFSET, VECTORS};
use std::ops::Range;
use std::sync::Arc;
use zerocopy::IntoBytes;

/// How far apart regions are in the file, as log2 (`VFIO_PCI_OFFSET_SHIFT`).
const REGION_SHIFT: u32 = 40;
/// The table of interrupts in BAR 0, in entries of 16 bytes: the kernel keeps it to itself.
const TABLE: Range<u64> = MSIX_TABLE_OFFSET..MSIX_TABLE_OFFSET + 16 * VECTORS as u64;
/// The most that one call reads or writes.
const MAX_BYTES: usize = 1 << 16;

/// A function that a program has open.
pub(crate) struct Opened {
    pub(super) endpoint: Arc<Endpoint>,
    /// Its group stays open, and in its container.
    _group: Arc<dyn Send + Sync>,
}

impl Opened {
    /// Opens function `index` of `group`, and keeps the group open. The function reaches the mappings of `space`.
    pub(super) fn new(index: u32, group: Arc<dyn Send + Sync>, space: &Arc<AddressSpace>) -> Result<Arc<Self>, Errno> {
        let endpoint = Endpoint::get(index)?;
        endpoint.open(space);
        Ok(Arc::new(Self { endpoint, _group: group }))
    }

    /// Answers a request (`vfio_pci_core_ioctl`).
    pub(super) fn ioctl(&self, number: u64, argument: u64) -> Result<i32, Errno> {
        match number {
            request::DEVICE_GET_INFO => info(argument),
            request::DEVICE_GET_REGION_INFO => region_info(argument),
            request::DEVICE_GET_IRQ_INFO => {
                let asked: IrqInfo = argument::read(argument, size_of::<IrqInfo>())?;
                user::write(argument, irqs::info(&asked)?.as_bytes())
            }
            request::DEVICE_SET_IRQS => {
                let asked: IrqSet = argument::read(argument, size_of::<IrqSet>())?;
                self.endpoint.irqs.set(&asked, argument + size_of::<IrqSet>() as u64)
            }
            request::DEVICE_RESET => {
                self.endpoint.reset();
                Ok(())
            }
            _ => Err(Errno::ENOTTY),
        }
        .map(|()| 0)
        .inspect_err(|error| log::debug!("function: request {number:#x}: {error:?}"))
    }

    /// Maps the file from byte `at` on; only BAR 0 can be mapped.
    pub(crate) fn map(
        &self,
        address: *mut libc::c_void,
        len: usize,
        (protection, flags): (i32, i32),
        at: u64,
    ) -> Result<*mut libc::c_void, Errno> {
        if at >> REGION_SHIFT != u64::from(region::BAR0) {
            return Err(Errno::EINVAL);
        }
        self.endpoint.bar.map(self.endpoint.trapped, address, len, (protection, flags), at)
    }

    /// Reads the file from byte `at` on to `address` (`vfio_pci_rw`). Returns the number of bytes.
    pub(crate) fn read(&self, address: u64, len: usize, at: u64) -> Result<usize, Errno> {
        let (region, offset, len) = place(at, len)?;
        let mut bytes = vec![0; len];
        match region {
            region::CONFIG => self.endpoint.read_config(offset as usize, &mut bytes),
            _ => {
                self.endpoint.read(offset, &mut bytes);
                // The table of interrupts reads as ones.
                for (at, byte) in (offset..).zip(&mut bytes).filter(|(at, _)| TABLE.contains(at)) {
                    debug_assert!(TABLE.contains(&at));
                    *byte = 0xff;
                }
            }
        }
        user::write(address, &bytes)?;
        Ok(len)
    }

    /// Writes `len` bytes at `address` to the file, from byte `at` on. Returns the number of bytes.
    pub(crate) fn write(&self, address: u64, len: usize, at: u64) -> Result<usize, Errno> {
        let (region, offset, len) = place(at, len)?;
        let mut bytes = vec![0; len];
        user::read(address, &mut bytes)?;
        match region {
            region::CONFIG => self.endpoint.write_config(offset as usize, &bytes),
            // Stores to the table of interrupts are lost.
            _ => self.endpoint.write(offset, &bytes),
        }
        Ok(len)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.endpoint.close();
    }
}

/// Bytes of a region, and its flags.
fn region_of(index: u32) -> Result<(u64, u32), Errno> {
    use region_flag::{MMAP, READ, WRITE};
    match index {
        region::BAR0 => Ok((BAR_BYTES, READ | WRITE | MMAP)),
        region::CONFIG => Ok((CONFIG_BYTES as u64, READ | WRITE)),
        1..=region::ROM => Ok((0, 0)),
        // There is no VGA.
        _ => Err(Errno::EINVAL),
    }
}

/// The region that the file has at byte `at`, where in it that is, and how many of `len` bytes it has from there.
fn place(at: u64, len: usize) -> Result<(u32, u64, usize), Errno> {
    let (index, offset) = (at >> REGION_SHIFT, at & ((1 << REGION_SHIFT) - 1));
    let index = u32::try_from(index).map_err(|_| Errno::EINVAL)?;
    let (bytes, _) = region_of(index)?;
    let left = bytes.checked_sub(offset).filter(|_| bytes > 0).ok_or(Errno::EINVAL)?;
    // A call moves at most `MAX_BYTES` bytes; the program asks again for the rest.
    Ok((index, offset, len.min(MAX_BYTES).min(left as usize)))
}

fn info(at: u64) -> Result<(), Errno> {
    let asked: DeviceInfo = argument::read(at, size_of::<DeviceInfo>())?;
    let info = DeviceInfo {
        argsz: asked.argsz,
        flags: device_flag::RESET | device_flag::PCI,
        num_regions: region::COUNT,
        num_irqs: irq::COUNT,
    };
    user::write(at, info.as_bytes())
}

fn region_info(at: u64) -> Result<(), Errno> {
    const BYTES: usize = size_of::<RegionInfo>();
    let asked: RegionInfo = argument::read(at, BYTES)?;
    let (size, flags) = region_of(asked.index)?;
    let mut info = RegionInfo { flags, size, offset: u64::from(asked.index) << REGION_SHIFT, cap_offset: 0, ..asked };
    if asked.index == region::BAR0 {
        let capability = CapHeader { id: CAP_MSIX_MAPPABLE, version: 1, next: 0 };
        info.flags |= region_flag::CAPS;
        let needed = BYTES + size_of_val(&capability);
        if (asked.argsz as usize) < needed {
            info.argsz = needed as u32;
        } else {
            user::write(at + BYTES as u64, capability.as_bytes())?;
            info.cap_offset = BYTES as u32;
        }
    }
    user::write(at, info.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_end_where_they_say() {
        let config = u64::from(region::CONFIG) << REGION_SHIFT;
        assert_eq!(place(0x10, 8), Ok((region::BAR0, 0x10, 8)));
        assert_eq!(place(BAR_BYTES - 4, 8), Ok((region::BAR0, BAR_BYTES - 4, 4)));
        assert_eq!(place(BAR_BYTES, 8), Ok((region::BAR0, BAR_BYTES, 0)));
        assert_eq!(place(0, usize::MAX), Ok((region::BAR0, 0, MAX_BYTES)));
        assert_eq!(place(config + 4, 2), Ok((region::CONFIG, 4, 2)));
        assert_eq!(place(config + CONFIG_BYTES as u64 - 1, 2), Ok((region::CONFIG, CONFIG_BYTES as u64 - 1, 1)));
        for at in [BAR_BYTES + 1, config + CONFIG_BYTES as u64 + 1, 1 << REGION_SHIFT, 8 << REGION_SHIFT, u64::MAX] {
            assert_eq!(place(at, 8), Err(Errno::EINVAL), "{at:#x}");
        }
    }
}
