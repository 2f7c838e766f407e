//! Queue pairs.

mod builder;
mod handle;
mod pair;
mod plan;
mod raw;
mod service;
mod states;
mod transport;

pub use builder::QpBuilder;
pub use handle::Qp;
pub use pair::QueuePair;
pub use raw::{RawQp, RawQpBuilder};
