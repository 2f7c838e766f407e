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
//!
//! The record is the truth: it tells how far the queue is filled, and the device reads it again before it stops
//! working on a queue. The register only wakes the device; a [BlueFlame](Half::copy) copy there also spares it the
//! fetch of the WQE from memory.
//!
//! # Who owns a register
//!
//! Two CPUs that store to one half at a time mix their WQEs, and nothing reports it. `mlx5dv` does not tell whether a
//! register is shared with other queues, so the type says it: [`ExclusiveRegister`] has one owner and no lock;
//! [`SharedRegister`] has a lock and is used through `&SharedRegister` (or an `Arc` with feature `std`) by every queue
//! on it; [`ThreadRegister`] has neither, and ties its queues to one thread. A queue is generic over [`Register`], so the
//! choice costs nothing at run time.
//!
//! A register without BlueFlame is no matter of ownership: a doorbell of 8 bytes is one store, and names its queue pair. Any
//! number of queues ring it, each through an [`ExclusiveRegister`] of its own.
//!
//! # How a WQE is copied
//!
//! By the CPU's [usual routine](crate::arch::copy::DefaultCopy), unless the register is given another
//! [copy routine](crate::arch::copy), which is part of its type, too.
//!
//! # What follows a doorbell
//!
//! A flush, or not: [`FlushMode`] has the table of who needs which.
mod exclusive;
mod mode;
mod parts;
mod record;
mod register;
mod shared;
mod thread;

pub use exclusive::ExclusiveRegister;
pub use mode::{DoorbellFence, FlushMode, OneFence, TwoFences};
pub use parts::{RegisterError, RegisterParts};
pub use record::DoorbellRecord;
pub use register::{BlueFlame, Doorbell, Half, Register, Stored};
pub use shared::SharedRegister;
pub use thread::ThreadRegister;

/// Keeps the traits of this room its own.
mod sealed {
    pub trait Sealed {}
}

#[cfg(test)]
mod tests;
