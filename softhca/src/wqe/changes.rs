//! Changes that requests ask for: of memory keys, and of lists of tags.

use crate::crypto::EncryptionFormat;
use crate::memory::SignatureFormat;
use crate::wqe::payload::DataSeg;

/// The request of a UMR WQE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Umr {
    /// The key. Its lowest byte counts only if that does not change.
    pub key: u32,
    /// The key must be free, or must not be: otherwise nothing changes.
    pub must_be_free: Option<bool>,
    /// The key must not be bound to another QP than the one that asks, and a window of type 2 must be bound to that
    /// one.
    pub must_be_of_qp: bool,
    /// The changes of its context.
    pub change: KeyChange,
    /// Where in its list entries are written, in octwords.
    pub at: u64,
    /// How many octwords of entries.
    pub octwords: u16,
    /// The entries.
    pub list: UmrList,
    /// Formats that follow, in units of 16 bytes.
    pub format_octwords: u16,
    /// Those of signatures.
    pub signatures: Option<SignatureFormat>,
    /// That of encryption.
    pub encryption: Option<EncryptionFormat>,
}

/// Where entries come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UmrList {
    /// From the WQE itself.
    Inline(Vec<u8>),
    /// From memory.
    Reference(DataSeg),
}

/// Changes of a memory key's context: `None` leaves a field as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyChange {
    /// Free, or valid.
    pub free: Option<bool>,
    /// The lowest byte of the key.
    pub variant: Option<u8>,
    /// The QP whose peer alone may use it; `Some(None)`: any.
    pub qpn: Option<Option<u32>>,
    /// Protection domain.
    pub pd: Option<u32>,
    /// First address.
    pub start: Option<u64>,
    /// Bytes; `u64::MAX` for as many as its list has (`length64`).
    pub len: Option<u64>,
    /// log2 of the bytes of a page or piece: bits 4 to 0.
    pub log_bytes: Option<u8>,
    /// Bit 5 of it.
    pub log_bytes_5: Option<bool>,
    /// Peers may invalidate it.
    pub remote_invalidate: Option<bool>,
    /// The device may read for its own host.
    pub local_read: Option<bool>,
    /// The device may write for its own host.
    pub local_write: Option<bool>,
    /// Peers may READ.
    pub remote_read: Option<bool>,
    /// Peers may WRITE.
    pub remote_write: Option<bool>,
    /// Peers may do atomics.
    pub remote_atomic: Option<bool>,
    /// Its data has formats.
    pub formatted: Option<bool>,
    /// The driver has been told of an odd number of errors of signatures.
    pub errors: Option<bool>,
    /// The order of accesses may be relaxed, of writes or of reads.
    pub relaxed_ordering: Option<bool>,
}

/// A tag to be appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Append {
    /// Place of the one after it.
    pub next: u16,
    /// The tag.
    pub tag: u64,
    /// Which of its bits a message's tag must have.
    pub mask: u64,
    /// Where such a message goes, if it has room for anything.
    pub buffer: Option<DataSeg>,
}

/// The change of a list of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagChange {
    /// Nothing.
    None,
    /// It has one more.
    Append(Append),
    /// The tag at this place is taken away.
    Remove {
        /// The place.
        index: u16,
    },
}

/// An operation on a list of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagOp {
    /// The change of the list.
    pub change: TagChange,
    /// Messages without a tag in the list that software has seen so far, if it says so.
    pub sw_phase: Option<u16>,
    /// It has a CQE (`MLX5_SRQ_FLAG_TM_CQE_REQ`).
    pub completes: bool,
}
