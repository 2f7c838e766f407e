//! The Ethernet side of the device: receive queues, what chooses one of them for a frame, and the port. It must never know
//! who makes the objects.
//!
//! ```text
//!  wire ───> port.rs ── steering: rules ──> TIR ── hash.rs, RQT ──> receive_queue.rs ──> CQE
//!    ^          └─ loopback ─┐
//!    └───────── steering <───┴── frames of send queues and raw packet QPs
//! ```
//!
//! It belongs to port 1. The port takes every frame that comes by: rules alone say which are received.

mod context;
mod counters;
mod hash;
mod looped;
mod objects;
mod port;
mod receive_queue;

pub(crate) use context::{
    Dispatch, HashContext, HashFunction, HashSelect, ReceiveQueueContext, RqtContext, SendQueueContext, TirContext,
    TisContext,
};
pub(crate) use counters::{PortCounters, Traffic};
pub(crate) use objects::{MAX_MTU, MAX_OBJECTS, MAX_RQT, Nic};
