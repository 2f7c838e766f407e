//! Dynamic connections: initiators with their streams, targets, and the connections between them.

pub(super) mod connection;
pub(super) mod initiator;
pub mod target;
