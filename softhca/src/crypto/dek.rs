//! Keys of encryption (DEK).

use super::engine::{Engine, KeySize};

/// What tells a key of encryption from others.
pub(crate) type KeyTag = [u8; 8];

/// What is told of a key of encryption: not the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DekInfo {
    /// Protection domain: whose memory keys may use it.
    pub(crate) pd: u32,
    /// Bits.
    pub(crate) size: KeySize,
    /// What memory keys must say of it, if it was made so.
    pub(crate) tag: Option<KeyTag>,
    /// What its maker calls it.
    pub(crate) opaque: u64,
}

/// A key of encryption, of a protection domain.
#[derive(Debug)]
pub(crate) struct Dek {
    pub(crate) info: DekInfo,
    pub(crate) engine: Engine,
}
