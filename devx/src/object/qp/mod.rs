//! Queue pairs.

mod builder;
mod handle;
mod pair;
mod states;
mod transport;

pub use builder::QpBuilder;
pub use handle::Qp;
pub use pair::{ConnectError, QueuePair};
pub use transport::DevxTransport;
