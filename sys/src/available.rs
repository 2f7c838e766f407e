//! Whether the libraries are there, with the functions that are declared here. Each function looks once, and then
//! remembers. With the feature `link`, the answer is yes, except for [`dma_handles`], [`data_direct`] and [`export`].

use crate::library::Unavailable;
use crate::{mlx5dv, verbs};

/// libibverbs, of rdma-core 34 or later.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn verbs() -> Result<(), &'static Unavailable> {
    verbs::functions::available()
}

/// The functions of libibverbs that came later: [`ibv_query_qp_data_in_order`](crate::ibv_query_qp_data_in_order), with
/// rdma-core 36.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn later() -> Result<(), &'static Unavailable> {
    verbs::later::available()
}

/// The functions of libibverbs for DMA handles, which came with rdma-core 59: [`ibv_alloc_dmah`](crate::ibv_alloc_dmah),
/// [`ibv_dealloc_dmah`](crate::ibv_dealloc_dmah), [`ibv_reg_mr_ex`](crate::ibv_reg_mr_ex). They are looked up with the
/// feature `link`, too.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn dma_handles() -> Result<(), &'static Unavailable> {
    verbs::dma_handles::available()
}

/// The functions of libmlx5 for Data Direct, which came with rdma-core 54:
/// [`mlx5dv_reg_dmabuf_mr`](crate::mlx5dv_reg_dmabuf_mr),
/// [`mlx5dv_get_data_direct_sysfs_path`](crate::mlx5dv_get_data_direct_sysfs_path). They are looked up with the feature
/// `link`, too.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn data_direct() -> Result<(), &'static Unavailable> {
    mlx5dv::data_direct::available()
}

/// libmlx5, of rdma-core 37 or later.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn mlx5dv() -> Result<(), &'static Unavailable> {
    mlx5dv::functions::available()
}

/// `mlx5dv_devx_*` and `mlx5dv_pp_*` of libmlx5.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn devx() -> Result<(), &'static Unavailable> {
    mlx5dv::devx::available()
}

/// `mlx5dv_devx_*_export` and `mlx5dv_devx_*_import` of libmlx5, of rdma-core 65 or later. They are looked up with the
/// feature `link` as well.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn export() -> Result<(), &'static Unavailable> {
    mlx5dv::export::available()
}

/// `mlx5dv_vfio_*` of libmlx5.
///
/// # Errors
/// [`Unavailable`] names the library, or the first function that it lacks.
pub fn vfio() -> Result<(), &'static Unavailable> {
    mlx5dv::vfio::available()
}
