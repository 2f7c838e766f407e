//! Changes of a list of tagged buffers.
pub(super) mod entry;
pub(super) mod seg;
