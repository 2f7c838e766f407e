//! Send queues: their parts, one request, batches, staged requests, and the requests that completed.
pub(super) mod batch;
pub(super) mod burst;
pub(super) mod error;
pub(super) mod moderation;
pub(super) mod parts;
pub(super) mod place;
pub(super) mod policy;
pub(super) mod post;
mod probe;
pub(super) mod queue;
mod rehearsal;
mod resume;
pub(super) mod session;
pub(super) mod staged;
mod warm;

pub use burst::Burst;
pub use parts::{SqParts, WqeRecord};
pub use probe::Probe;
pub use rehearsal::{NotARehearsal, RehearsalMemory};
pub use session::Session;
