//! How a message stands to the tags of its SRQ, and what its CQE says of that.

use crate::cq::{ReceiveKind, ReceivedTag, TagOutcome, TagReport};
use crate::recv::HEADER_BYTES;

/// How the message at hand stands to the tags of its SRQ.
#[derive(Clone, Copy, Debug)]
pub(super) enum Delivery {
    /// For none of them: a receive WQE of the SRQ takes it whole.
    Untagged(TagOutcome),
    /// For the buffer of the tag at this place.
    Tagged {
        /// The place.
        index: u16,
        /// What its last CQE says.
        outcome: TagOutcome,
        /// Its header.
        header: [u8; HEADER_BYTES],
        /// The buffer has what follows the header.
        is_cut: bool,
    },
}

impl Delivery {
    /// What the CQE of the whole message says.
    pub(super) fn report(self, message: ReceivedTag) -> TagReport {
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

    /// What the CQE says that takes the place of an error CQE, since it names a tag and no receive WQE.
    pub(super) fn canceled(self) -> Option<TagReport> {
        let Self::Tagged { index, .. } = self else { return None };
        let message = ReceivedTag { kind: ReceiveKind::Send, byte_cnt: 0, imm: 0, solicited: true, inline: None };
        Some(TagReport { outcome: TagOutcome::Canceled, index, message: Some(message), ..TagReport::default() })
    }
}
