//! The sysfs tree that libibverbs looks for devices in, as the kernel has it for a ConnectX.

use softhca_settings::{self as settings, Link, PCI_DOMAIN, Settings, pci_function};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Writes the tree to `root`, which is to be in `SYSFS_PATH`.
pub(crate) fn write(settings: &Settings, root: &Path) -> io::Result<()> {
    let class = root.join("class");
    put(&class.join("infiniband_verbs"), "abi_version", "6")?;
    let (major, minor) = settings::MANAGER_NUMBER;
    put(&class.join("misc/rdma_cm"), "dev", &format!("{major}:{minor}"))?;
    // RDMA_USER_CM_ABI_VERSION.
    put(&class.join("misc/rdma_cm"), "abi_version", "4")?;
    for device in 0..settings.devices {
        let uverbs = class.join("infiniband_verbs").join(format!("uverbs{device}"));
        let (major, minor) = settings::device_number(device);
        put(&uverbs, "dev", &format!("{major}:{minor}"))?;
        put(&uverbs, "ibdev", &format!("mlx5_{device}"))?;
        put(&uverbs, "abi_version", "1")?;
        let at = format!("pci{PCI_DOMAIN}:00/{}/infiniband/mlx5_{device}", pci_function(device));
        write_device(settings, device, &root.join("devices").join(&at))?;
        let link = class.join("infiniband");
        fs::create_dir_all(&link)?;
        symlink(Path::new("../../devices").join(&at), link.join(format!("mlx5_{device}")))?;
        link_to_pci(root, &pci_function(device))?;
    }
    (settings.devices..settings.devices + settings.vfio).try_for_each(|device| write_vfio(settings, device, root))
}

/// Writes the tree of a PCI function that programs drive by VFIO: the files that remain with the kernel's driver for it
/// (vfio-pci).
fn write_vfio(settings: &Settings, device: u32, root: &Path) -> io::Result<()> {
    let name = pci_function(device);
    let at = format!("pci{PCI_DOMAIN}:00/{name}");
    let pci = root.join("devices").join(&at);
    write_pci(settings, &pci)?;
    let group = settings::vfio_group(device).to_string();
    let group_devices = root.join("kernel/iommu_groups").join(&group).join("devices");
    let driver = root.join("bus/pci/drivers/vfio-pci");
    fs::create_dir_all(&group_devices)?;
    fs::create_dir_all(&driver)?;
    symlink(Path::new("../../../../devices").join(&at), group_devices.join(&name))?;
    symlink(Path::new("../../../kernel/iommu_groups").join(&group), pci.join("iommu_group"))?;
    symlink("../../../bus/pci/drivers/vfio-pci", pci.join("driver"))?;
    link_to_pci(root, &name)
}

/// Has the PCI bus know the function of this name.
fn link_to_pci(root: &Path, name: &str) -> io::Result<()> {
    let bus = root.join("bus/pci/devices");
    fs::create_dir_all(&bus)?;
    symlink(format!("../../../devices/pci{PCI_DOMAIN}:00/{name}"), bus.join(name))
}

/// Writes the tree of a device and, above it, that of its PCI function.
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
    put(at, "node_desc", &format!("mlx5_{device} (software)"))?;
    symlink(Path::new("../../../").join(pci_function(device)), at.join("device"))?;
    write_pci(settings, &at.join("../.."))?;
    for port in 1..=settings.ports {
        write_port(settings, device, port, &at.join("ports").join(port.to_string()))?;
    }
    Ok(())
}

/// Writes the kernel's files about a PCI function, with any driver.
fn write_pci(settings: &Settings, pci: &Path) -> io::Result<()> {
    let (vendor, id) = (settings::PCI_VENDOR_ID, settings.generation.device_id());
    put(pci, "modalias", &format!("pci:v{vendor:08X}d{id:08X}sv{vendor:08X}sd00000007bc02sc07i00"))?;
    put(pci, "vendor", &format!("{vendor:#06x}"))?;
    put(pci, "device", &format!("{id:#06x}"))?;
    put(pci, "subsystem_vendor", &format!("{vendor:#06x}"))?;
    put(pci, "subsystem_device", "0x0007")?;
    put(pci, "numa_node", "-1")?;
    // PCIe 3.0 with 16 lanes.
    put(pci, "current_link_speed", "8.0 GT/s PCIe")?;
    put(pci, "current_link_width", "16")
}

fn write_port(settings: &Settings, device: u32, port: u32, at: &Path) -> io::Result<()> {
    let infiniband = settings.link == Link::Infiniband;
    put(at, "state", "4: ACTIVE")?;
    put(at, "phys_state", "5: LinkUp")?;
    put(at, "link_layer", if infiniband { "InfiniBand" } else { "Ethernet" })?;
    put(at, "rate", "100 Gb/sec (4X EDR)")?;
    put(at, "lid", &format!("{:#x}", settings::lid(settings, device, port)))?;
    put(at, "sm_lid", if infiniband { "0x1" } else { "0x0" })?;
    put(&at.join("pkeys"), "0", &format!("{:#06x}", settings::DEFAULT_PKEY))?;
    for (entry, (gid, gid_type)) in (0..).zip(settings::gids(settings, device, port)) {
        let index = entry.to_string();
        put(&at.join("gids"), &index, &quads(&gid))?;
        if !infiniband {
            let name = if gid_type == settings::GidType::RoceV2 { "RoCE v2" } else { "IB/RoCE v1" };
            put(&at.join("gid_attrs/types"), &index, name)?;
            put(&at.join("gid_attrs/ndevs"), &index, settings::interface(settings, device, port, entry))?;
        }
    }
    Ok(())
}

/// Groups of four hexadecimal digits, as GUIDs and GIDs are written.
fn quads(bytes: &[u8]) -> String {
    let groups: Vec<String> = bytes.chunks(2).map(|pair| format!("{:02x}{:02x}", pair[0], pair[1])).collect();
    groups.join(":")
}

fn put(directory: &Path, name: &str, value: &str) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join(name), format!("{value}\n"))
}
