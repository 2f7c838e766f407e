//! The crate's constant that a register needs.

pub(crate) const WQEBB_BYTES: usize = 64;
