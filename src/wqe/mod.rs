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
//!   +------------------------+  at the ring's end the WQE goes on at the ring's start, in the middle of inline data
//! too
//! ```
//!
//! A request ([`write()`], [`send()`], [`read()`], …) is a plain value: an operation with its operands, a payload, flags and
//! the application's tag. It knows its size, at compile time where its parts do, and encodes itself unit by unit (a
//! unit is 16 bytes, two words) into a [`Sink`]: eight words in CPU registers for what is sure to fit one WQEBB, or
//! the ring in place. There is one encoder; operations and payloads only say what differs.
//!
//! This room knows no queue and does no I/O. The bytes are those of libmlx5 (rdma-core `providers/mlx5/qp.c`,
//! `_mlx5_post_send`), with two exceptions in bytes that the device does not read: the padding behind inline data (up
//! to the next 16 bytes) and the compare word of a fetch-and-add are zero here, and whatever was in the ring before
//! with libmlx5. Bytes of the ring past a WQE's end (past `ds * 16`) are left as they were, as libmlx5 leaves them.
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
    Carries, CompareSwap, FetchAdd, Fetches, Nop, Operation, Read, Remote, Send, SendImm, SendInval, Write, WriteImm,
    compare_swap, fetch_add, nop, read, send, write,
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
