//! Completion queues: CQEs, their ring, overrun, arming. They must never know the source of a completion, or its
//! reason.

mod completion;
mod compression;
mod cqe;
mod moderation;
mod queue;

pub(crate) use completion::{
    Completion, FrameInfo, InCqe, MergedSegments, ReceiveKind, ReceivedTag, SignatureError, Source, Syndrome,
    TagOutcome, TagReport, TakenStrides,
};
pub(crate) use compression::MAX_SESSION;
pub(crate) use cqe::{INVALID_OP_OWN, inline_capacity};
pub(crate) use moderation::Moderation;
pub(crate) use queue::{Cq, CqFailure, nanoseconds};
