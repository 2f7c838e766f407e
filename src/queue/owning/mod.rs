//! Queues that own the buffers of their requests, and pools of such buffers.

#[cfg(feature = "std")]
pub(super) mod frames;
pub(super) mod pooled;
pub(super) mod send;

pub use crate::queue::buffer::{DeviceBuffer, Posted, Refused};
#[cfg(feature = "std")]
pub use frames::{OwningFrameBatch, OwningSession};
pub use pooled::{FreeList, PoolBuffer, Slot, SlotPool};
