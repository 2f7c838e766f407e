//! Completion queues: the owner and the contents of a CQE, and how to ask for an event. Knows neither WQEs nor send and
//! receive queues.
//!
//! ```text
//!    device writes -->            consumer index --+
//!   +-------+-------+-------+-------+-------+------v+-------+
//!   | own 0 | own 1 | own 1 | own 1 | own 1 | own 0 | own 0 |    the bit flips on each pass over the ring,
//!   +-------+-------+-------+-------+-------+-------+-------+    so an old CQE never looks new
//! ```
//!
//! [`CompletionQueue::poll_with`] lends each completion to a closure; [`CompletionQueue::poll`] copies one out. Both
//! load the last four bytes of a CQE at once: they give its owner, its kind and the WQE that it completes. After a
//! barrier come the loads of other fields. No decision depends on loading a byte of device memory twice.
//!
#![cfg_attr(doc, doc = include_str!("../../docs/pictures/completing.svg"))]
//!
//! The code has three layers for a CQE, in separate files. The field map ([`layout`]) has offsets and sizes, with their
//! sources. The view ([`CqeView`]) reads the fields. [`CqeOpcode`], [`Syndrome`] and [`CqeError`] give their meaning.
mod advice;
mod completion_queue;
pub mod compressed;
mod error;
mod forget;
mod grh;
mod handled;
mod id;
mod initial;
pub mod layout;
mod mode;
mod opcode;
mod packet;
mod parts;
#[cfg(feature = "std")]
mod receiver;
mod resize;
mod ring;
mod signature;
mod source;
mod status;
mod tag;
mod timestamp;
mod vendor;
mod view;

pub use completion_queue::{CompletionQueue, Notify};
pub use error::{CqError, CqeError, ErrorCqe, InlineError};
pub use forget::Whose;
pub use grh::{Grh, GrhKind};
pub use handled::Handled;
pub use id::CqId;
pub(crate) use id::Origin;
pub use layout::CqeFormat;
pub use mode::{Compressed, Conservative, NoOverrun, OncePerCall, PollMode, Prefetch, Publish, Publishing, Standard};
pub use opcode::{CqeOpcode, Side, WcOpcode};
pub use packet::{L3Header, L4Header, RxHash};
pub use parts::CqParts;
#[cfg(feature = "std")]
pub use receiver::{Receiver, ReceiverError};
pub use resize::{ResizeError, mark_unwritten};
pub use signature::{SigErrCqe, SignatureError, SignaturePart, SignatureSide};
pub use source::{InQueue, Private, Source};
pub use status::{KnownSyndrome, Syndrome, WcStatus};
pub use tag::{ListOperation, TagCqe, TagMatch, TmCqe};
pub use timestamp::{ClockInfo, real_time_nanoseconds};
pub use vendor::vendor_advice;
pub use view::{Cqe, CqeCopy, CqeView};
