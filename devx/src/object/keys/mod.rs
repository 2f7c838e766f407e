//! Memory keys: of memory, of pieces of other keys, and of data with a format.

pub(super) mod encryption;
pub(super) mod formatted;
pub(super) mod mkey;
pub(super) mod signature;
