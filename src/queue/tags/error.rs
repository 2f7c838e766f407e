//! Why a list of tags refused an operation or a completion.
use core::fmt;

use crate::cq::{CqeOpcode, ErrorCqe};
use crate::queue::outcome::RetireError;
use crate::queue::send::error::PostError;
use crate::types::TagIndex;

/// Why a list of tags did not post an operation, or refused a completion that you gave it. The list is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TagError {
    /// All entries of the list are taken.
    ListFull {
        /// Tags that the list takes.
        tags: u16,
    },
    /// The device has no buffer of this entry: the entry is free, its removal was posted before, or its message was
    /// reported before.
    NotListed {
        /// The entry.
        entry: TagIndex,
    },
    /// The tag has bits outside its mask, so no message would match (rdma-core `libibverbs/man/ibv_post_srq_ops.3`).
    OutsideMask {
        /// The tag.
        tag: u64,
        /// Its mask.
        mask: u64,
    },
    /// The command queue refuses the operation.
    Post(PostError),
    /// The completion is not of tag matching.
    NotOfTags {
        /// Its opcode.
        opcode: CqeOpcode,
    },
    /// The device reported an operation that no public source describes.
    UnknownOperation(u8),
    /// The device reported an operation that was not posted, or is not the oldest one.
    NotPosted {
        /// The completion's operation (`MLX5_CQE_APP_OP_TM_*`).
        operation: &'static str,
    },
    /// The shared receive queue does not have the buffer.
    Receive(RetireError),
    /// The command queue has failed, and the list with it: the list's contents are unknown. Destroy the list.
    Command(ErrorCqe),
}

impl From<PostError> for TagError {
    fn from(error: PostError) -> Self {
        Self::Post(error)
    }
}

impl From<RetireError> for TagError {
    fn from(error: RetireError) -> Self {
        Self::Receive(error)
    }
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListFull { tags } => write!(f, "the list of tags is full: {tags} of {tags} entries are taken"),
            Self::NotListed { entry } => {
                write!(f, "the device has no buffer of entry {} of the list of tags", entry.0)
            }
            Self::OutsideMask { tag, mask } => {
                write!(f, "tag {tag:#x} has bits outside its mask {mask:#x}, so no message would match")
            }
            Self::Post(error) => write!(f, "command queue of a list of tags: {error}"),
            Self::NotOfTags { opcode } => write!(f, "completion with opcode {opcode:?} given to a list of tags"),
            Self::UnknownOperation(number) => {
                write!(f, "completion of tag matching with unknown operation {number:#x}")
            }
            Self::NotPosted { operation } => {
                write!(f, "completion of tag matching: {operation} is not the oldest operation posted")
            }
            Self::Receive(error) => write!(f, "shared receive queue of a list of tags: {error}"),
            Self::Command(error) => write!(f, "command queue of a list of tags: {error}"),
        }
    }
}

impl core::error::Error for TagError {}
