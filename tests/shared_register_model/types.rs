//! The constants of the crate that a register needs.

pub(crate) const WQEBB_BYTES: usize = 64;
pub(crate) const WQEBB_DS: usize = 4;
