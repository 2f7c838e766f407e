//! The list of tags of an SRQ that matches messages: which of its buffers a message is for.
//!
//! Software matches as well: it matches messages without an entry in the list with the receives that it has posted. So
//! both count these messages. A tag appended before software has seen all these messages is held back, since one of
//! them may have been meant for it. It takes part as soon as the two counters are equal (rdma-core
//! `Documentation/tag_matching.md`).

use crate::context::TagContext;
use crate::query::TagListInfo;
use crate::wqe::{Append, DataSeg, TagChange};
use thiserror::Error;

/// Why an operation on a list cannot be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum TagFault {
    /// There is no such place.
    #[error("place {index} in a list of {places} tags")]
    NoPlace {
        /// Named.
        index: u16,
        /// Places.
        places: u16,
    },
    /// The tag before has said that this one goes where another one still is.
    #[error("place {index} of the list of tags is taken")]
    Taken {
        /// The place.
        index: u16,
    },
    /// The queue of the request has no such list.
    #[error("an operation on tags by a QP whose SRQ matches none")]
    NoList,
}

/// A tag in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    index: u16,
    tag: u64,
    mask: u64,
    buffer: Option<DataSeg>,
    /// Software had not seen all messages when it was appended.
    held: bool,
}

/// A list of tags.
#[derive(Clone, Debug)]
pub(crate) struct TagList {
    context: TagContext,
    /// In the order in which they were appended.
    entries: Vec<Entry>,
    /// Place of the tag that comes next.
    next: u16,
    /// Messages for which there was no tag.
    hw_phase: u16,
    /// How many of these software has seen, as it said last.
    sw_phase: u16,
}

impl TagList {
    /// An empty list.
    pub(crate) fn new(context: TagContext) -> Self {
        Self { context, entries: Vec::new(), next: 0, hw_phase: 0, sw_phase: 0 }
    }

    /// The context that it was created from.
    pub(crate) fn context(&self) -> TagContext {
        self.context
    }

    /// How it stands.
    pub(crate) fn info(&self) -> TagListInfo {
        TagListInfo {
            context: self.context,
            append_next_index: self.next,
            sw_phase_cnt: self.sw_phase,
            hw_phase_cnt: self.hw_phase,
        }
    }

    /// Messages for which there was no tag, 16 bits.
    pub(crate) fn hw_phase(&self) -> u16 {
        self.hw_phase
    }

    /// Records that software has seen `sw_phase` of those messages, and matched them with all tags in the list.
    pub(crate) fn sync(&mut self, sw_phase: u16) {
        self.sw_phase = sw_phase;
        if self.is_in_sync() {
            self.entries.iter_mut().for_each(|entry| entry.held = false);
        }
    }

    /// Whether a change can be carried out.
    ///
    /// # Errors
    /// [`TagFault`].
    pub(crate) fn check(&self, change: &TagChange) -> Result<(), TagFault> {
        let places = 1 << self.context.log_list.min(TagContext::MAX_LOG_LIST);
        match *change {
            TagChange::Append(Append { next: index, .. }) | TagChange::Remove { index } if index >= places => {
                Err(TagFault::NoPlace { index, places })
            }
            TagChange::Append(_) if self.entries.iter().any(|entry| entry.index == self.next) => {
                Err(TagFault::Taken { index: self.next })
            }
            _ => Ok(()),
        }
    }

    /// Appends a tag; its place. It has been [checked](Self::check).
    pub(crate) fn append(&mut self, new: Append) -> u16 {
        let Append { next, tag, mask, buffer } = new;
        let index = std::mem::replace(&mut self.next, next);
        self.entries.push(Entry { index, tag, mask, buffer, held: !self.is_in_sync() });
        index
    }

    /// Takes the tag at `index` away. `false` if there is none, for example because a message has had it.
    pub(crate) fn remove(&mut self, index: u16) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.index != index);
        self.entries.len() != before
    }

    /// The oldest tag that a message with `tag` is for: its place, and its buffer. It is taken out of the list. An
    /// entry whose tag has bits outside its mask is for no message (rdma-core `libibverbs/man/ibv_post_srq_ops.3`:
    /// "TMH.tag & entry.mask == entry.tag").
    pub(crate) fn take(&mut self, tag: u64) -> Option<(u16, Option<DataSeg>)> {
        let at = self.entries.iter().position(|entry| !entry.held && tag & entry.mask == entry.tag)?;
        let entry = self.entries.remove(at);
        Some((entry.index, entry.buffer))
    }

    /// A message with a tag has come for which there was none.
    pub(crate) fn count_unexpected(&mut self) {
        self.hw_phase = self.hw_phase.wrapping_add(1);
    }

    fn is_in_sync(&self) -> bool {
        self.sw_phase == self.hw_phase
    }
}
