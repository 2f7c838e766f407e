//! The files of a PCI function, and its places on the bus.

use super::text::put;
use softhca_settings::{self as settings, Link, PCI_DOMAIN, PCI_VENDOR_ID, Settings};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Subsystem device: an adapter card with one or two ports.
const SUBSYSTEM: u16 = 0x0007;
/// Bytes of BAR 0: the initialization segment, and UAR pages.
const BAR_BYTES: u64 = 32 << 20;
/// Where BAR 0 of the function is: above the memory of any machine that this runs on.
const BAR: u64 = 0xca00_0000_0000;
/// `IORESOURCE_PREFETCH | IORESOURCE_MEM_64 | IORESOURCE_MEM`, size-aligned, and the low bits of the BAR itself.
const BAR_FLAGS: u64 = 0x0014_220c;
/// The driver of functions with verbs, and its module.
const DRIVER: &str = "mlx5_core";
/// Regions in the file `resource`: six BARs, the ROM, and six BARs of virtual functions.
const RESOURCES: usize = 13;

/// By what a driver recognises a PCI function.
pub(super) struct Kind {
    /// PCI device ID.
    id: u32,
    /// Class code: class, subclass, programming interface.
    class: u32,
}

impl Kind {
    /// The Data Direct function of a ConnectX-8 (Linux `drivers/infiniband/hw/mlx5/data_direct.c`). No public source has
    /// its class: here it is a system peripheral of no other kind.
    pub(super) const DATA_DIRECT: Self = Self { id: 0x2100, class: 0x08_8000 };

    /// A device.
    pub(super) fn of_device(settings: &Settings) -> Self {
        Self { id: settings.generation.device_id(), class: class(settings) }
    }
}

/// Class code: network controller, of InfiniBand or of Ethernet (PCI Code and ID Assignment Specification, 1.3).
fn class(settings: &Settings) -> u32 {
    match settings.link {
        Link::Infiniband => 0x02_0700,
        Link::Ethernet => 0x02_0000,
    }
}

/// The string by which drivers are found.
fn modalias(kind: &Kind) -> String {
    let (vendor, id) = (PCI_VENDOR_ID, kind.id);
    let [_, base, subclass, interface] = kind.class.to_be_bytes();
    format!("pci:v{vendor:08X}d{id:08X}sv{vendor:08X}sd{SUBSYSTEM:08X}bc{base:02x}sc{subclass:02x}i{interface:02x}")
}

/// Writes the kernel's files about a function, with any driver.
pub(super) fn write(kind: &Kind, at: &Path) -> io::Result<()> {
    put(at, "modalias", &modalias(kind))?;
    put(at, "vendor", &format!("{PCI_VENDOR_ID:#06x}"))?;
    put(at, "device", &format!("{:#06x}", kind.id))?;
    put(at, "subsystem_vendor", &format!("{PCI_VENDOR_ID:#06x}"))?;
    put(at, "subsystem_device", &format!("{SUBSYSTEM:#06x}"))?;
    put(at, "class", &format!("{:#08x}", kind.class))?;
    put(at, "revision", "0x00")?;
    put(at, "irq", "0")?;
    put(at, "enable", "1")?;
    put(at, "numa_node", "-1")?;
    // PCIe 3.0 with 16 lanes.
    for which in ["current", "max"] {
        put(at, &format!("{which}_link_speed"), "8.0 GT/s PCIe")?;
        put(at, &format!("{which}_link_width"), "16")?;
    }
    let processors = processors();
    put(at, "local_cpulist", &processors)?;
    put(at, "local_cpus", &mask(&processors))?;
    let none = format!("{:#018x} {:#018x} {:#018x}", 0, 0, 0);
    let bar = format!("{BAR:#018x} {:#018x} {BAR_FLAGS:#018x}", BAR + BAR_BYTES - 1);
    let regions: Vec<_> = std::iter::once(bar).chain(std::iter::repeat_n(none, RESOURCES - 1)).collect();
    put(at, "resource", &regions.join("\n"))?;
    fs::write(at.join("config"), configuration(kind))?;
    symlink("../../../bus/pci", at.join("subsystem"))
}

/// Writes the files that exist because Linux' driver drives the function.
pub(super) fn write_driven(settings: &Settings, device: u32, root: &Path, at: &Path) -> io::Result<()> {
    let name = settings::pci_function(device);
    write_event(&Kind::of_device(settings), &name, DRIVER, at)?;
    if settings.link == Link::Ethernet {
        // The interfaces that the ports' addresses are of: the machine's own.
        let of_port = |port| settings::gid_table(settings, device, port).into_iter().map(|entry| entry.interface);
        let interfaces: BTreeSet<&str> = (1..=settings.ports).flat_map(of_port).collect();
        fs::create_dir_all(at.join("net"))?;
        for interface in interfaces {
            symlink(Path::new("/sys/class/net").join(interface), at.join("net").join(interface))?;
        }
    }
    link_to_driver(root, at, DRIVER)
}

/// Writes what the kernel has told of a function, which `driver` drives.
pub(super) fn write_event(kind: &Kind, name: &str, driver: &str, at: &Path) -> io::Result<()> {
    let uevent = [
        format!("DRIVER={driver}"),
        format!("PCI_CLASS={:X}", kind.class),
        format!("PCI_ID={PCI_VENDOR_ID:04X}:{:04X}", kind.id),
        format!("PCI_SUBSYS_ID={PCI_VENDOR_ID:04X}:{SUBSYSTEM:04X}"),
        format!("PCI_SLOT_NAME={name}"),
        format!("MODALIAS={}", modalias(kind)),
    ];
    put(at, "uevent", &uevent.join("\n"))
}

/// Has the module of the driver and the driver know each other.
pub(super) fn link_to_module(root: &Path) -> io::Result<()> {
    let drivers = root.join("module").join(DRIVER).join("drivers");
    fs::create_dir_all(&drivers)?;
    symlink(Path::new("../../../bus/pci/drivers").join(DRIVER), drivers.join(format!("pci:{DRIVER}")))?;
    let driver = root.join("bus/pci/drivers").join(DRIVER);
    symlink(Path::new("../../../../module").join(DRIVER), driver.join("module"))
}

/// Has the driver `driver` and the function at `at` know each other.
pub(super) fn link_to_driver(root: &Path, at: &Path, driver: &str) -> io::Result<()> {
    let directory = root.join("bus/pci/drivers").join(driver);
    fs::create_dir_all(&directory)?;
    if let Some(name) = at.file_name() {
        symlink(Path::new("../../../../devices").join(format!("pci{PCI_DOMAIN}:00")).join(name), directory.join(name))?;
    }
    symlink(Path::new("../../../bus/pci/drivers").join(driver), at.join("driver"))
}

/// Has the PCI bus know the function of this name, which is alone on its bus.
pub(super) fn link_to_bus(root: &Path, name: &str) -> io::Result<()> {
    let bus = root.join("bus/pci/devices");
    fs::create_dir_all(&bus)?;
    symlink(format!("../../../devices/pci{PCI_DOMAIN}:00/{name}"), bus.join(name))?;
    link_bus(root, name.rsplit_once(':').map_or(name, |(bus, _)| bus))
}

/// Has class `pci_bus` know the bus of this name.
pub(super) fn link_bus(root: &Path, name: &str) -> io::Result<()> {
    let (place, class) = (format!("devices/pci{PCI_DOMAIN}:00/pci_bus/{name}"), root.join("class/pci_bus"));
    let at = root.join(&place);
    let processors = processors();
    put(&at, "cpulistaffinity", &processors)?;
    put(&at, "cpuaffinity", &mask(&processors))?;
    symlink("../../../../class/pci_bus", at.join("subsystem"))?;
    fs::create_dir_all(&class)?;
    symlink(Path::new("../..").join(place), class.join(name))
}

/// The list of this machine's CPUs: without a NUMA node, all are near.
fn processors() -> String {
    fs::read_to_string("/sys/devices/system/cpu/online").map_or_else(|_| "0".to_owned(), |list| list.trim().to_owned())
}

/// The header of the configuration space (PCI Local Bus Specification 3.0, 6.1), of type 0.
fn configuration(kind: &Kind) -> [u8; 64] {
    /// Memory space and bus mastering are on.
    const COMMAND: u16 = 0x0006;
    /// A prefetchable BAR of 64 bits.
    const BAR_KIND: u64 = 0xc;
    let mut bytes = [0; 64];
    let mut at = |offset: usize, value: &[u8]| bytes[offset..offset + value.len()].copy_from_slice(value);
    // Identifiers have 16 bits.
    let (vendor, id) = (PCI_VENDOR_ID as u16, kind.id as u16);
    at(0x00, &vendor.to_le_bytes());
    at(0x02, &id.to_le_bytes());
    at(0x04, &COMMAND.to_le_bytes());
    at(0x09, &kind.class.to_le_bytes()[..3]);
    at(0x10, &(BAR | BAR_KIND).to_le_bytes());
    at(0x2c, &vendor.to_le_bytes());
    at(0x2e, &SUBSYSTEM.to_le_bytes());
    bytes
}

/// A list of CPUs, such as `0-3,8`, as a bit mask in groups of eight hexadecimal digits.
fn mask(list: &str) -> String {
    let mut words = vec![0_u32];
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else { continue };
        for processor in first..=last {
            let word = processor / 32;
            if word >= words.len() {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (processor % 32);
        }
    }
    let words: Vec<String> = words.iter().rev().map(|word| format!("{word:08x}")).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_masks() {
        assert_eq!(mask("0"), "00000001");
        assert_eq!(mask("0-3,8"), "0000010f");
        assert_eq!(mask("31-32"), "00000001,80000000");
    }
}
