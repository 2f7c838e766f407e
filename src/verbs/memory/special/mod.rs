//! Memory that is not ordinary memory of this process: of the device, of other devices, or without pinned pages.

pub(super) mod device;
pub(super) mod dmabuf;
pub(super) mod null;
pub(super) mod on_demand;
