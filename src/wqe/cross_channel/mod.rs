//! Requests that wait for other queues or for a time, and that start other queues.
pub(super) mod clock;
pub(super) mod queues;

pub use clock::{ClockReading, DeviceClock, WaitError};
