//! Shared receive queues with a list of tagged buffers, and receiving ends without queues.
pub(super) mod tag_matching;
pub(super) mod tag_receiver;

pub use super::qp::responder::Responder;
pub use tag_matching::{OwnedTagMatching, TagAttr};
pub use tag_receiver::TagReceiver;
