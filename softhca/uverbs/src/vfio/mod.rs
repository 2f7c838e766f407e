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
//! A process has functions of its own, as it has devices: they are where the launcher says that PCI functions are which
//! VFIO's driver has (`softhca-run --vfio`), in the same fabric as all others, and last as long as the process.
//!
//! Less than the kernel's: memory that is mapped for the function is not pinned (see [space]); a group is open once in
//! a process, not once in the machine; there are no containers of `/dev/iommu`; only the second version of type 1 can
//! be chosen; the child of a fork has no function, so what it stores to a mapped BAR is lost. A mapped BAR that
//! outlives its file shows, and changes, a function that is reset.

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

pub(crate) use abi::request::is_vfio;
pub(crate) use device::Opened;
pub(crate) use file::{File, find, open};
pub(crate) use paths::Path;
