//! Why a request cannot become a WQE of a queue. Knows limits only, no request.
use core::fmt;

use super::limits::{FrameOffload, KEY_LIST_ALIGN, Limits, MAX_MEMCPY_BYTES, MAX_SGE_BYTES};
use crate::types::Ds;

/// Why a request does not fit a WQE of this queue, with the value and the limit. Nothing has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// More scatter/gather entries than the queue was created for.
    TooManySges {
        /// Entries of the request, those of zero bytes included.
        count: usize,
        /// `max_send_sge` of the queue.
        limit: u32,
    },
    /// A scatter/gather entry of more than [`MAX_SGE_BYTES`], or longer than the buffer.
    SgeTooLong {
        /// Bytes of the entry.
        bytes: u32,
        /// The maximum of a data segment, or the bytes of the buffer.
        limit: u32,
    },
    /// A request of a [burst](crate::queue::send::Burst), or a [prepared](crate::SendQueue::prepare) one, with a
    /// scatter/gather entry of zero bytes. Verbs leaves such entries out of a WQE, but the size is fixed there.
    EmptySge,
    /// A frame of zero bytes in a [session](crate::queue::send::Session).
    EmptyFrame,
    /// More inline bytes than the queue was created for.
    InlineTooLong {
        /// Bytes of the request.
        bytes: usize,
        /// `max_inline_data` of the queue.
        limit: u32,
    },
    /// A WQE of more DS than the control segment can count.
    WqeTooLong {
        /// DS of the request, control segment included.
        ds: usize,
        /// [`Ds::MAX`].
        limit: u8,
    },
    /// A list of more entries than the memory key has room for.
    KeyListTooLong {
        /// Entries of the list, including the repeat count's entry.
        entries: usize,
        /// Entries that the key was made for.
        limit: u16,
    },
    /// A list in memory without entries.
    KeyListEmpty,
    /// A list in memory that does not begin at a multiple of [`KEY_LIST_ALIGN`].
    KeyListMisaligned {
        /// Its first address.
        addr: u64,
    },
    /// A list in memory whose buffer is shorter than its entries plus the padding of its last 64 bytes.
    KeyListCut {
        /// Bytes of the buffer.
        bytes: u32,
        /// Bytes that the device reads.
        needed: usize,
    },
    /// A memory key with formats (block signatures, encryption) whose bytes exceed the formats' byte count.
    FormattedTooLong {
        /// Bytes behind the key.
        bytes: u64,
        /// The maximum of the formats' byte count.
        limit: u32,
    },
    /// A memory key with more bytes than the single data unit that the device encrypts.
    DataUnitTooShort {
        /// Bytes behind the key.
        bytes: u64,
        /// Bytes of the unit.
        limit: u32,
    },
    /// Block signatures of encrypted data in memory and on the wire: no device generates both.
    EncryptedSignatures,
    /// An offload for frames that the device lacks, or that the queue was not told of
    /// ([`SendQueue::set_frame_offloads`](crate::queue::SendQueue::set_frame_offloads)).
    NoOffload {
        /// The offload.
        offload: FrameOffload,
    },
    /// A [large send](crate::wqe::Request::large) of frames with no payload: an `mss` of 0.
    LargeSendMss,
    /// A [large send](crate::wqe::Request::large) of more bytes than the device cuts up at once.
    LargeSendTooLong {
        /// Bytes of payload.
        bytes: u64,
        /// [`FrameOffloads::max_large_send`](super::limits::FrameOffloads::max_large_send) of the queue.
        limit: u32,
    },
    /// A [header's offset](crate::wqe::operations::HeaderOffsets) that is odd, 0 or too large for the WQE.
    HeaderOffset {
        /// The offset, in bytes.
        bytes: u16,
    },
    /// A copy of no bytes, or of more than the device copies at once.
    MemcpySize {
        /// Bytes of the copy.
        bytes: u32,
        /// The most: [`Opaque::max_bytes`](crate::wqe::operations::Opaque::max_bytes), or [`MAX_MEMCPY_BYTES`].
        limit: u32,
    },
}

// Constructors are out of line: the checks are on the hot path, but building the value is not. Those of a request's
// operands are in line: a call would split the way on which the request is put together (76 to 85 instructions).
impl EncodeError {
    #[cold]
    pub(super) fn too_many_sges(count: usize, limit: u32) -> Self {
        Self::TooManySges { count, limit }
    }

    /// The limit of a queue that a type of requests exceeds.
    #[cold]
    pub(crate) fn uncovered(limits: Limits, needs: Limits) -> Self {
        if needs.max_sge > limits.max_sge {
            Self::too_many_sges(needs.max_sge as usize, limits.max_sge)
        } else {
            Self::inline_too_long(needs.max_inline as usize, limits.max_inline)
        }
    }

    #[inline(always)]
    pub(super) fn sge_too_long(bytes: u32) -> Self {
        Self::SgeTooLong { bytes, limit: MAX_SGE_BYTES }
    }

    /// The error for a scatter/gather entry of zero bytes or of too many, where the size of the request is fixed.
    #[cold]
    #[inline(never)]
    pub(super) fn odd_entry(bytes: u32) -> Self {
        if bytes == 0 { Self::EmptySge } else { Self::sge_too_long(bytes) }
    }

    #[cold]
    pub(crate) fn empty_frame() -> Self {
        Self::EmptyFrame
    }

    /// The error for a frame of zero bytes or of too many.
    #[cold]
    #[inline(never)]
    pub(crate) fn frame_size(bytes: u32) -> Self {
        if bytes == 0 { Self::EmptyFrame } else { Self::sge_too_long(bytes) }
    }

    #[cold]
    pub(super) fn no_offload(offload: FrameOffload) -> Self {
        Self::NoOffload { offload }
    }

    /// The error for a large send without an `mss`, or of too many bytes.
    #[cold]
    pub(super) fn large_send(mss: u16, bytes: u64, limit: u32) -> Self {
        if mss == 0 { Self::LargeSendMss } else { Self::LargeSendTooLong { bytes, limit } }
    }

    #[cold]
    pub(super) fn inline_too_long(bytes: usize, limit: u32) -> Self {
        Self::InlineTooLong { bytes, limit }
    }

    #[inline(always)]
    pub(super) fn key_list_too_long(entries: usize, limit: u16) -> Self {
        Self::KeyListTooLong { entries, limit }
    }

    #[cold]
    pub(super) fn key_list_misaligned(addr: u64) -> Self {
        Self::KeyListMisaligned { addr }
    }

    #[cold]
    pub(super) fn key_list_cut(bytes: u32, needed: usize) -> Self {
        Self::KeyListCut { bytes, needed }
    }

    #[cold]
    pub(super) fn formatted_too_long(bytes: u64) -> Self {
        Self::FormattedTooLong { bytes, limit: u32::MAX }
    }

    #[cold]
    pub(super) fn data_unit_too_short(bytes: u64, limit: u32) -> Self {
        Self::DataUnitTooShort { bytes, limit }
    }

    #[cold]
    pub(super) fn encrypted_signatures() -> Self {
        Self::EncryptedSignatures
    }

    #[inline(always)]
    pub(super) fn memcpy_size(bytes: u32, limit: u32) -> Self {
        Self::MemcpySize { bytes, limit: limit.min(MAX_MEMCPY_BYTES) }
    }

    #[cold]
    pub(crate) fn wqe_too_long(ds: usize) -> Self {
        Self::WqeTooLong { ds, limit: Ds::MAX }
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooManySges { count, limit } => {
                write!(f, "{count} scatter/gather entries, but the queue accepts at most {limit}")
            }
            Self::SgeTooLong { bytes, limit } => {
                write!(f, "scatter/gather entry of {bytes} bytes, at most {limit} are possible")
            }
            Self::EmptySge => {
                write!(f, "scatter/gather entry of 0 bytes, those of bursts and prepared requests have at least 1")
            }
            Self::EmptyFrame => write!(f, "frame of 0 bytes, at least 1 is needed"),
            Self::InlineTooLong { bytes, limit } => {
                write!(f, "{bytes} bytes of inline data, but the queue accepts at most {limit}")
            }
            Self::WqeTooLong { ds, limit } => {
                write!(f, "WQE of {ds} DS (16 bytes each), but the control segment counts at most {limit}")
            }
            Self::KeyListTooLong { entries, limit } => {
                write!(f, "list of {entries} entries, but the memory key has room for {limit}")
            }
            Self::KeyListEmpty => write!(f, "list of 0 entries in memory, at least 1 is needed"),
            Self::KeyListMisaligned { addr } => {
                write!(f, "list at {addr:#x}, but lists in memory begin at multiples of {KEY_LIST_ALIGN}")
            }
            Self::KeyListCut { bytes, needed } => {
                write!(f, "list in memory of {bytes} bytes, but the device reads {needed}")
            }
            Self::FormattedTooLong { bytes, limit } => {
                write!(f, "memory key with formats over {bytes} bytes, at most {limit} are possible")
            }
            Self::DataUnitTooShort { bytes, limit } => {
                write!(f, "memory key over {bytes} bytes, but it encrypts one data unit of {limit}")
            }
            Self::EncryptedSignatures => f.write_str(
                "block signatures of encrypted data in memory and on the wire, but the device makes them on one side \
                only",
            ),
            Self::NoOffload { offload } => write!(f, "the device has no {offload} for frames of this queue"),
            Self::LargeSendMss => f.write_str("large send with an mss of 0 bytes, 1 to 65535 are possible"),
            Self::LargeSendTooLong { bytes, limit } => {
                write!(f, "large send of {bytes} bytes, but the device cuts up at most {limit}")
            }
            Self::HeaderOffset { bytes } => {
                write!(f, "header at byte {bytes} of a frame, but the device takes even offsets from 2 to 510")
            }
            Self::MemcpySize { bytes, limit } => {
                write!(f, "copy of {bytes} bytes, but the device copies 1 to {limit}")
            }
        }
    }
}

impl core::error::Error for EncodeError {}
