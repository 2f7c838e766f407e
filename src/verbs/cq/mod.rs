//! Completion queues, and the channels of their events.
pub(super) mod any;
pub(super) mod change;
pub(super) mod channel;
pub(super) mod queue;
mod resize;
