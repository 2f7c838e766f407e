//! rdma-core's `libibverbs/verbs.h`.

pub(crate) mod dma_handles;
pub(crate) mod enumerations;
pub(crate) mod functions;
mod inline;
pub(crate) mod later;
pub(crate) mod types;

pub use dma_handles::*;
pub use enumerations::*;
pub use functions::*;
pub use inline::*;
pub use later::*;
pub use types::*;
