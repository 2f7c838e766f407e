//! The directories of device files, for programs that list them. The preloaded object answers for the files themselves.

use softhca_settings::{self as settings, Settings};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Writes `infiniband`, and `vfio` if there are functions for it, to `root`, which is to stand for `/dev`.
pub(crate) fn write(settings: &Settings, root: &Path) -> io::Result<()> {
    let infiniband = root.join("infiniband");
    fs::create_dir_all(&infiniband)?;
    for device in 0..settings.devices {
        node(&infiniband.join(format!("uverbs{device}")), settings::device_number(device))?;
        for index in (1..=settings.ports).map(|port| settings::port_index(settings, device, port)) {
            node(&infiniband.join(format!("umad{index}")), settings::umad_number(index))?;
        }
    }
    if !settings.sink {
        node(&infiniband.join("rdma_cm"), settings::MANAGER_NUMBER)?;
    }
    if settings.vfio > 0 {
        let vfio = root.join("vfio");
        fs::create_dir(&vfio)?;
        node(&vfio.join("vfio"), settings::VFIO_NUMBER)?;
        for group in (settings.devices..settings.devices + settings.vfio).map(settings::vfio_group) {
            node(&vfio.join(group.to_string()), settings::vfio_group_number(group))?;
        }
    }
    Ok(())
}

/// Makes a character device with this number where the user may, else a link to another one.
fn node(at: &Path, (major, minor): (u32, u32)) -> io::Result<()> {
    let name = CString::new(at.as_os_str().as_bytes())?;
    // SAFETY: a string that ends with a zero byte.
    let made = unsafe { libc::mknod(name.as_ptr(), libc::S_IFCHR | 0o666, libc::makedev(major, minor)) };
    if made == 0 { Ok(()) } else { symlink("/dev/null", at) }
}
