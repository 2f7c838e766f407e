//! BlueFlame: the requests that it takes, and the choice of the copy routine.

pub(in crate::queue) mod policy;
pub(in crate::queue) mod probe;
