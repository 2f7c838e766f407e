//! The place of a request in the ring, from its composition to its doorbell.

pub(in crate::queue) mod depth;
pub(in crate::queue) mod places;
pub(in crate::queue) mod wqebb_place;
