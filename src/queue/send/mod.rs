//! Send queues: their parts, one request, batches, staged requests, templates, and the requests that completed.
pub(super) mod batch;
pub(super) mod blueflame;
pub(super) mod copy;
pub(super) mod depth;
pub(super) mod error;
pub(super) mod in_ring;
pub(super) mod moderation;
pub(super) mod parts;
pub(super) mod post;
pub(super) mod probe;
pub(super) mod queue;
pub(super) mod short;
pub(super) mod shot;
pub(super) mod slot;
pub(super) mod staged;
pub(super) mod template;

pub use error::SqPartsError;
pub use parts::{SqParts, WqeRecord};
pub use probe::{Probe, ProbeError};
pub use shot::{Shot, ShotAt, ShotSignaledIf};
