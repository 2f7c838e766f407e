//! Pools: memory that is mapped and registered once, and handed out in pieces.

pub(in crate::verbs) mod fixed;
pub(in crate::verbs) mod slabs;
