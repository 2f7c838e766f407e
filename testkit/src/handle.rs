//! The parts of a queue beside its ring.

use std::any::Any;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::device::Device;

/// The parts of a queue beside its ring: the device, which has the rings, and the queue's private memory. It lives as
/// long as the queue.
pub struct Handle {
    device: Device,
    _shadow: Box<dyn Any + Send + Sync>,
}

impl Handle {
    pub(crate) fn new(device: &Device, shadow: Box<dyn Any + Send + Sync>) -> Self {
        Self { device: device.clone(), _shadow: shadow }
    }

    /// The device under the queue.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.device.fmt(f)
    }
}

/// Private memory of a queue: its address, and its owner. The memory stays in place when the owner moves.
pub(crate) fn shadow<T: Send + Sync + 'static>(len: u32) -> (NonNull<T>, Box<dyn Any + Send + Sync>) {
    let mut records: Vec<MaybeUninit<T>> = (0..len).map(|_| MaybeUninit::uninit()).collect();
    (NonNull::from(&mut records[..]).cast(), Box::new(records))
}
