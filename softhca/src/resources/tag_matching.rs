//! Tags of SRQs: changes of the lists by QPs, and the lists' answers for messages.

use super::Resources;
use crate::cq::{TagOutcome, TagReport};
use crate::recv::{TagFault, TagList};
use crate::wqe::{DataSeg, TagChange, TagOp};

/// `tm_cqe.success` (`MLX5_TMC_SUCCESS`), in its first byte.
const SUCCESS: u8 = 1 << 7;

impl Resources {
    /// The tags that SRQ `srqn` matches messages with, if it does.
    pub(crate) fn tag_list(&self, srqn: u32) -> Option<&TagList> {
        self.srqs.get(srqn)?.tags()
    }

    /// Changes the tags of an SRQ. Returns the report to make, if any: the CQ, the user index, and the content of the
    /// CQE.
    ///
    /// # Errors
    /// [`TagFault`]: nothing has changed.
    pub(crate) fn change_tags(&mut self, srqn: u32, op: &TagOp) -> Result<Option<(u32, u32, TagReport)>, TagFault> {
        let list = self.srqs.get_mut(srqn).and_then(|srq| srq.tags_mut()).ok_or(TagFault::NoList)?;
        list.check(&op.change)?;
        if let Some(seen) = op.sw_phase {
            list.sync(seen);
        }
        let (outcome, index, success) = match op.change {
            TagChange::None => (TagOutcome::Noop, 0, true),
            TagChange::Append(new) => (TagOutcome::Append, list.append(new), true),
            TagChange::Remove { index } => (TagOutcome::Remove, index, list.remove(index)),
        };
        if !op.completes {
            return Ok(None);
        }
        let mut head = [0; TagReport::HEAD_BYTES];
        head[0] = if success { SUCCESS } else { 0 };
        head[4..6].copy_from_slice(&list.hw_phase().to_be_bytes());
        let (cqn, uidx) = (list.context().cqn, list.context().uidx.unwrap_or(srqn));
        Ok(Some((cqn, uidx, TagReport { outcome, index, head, ..TagReport::default() })))
    }

    /// Takes the tag that a message for SRQ `srqn` has out of the SRQ's list, if it is there: its place, and its
    /// buffer.
    pub(crate) fn take_tag(&mut self, srqn: u32, tag: u64) -> Option<(u16, Option<DataSeg>)> {
        self.srqs.get_mut(srqn)?.tags_mut()?.take(tag)
    }

    /// A message for SRQ `srqn` had a tag that was not there.
    pub(crate) fn count_unexpected(&mut self, srqn: u32) {
        if let Some(list) = self.srqs.get_mut(srqn).and_then(|srq| srq.tags_mut()) {
            list.count_unexpected();
        }
    }
}
