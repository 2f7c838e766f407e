//! Memory: how the device reaches the host's, and which keys give access to what. It must never know a queue or a
//! packet.
//!
//! [`HostMemory`] is the way there: by addresses that a key, a ring or a doorbell record names. [`ProcessMemory`] is
//! for a device that lives in the program's own process. [`DmaMap`] is for a device to which a guest shares its memory
//! range by range. [`ArrayMemory`] is an array, for tests and for simulated hosts.

mod array;
mod dma_map;
mod encrypted;
mod format;
mod host_memory;
mod key_list;
pub(crate) mod mkey;
mod need;
mod page_table;
mod paged;
mod process;
pub(crate) mod shared_copy;
mod signed;
#[cfg(test)]
mod signed_tests;
mod strided;

pub use array::ArrayMemory;
pub use dma_map::{DmaMap, DmaMapError, MAX_RANGES};
pub(crate) use encrypted::{Encrypted, Encryption};
pub use format::{CrcKind, Domain, Escape, Guard, Signature, SignatureFormat};
pub use host_memory::{DmaFault, HostMemory};
pub(crate) use key_list::KeyList;
pub(crate) use mkey::{MAX_INDIRECTION, MAX_PIECES_LOG, PAGE_LOGS};
pub use mkey::{NULL_KEY, RESERVED_LKEY};
pub(crate) use need::Need;
pub(crate) use page_table::{ENTRY_BYTES, PageTable, READ as PAGE_READ, WRITE as PAGE_WRITE};
pub(crate) use paged::{HOST_BYTES, PagedMemory};
pub use process::ProcessMemory;
pub(crate) use process::page_bytes;
pub(crate) use signed::{KeyMemory, Mismatch, Signed};

/// Where unit tests have host memory.
#[cfg(test)]
pub(crate) mod test_memory {
    /// Address of the first byte.
    pub(crate) const BASE: u64 = 0x7f00_0000_0000;
}
