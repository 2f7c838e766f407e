//! Keys that requests change: memory windows, and indirect keys.

pub(super) mod indirect;
pub(super) mod window;
