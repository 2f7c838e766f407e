//! Completion queues: the owner and the contents of a CQE, and how to ask for an event. It depends neither on WQEs nor
//! on send and receive queues.
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

mod collapsed;
mod completion_queue;
pub mod compressed;
pub mod cqe;
pub mod error;
mod forget;
mod frames;
mod id;
mod initial;
pub mod layout;
pub mod mode;
mod opcode;
mod parts;
#[cfg(feature = "std")]
mod receiver;
mod resize;
mod ring;
#[cfg(feature = "std")]
mod room;
mod source;

/// Raw parts, and calls for the code that makes completion queues and queue pairs.
pub mod setup {
    pub use super::forget::Whose;
    pub use super::parts::CqParts;
    #[cfg(feature = "std")]
    pub use super::receiver::{Receiver, ReceiverError};
    pub use super::resize::mark_unwritten;
    #[cfg(feature = "std")]
    pub use super::room::{Reservation, Reservations, Room, RoomError};
}

pub use collapsed::CollapsedQueue;
pub use completion_queue::{CompletionQueue, Notify};
pub(crate) use compressed::{Expand, Part, Shared};
pub use cqe::view::{Cqe, CqeCopy, CqeView};
pub use error::completion::{CqeError, ErrorCqe};
pub use error::status::{Syndrome, WcStatus};
pub use id::CqId;
pub(crate) use id::Origin;
pub use layout::CqeFormat;
pub use opcode::{CqeOpcode, Side, WcOpcode};
pub(crate) use source::ColdCqe;
pub use source::Source;
