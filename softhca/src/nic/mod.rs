//! The Ethernet side of the device: receive queues, the objects that choose one of them for a frame, and the port. It
//! must never know the maker of these objects.
//!
//! ```text
//!  wire ───> port.rs ── steering: rules ──> TIR ── hash.rs, RQT ──> receive_queue.rs ──> CQE
//!    ^          └─ loopback ─┐                                          └─ strides.rs, merging.rs
//!    └───────── steering <───┴── frames of send queues and raw packet QPs
//! ```
//!
//! It belongs to port 1. The port lets in frames that its filter permits, all of them until a driver has set it; rules
//! say which are received.

mod context;
mod counters;
mod description;
mod filter;
mod hash;
mod looped;
mod merging;
mod objects;
mod physical;
mod port;
mod receive_queue;
mod strides;

pub(crate) use context::{
    Dispatch, HashContext, HashFunction, HashSelect, ReceiveQueueContext, RqtContext, SendQueueContext, TirContext,
    TisContext,
};
pub(crate) use counters::PortCounters;
pub(crate) use filter::{AddressFilter, LOG_MAX_MULTICAST, LOG_MAX_UNICAST, LOG_MAX_VLANS};
pub(crate) use merging::{MESSAGE_UNIT, MIN_DATA, Merging, PERIODS_USECS};
pub(crate) use objects::{MAX_MTU, MAX_OBJECTS, MAX_RQT, Nic};
pub(crate) use physical::{Passed, PhysicalCounters};
pub(crate) use strides::{LOG_MIN_WQE_BYTES, LOG_STRIDE_BYTES, Strides, has_extended_range, log_counts};
