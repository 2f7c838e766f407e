//! Memory: how the device reaches the host's, and which keys give access to what. It must never know a queue or a
//! packet.
//!
//! [`HostMemory`] is the way there: by addresses that a key, a ring or a doorbell record names. [`ProcessMemory`] is
//! for a device that lives in the program's own process. [`DmaMap`] is for a device to which a guest shares its memory
//! range by range. [`ArrayMemory`] is an array, for tests and for simulated hosts.
//!
//! `keys` has the memory keys, and `formatted` the data that changes on its way through one.

mod array;
mod dma_map;
mod formatted;
mod host_memory;
pub(crate) mod keys;
mod paged;
mod presence;
mod process;
pub(crate) mod shared_copy;

pub use array::ArrayMemory;
pub use dma_map::{DmaMap, DmaMapError, MAX_RANGES};
pub(crate) use formatted::encrypted::{Encrypted, Encryption};
pub use formatted::signature::{CrcKind, Domain, Escape, Guard, Signature, SignatureFormat};
pub(crate) use formatted::signed::{KeyMemory, Mismatch, Signed};
pub use host_memory::{DmaFault, HostMemory};
pub(crate) use keys::list::KeyList;
pub use keys::mkey::{DUMP_FILL_KEY, NULL_KEY, RESERVED_LKEY};
pub(crate) use keys::mkey::{MAX_INDIRECTION, MAX_PIECE_LOG, MAX_PIECES_LOG, PAGE_LOGS};
pub(crate) use keys::need::Need;
pub(crate) use keys::page_table::{ENTRY_BYTES, PageTable, READ as PAGE_READ, WRITE as PAGE_WRITE};
pub(crate) use paged::{HOST_BYTES, PagedMemory};
pub(crate) use presence::page_bytes;
pub use process::ProcessMemory;

/// Where unit tests have host memory.
#[cfg(test)]
pub(crate) mod test_memory {
    /// Address of the first byte.
    pub(crate) const BASE: u64 = 0x7f00_0000_0000;
}
