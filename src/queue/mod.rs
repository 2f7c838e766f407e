//! Queues over raw parts: indices, room, the application's identifiers. They use `wqe`, `db` and `cq`, and depend
//! neither on libibverbs nor on the origin of the parts.
//!
//! The parts come from `verbs`, from DevX, from the software device or from the caller's own `ibv_qp`. Handing them to
//! `from_parts` is `unsafe`. From then on, the queues keep their promises for any bytes that the device writes.
//!
#![cfg_attr(doc, doc = include_str!("../../docs/pictures/posting.svg"))]

mod any_cq;
mod buffer;
mod managed;
mod outcome;
mod owned;
pub mod owning;
pub mod recv;
pub mod send;
#[cfg(feature = "std")]
mod shadow;
pub mod striding;
pub mod tags;

pub use any_cq::{AnyCq, forget_in_all};
pub use outcome::{CompleteError, Received, RetireError};
pub use owned::Owned;
#[cfg(feature = "std")]
pub use owning::frames::OwningFrameQueue;
pub use owning::send::OwningSendQueue;
pub use recv::queue::RecvQueue;
pub use recv::scatter::RecvError;
pub use recv::shared::SharedRecvQueue;
pub use send::batch::SendBatch;
pub use send::error::PostError;
pub use send::moderation::Moderation;
pub use send::policy::BlueFlamePolicy;
pub use send::queue::{Done, SendQueue};
pub use send::staged::Staged;
#[cfg(feature = "std")]
pub use shadow::Shadow;
pub use tags::matching::TagMatching;
