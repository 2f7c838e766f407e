//! Send WQEs, and the data segments of receive WQEs: bytes of the ring in, requests out. They must never know a QP, or
//! how a request is carried out.
//!
//! ```text
//!  ring, register ── fetch.rs ──> control.rs ──> opcode.rs: which segments? ──> decode.rs ──> send.rs: SendWqe
//!                            address.rs, cross_channel.rs, eth_segment.rs, memcpy.rs, tags.rs, umr.rs, formats.rs, segments.rs ──┘
//! ```
//!
//! Layout: PRM "Send WQE", rdma-core `providers/mlx5/mlx5dv.h` (`struct mlx5_wqe_*_seg`).

mod address;
mod control;
mod cross_channel;
mod decode;
mod eth_segment;
mod extended;
mod fault;
mod fetch;
mod formats;
mod memcpy;
pub mod opcode;
mod payload;
mod segments;
mod send;
mod signature;
mod tags;
#[cfg(test)]
mod tests;
mod umr;

pub use crate::crypto::{EncryptionFormat, Order, Unit};
pub use crate::ethernet::Checksums;
pub use crate::memory::{CrcKind, Domain, Escape, Guard, Signature, SignatureFormat};
pub(crate) use control::may_differ;
pub use fault::WqeFault;
pub use fetch::{WQEBB_BYTES, fetch};
pub(crate) use fetch::{copy_from_ring, extent, fetch_copy};
pub use payload::{DataSeg, Part, Payload};
pub use segments::{DATA_SEG_BYTES, INVALID_LKEY, data_seg};
pub use send::{
    AddressVector, Comparison, DcTarget, Enable, Extended, Fence, Framing, Memcpy, Remote, SendOp, SendWqe, UdAddress,
    WaitTime,
};
pub(crate) use signature::{RECEIVE_BYTES, check_receive, of_index};
pub use tags::{Append, TagChange, TagOp};
pub(crate) use umr::OCTWORD;
pub use umr::{KeyChange, Umr, UmrList};
