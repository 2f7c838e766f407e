//! Expectations of the model: completions, messages, and the places of their bytes.

use blueflame::cq::{CqeOpcode, WcOpcode};
use blueflame_testkit::ops::MAX_MESSAGE;

/// Bytes of the peer's memory that WRITEs, READs and atomics work on.
pub(super) const WINDOW: usize = 4096;
/// Bytes behind each destination that must stay as they were.
pub(super) const GUARD: usize = 16;
pub(super) const SLOT: usize = MAX_MESSAGE + GUARD;
pub(super) const FILL: u8 = 0xee;
pub(super) const SOURCE: usize = 1 << 15;

/// A request posted and not known to be complete.
pub(super) struct Posted {
    pub(super) id: u64,
    pub(super) signaled: bool,
    pub(super) opcode: WcOpcode,
    /// The expected contents of its slot of `landing` must hold.
    pub(super) lands: Option<(usize, Vec<u8>)>,
}

/// A message that the peer must receive.
pub(super) struct Arrival {
    pub(super) opcode: CqeOpcode,
    /// Empty for WRITE with immediate data, whose bytes are in the window.
    pub(super) bytes: Vec<u8>,
    pub(super) byte_len: usize,
    pub(super) imm: Option<u32>,
    pub(super) invalidates: Option<u32>,
}
