//! libmlx5's driver for PCI functions that a program owns through VFIO (since rdma-core 37). It is loaded separately,
//! because older libraries have all other functions.

use core::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use blueflame::verbs::Error;
use blueflame::verbs::ffi::Library;
use rdma_sys::{ibv_context, ibv_device};

use super::functions::{LIBRARY, absent, library_functions};

/// Which function (`struct mlx5dv_vfio_context_attr`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Mlx5dvVfioContextAttr {
    /// Its name on the PCI bus.
    pub pci_name: *const c_char,
    /// [`MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN`].
    pub flags: u32,
    /// Which later fields are set: none.
    pub comp_mask: u64,
}

/// Links stay down when the function is initialized.
pub const MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN: u32 = 1 << 0;

library_functions! {
    /// Lists the function, for `ibv_open_device`. Null and `errno` on failure; otherwise free the list by
    /// `ibv_free_device_list`.
    fn mlx5dv_get_vfio_device_list(attr: *mut Mlx5dvVfioContextAttr) -> *mut *mut ibv_device, else absent();
    /// The descriptor, which is readable when the driver has events of the function to process.
    fn mlx5dv_vfio_get_events_fd(ibctx: *mut ibv_context) -> c_int, else -libc::ENOSYS;
    /// Makes the driver process its events. Returns 0 or an errno.
    fn mlx5dv_vfio_process_events(context: *mut ibv_context) -> c_int, else libc::ENOSYS;
}
