//! Completions that the device compresses: several similar ones in fewer CQEs, to save bus traffic ("CQE compression").
//!
//! A *session* is a *title* and a *mini-CQE* of 8 bytes for each completion. The title is a CQE with the fields that
//! the completions share. A mini-CQE has the fields that differ: the number of bytes and, by [format](MiniFormat),
//! hash, checksum, flow tag, stride or headers. The [layout](Compression) says where sessions lie in the ring. The mode
//! [`Compressed`](crate::cq::mode::Compressed) expands them: it lends each completion like any other, from the queue's
//! own memory.
//!
//! Fields in neither title nor mini-CQE are lost: each [timestamp](super::CqeView::timestamp) is the title's, for
//! example.
//!
//! The device skips most places of a session. CQEs left there by earlier passes over the ring must not pass for
//! completions in a later one. So polling marks each place as empty, as DPDK does (`MLX5_CQE_INVALIDATE`).
mod expand;
mod layout;
mod mini;
mod run;
mod step;

pub(super) use expand::Expander;
pub use layout::{BASIC, Compression, ENHANCED};
pub use mini::{Checksum, ChecksumStride, FlowTag, Hash, Headers, MiniFormat, Strided};
pub(super) use run::{MiniFrame, Minis, Run};
pub(crate) use run::{Part, Shared};
pub(crate) use step::Expand;
pub(super) use step::RingAt;
