//! Queues that own the buffers of their requests, and pools of such buffers.
pub(super) mod pooled;
pub(super) mod queues;

pub use pooled::{FreeList, Home, PooledBuffer, Slot, SlotPool};
pub use queues::{DeviceBuffer, Holds, Refused};
