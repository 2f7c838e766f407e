//! Ethernet frames: their size, what their headers say and how they change, the checksums that the device fills in
//! and looks at, how a large packet becomes many, and those that were sent. It must never know a queue.

mod checksums;
mod frame_log;
mod headers;
mod inline_headers;
mod layers;
mod protocols;
mod rewrite;
mod segmentation;
pub(crate) mod sum;

pub use checksums::Checksums;
pub(crate) use checksums::fill_checksums;
pub(crate) use frame_log::{Egress, Leaving};
pub use frame_log::{FRAMES_KEPT, FrameLog, SentFrame};
pub(crate) use headers::{Headers, L4, Tag};
pub(crate) use inline_headers::least_inline;
pub(crate) use layers::Parser;
pub use layers::{StatedHeaders, StatedLayer};
pub(crate) use protocols::{
    ETHERNET_HEADER, FRAME_BYTES, IPV4, IPV4_HEADER, IPV6, IPV6_HEADER, MAX_FRAME, SERVICE_VLAN, UDP, VLAN, VLAN_TAG,
    VXLAN_PORT,
};
pub(crate) use rewrite::{Bits, Header};
pub(crate) use segmentation::{LOG_MAX_LARGE, Segmentation, segment};
