//! The features of the device: queries of its capabilities, and the checks that run before an object is made.

pub(super) mod ask;
pub(super) mod atomics;
pub(super) mod copies;
pub(super) mod cross_channel;
mod frame_offloads;
pub(super) mod inline_mode;
mod recordless;
pub(super) mod strides;
pub(super) mod timestamps;
