//! The sysfs tree that programs look for devices in, as the kernel has it for a ConnectX.

mod pci;
mod port;
mod text;

use super::machine;
use pci::Kind;
use softhca_settings::{self as settings, PCI_DOMAIN, Settings, pci_function};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use text::quads;

pub(super) use port::{link_is_down, write_link};
pub(super) use text::put;

/// Writes the tree to `root`, which is to be in `SYSFS_PATH`, or to lie over `/sys`.
pub(crate) fn write(settings: &Settings, root: &Path) -> io::Result<()> {
    let class = root.join("class");
    put(&class.join("infiniband_verbs"), "abi_version", "6")?;
    // IB_USER_MAD_ABI_VERSION.
    put(&class.join("infiniband_mad"), "abi_version", "5")?;
    let (major, minor) = settings::MANAGER_NUMBER;
    put(&class.join("misc/rdma_cm"), "dev", &format!("{major}:{minor}"))?;
    // RDMA_USER_CM_ABI_VERSION.
    put(&class.join("misc/rdma_cm"), "abi_version", "4")?;
    for module in settings::MODULES {
        // Linux' `show_initstate` (`kernel/module/sysfs.c`) writes this word.
        put(&root.join("module").join(module), "initstate", "live")?;
    }
    pci::link_bus(root, &format!("{PCI_DOMAIN}:00"))?;
    for device in 0..settings.devices {
        let name = pci_function(device);
        let function = format!("pci{PCI_DOMAIN}:00/{name}");
        let at = root.join("devices").join(&function);
        pci::write(&Kind::of_device(settings), &at)?;
        pci::write_driven(settings, device, root, &at)?;
        write_verbs(device, &at.join("infiniband_verbs").join(format!("uverbs{device}")))?;
        write_device(settings, device, &at.join("infiniband").join(format!("mlx5_{device}")))?;
        let files = (1..=settings.ports).map(|port| (port, settings::port_index(settings, device, port)));
        for (port, index) in files.clone() {
            write_umad(device, port, index, &at.join("infiniband_mad").join(format!("umad{index}")))?;
        }
        let files = files.map(|(_, index)| ("infiniband_mad", format!("umad{index}")));
        let entries = [("infiniband", format!("mlx5_{device}")), ("infiniband_verbs", format!("uverbs{device}"))];
        for (of, entry) in entries.into_iter().chain(files) {
            let link = class.join(of);
            fs::create_dir_all(&link)?;
            symlink(Path::new("../../devices").join(&function).join(of).join(&entry), link.join(&entry))?;
        }
        pci::link_to_bus(root, &name)?;
        if settings.generation.has_data_direct() {
            write_data_direct(device, root)?;
        }
    }
    pci::link_to_module(root)?;
    // For the listings of the machine's entries.
    for bus in machine::AUXILIARY.iter().filter(|bus| Path::new("/sys").join(bus).is_dir()) {
        fs::create_dir_all(root.join(bus))?;
    }
    (settings.devices..settings.devices + settings.vfio).try_for_each(|device| write_vfio(settings, device, root))
}

/// Links each entry that the machine has in a shared directory into the tree at `root`, which has the directory, too. Its
/// RDMA devices are left out. For programs without a namespace: they find both in the tree.
pub(crate) fn link_to_machine(root: &Path) -> io::Result<()> {
    let hidden = machine::rdma_entries(Path::new("/sys"));
    for shared in settings::SHARED {
        let (ours, machines) = (root.join(shared), Path::new("/sys").join(shared));
        let Ok(entries) = fs::read_dir(&machines) else { continue };
        for name in entries.flatten().map(|entry| entry.file_name()) {
            let link = ours.join(&name);
            let is_hidden = hidden.contains(&Path::new(shared).join(&name));
            if !is_hidden && ours.is_dir() && link.symlink_metadata().is_err() {
                symlink(machines.join(&name), link)?;
            }
        }
    }
    Ok(())
}

/// Writes the tree of a PCI function that programs drive by VFIO: the files that remain with the kernel's driver for it
/// (vfio-pci).
fn write_vfio(settings: &Settings, device: u32, root: &Path) -> io::Result<()> {
    let name = pci_function(device);
    let at = format!("pci{PCI_DOMAIN}:00/{name}");
    let pci = root.join("devices").join(&at);
    pci::write(&Kind::of_device(settings), &pci)?;
    let group = settings::vfio_group(device).to_string();
    let group_devices = root.join("kernel/iommu_groups").join(&group).join("devices");
    fs::create_dir_all(&group_devices)?;
    symlink(Path::new("../../../../devices").join(&at), group_devices.join(&name))?;
    symlink(Path::new("../../../kernel/iommu_groups").join(&group), pci.join("iommu_group"))?;
    pci::link_to_driver(root, &pci, "vfio-pci")?;
    pci::link_to_bus(root, &name)
}

/// Writes the tree of a device's Data Direct function. A driver of mlx5_ib has it (Linux
/// `drivers/infiniband/hw/mlx5/data_direct.c`).
fn write_data_direct(device: u32, root: &Path) -> io::Result<()> {
    const DRIVER: &str = "mlx5_ib";
    let name = settings::data_direct_function(device);
    let at = root.join(settings::pci_path(&name).trim_start_matches('/'));
    pci::write(&Kind::DATA_DIRECT, &at)?;
    pci::write_event(&Kind::DATA_DIRECT, &name, DRIVER, &at)?;
    pci::link_to_driver(root, &at, DRIVER)?;
    pci::link_to_bus(root, &name)
}

/// Writes the tree of a device file for verbs.
fn write_verbs(device: u32, at: &Path) -> io::Result<()> {
    put(at, "abi_version", "1")?;
    write_file(device, settings::device_number(device), "infiniband_verbs", at)
}

/// Writes the tree of a port's device file for management datagrams.
fn write_umad(device: u32, port: u32, index: u32, at: &Path) -> io::Result<()> {
    put(at, "port", &port.to_string())?;
    write_file(device, settings::umad_number(index), "infiniband_mad", at)
}

/// Writes the tree of a device file of class `class`.
fn write_file(device: u32, (major, minor): (u32, u32), class: &str, at: &Path) -> io::Result<()> {
    let name = at.file_name().unwrap_or_default().to_string_lossy();
    put(at, "dev", &format!("{major}:{minor}"))?;
    put(at, "ibdev", &format!("mlx5_{device}"))?;
    put(at, "uevent", &format!("MAJOR={major}\nMINOR={minor}\nDEVNAME=infiniband/{name}"))?;
    symlink(Path::new("../../../").join(pci_function(device)), at.join("device"))?;
    symlink(Path::new("../../../../../class").join(class), at.join("subsystem"))
}

/// Writes the tree of a device.
fn write_device(settings: &Settings, device: u32, at: &Path) -> io::Result<()> {
    let [major, minor, sub_minor] = settings.generation.firmware();
    let guid = quads(&settings::node_guid(settings.number(device)).to_be_bytes());
    put(at, "node_type", "1: CA")?;
    put(at, "node_guid", &guid)?;
    put(at, "sys_image_guid", &guid)?;
    put(at, "fw_ver", &format!("{major}.{minor}.{sub_minor:04}"))?;
    put(at, "board_id", settings.generation.board_id())?;
    put(at, "hca_type", &format!("MT{}", settings.generation.device_id()))?;
    put(at, "hw_rev", "0")?;
    put(at, "node_desc", &settings::node_description(device))?;
    put(at, "uevent", &format!("NAME=mlx5_{device}"))?;
    symlink(Path::new("../../../").join(pci_function(device)), at.join("device"))?;
    symlink("../../../../../class/infiniband", at.join("subsystem"))?;
    (1..=settings.ports)
        .try_for_each(|port| port::write(settings, device, port, &at.join("ports").join(port.to_string())))
}
