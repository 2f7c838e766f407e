//! Registered memory: the memory that the device may read and write, and for how long.
//!
//! A registration pins memory, and tells the device's translation tables about it, which took from 0.7 ms to 1.1 s in
//! an emulated guest (`docs/performance/registration.md`). Do it at start ([`super::Pool`]), not in the I/O path.
//!
//! | memory | registered by | result |
//! |---|---|---|
//! | of this process | [`ProtectionDomain::register`](super::ProtectionDomain::register) | [`Buffer`] |
//! | of this process, with hints to a CPU's cache ([`DmaHandle`]) | [`register_with_dma_handle`](super::ProtectionDomain::register_with_dma_handle) | the same |
//! | of this process, so large that one call takes long | [`register_in_pieces`](super::ProtectionDomain::register_in_pieces) | [`HugeBuffer`] |
//! | of this process, not present yet | either, with [`Access::ON_DEMAND`] | the same |
//! | of this process, all that it has or will have | [`register_address_space`](super::ProtectionDomain::register_address_space) | [`AddressSpace`] |
//! | that the program owns and shares, when a request first needs it | [`RegistrationCache::get`] | [`Region`] |
//! | of another device, by a dma-buf | [`register_dmabuf`](super::ProtectionDomain::register_dmabuf) | [`DmaBufRegion`] |
//! | of another device, by this device's second PCI function | [`register_dmabuf_data_direct`](super::ProtectionDomain::register_dmabuf_data_direct) | [`DmaBufRegion`] |
//! | of this device | [`register_device_memory`](super::ProtectionDomain::register_device_memory) | [`DeviceRegion`] |
//! | none: dropped, or zeros | [`null_region`](super::ProtectionDomain::null_region) | [`NullRegion`] |
//!
//! A [`MemoryWindow`] lends a peer a piece of a [`Buffer`] for a while, by requests. An [`IndirectKey`] is one key for
//! memory in several places, which requests set. With a [`Copier`], requests copy memory.
//!
//! # When there is no `&[u8]`
//!
//! The device writes registered memory behind the compiler's back, whenever a peer with the rkey likes. A Rust
//! reference promises that nothing else does. So [`Buffer`] copies such memory in and out. [`Buffer::bytes`] lends
//! memory that no peer may write. The `unsafe` methods form slices, for a caller that knows that nothing is in flight.
//! A copy that reads while the device writes gets unspecified bytes, as with every driver.
//!
//! [`Access::ON_DEMAND`]: super::Access::ON_DEMAND
//! [`Buffer`]: super::Buffer
//! [`Buffer::bytes`]: super::Buffer::bytes
//! [`HugeBuffer`]: super::HugeBuffer

pub(super) mod buffer;
mod cache;
mod change;
mod copier;
mod dma_handle;
mod keys;
pub(super) mod pieces;
pub(super) mod pool;
mod region;
mod registration;
mod rights;
pub(super) mod source;
mod special;

pub use crate::queue::owning::PoolBuffer;
pub use crate::verbs::device::memory_attr::{MemoryAttr, OnDemandAttr, OnDemandOps};
pub use crate::verbs::pages::Pages;
pub use cache::RegistrationCache;
pub use change::{Change, NotReregistered};
pub(super) use copier::COPIES;
pub use copier::Copier;
pub use dma_handle::{DmaHandle, ProcessingHint, TphMemory};
pub use keys::indirect::IndirectKey;
pub use keys::window::{MemoryWindow, WindowType};
pub use pieces::{InPieces, Sges};
pub use pool::fixed::POOL_ALIGN;
pub use region::Region;
pub use source::RawMemory;
pub use special::device::{DeviceMemory, DeviceRegion};
pub use special::dmabuf::DmaBufRegion;
pub use special::null::NullRegion;
pub use special::on_demand::{AddressSpace, Prefetch};
