//! Receives that many queue pairs share, and lists of tagged buffers.

pub(super) mod linked;
pub(super) mod shared;
pub(super) mod srq;
pub(super) mod tag_matching;
pub(super) mod xrq;
