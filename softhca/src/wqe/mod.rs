//! Send WQEs, and the data segments of receive WQEs: bytes of the ring in, requests out. They must never know a QP, or
//! how a request is carried out.
//!
//! ```text
//!  ring, register ── fetch.rs ──> opcode.rs: which segments? ──> decode.rs ──> send.rs: SendWqe
//!                                                   segments/ ─────┘
//! ```
//!
//! Layout: PRM "Send WQE", rdma-core `providers/mlx5/mlx5dv.h` (`struct mlx5_wqe_*_seg`).

mod changes;
mod condition;
mod decode;
mod fault;
mod fetch;
pub mod opcode;
mod payload;
mod segments;
mod send;
mod signature;
#[cfg(test)]
mod tests;

pub use crate::crypto::{EncryptionFormat, Order, Unit};
pub use crate::ethernet::{Checksums, StatedHeaders, StatedLayer};
pub use crate::memory::{CrcKind, Domain, Escape, Guard, Signature, SignatureFormat};
pub use changes::{Append, KeyChange, TagChange, TagOp, Umr, UmrList};
pub use condition::{Comparison, Condition};
pub use fault::WqeFault;
pub use fetch::{Source, WQEBB_BYTES, fetch};
pub(crate) use fetch::{copy_from_ring, extent};
pub use payload::{DataSeg, DataSegs, Part, Payload};
pub(crate) use segments::control::may_differ;
pub(crate) use segments::umr::OCTWORD;
pub use segments::{DATA_SEG_BYTES, INVALID_LKEY, data_seg};
pub use send::{
    AddressVector, DcTarget, Enable, Extended, Fence, Framing, Memcpy, Remote, SendOp, SendWqe, UdAddress, WaitData,
};
pub(crate) use signature::{RECEIVE_BYTES, check_receive, of_index};
