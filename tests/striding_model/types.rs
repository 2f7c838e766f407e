//! The crate's type that the memory of a queue needs.

#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "no device sees the key")]
pub(crate) struct Lkey(pub(crate) u32);
