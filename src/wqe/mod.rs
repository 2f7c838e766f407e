//! Work queue entries: from a request value to the words a send queue's ring holds. Knows no queue, and does no I/O.
//!
//! ```text
//!            16 bytes (DS)                                     one WQEBB = 64 bytes = 4 DS = 8 words
//!   +------------------------+
//!   | control segment        |  opmod, pi, opcode | qpn, ds | signature, stream, fm_ce_se | imm
//!   +------------------------+
//!   | address vector         |  datagrams, DC: key | queue pair | rate, SL, LID; in a full one three DS, with MAC, GRH and GID
//!   +------------------------+
//!   | XRC segment            |  XRC: shared receive queue of the peer | reserved
//!   +------------------------+
//!   | remote address segment |  WRITE, READ, atomics: address | rkey | reserved
//!   +------------------------+
//!   | atomic segment         |  atomics: swap or add | compare
//!   +------------------------+
//!   | MMO metadata segment   |  copies of memory: 0 | key and address of memory that is the device's meanwhile
//!   +------------------------+
//!   | tag matching segment   |  tag lists, 2 DS: what, flags | entry | count | 0 | tag | mask
//!   +------------------------+
//!   | Ethernet segment       |  frames of raw packet queues: checksums | the frame's first bytes, padded to 16
//!   +------------------------+
//!   | data segments, or      |  each: byte count | lkey | address
//!   | one inline segment     |  byte count with bit 31 set, then the bytes, padded to 16
//!   +------------------------+  at the ring's end the WQE goes on at the ring's start, also inside inline data
//! ```
//!
//! A request ([`write()`], [`send()`], [`read()`], …) is a plain value: an operation with its operands, a payload,
//! flags and the application's identifier. It knows its size, at compile time if its parts do. It encodes itself DS by
//! DS: into CPU registers if its type fits one or two WQEBBs, otherwise into the ring in place. There is one encoder;
//! operations (a table in `operations/table.rs`) and payloads supply only the differences. [`seg`] has the segments'
//! layouts.
//!
//! The bytes are those of libmlx5 (rdma-core `providers/mlx5/qp.c`, `_mlx5_post_send`), except where the device does
//! not read. These places are the padding behind inline data (up to the next 16 bytes), the compare word of a
//! fetch-and-add, and the reserved words of an XRC segment. They are zero here; libmlx5 leaves the ring's old bytes
//! there. By `ibv_wr_*`, it also leaves them in the immediate word of requests without immediate data. Like libmlx5,
//! this crate does not change the bytes of the ring past a WQE's end (past `ds * 16`).

pub mod address;
pub mod atomics;
mod builders;
pub mod cross_channel;
mod error;
mod flags;
pub mod formats;
pub mod keys;
pub mod limits;
mod opcode;
pub mod operations;
#[doc(hidden)]
pub mod parts;
mod payload;
mod request;
mod sealed;
pub mod seg;
mod signing;
mod sink;
mod tags;
pub mod template;
pub(crate) mod words;

pub use address::vector::{DcAddress, UdAddress};
pub use atomics::masked::{masked_compare_swap, masked_fetch_add};
pub use builders::{
    bind_window, compare_swap, configure_key, fetch_add, local_invalidate, nop, read, send, unbind_window, write,
};
pub use cross_channel::queues::{dump, wait_for_completion};
pub use error::EncodeError;
pub use flags::{CompletionMode, Fence};
pub use formats::signature::set_psv;
pub use limits::Limits;
pub use operations::copy::memcpy;
pub use operations::frame_request::frame;
pub use operations::service::SupportedOn;
pub use operations::table::Remote;
pub use payload::Sge;
pub use request::{Request, WorkRequest};
pub use tags::entry::{tag_append, tag_remove, tag_sync};

pub(crate) use cross_channel::queues::{enable_receives, enable_sends};
pub(crate) use operations::multi_packet::{MULTI_PACKET_HEAD_DS, MultiPacket};
pub(crate) use payload::{Inline, Registered};
pub(crate) use request::Control;
pub(crate) use seg::{CtrlSeg, DataSeg, RaddrSeg};
pub(crate) use signing::{ByteXor, Signing};
pub(crate) use sink::{Composed, RingCursor, Sink, Straight, WQEBB_DS};
pub(crate) use words::ds::{DsWords, HeldDs};
