//! Which paths are ours, and what libc is asked for instead of them.

use crate::context::device_file;
use crate::launch::settings;
use crate::rdma_cm;
use crate::umad;
use crate::vfio;
use libc::c_char;
use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A character device of every system, whose attributes ours share except for the numbers.
const STAND_IN: &CStr = c"/dev/null";

/// Where the kernel tells of devices like ours. libibverbs can be told of another place (`SYSFS_PATH`); UCX, and others
/// that look themselves, cannot. PCI functions are looked for by their names; those of ours are in a domain
/// (`PCI_DOMAIN`) and have groups (`vfio_group`) that no real ones have.
const KERNELS_TREE: &[u8] = b"/sys/";
const KERNELS_PLACES: [&[u8]; 7] = [
    b"/sys/class/infiniband",
    b"/sys/class/misc/rdma_cm",
    b"/sys/class/pci_bus/ca00:",
    b"/sys/bus/pci/devices/ca00:",
    b"/sys/bus/pci/drivers/mlx5_core",
    b"/sys/devices/pcica00:",
    b"/sys/kernel/iommu_groups/517",
];

/// Where device files are.
const DEVICE_FILES: &[u8] = b"/dev/";

/// The file that `path` names, if it can be ours: a place below `/dev` or `/sys`, written with one slash after each
/// name.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte, which stays as it is for as long as the result.
unsafe fn place<'a>(path: *const c_char) -> Option<Cow<'a, [u8]>> {
    if path.is_null() {
        return None;
    }
    // SAFETY: passed on to the caller.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if !path.starts_with(DEVICE_FILES) && !path.starts_with(KERNELS_TREE) {
        return None;
    }
    let is_plain = !path.windows(2).any(|pair| pair == b"//") && !path.windows(3).any(|part| part == b"/./");
    if is_plain {
        return Some(path.into());
    }
    let names = path.split(|&byte| byte == b'/').filter(|name| !matches!(name, [] | [b'.']));
    Some(names.flat_map(|name| [b"/", name].concat()).collect())
}

/// The file of VFIO that `path` names.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn vfio(path: *const c_char) -> Option<vfio::Path> {
    // SAFETY: passed on to the caller.
    vfio::Path::of(&unsafe { place(path) }?)
}

/// The device that `path` names: `/dev/infiniband/uverbsN`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn device(path: *const c_char) -> Option<u32> {
    // SAFETY: passed on to the caller.
    device_file::index(&unsafe { place(path) }?)
}

/// The file of management datagrams that `path` names: `/dev/infiniband/umadN`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn umad(path: *const c_char) -> Option<u32> {
    // SAFETY: passed on to the caller.
    umad::index(&unsafe { place(path) }?)
}

/// Whether `path` names the connection manager's file.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn is_manager(path: *const c_char) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { place(path) }.is_some_and(|path| rdma_cm::is_path(&path))
}

/// Whether `path` names a device of ours.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn is_device(path: *const c_char) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { device(path).is_some() || umad(path).is_some() || is_manager(path) || vfio(path).is_some() }
}

/// Calls `ask` for `path` or for its stand-in: that of a device of ours, or of the kernel's files about it.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn redirected<T>(path: *const c_char, ask: impl FnOnce(*const c_char) -> T) -> T {
    // SAFETY: passed on to the caller.
    if unsafe { is_device(path) } {
        return ask(STAND_IN.as_ptr());
    }
    // SAFETY: passed on to the caller.
    match unsafe { in_our_tree(path) } {
        Some(ours) => ask(ours.as_ptr()),
        None => ask(path),
    }
}

/// Has `path`, a place in the launcher's tree, be the place that the kernel would have it at. It becomes shorter.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte, which may be written.
pub(super) unsafe fn name_as_kernel(path: *mut c_char) {
    let Some(tree) = settings().and_then(|settings| settings.sysfs.as_deref()) else { return };
    if path.is_null() {
        return;
    }
    // SAFETY: passed on to the caller.
    let resolved = unsafe { CStr::from_ptr(path) }.to_bytes_with_nul();
    let in_tree = |tree: &Path, kernels: &[u8]| {
        let rest = resolved.strip_prefix(tree.as_os_str().as_bytes()).filter(|rest| matches!(rest[0], b'/' | 0))?;
        Some([kernels, rest].concat())
    };
    let device_files = softhca_settings::device_directory(tree);
    let Some(kernels) = in_tree(tree, b"/sys").or_else(|| in_tree(&device_files, b"/dev")) else { return };
    if kernels.len() <= resolved.len() {
        // SAFETY: the new path is no longer than the old one, in whose place it goes.
        unsafe { path.cast::<u8>().copy_from_nonoverlapping(kernels.as_ptr(), kernels.len()) };
    }
}

/// The place of `path` in the launcher's tree, if the kernel would describe our devices there.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
unsafe fn in_our_tree(path: *const c_char) -> Option<CString> {
    // SAFETY: passed on to the caller.
    let path = unsafe { place(path) }?;
    if let Some(name) = path.strip_prefix(DEVICE_FILES) {
        return directory_of_devices(name);
    }
    let in_sysfs = path.strip_prefix(KERNELS_TREE)?;
    let ours =
        if KERNELS_PLACES.iter().any(|place| path.starts_with(place)) || is_module(in_sysfs) || is_shared(in_sysfs) {
            in_sysfs
        } else if is_of_machines_device(in_sysfs) {
            b"none"
        } else {
            return None;
        };
    // Where the tree lies over the kernel's, the kernel finds it.
    let settings = settings().filter(|settings| !settings.namespace)?;
    let root = settings.sysfs.as_deref()?.as_os_str().as_bytes();
    CString::new([root, b"/", ours].concat()).ok()
}

/// The listing of a directory in `/dev` in which all device files are ours. Files of the machine's devices are not
/// found there.
fn directory_of_devices(name: &[u8]) -> Option<CString> {
    let settings = settings()?;
    let name = match without_slashes(name) {
        b"vfio" if settings.vfio > 0 => b"vfio",
        name if name == b"infiniband" || name.starts_with(b"infiniband/") => name,
        _ => return None,
    };
    let directory = softhca_settings::device_directory(settings.sysfs.as_deref()?).join(OsStr::from_bytes(name));
    CString::new(directory.into_os_string().into_encoded_bytes()).ok()
}

/// Whether a path below `/sys` is a module of ours, or below one.
fn is_module(path: &[u8]) -> bool {
    let name = path.strip_prefix(b"module/").and_then(|rest| rest.split(|&byte| byte == b'/').next());
    name.is_some_and(|name| softhca_settings::MODULES.iter().any(|module| module.as_bytes() == name))
}

/// Whether a path below `/sys` tells of an RDMA device of the machine: `class/net/eth0/device/infiniband/mlx5_0`.
fn is_of_machines_device(path: &[u8]) -> bool {
    let mut names = path.split(|&byte| byte == b'/');
    let top = names.next();
    [&b"class"[..], b"bus", b"devices"].map(Some).contains(&top) && names.any(|name| name.starts_with(b"infiniband"))
}

/// Whether a path below `/sys` is a directory with entries of ours and of the machine. The launcher's tree has both.
fn is_shared(path: &[u8]) -> bool {
    softhca_settings::SHARED.iter().any(|shared| shared.as_bytes() == without_slashes(path))
}

fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    &path[..end]
}
