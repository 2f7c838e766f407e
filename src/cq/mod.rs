//! Completion queues: who owns a CQE, what it says, and how to ask for an event.
mod parts;

pub use parts::CqParts;
