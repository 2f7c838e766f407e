//! Declarations that rdma-sys lacks: the part of `mlx5dv` this crate uses, and the verbs that `verbs.h` has only as
//! inline functions.
//!
//! Declared by hand after rdma-core's `providers/mlx5/mlx5dv.h`; `tests/mlx5dv_layout.rs` compiles a C program against
//! the installed header and compares every size, offset and constant. Field names are those of the header. All the
//! structs are extended by rdma-core at their end only, and `comp_mask` says which of the later fields are meant, so a
//! newer library accepts them as they stand.

mod declarations;
mod inline;
mod memory;
mod mlx5dv;
mod uverbs;

pub use declarations::*;
pub use inline::*;
pub use memory::*;
pub use mlx5dv::Library;
pub(super) use mlx5dv::functions;
pub use mlx5dv::{
    mlx5dv_create_cq, mlx5dv_create_flow, mlx5dv_create_flow_matcher, mlx5dv_create_mkey, mlx5dv_create_qp,
    mlx5dv_create_wq, mlx5dv_dci_stream_id_reset, mlx5dv_destroy_flow_matcher, mlx5dv_destroy_mkey,
    mlx5dv_devx_general_cmd, mlx5dv_init_obj, mlx5dv_is_supported, mlx5dv_open_device, mlx5dv_query_device,
};
pub(super) use uverbs::resize_cq;
