//! The bytes that two peers exchange before they connect: fixed sizes, a version first, big endian.
//!
//! [`Remote`] is here, `verbs::Endpoint` beside its type. This module knows no stream and no device. `verbs::handshake`
//! sends these bytes; any other channel may, too (a file, a key-value store, MPI).
//!
//! [`Remote::to_bytes`], 16 bytes:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | version: 1 |
//! | 1 | 3 | zero |
//! | 4 | 4 | rkey |
//! | 8 | 8 | address |
use core::fmt;

use crate::types::Rkey;
use crate::wqe::Remote;

/// The first bytes that `verbs::handshake` sends: the peer is a program of this crate.
#[cfg(feature = "verbs")]
pub(crate) const MAGIC: [u8; 8] = *b"blueflam";

/// Invalid bytes: the sender is another program, another version of this one, or hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// Too few bytes, or too many.
    Length {
        /// The type to decode.
        what: &'static str,
        /// Bytes given.
        is: usize,
        /// Bytes of this encoding.
        must: usize,
    },
    /// Encoded in a version that this crate does not know.
    Version {
        /// The type to decode.
        what: &'static str,
        /// The version given.
        is: u8,
        /// The version this crate knows.
        known: u8,
    },
    /// A field has a value that is out of its range.
    Value {
        /// The type to decode.
        what: &'static str,
        /// Which field of it.
        field: &'static str,
        /// The value given.
        value: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { what, is, must } => write!(f, "the {what} has {is} bytes; its encoding has {must}"),
            Self::Version { what, is, known } => write!(
                f,
                "the {what} is encoded in version {is}, and this program knows version {known}: run the same release \
                 on both sides"
            ),
            Self::Value { what, field, value } => write!(f, "the {what} is invalid: its {field} is {value:#x}"),
        }
    }
}

impl core::error::Error for DecodeError {}

/// The bytes as an array of the encoding's size.
pub(crate) fn sized<const N: usize>(what: &'static str, bytes: &[u8]) -> Result<[u8; N], DecodeError> {
    bytes.try_into().map_err(|_| DecodeError::Length { what, is: bytes.len(), must: N })
}

/// Refuses any version other than `known`.
pub(crate) fn version(what: &'static str, is: u8, known: u8) -> Result<(), DecodeError> {
    if is == known { Ok(()) } else { Err(DecodeError::Version { what, is, known }) }
}

/// Refuses nonzero bytes where the encoding has zero: a later version may give those bytes a meaning.
pub(crate) fn zeros(what: &'static str, bytes: &[u8]) -> Result<(), DecodeError> {
    match bytes.iter().find(|&&byte| byte != 0) {
        Some(&byte) => Err(DecodeError::Value { what, field: "reserved part", value: byte.into() }),
        None => Ok(()),
    }
}

impl Remote {
    /// Bytes of [`to_bytes`](Self::to_bytes).
    pub const BYTES: usize = 16;

    const VERSION: u8 = 1;

    /// The place as bytes to send to the peer; the [module](crate::encoding) has the layout.
    ///
    /// Send them to the peer only. They let their holder access the memory, within the limits of its registration,
    /// through any queue pair connected to the same protection domain.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0] = Self::VERSION;
        bytes[4..8].copy_from_slice(&self.rkey.0.to_be_bytes());
        bytes[8..].copy_from_slice(&self.addr.to_be_bytes());
        bytes
    }

    /// Decodes a place that a peer encoded by [`to_bytes`](Self::to_bytes). Any address and any key are valid here.
    /// Whether the peer's device grants access to them shows when a request completes.
    ///
    /// # Errors
    /// [`DecodeError`]: another length than [`Self::BYTES`], another version, reserved bytes that are not zero.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        const WHAT: &str = "remote address";
        let [first, r1, r2, r3, k0, k1, k2, k3, addr @ ..] = sized::<16>(WHAT, bytes)?;
        version(WHAT, first, Self::VERSION)?;
        zeros(WHAT, &[r1, r2, r3])?;
        Ok(Self { addr: u64::from_be_bytes(addr), rkey: Rkey(u32::from_be_bytes([k0, k1, k2, k3])) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Remote = Remote { addr: 0x0102_0304_0506_0708, rkey: Rkey(0x1122_3344) };
    const BYTES: [u8; 16] = [1, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 1, 2, 3, 4, 5, 6, 7, 8];

    #[test]
    fn a_place_has_these_bytes() {
        assert_eq!(PLACE.to_bytes(), BYTES);
        assert_eq!(Remote::from_bytes(&BYTES), Ok(PLACE));
    }

    #[test]
    fn other_bytes_are_refused() {
        let what = "remote address";
        assert_eq!(Remote::from_bytes(&BYTES[..15]), Err(DecodeError::Length { what, is: 15, must: 16 }));
        assert_eq!(Remote::from_bytes(&[0; 17]), Err(DecodeError::Length { what, is: 17, must: 16 }));
        let changed = |at: usize| {
            let mut bytes = BYTES;
            bytes[at] = 2;
            Remote::from_bytes(&bytes)
        };
        assert_eq!(changed(0), Err(DecodeError::Version { what, is: 2, known: 1 }));
        for at in 1..4 {
            assert_eq!(changed(at), Err(DecodeError::Value { what, field: "reserved part", value: 2 }));
        }
    }
}
