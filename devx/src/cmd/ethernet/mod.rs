//! Queues of raw Ethernet, their interfaces to the wire, and the rules that steer frames.

pub(super) mod match_fields;
pub(super) mod queues;
pub(super) mod steering;
pub(super) mod transport;
