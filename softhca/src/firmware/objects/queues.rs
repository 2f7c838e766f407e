//! Queues: what drivers said of them that the device itself does not act on, and will ask for again.

use std::collections::HashMap;

/// Bytes of a CQ context.
pub(crate) const CQC_BYTES: usize = 0x40;

/// Bytes of a DCT context.
pub(crate) const DCTC_BYTES: usize = 0x40;

/// A CQ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CqRecord {
    /// The context as it was created, and as it was modified since.
    pub(crate) cqc: [u8; CQC_BYTES],
    /// A command has made it. Of others only what commands have modified is here.
    pub(crate) made: bool,
}

/// Queues that commands have made, by number. Those that were made on the device itself are not here, until a command
/// modifies them.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// CQs.
    pub(crate) cqs: HashMap<u32, CqRecord>,
    /// DCTs: their contexts as they were created.
    pub(crate) dcts: HashMap<u32, [u8; DCTC_BYTES]>,
}
