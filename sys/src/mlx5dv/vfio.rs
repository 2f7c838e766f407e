//! libmlx5's driver for PCI functions that a program owns through VFIO (since rdma-core 37).

use core::ffi::{c_char, c_int};

use crate::declare::{constants, functions, structures};
use crate::errno::absent;
use crate::verbs::{ibv_context, ibv_device};

structures! {
    /// Which function.
    struct mlx5dv_vfio_context_attr {
        /// Its name on the PCI bus.
        pci_name: *const c_char,
        /// `MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN`.
        flags: u32,
        /// Which later fields are set: none.
        comp_mask: u64,
    }
}

constants! {
    /// Links stay down when the function is initialized.
    MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN: u32 = 1 << 0;
}

functions! {
    "libmlx5.so.1", link "mlx5", replaceable false;

    "MLX5_1.21": {
        /// Lists the function, for `ibv_open_device`. Null and `errno` on failure; otherwise free the list by
        /// `ibv_free_device_list`.
        fn mlx5dv_get_vfio_device_list(attr: *mut mlx5dv_vfio_context_attr) -> *mut *mut ibv_device, else absent();
        /// The descriptor, which is readable when the driver has events of the function to process.
        fn mlx5dv_vfio_get_events_fd(ibctx: *mut ibv_context) -> c_int, else -libc::ENOSYS;
        /// Makes the driver process its events. Returns 0 or an errno.
        fn mlx5dv_vfio_process_events(context: *mut ibv_context) -> c_int, else libc::ENOSYS;
    }
}
