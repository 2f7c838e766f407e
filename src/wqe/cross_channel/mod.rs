//! Requests that wait for other queues, for a time or for a word of memory, and that start other queues.
pub(super) mod clock;
pub(super) mod queues;
pub(super) mod word;

pub use clock::{ClockReading, DeviceClock, WaitError};
pub use word::WordCondition;
