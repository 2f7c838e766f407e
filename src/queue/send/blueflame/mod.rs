//! BlueFlame: the requests that it takes, the copy of their WQEBBs, and the choice of the copy routine.

pub(in crate::queue) mod copy;
pub(in crate::queue) mod policy;
pub(in crate::queue) mod probe;
