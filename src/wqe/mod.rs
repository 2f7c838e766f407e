//! Work queue entries: from a request value to the words a send queue's ring holds.
//!
//! ```text
//!            16 bytes                                          one WQEBB = 64 bytes = 4 DS = 8 words
//!   +------------------------+
//!   | control segment        |  opmod, pi, opcode | qpn, ds | signature, stream, fm_ce_se | imm
//!   +------------------------+
//!   | remote address segment |  WRITE, READ, atomics: address | rkey | reserved
//!   +------------------------+
//!   | atomic segment         |  atomics: swap or add | compare
//!   +------------------------+
//!   | Ethernet segment       |  frames of raw packet queues: checksums | the frame's first bytes, padded to 16
//!   +------------------------+
//!   | data segments, or      |  each: byte count | lkey | address
//!   | one inline segment     |  byte count with bit 31 set, then the bytes, padded to 16
//!   +------------------------+
//! ```
//!
//! Where the ring ends, a WQE goes on at its start, even in the middle of inline data.
//!
//! A request ([`write()`], [`send()`], [`read()`], …) is a plain value: an operation with its operands, a payload, flags and
//! the application's tag. It knows its size, at compile time if its parts do, and encodes itself DS by DS into a sink: CPU
//! registers if it fits one WQEBB by its type, otherwise the ring in place. There is one encoder; operations and payloads only
//! say what differs.
//!
//! This room knows no queue and does no I/O. The bytes are those of libmlx5 (rdma-core `providers/mlx5/qp.c`,
//! `_mlx5_post_send`), with two exceptions in bytes that the device does not read: the padding behind inline data (up
//! to the next DS) and the compare word of a fetch-and-add. Both are zero here; libmlx5 leaves what was in the ring.
//! Neither stores to the ring past a WQE's end (past `ds * 16`).
mod be;
mod bytes;
mod ds;
mod error;
mod ethernet;
mod flags;
mod opcode;
mod operation;
mod payload;
mod request;
mod seg;
mod sink;
mod supported;
mod template;

pub use be::{Be16, Be32, Be64};
pub use ds::DsWords;
pub use error::EncodeError;
pub use ethernet::{Frame, InlineHeaders, frame};
pub use flags::Fence;
pub use opcode::{IbvWrOpcode, Opcode};
pub use operation::{
    Carries, CompareSwap, FetchAdd, Fetches, HasRemote, Nop, Operation, Read, Remote, Send, SendImm, SendInval, Write,
    WriteImm, compare_swap, fetch_add, nop, read, send, write,
};
pub use payload::{
    AtomicResult, Empty, Inline, InlineBytes, MAX_SGE_BYTES, NoLocalMemory, Payload, Registered, SgList, Sge,
};
pub use request::{Control, Limits, Request, WorkRequest};
pub use seg::{AtomicSeg, CtrlSeg, DataSeg, EthSeg, INLINE_FLAG, InlineSeg, RaddrSeg};
pub use sink::Sink;
pub use supported::SupportedOn;
pub use template::{GatherLen, InlineLen, TemplatePayload};

pub(crate) use ds::HeldDs;
pub(crate) use sink::{Composed, RingCursor, WQEBB_DS};

/// Keeps the traits of this room its own: a queue relies on their sizes being true.
mod sealed {
    pub trait Sealed {}
}
