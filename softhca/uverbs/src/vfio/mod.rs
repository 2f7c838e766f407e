//! VFIO: `/dev/vfio`, answered as a kernel does, for programs that drive a PCI function themselves. rdma-core's own
//! driver does (`mlx5dv_get_vfio_device_list`).
//!
//! ```text
//!  program ── open, ioctl ──> [file] ── [container]: [space], what functions may reach
//!                                    ├─ [group]: one function
//!                                    └─ [device]: regions, [irqs]
//!          ── loads ──> [bar]: memory that shows registers  <── [endpoint]: the function on a thread of its own
//!          ── stores ─> `strict`: trapped, one by one  ───────────────^
//! ```
//!
//! Each process has its own functions and devices. The launcher sets the PCI addresses of the functions (`softhca-run
//! --vfio`). They are in the fabric of all other devices, and last as long as the process.
//!
//! Differences from the kernel:
//!
//! - Memory that is mapped for the function is not pinned (see [space]).
//! - A group is open once in a process, not once in the machine.
//! - `/dev/iommu` has no containers. The only IOMMU type is version 2 of type 1.
//! - The child of a fork has no function. Its stores to a mapped BAR are lost.
//! - Closing the device's file resets the function, and a BAR that is still mapped shows the function after the reset.

mod abi;
mod argument;
mod bar;
mod container;
mod device;
mod endpoint;
mod file;
mod group;
mod irqs;
mod paths;
mod space;

/// The locks of this module, for forks.
pub(crate) static LOCKS: [&dyn crate::process::forked::StaticLock; 3] =
    [&group::OPEN, &endpoint::ENDPOINTS, &file::OPEN];

pub(crate) use abi::request::is_vfio;
pub(crate) use device::Opened;
pub(crate) use file::{File, find, open};
pub(crate) use paths::Path;
