//! Receive queues: WQEs taken from a QP's own ring or from an SRQ. They must never know a QP, or the data that its WQE
//! receives.

mod fault_clock;
mod rq;
mod srq;
mod tag_header;
mod tag_list;
mod wqe;

pub(crate) use fault_clock::{FaultClock, SrqFault};
pub(crate) use rq::Rq;
pub(crate) use srq::Srq;
pub(crate) use tag_header::{Announcement, FINISHED, HEADER_BYTES, MessageKind, Tagged};
pub(crate) use tag_list::{TagFault, TagList};
pub(crate) use wqe::RecvWqe;
