//! Why a send queue did not post a request.
use core::fmt;

use crate::types::{Ds, Wqebbs};
use crate::wqe::EncodeError;

/// Why a request was not posted. Nothing has been written, and the queue is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostError {
    /// The request does not fit a WQE of this queue: too many inline bytes or entries, or an invalid one.
    Encode(EncodeError),
    /// The ring has no room until you retire completions.
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
    /// The request takes more than may be outstanding at a time
    /// ([`SendQueue::set_depth`](crate::queue::SendQueue::set_depth)).
    LargerThanDepth {
        /// WQEBBs the request takes.
        needed: Wqebbs,
        /// WQEBBs that may be outstanding.
        depth: Wqebbs,
    },
    /// The queue pair is not ready to send (state RTS).
    NotReadyToSend,
    /// The queue's transport does not have the operation of a request that was chosen at run time
    /// ([`SendQueue::post_erased`](crate::SendQueue::post_erased)).
    NotSupported,
    /// A request that was chosen at run time names memory of this side: post it by
    /// [`post_erased_unchecked`](crate::SendQueue::post_erased_unchecked).
    NamesMemory,
    /// The device takes no WQEs of several frames from this queue
    /// ([`FrameOffloads::multi_packet`](crate::wqe::limits::FrameOffloads::multi_packet)).
    NoMultiPacket,
}

impl PostError {
    /// Why a request of `needed` WQEBBs is refused when `free` of the `depth` are left. By value, so that nothing must
    /// be in memory for it.
    #[cold]
    pub(in crate::queue) fn refused(needed: Wqebbs, free: Wqebbs, depth: Wqebbs, ring: Wqebbs) -> Self {
        if depth == Wqebbs(0) {
            Self::NotReadyToSend
        } else if needed > ring {
            Self::LargerThanRing { needed, ring: u32::from(ring.0) }
        } else if needed > depth {
            Self::LargerThanDepth { needed, depth }
        } else {
            Self::Full { needed, free }
        }
    }

    /// Why a WQE of several frames would not take `ds` DS where it may have `limit`.
    #[cold]
    pub(in crate::queue) fn session_full(limit: usize, ds: usize) -> Self {
        let most = usize::from(Ds::MAX);
        if limit == most || ds > most {
            return Self::Encode(EncodeError::wqe_too_long(ds));
        }
        // At most 63 DS.
        let wqebbs = |ds: usize| Ds(ds as u8).wqebbs();
        Self::Full { needed: wqebbs(ds), free: wqebbs(limit) }
    }

    /// All requests of `needed` WQEBBs are put that a burst was made for.
    #[cold]
    pub(in crate::queue) fn all_put(needed: Wqebbs) -> Self {
        Self::Full { needed, free: Wqebbs(0) }
    }

    #[cold]
    pub(in crate::queue) fn no_multi_packet() -> Self {
        Self::NoMultiPacket
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
                write!(f, "send queue full: the request takes {} WQEBBs, but {} are free", needed.0, free.0)
            }
            Self::LargerThanRing { needed, ring } => {
                write!(f, "the request takes {} WQEBBs, but the whole ring has {ring}", needed.0)
            }
            Self::LargerThanDepth { needed, depth } => {
                write!(f, "the request takes {} WQEBBs, but the queue's limit for one request is {}", needed.0, depth.0)
            }
            Self::NoMultiPacket => {
                f.write_str("the device takes no WQEs of several frames from this queue: post the frames one by one")
            }
            Self::NotSupported => f.write_str("the queue's transport does not have the request's operation"),
            Self::NamesMemory => {
                f.write_str("the request names memory of this side: post it by the unchecked call, and vouch for it")
            }
            Self::NotReadyToSend => f.write_str("the queue pair is not ready to send: connect it first (state RTS)"),
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
