//! Doorbells: the record in memory that holds the producer index, and the register in the device that says "look".
//!
//! ```text
//!   ring (memory)         doorbell record (memory)        UAR page (device)
//!   +-----+-----+-----+   +---------+----------+          0x800 +--------------------+
//!   | WQE | WQE |     |   | receive | send pi  |          half 0 | 8 bytes, or a WQE  |
//!   +-----+-----+-----+   +---------+----------+          0x900 +--------------------+
//!      1. store              2. store                     half 1 | used next time     |
//!                                                               +--------------------+
//!                                                            3. store, flush, other half
//! ```
mod parts;

pub use parts::RegisterParts;
