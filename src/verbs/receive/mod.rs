//! Shared receive queues, and those with a list of tagged buffers.
pub(super) mod shared;
pub(super) mod tag_matching;
pub(super) mod tag_receiver;

pub use tag_matching::{OwnedTagMatching, TagAttr, TagMatchingBuilder};
pub use tag_receiver::TagReceiver;
