//! The files of a port.

use super::text::{put, quads};
use softhca_settings::{self as settings, Link, Settings};
use std::fs;
use std::io;
use std::path::Path;

/// The file's name and text that say whether the link is up, as Linux writes `ib_port_state` and the physical state.
const STATES: [(&str, [&str; 2]); 2] =
    [("state", ["1: DOWN", "4: ACTIVE"]), ("phys_state", ["2: Polling", "5: LinkUp"])];

/// Writes the files of port `port` to the directory `at`. Its link is up.
pub(super) fn write(settings: &Settings, device: u32, port: u32, at: &Path) -> io::Result<()> {
    let infiniband = settings.link == Link::Infiniband;
    for (name, [_, up]) in STATES {
        put(at, name, up)?;
    }
    put(at, "link_layer", if infiniband { "InfiniBand" } else { "Ethernet" })?;
    put(at, "rate", "100 Gb/sec (4X EDR)")?;
    put(at, "lid", &format!("{:#x}", settings::lid(settings, device, port)))?;
    put(at, "lid_mask_count", "0")?;
    put(at, "sm_lid", &format!("{:#x}", settings::sm_lid(settings.link)))?;
    put(at, "sm_sl", "0")?;
    put(at, "cap_mask", &format!("{:#010x}", settings::port_capabilities(settings.link)))?;
    put(&at.join("pkeys"), "0", &format!("{:#06x}", settings::DEFAULT_PKEY))?;
    for (index, entry) in settings::gid_table(settings, device, port).into_iter().enumerate() {
        let index = index.to_string();
        put(&at.join("gids"), &index, &quads(&entry.gid))?;
        if !infiniband {
            let name = if entry.kind == settings::GidType::RoceV2 { "RoCE v2" } else { "IB/RoCE v1" };
            put(&at.join("gid_attrs/types"), &index, name)?;
            put(&at.join("gid_attrs/ndevs"), &index, entry.interface)?;
        }
    }
    Ok(())
}

/// Whether the cable of a port is pulled, by the file for that in the fabric's directory; of a bond, both cables.
pub(crate) fn link_is_down(settings: &Settings, device: u32, port: u32) -> bool {
    let mut cables = if settings.bond { 1..=settings.cables() } else { port..=port };
    cables.all(|cable| settings::cable_file(&settings.fabric, device, cable).exists())
}

/// Writes the files that say whether the link is up. Readers see an old text or a new one.
pub(crate) fn write_link(at: &Path, up: bool) -> io::Result<()> {
    for (name, texts) in STATES {
        let new = at.join(format!("{name}.new"));
        fs::write(&new, format!("{}\n", texts[usize::from(up)]))?;
        fs::rename(&new, at.join(name))?;
    }
    Ok(())
}
