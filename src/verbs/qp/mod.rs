//! Queue pairs: making, states, handshake, teardown.
pub(super) mod builder;
pub(super) mod data_order;
pub mod handshake;
pub(super) mod initiator;
pub(super) mod lag_port;
pub(super) mod limits;
pub(super) mod options;
pub(super) mod pair;
pub(super) mod queues;
pub(super) mod responder;
pub(super) mod source_port;
pub(super) mod teardown;
pub(super) mod transitions;
