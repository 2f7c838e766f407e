//! Masked atomic operations, of 4, 8 and 16 bytes.
pub(super) mod masked;
pub(super) mod seg;

pub use masked::{AtomicWord, Masked};
