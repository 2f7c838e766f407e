//! Memory keys: the memory that a key gives access to, in pieces and pages, and the rights of its accessors.

pub(crate) mod fault;
pub(super) mod list;
pub(crate) mod mkey;
pub(super) mod need;
pub(super) mod page_table;
mod strided;
