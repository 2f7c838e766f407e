//! The machine's own RDMA devices, which programs must not take for the software device. It must never change the
//! machine.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The driver whose functions are the software device's alone.
const FUNCTIONS: &str = "bus/pci/drivers/mlx5_core";
/// The two directories of the auxiliary bus: its devices are parts of cards.
pub(crate) const AUXILIARY: [&str; 2] = ["bus/auxiliary/devices", "bus/auxiliary/drivers"];

/// The entries of the machine's sysfs at `sysfs` that tell of RDMA devices, as paths below it. A card's network
/// interfaces remain, and so does its PCI function where they lead.
pub(crate) fn rdma_entries(sysfs: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let root = sysfs.canonicalize().unwrap_or_default();
    for class in names(&sysfs.join("class")).into_iter().filter(|name| text(name).starts_with("infiniband")) {
        let class = Path::new("class").join(class);
        for device in names(&sysfs.join(&class)) {
            // The device's own directory lies in one of its class: `devices/pci0000:00/0000:00:02.0/infiniband/mlx5_0`.
            let device = sysfs.join(&class).join(device).canonicalize().ok();
            let of_class = device.as_deref().and_then(Path::parent).and_then(|of| of.strip_prefix(&root).ok());
            found.extend(of_class.filter(|of| of.starts_with("devices")).map(Path::to_owned));
        }
        found.insert(class);
    }
    let functions = names(&sysfs.join(FUNCTIONS)).into_iter().filter(|name| text(name).contains(':'));
    found.extend(functions.map(|name| Path::new("bus/pci/devices").join(name)));
    for bus in AUXILIARY {
        // Devices: mlx5_core.rdma.0, mana.rdma.0; drivers: mlx5_ib.rdma, mana_ib.mana.
        let is_rdma = |name: &str| name.starts_with("mlx5_") || name.contains(".rdma.") || name.contains("_ib.");
        let entries = names(&sysfs.join(bus)).into_iter().filter(|name| is_rdma(&text(name)));
        found.extend(entries.map(|name| Path::new(bus).join(name)));
    }
    found
}

/// The names in a directory; none if it cannot be read.
fn names(directory: &Path) -> Vec<OsString> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
}

fn text(name: &OsStr) -> std::borrow::Cow<'_, str> {
    name.to_string_lossy()
}
