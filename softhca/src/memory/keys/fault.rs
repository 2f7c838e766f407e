//! Why a request cannot use or change memory keys, beyond the fault of one key ([`KeyFault`]).

use super::mkey::KeyFault;
use thiserror::Error;

/// Why local data could not be gathered or scattered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum LocalFault {
    /// A segment's key.
    #[error(transparent)]
    Key(#[from] KeyFault),
    /// The segments are shorter than the data.
    #[error("{len} bytes at offset {offset} of segments that hold {capacity}")]
    TooShort {
        /// Where in the segments.
        offset: u64,
        /// Bytes wanted.
        len: u64,
        /// Bytes that the segments hold.
        capacity: u64,
    },
}

/// Why memory was not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum MemcpyFault {
    /// The device does not copy, or the QP was not enabled to.
    #[error("copies are not enabled on this QP")]
    NotEnabled,
    /// It is too long.
    #[error("a copy of {len} bytes; {limit} are permitted")]
    Length {
        /// Its bytes.
        len: u32,
        /// Most bytes.
        limit: u32,
    },
    /// The source, or the scratch memory, cannot be reached.
    #[error("source: {0}")]
    Source(LocalFault),
    /// Where it is to be copied to cannot be written.
    #[error("destination: {0}")]
    Destination(LocalFault),
}

/// Why a signature value was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("signature value {psv:#x}: none of PD {pd:#x}")]
pub(crate) struct PsvFault {
    /// Its number.
    pub(crate) psv: u32,
    /// The queue's protection domain.
    pub(crate) pd: u32,
}

/// Why a key was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum UmrFault {
    /// The key cannot be found, or the QP may not use it.
    #[error(transparent)]
    Key(#[from] KeyFault),
    /// The key was not made for changes.
    #[error("key {0:#x} is not one that UMR may change (umr_en)")]
    NotEnabled(u32),
    /// The key is free, or is not.
    #[error("key {key:#x}: free is {free}, which it must not be")]
    State {
        /// Key.
        key: u32,
        /// Its state.
        free: bool,
    },
    /// The window of type 2 is bound to no QP, and must be to this one (IBTA vol. 1, o10-37.2.26).
    #[error("key {0:#x} is bound to no QP")]
    Unbound(u32),
    /// The key is to be bound to another QP than this.
    #[error("key {key:#x}: bound to QP {qpn:#x} by another")]
    OtherQp {
        /// Key.
        key: u32,
        /// The other one.
        qpn: u32,
    },
    /// The QP may not change this.
    #[error("key {key:#x}: {what} only by a kernel's queue")]
    NotPermitted {
        /// Key.
        key: u32,
        /// The change that was refused.
        what: &'static str,
    },
    /// The change would give the key a state that no key can have.
    #[error("key {key:#x}: {what}")]
    Change {
        /// Key.
        key: u32,
        /// The fault.
        what: &'static str,
    },
    /// The list is too long.
    #[error("key {key:#x}: {octwords} octwords at {at:#x} of a list that has {room}")]
    Length {
        /// Key.
        key: u32,
        /// Where in the list.
        at: u64,
        /// How much.
        octwords: u16,
        /// Octwords that the list can have.
        room: u32,
    },
    /// The formats are longer than the key has room for.
    #[error("key {key:#x}: {octwords} octwords of formats of a key that has room for {room}")]
    Formats {
        /// Key.
        key: u32,
        /// How much.
        octwords: u16,
        /// Octwords that the formats can have.
        room: u32,
    },
    /// The device has no room for more entries.
    #[error("key {0:#x}: no room for more entries of lists")]
    Full(u32),
    /// The list could not be read.
    #[error(transparent)]
    List(#[from] LocalFault),
}
