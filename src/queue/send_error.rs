use core::fmt;

use crate::types::Wqebbs;
use crate::wqe::EncodeError;

/// Why parts cannot be a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SqPartsError {
    /// The ring's size is not a power of two from 1 to 32768 WQEBBs.
    RingSize {
        /// WQEBBs, as given.
        wqebbs: u32,
    },
    /// An address is not aligned.
    Alignment {
        /// Which part.
        part: &'static str,
        /// The address given.
        address: usize,
        /// The alignment asked for, in bytes.
        alignment: usize,
    },
}

impl fmt::Display for SqPartsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::RingSize { wqebbs } => {
                write!(f, "send ring of {wqebbs} WQEBBs, must be a power of two from 1 to 32768")
            }
            Self::Alignment { part, address, alignment } => {
                write!(f, "{part} at {address:#x}, must be aligned to {alignment} bytes")
            }
        }
    }
}

impl core::error::Error for SqPartsError {}

/// Why a request was not posted. Nothing has been written, and the queue is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostError {
    /// The request is no WQE of this queue.
    Encode(EncodeError),
    /// No room until completions are retired.
    Full {
        /// WQEBBs the request takes.
        needed: Wqebbs,
        /// WQEBBs free now.
        free: Wqebbs,
    },
    /// The request takes more than the whole ring.
    LargerThanRing {
        /// WQEBBs the request takes.
        needed: Wqebbs,
        /// WQEBBs of the ring.
        ring: u32,
    },
}

impl PostError {
    #[cold]
    pub(super) fn full(needed: Wqebbs, free: Wqebbs) -> Self {
        Self::Full { needed, free }
    }

    #[cold]
    pub(super) fn larger_than_ring(needed: Wqebbs, ring: u32) -> Self {
        Self::LargerThanRing { needed, ring }
    }
}

impl From<EncodeError> for PostError {
    #[inline]
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl fmt::Display for PostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Encode(ref error) => error.fmt(f),
            Self::Full { needed, free } => {
                write!(f, "send queue full: the request takes {} WQEBBs, {} are free", needed.0, free.0)
            }
            Self::LargerThanRing { needed, ring } => {
                write!(f, "the request takes {} WQEBBs, the whole ring has {ring}", needed.0)
            }
        }
    }
}

impl core::error::Error for PostError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Encode(error) => Some(error),
            _ => None,
        }
    }
}
