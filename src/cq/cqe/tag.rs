//! Completions of tag matching: of operations on a list of tags, and of messages that were compared with it.
use core::mem::offset_of;

use static_assertions::const_assert_eq;

use crate::cq::cqe::view::CqeView;
use crate::cq::layout::Cqe64;
use crate::cq::opcode::CqeOpcode;
use crate::cq::source::Source;
use crate::tagged::TagHeader;
use crate::types::TagIndex;

/// The first 32 bytes of a completion queue entry of an operation on a list (rdma-core `providers/mlx5/mlx5dv.h`,
/// `struct mlx5_tm_cqe`). The rest is as in [`Cqe64`]. The CQE of a matched message has its [`TagHeader`] there, in the
/// first 16 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TmCqe {
    /// Bit 31: an entry was removed (`MLX5_TMC_SUCCESS`).
    pub success: u32,
    /// Unexpected messages that the device has seen, modulo 2^16.
    pub hw_phase_cnt: u16,
    /// Reserved.
    pub rsvd0: [u8; 12],
}

const_assert_eq!(offset_of!(TmCqe, success), 0);
const_assert_eq!(offset_of!(TmCqe, hw_phase_cnt), 4);
const_assert_eq!(offset_of!(TmCqe, rsvd0), 6);

/// `MLX5_TMC_SUCCESS`.
const SUCCESS: u32 = 1 << 31;

/// The number of tag matching in [`Cqe64::app`] (`MLX5_CQE_APP_TAG_MATCHING`).
const TAG_MATCHING: u8 = 1;

/// Offset of one word: the application, its operation, and more about the operation.
const APP: usize = offset_of!(Cqe64, app);

const_assert_eq!(APP % size_of::<u32>(), 0);
const_assert_eq!(APP + 1, offset_of!(Cqe64, app_op));
const_assert_eq!(APP + 2, offset_of!(Cqe64, app_info));

/// An operation on a list of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOperation {
    /// An entry was appended.
    Append,
    /// An entry was to be removed.
    Remove {
        /// Whether it was removed. If not, a message had come for it.
        removed: bool,
    },
    /// None on an entry: the device only took the count of unexpected messages.
    Sync,
}

/// The state of an entry's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagMatch {
    /// The entry that it matched.
    pub entry: TagIndex,
    /// The message's header, if this completion reports the match. Another completion may report the data.
    pub header: Option<TagHeader>,
    /// Whether the entry's buffer is done with: no more completions of this entry follow.
    pub complete: bool,
    /// A rendezvous whose data the device does not fetch (`IBV_WC_TM_RNDV_INCOMPLETE`), because the buffer is too small
    /// for it. The buffer holds the message's headers, and software reads the data.
    pub incomplete: bool,
}

/// The meaning of a completion of tag matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagCqe {
    /// An operation on the list is done. Operations complete, and are reported, in the order of posting.
    List {
        /// Which.
        operation: ListOperation,
        /// Unexpected messages that the device had seen, modulo 2^16.
        phase: u16,
    },
    /// A message has matched an entry, or its data is there, or both.
    Match(TagMatch),
    /// A message that had matched this entry was given up, and the entry's buffer with it: no more completions of it
    /// follow.
    Canceled(TagIndex),
    /// A message has matched no entry: it is in the WQE [`wqe_counter`](CqeView::wqe_counter) of the shared receive
    /// queue, with its header.
    Unexpected,
    /// A message without a tag, or the report that a rendezvous is finished. It is in the same place as unexpected
    /// ones.
    NoTag,
    /// A number that no public source describes.
    Unknown(u8),
}

impl<S: Source> CqeView<S> {
    /// The completion's report on a tag list; `None` if it reports on no list.
    /// [`TagMatching`](crate::queue::TagMatching) asks this.
    ///
    /// [`check`](Self::check) returns [`CqeError::NoPacket`](crate::cq::CqeError::NoPacket) for completions that no
    /// message belongs to. It treats messages like any others.
    #[doc(alias = "ibv_wc_read_tm_info")]
    #[inline]
    pub fn tag_matching(&self) -> Option<TagCqe> {
        use CqeOpcode::{NoPacket, RespSend, RespSendImm, RespSendInv, RespWrImm};
        let [app, app_op, info @ ..] = self.source.be32(APP).to_be_bytes();
        let is_possible = matches!(self.opcode(), RespSend | RespSendImm | RespSendInv | RespWrImm | NoPacket);
        if app != TAG_MATCHING || !is_possible {
            return None;
        }
        let entry = TagIndex(u16::from_be_bytes(info));
        // rdma-core `providers/mlx5/cq.c`, `MLX5_CQE_APP_OP_TM_*`, `handle_tag_matching` and `mlx5_cq_read_wc_flags`.
        Some(match app_op {
            0x1 => self.matched(entry, true, false, false),
            0x2 => self.matched(entry, false, true, false),
            0x3 => TagCqe::Unexpected,
            0x4 => TagCqe::NoTag,
            0x5 => self.listed(ListOperation::Append),
            0x6 => {
                let removed = self.source.be32(offset_of!(TmCqe, success)) & SUCCESS != 0;
                self.listed(ListOperation::Remove { removed })
            }
            0x7 => self.listed(ListOperation::Sync),
            0x9 => self.matched(entry, true, false, true),
            0xa => self.matched(entry, true, true, false),
            0xb => self.matched(entry, true, true, true),
            0xc => TagCqe::Canceled(entry),
            other => TagCqe::Unknown(other),
        })
    }

    #[inline]
    fn listed(&self, operation: ListOperation) -> TagCqe {
        TagCqe::List { operation, phase: self.source.be16(offset_of!(TmCqe, hw_phase_cnt)) }
    }

    #[inline]
    fn matched(&self, entry: TagIndex, has_header: bool, complete: bool, incomplete: bool) -> TagCqe {
        let header = has_header.then(|| {
            let mut bytes = [0; TagHeader::BYTES];
            let (first, second) = bytes.split_at_mut(8);
            first.copy_from_slice(&self.source.be64(0).to_be_bytes());
            second.copy_from_slice(&self.source.be64(8).to_be_bytes());
            TagHeader::from_bytes(bytes)
        });
        TagCqe::Match(TagMatch { entry, header, complete, incomplete })
    }
}
