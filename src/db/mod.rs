//! Doorbells: the record in memory that holds the producer index, and the register in the device that wakes it. It does
//! not depend on queues; a WQE is bytes to it.
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
//! The record is authoritative: it says how far the ring is filled, and the device may read it at any time. The
//! register only wakes the device; a [BlueFlame](register::Half::copy) copy there also brings the WQE, so the device
//! need not fetch it.
//!
//! # Who owns a register
//!
#![cfg_attr(doc, doc = include_str!("../../docs/pictures/register.svg"))]
//!
//! Two CPUs that store to one half at a time mix their WQEs, and nothing reports it. `mlx5dv` does not tell whether
//! other queues share a register, so you state it by the register's type:
//!
//! - [`ExclusiveRegister`] has one owner and no lock.
//! - [`ThreadRegister`] has many queues and no lock; the type keeps them on one thread. They use `&ThreadRegister` (or
//!   an `Rc` with feature `std`).
//! - [`SharedRegister`] has many queues and a lock. They use `&SharedRegister` (or an `Arc` with feature `std`).
//!
//! - [`RecordlessRegister`] has one owner, and its queue has no doorbell record.
//!
//! A queue is generic over [`Register`], so the choice costs nothing at run time.
//!
//! A register without BlueFlame needs no owner: its doorbell is one store of 8 bytes that names the queue pair. Any
//! number of queues ring it, each through an [`ExclusiveRegister`] of its own.
//!
//! # How a WQE is copied
//!
//! The CPU's [usual routine](crate::arch::copy::DefaultCopy) copies it, unless you give the register another [copy
//! routine](crate::arch::copy). The routine is also part of the register's type.
//!
//! # What follows a doorbell
//!
//! A flush, a hint or nothing: the table at [`FlushMode`] shows which programs need a flush.
mod exclusive;
mod managed;
mod mode;
mod record;
mod recordless;
pub mod register;
mod shared;
mod thread;

pub use exclusive::ExclusiveRegister;
pub use managed::Managed;
pub use mode::{DoorbellFence, FlushMode, OneFence, TwoFences};
pub use record::DoorbellRecord;
pub use recordless::RecordlessRegister;
pub use register::{Register, RegisterParts};
pub use shared::SharedRegister;
pub use thread::ThreadRegister;

#[cfg(test)]
mod tests;
