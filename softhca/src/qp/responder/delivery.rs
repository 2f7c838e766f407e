//! The relation of a message to the tags of its SRQ, and the report of it in the message's CQE.

use crate::cq::{ReceiveKind, ReceivedTag, TagOutcome, TagReport};
use crate::recv::HEADER_BYTES;

/// How the message at hand stands to the tags of its SRQ.
#[derive(Clone, Copy, Debug)]
pub(in crate::qp) enum Delivery {
    /// For none of them: a receive WQE of the SRQ takes it whole.
    Untagged(TagOutcome),
    /// For the buffer of the tag at this place.
    Tagged {
        /// The place.
        index: u16,
        /// Outcome in its last CQE.
        outcome: TagOutcome,
        /// Its header.
        header: [u8; HEADER_BYTES],
        /// The header is cut off: the buffer holds only the bytes after it.
        is_cut: bool,
    },
}

impl Delivery {
    /// The report in the CQE of the whole message.
    pub(in crate::qp) fn report(self, message: ReceivedTag) -> TagReport {
        let message = Some(message);
        match self {
            Self::Untagged(outcome) => TagReport { outcome, message, ..TagReport::default() },
            // The header is in the first CQE, if there are two.
            Self::Tagged { index, outcome: TagOutcome::Expected, .. } => {
                TagReport { outcome: TagOutcome::Expected, index, message, ..TagReport::default() }
            }
            Self::Tagged { index, outcome, header, .. } => TagReport { outcome, index, head: header, message },
        }
    }

    /// The report in the CQE that replaces an error CQE, since this CQE names a tag and no receive WQE.
    pub(super) fn canceled(self) -> Option<TagReport> {
        let Self::Tagged { index, .. } = self else { return None };
        let message = ReceivedTag { kind: ReceiveKind::Send, byte_cnt: 0, imm: 0, solicited: true, inline: None };
        Some(TagReport { outcome: TagOutcome::Canceled, index, message: Some(message), ..TagReport::default() })
    }
}
