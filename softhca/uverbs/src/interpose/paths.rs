//! Which paths are ours, and what libc is asked for instead of them.

use crate::context::device_file;
use crate::launch::settings;
use crate::rdma_cm;
use crate::umad;
use crate::vfio;
use libc::c_char;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;

/// A character device of every system, whose attributes ours share except for the numbers.
const STAND_IN: &CStr = c"/dev/null";

/// Where the kernel tells of devices like ours. libibverbs can be told of another place (`SYSFS_PATH`); UCX, and others
/// that look themselves, cannot. PCI functions are looked for by their names; those of ours are in a domain
/// (`PCI_DOMAIN`) and have groups (`vfio_group`) that no real ones have.
const KERNELS_TREE: &[u8] = b"/sys/";
const KERNELS_PLACES: [&[u8]; 4] = [
    b"/sys/class/infiniband",
    b"/sys/bus/pci/devices/ca00:",
    b"/sys/devices/pcica00:",
    b"/sys/kernel/iommu_groups/517",
];

/// The file of VFIO that `path` names.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn vfio(path: *const c_char) -> Option<vfio::Path> {
    if path.is_null() {
        return None;
    }
    // SAFETY: passed on to the caller.
    vfio::Path::of(unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// The device that `path` names: `/dev/infiniband/uverbsN`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn device(path: *const c_char) -> Option<u32> {
    if path.is_null() {
        return None;
    }
    // SAFETY: passed on to the caller.
    let path = unsafe { CStr::from_ptr(path) };
    device_file::index(path.to_bytes())
}

/// The file of management datagrams that `path` names: `/dev/infiniband/umadN`.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn umad(path: *const c_char) -> Option<u32> {
    if path.is_null() {
        return None;
    }
    // SAFETY: passed on to the caller.
    umad::index(unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// Whether `path` names the connection manager's file.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn is_manager(path: *const c_char) -> bool {
    // SAFETY: passed on to the caller.
    !path.is_null() && rdma_cm::is_path(unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// Calls `ask` for `path` or for its stand-in: that of a device of ours, or of the kernel's files about it.
///
/// # Safety
/// `path` is null or a string that ends with a zero byte.
pub(super) unsafe fn redirected<T>(path: *const c_char, ask: impl FnOnce(*const c_char) -> T) -> T {
    // SAFETY: passed on to the caller.
    if unsafe { device(path).is_some() || umad(path).is_some() || is_manager(path) || vfio(path).is_some() } {
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
    let Some(rest) = resolved.strip_prefix(tree.as_os_str().as_bytes()).filter(|rest| matches!(rest[0], b'/' | 0))
    else {
        return;
    };
    let kernels = [&KERNELS_TREE[..KERNELS_TREE.len() - 1], rest].concat();
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
    if path.is_null() {
        return None;
    }
    // SAFETY: passed on to the caller.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if !KERNELS_PLACES.iter().any(|place| path.starts_with(place)) {
        return None;
    }
    // Where the tree lies over the kernel's, the kernel finds it.
    let settings = settings().filter(|settings| !settings.namespace)?;
    let root = settings.sysfs.as_deref()?.as_os_str().as_bytes();
    CString::new([root, b"/", &path[KERNELS_TREE.len()..]].concat()).ok()
}
