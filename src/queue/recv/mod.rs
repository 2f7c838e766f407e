//! Receive queues of queue pairs, and shared ones.
pub(super) mod queue;
pub(super) mod scatter;
pub(super) mod shared;

pub use queue::{RecvBatch, RqParts};
pub use shared::{SrqBatch, SrqParts, SrqRecord};
