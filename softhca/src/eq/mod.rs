//! Event queues: rings in host memory that tell a driver of events, each with an interrupt. They must never know the
//! source of an event, or its reason.
//!
//! ```text
//!  CQ, QP, port, firmware ── Event ──> table.rs: whose is it? ──> queue.rs: EQE, arming ──> interrupt
//!                                          └── no queue in memory: Device::next_event
//! ```
//!
//! | event | goes to |
//! |---|---|
//! | completion | the queue that the CQ names |
//! | others | the queue that was created for events of this number |
//! | those for which there is no queue, or one without memory | [`crate::device::Device::next_event`] |

#[cfg(test)]
mod model_tests;
mod queue;
mod table;

pub(crate) use table::EventQueues;

/// Interrupts that event queues can name.
pub const VECTORS: u16 = 32;
/// Most event queues: their numbers have eight bits, and 0 is none.
pub(crate) const MAX_EQS: u32 = 255;
/// Most EQEs of an event queue, as log2. The consumer index has 24 bits.
pub(crate) const MAX_LOG_EQ_SIZE: u8 = 22;
