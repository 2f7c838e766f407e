//! rdma-core's `providers/mlx5/mlx5dv.h`.

pub(crate) mod constants;
pub(crate) mod data_direct;
pub(crate) mod devx;
pub(crate) mod export;
pub(crate) mod functions;
pub(crate) mod types;
pub(crate) mod vfio;

pub use constants::*;
pub use data_direct::*;
pub use devx::*;
pub use export::*;
pub use functions::*;
pub use types::*;
pub use vfio::*;
