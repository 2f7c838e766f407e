//! A front end of [`softhca`]: it shows a PCI function of the software mlx5 device to a virtual machine, whose
//! unmodified `mlx5_core` and `mlx5_ib` drive it. The machine monitor (QEMU's `vfio-user-pci`) and this process talk by
//! a socket; the guest's memory is shared.
//!
//! ```text
//!  guest: mlx5_core, mlx5_ib          this process
//!     │ registers                    ┌─────────────────────────────────────────────┐
//!     ▼                              │                                             │
//!  QEMU: vfio-user-pci ── socket ──> │ server ──> backend ──> Function <── Runner   │
//!     ▲                              │              │            │ │               │
//!     └────────────── eventfds <─────│─── vectors <─│────────────┘ │               │
//!  guest memory <──── mapped here ───│─ guest_memory ─> DmaMap <───┘               │
//!                                    └───────────────────────── wire ──────────────┘
//! ```
//!
//! The function steps on a thread of its own; a second thread has the socket. Registers are trapped: each access is a
//! message. That is slow, and nothing is lost or reordered.

mod backend;
mod endpoint;
mod guest_memory;
mod options;
mod server;
mod stepped;
mod vectors;

pub use endpoint::{Endpoint, EndpointError};
pub use options::{Network, PortOptions};
pub use server::{Server, ServerError};
pub use vectors::Vectors;
