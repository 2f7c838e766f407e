//! Objects of one process that others use which have its device file. libmlx5 has these functions since rdma-core 65;
//! they are looked up by themselves.

use core::ffi::{c_int, c_void};

use super::devx::{mlx5dv_devx_obj, mlx5dv_devx_umem};
use crate::declare::{functions, structures};
use crate::errno::absent;
use crate::verbs::ibv_context;

structures! {
    /// How many bytes the exported attributes take.
    struct mlx5dv_export_sizes {
        /// Of a VAR.
        var_attrs_size: u32,
        /// Of a UMEM.
        devx_umem_attrs_size: u32,
        /// Of an object.
        devx_obj_attrs_size: u32,
    }
}

functions! {
    "libmlx5.so.1", link none, replaceable false;

    "MLX5_1.27": {
        /// Fills in the sizes, of which the program knows `sizes_len` bytes. `mlx5dv.h` calls it
        /// `mlx5dv_get_export_sizes`.
        fn _mlx5dv_get_export_sizes(sizes: *mut mlx5dv_export_sizes, sizes_len: usize);
        /// Writes an object's attributes, `devx_obj_attrs_size` bytes. Returns 0 or an errno.
        fn mlx5dv_devx_obj_export(obj: *mut mlx5dv_devx_obj, data: *mut c_void) -> c_int, else libc::ENOSYS;
        /// The object with these attributes, in a context that shares its device file. Null and `errno` on failure.
        fn mlx5dv_devx_obj_import(context: *mut ibv_context, data: *mut c_void) -> *mut mlx5dv_devx_obj, else absent();
        /// Frees an imported object, which stays in the kernel.
        fn mlx5dv_devx_obj_unimport(obj: *mut mlx5dv_devx_obj);
        /// Writes the attributes of memory, `devx_umem_attrs_size` bytes. Returns 0 or an errno.
        fn mlx5dv_devx_umem_export(umem: *mut mlx5dv_devx_umem, data: *mut c_void) -> c_int, else libc::ENOSYS;
        /// The memory with these attributes, in a context that shares its device file. Null and `errno` on failure.
        fn mlx5dv_devx_umem_import(context: *mut ibv_context, data: *mut c_void) -> *mut mlx5dv_devx_umem, else absent();
        /// Frees imported memory, which stays registered.
        fn mlx5dv_devx_umem_unimport(umem: *mut mlx5dv_devx_umem);
    }
}
