//! Work queue entries: from a request value to the words a send queue's ring holds. This module does not depend on
//! queues, and does no I/O.
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
//! A request ([`write()`], [`send()`], [`read()`], …) is a value: the words of its segments, its data, flags and the
//! application's identifier. Its type tells the operation and the data, and so the size of the WQE, unless the data is
//! a slice. If it fits four WQEBBs, it is composed in CPU registers, otherwise in the ring in place
//! (`encode.rs`). The operations are a table in `table.rs`; [`seg`] has the segments' layouts.
//!
//! The bytes are those of libmlx5 (rdma-core `providers/mlx5/qp.c`, `_mlx5_post_send`), except where the device does
//! not read. These places are the padding behind inline data (up to the next 16 bytes), the compare word of a
//! fetch-and-add, and the reserved words of an XRC segment. They are zero here; libmlx5 leaves the ring's old bytes
//! there. By `ibv_wr_*`, it also leaves them in the immediate word of requests without immediate data. Like libmlx5,
//! this crate does not change the bytes of the ring past a WQE's end (past `ds * 16`).

pub mod address;
mod copy;
pub mod cross_channel;
mod cursor;
pub mod data;
mod encode;
mod error;
pub mod formats;
mod frame;
mod key_list;
pub mod keys;
pub mod limits;
mod masked;
mod opcode;
mod operation;
mod request;
pub mod seg;
mod set_psv;
mod signing;
mod table;
mod tags;
mod untyped;

/// Masked atomic operations, of 4, 8 and 16 bytes.
pub mod atomics {
    pub use super::masked::{AtomicWord, Masked};
}

/// The operations as types, and their parts.
pub mod operations {
    pub use super::copy::Opaque;
    pub use super::frame::header_offsets::{HeaderOffsets, HeadersAt, Ip, L4};
    pub use super::frame::{Frame, LargeSend};
    pub use super::operation::{Addressed, Operation, Prepared, SupportedOn};
    pub use super::table::*;
}

pub use address::vector::{DcAddress, UdAddress};
pub use copy::memcpy;
pub use cross_channel::queues::{dump, dump_slice, wait_for_completion};
pub use cross_channel::word::wait_for_word;
pub use data::{Remote, Sge};
pub use error::EncodeError;
pub use frame::frame;
pub use keys::configure::configure_key;
pub use keys::window::{bind_window, local_invalidate, unbind_window};
pub use limits::Limits;
pub use masked::{masked_compare_swap, masked_fetch_add};
pub use operation::SupportedOn;
pub use request::{Erased, Request};
pub use seg::{CompletionMode, Fence};
pub use set_psv::set_psv;
pub use table::{compare_swap, fetch_add, nop, read, send, write};
pub use tags::{tag_append, tag_remove, tag_sync};
pub(crate) use untyped::{MAX_STORED_DS, Shape, Untyped};

pub(crate) use cross_channel::queues::{enable_receives, enable_sends};
pub(crate) use cursor::{RingCursor, each_ds};
pub(crate) use data::inline_ds;
pub(crate) use frame::{HEADERS_BEFORE_DS, MULTI_PACKET_HEAD_DS, MultiPacket};
pub(crate) use seg::{CtrlSeg, DataSeg};
pub(crate) use signing::{ByteXor, sign, signed_in_ring};
