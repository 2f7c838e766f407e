//! Keys of encryption (DEK).

use super::engine::{Engine, KeySize};

/// Tells encryption keys apart.
pub(crate) type KeyTag = [u8; 8];

/// The public part of an encryption key: all but the key itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DekInfo {
    /// Protection domain of the memory keys that may use it.
    pub(crate) pd: u32,
    /// Bits.
    pub(crate) size: KeySize,
    /// The tag that memory keys must name with it, if it was made with one.
    pub(crate) tag: Option<KeyTag>,
    /// A number that its maker chose for it.
    pub(crate) opaque: u64,
}

/// A key of encryption, of a protection domain.
#[derive(Debug)]
pub(crate) struct Dek {
    pub(crate) info: DekInfo,
    pub(crate) engine: Engine,
}
