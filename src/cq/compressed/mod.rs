//! Completions that the device packs: several like ones in fewer CQEs, to save the bus ("CQE compression").
//!
//! A *session* is a *title*, which is a CQE with what the completions have in common, and a *mini-CQE* of 8 bytes for each, with
//! what they have not: the number of bytes, and by [format](MiniFormat) hash, checksum, tag, stride or headers. Where sessions lie
//! in the ring is the [layout](Layout). The mode [`Compressed`](super::Compressed) unpacks them: each completion is lent
//! as any other, from memory of the queue's own.
//!
//! What is packed loses what neither has: its [timestamp](super::CqeView::timestamp) is the title's, and so on.
//!
//! The device leaves out most places of a session. What lies there from earlier passes over the ring must not pass for a completion
//! in a later one, so polling marks each as empty, as DPDK does (`MLX5_CQE_INVALIDATE`).
mod layout;
mod mini;
mod unpack;

pub use layout::{Basic, Enhanced, Layout, Packing};
pub use mini::{Checksum, ChecksumStride, FlowTag, Hash, Headers, MiniFormat, VerbsFormat};
pub use unpack::Unpack;
pub(super) use unpack::{RingAt, Unpacked};
