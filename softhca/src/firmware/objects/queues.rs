//! Queues: the values from drivers that the device itself does not act on, and that drivers will query.

use crate::error::Object;
use std::collections::HashMap;

/// Bytes of a CQ context.
pub(crate) const CQC_BYTES: usize = 0x40;

/// A CQ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CqRecord {
    /// The context as it was created, and as it was modified since.
    pub(crate) cqc: [u8; CQC_BYTES],
    /// A command has made it. For a CQ that no command has made, only the fields that commands have modified are here.
    pub(crate) made: bool,
}

/// Bytes of a QP context.
pub(crate) const QPC_BYTES: usize = 0xe8;

/// A QP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QpRecord {
    /// The context as it was created.
    pub(crate) created: [u8; QPC_BYTES],
    /// The context, with later values from transitions that the device does not act on.
    pub(crate) qpc: [u8; QPC_BYTES],
    /// A command has made it. For a QP that no command has made, only the fields that commands have modified are here.
    pub(crate) made: bool,
}

impl Default for QpRecord {
    fn default() -> Self {
        Self { created: [0; QPC_BYTES], qpc: [0; QPC_BYTES], made: false }
    }
}

/// Kinds of shared receive queues. All have their numbers from one space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SrqKind {
    /// By its oldest commands.
    Srq,
    /// Receive memory pool.
    Rmp,
    /// Of an XRC domain.
    Xrc,
    /// Extended receive queue.
    Xrq,
}

/// A shared receive queue.
#[derive(Clone, Debug)]
pub(crate) struct SrqRecord {
    /// Which of its kinds.
    pub(crate) kind: SrqKind,
    /// The context as it was created, in the layout of its kind.
    pub(crate) context: Vec<u8>,
    /// CQ that it keeps busy.
    pub(crate) cqn: Option<u32>,
}

/// Queues that commands have made, by number. Those that were made on the device itself are not here, until a command
/// modifies them.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// CQs.
    pub(crate) cqs: HashMap<u32, CqRecord>,
    /// QPs.
    pub(crate) qps: HashMap<u32, QpRecord>,
    /// Shared receive queues.
    pub(crate) srqs: HashMap<u32, SrqRecord>,
}

impl Queues {
    /// Forgets a queue.
    pub(crate) fn remove(&mut self, kind: Object, number: u32) {
        match kind {
            Object::Cq => drop(self.cqs.remove(&number)),
            Object::Qp => drop(self.qps.remove(&number)),
            _ => {}
        }
    }
}
