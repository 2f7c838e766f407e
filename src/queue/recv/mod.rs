//! Receive queues of queue pairs, and shared ones.
pub(super) mod parts;
pub(super) mod queue;
pub(super) mod scatter;
pub(super) mod shared;

pub use parts::RqParts;
pub use queue::RecvBatch;
pub(crate) use shared::capacity;
pub use shared::{SrqBatch, SrqParts, SrqRecord};
