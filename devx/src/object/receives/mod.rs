//! Receives that many queue pairs share.

pub(super) mod linked;
pub(super) mod shared;
pub(super) mod srq;
pub(super) mod xrq;
