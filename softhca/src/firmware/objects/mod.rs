//! Objects that commands make and the device itself does not know.

mod umem;

pub(super) use umem::{ADAPTER_PAGE_BYTES, Umem};
