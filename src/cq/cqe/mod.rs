//! Views of one completion (CQE), by its kind.
pub(super) mod grh;
pub(super) mod packet;
pub(super) mod signature;
pub(super) mod tag;
pub(super) mod timestamp;
pub(super) mod view;

pub use super::source::{InQueue, Private};
pub use grh::{Grh, GrhKind};
pub(crate) use packet::outside_of_tunnel;
pub use packet::{L3Header, L4Header, Merged, RxHash, Verdicts};
pub use signature::{SigErrCqe, SignatureError, SignaturePart, SignatureSide};
pub use tag::{ListOperation, TagCqe, TagMatch, TmCqe};
pub use timestamp::{ClockInfo, real_time_nanoseconds};
