//! Registration of dma-bufs by way of Data Direct: in libmlx5 since rdma-core 54. They are looked up by themselves.

use core::ffi::{c_char, c_int};

use crate::declare::{constants, functions};
use crate::errno::absent;
use crate::verbs::{ibv_context, ibv_mr, ibv_pd};

constants! {
    /// The region is accessed through the device's Data Direct function.
    MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT: c_int = 1 << 0;
}

functions! {
    "libmlx5.so.1", link none, replaceable false;

    "MLX5_1.25": {
        /// Registers a dma-buf, with rights of mlx5's own. Null and `errno` on failure.
        fn mlx5dv_reg_dmabuf_mr(
            pd: *mut ibv_pd, offset: u64, length: usize, iova: u64, fd: c_int, access: c_int, mlx5_access: c_int,
        ) -> *mut ibv_mr, else absent();
        /// Where the device's Data Direct function is in sysfs, without `/sys`. Returns 0 or an errno: `ENODEV` if
        /// there is none, `ENOSPC` without room.
        fn mlx5dv_get_data_direct_sysfs_path(
            context: *mut ibv_context, buf: *mut c_char, buf_len: usize,
        ) -> c_int, else libc::ENOSYS;
    }
}
