//! Ethernet frames: their size, what their headers say, the checksums that the device fills in and looks at, how a
//! large packet becomes many, and those that were sent. It must never know a queue.

mod checksums;
mod frame_log;
mod headers;
mod protocols;
mod segmentation;
mod sum;

pub use checksums::Checksums;
pub(crate) use checksums::{fill_checksums, least_inline};
pub(crate) use frame_log::Egress;
pub use frame_log::{FRAMES_KEPT, FrameLog, SentFrame};
pub(crate) use headers::{Headers, L4};
pub(crate) use protocols::{FRAME_BYTES, MAX_FRAME, SERVICE_VLAN, VLAN};
pub(crate) use segmentation::{LOG_MAX_LARGE, segments};
