//! Queues over raw parts: indices, room, the application's tags. Puts `wqe`, `db` and `cq` to work. Knows neither
//! libibverbs nor the origin of the parts.
//!
//! The parts come from `verbs`, from DevX, from the software device or from the caller's own `ibv_qp`. Handing them to
//! `from_parts` is `unsafe`. From then on, the queues keep their promises for any bytes that the device writes.
//!
#![cfg_attr(doc, doc = include_str!("../../docs/pictures/posting.svg"))]
mod any_cq;
mod blueflame;
mod copy;
mod in_ring;
mod managed;
mod moderation;
mod owned;
mod owning;
mod parts;
mod pooled;
mod post;
mod probe;
mod recv;
mod retire;
mod scatter;
mod send;
mod send_batch;
mod send_error;
mod short;
mod shot;
mod signed_recv;
mod slot;
mod srq;
mod staged;
mod tag_entries;
mod tag_error;
mod tag_matching;
mod template;
mod window;

pub use any_cq::AnyCq;
pub use blueflame::BlueFlamePolicy;
pub use moderation::{Moderation, ModerationError};
pub use owned::Owned;
pub use owning::{DeviceBuffer, Holds, OwningRecvQueue, OwningSendQueue, Refused};
pub use parts::{SqParts, WqeRecord};
pub use pooled::{FreeList, Home, PooledBuffer, Slot, SlotPool};
pub use probe::{Probe, ProbeError};
pub use recv::{RecvBatch, RecvQueue, RqParts};
pub use retire::RetireError;
pub use scatter::{RecvError, RecvPartsError};
pub use send::{Retired, SendQueue};
pub use send_batch::SendBatch;
pub use send_error::{PostError, SqPartsError};
pub use shot::{Shot, ShotAt, ShotSignaledIf};
pub use signed_recv::SignedRecvBatch;
pub use srq::{SharedRecvQueue, SrqBatch, SrqParts, SrqRecord};
pub use staged::Staged;
pub use tag_entries::TagRecord;
pub use tag_error::{TagCompletionError, TagError};
pub use tag_matching::{TagEvent, TagMatching};
pub use template::Template;
pub use window::WindowError;
