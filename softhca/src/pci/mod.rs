//! The device as a PCI function, as a kernel's driver sees it: configuration space, registers in BAR 0, and a queue of
//! commands in the host's memory. It must never know the carrier of the accesses: a virtual machine, or a process that
//! drives it by VFIO.
//!
//! ```text
//!  configuration space ──> config_space.rs ── reset, decoding on or off ──┐
//!                                                                         ▼
//!  BAR 0  0x0000  initialization segment ──> init_segment.rs ──────> function.rs ──> interrupts
//!         0x2000  table of interrupts (the front end's)                │      │
//!         0x10000 UAR pages ──> Device::doorbell                       │      └──> Device::step
//!                                                                      ▼
//!  host memory: slots of commands ──> command_queue.rs ── mailbox_chain.rs ──> Firmware::execute
//! ```
//!
//! Registers and layouts: Linux `include/linux/mlx5/device.h` (`struct mlx5_init_seg`, `struct mlx5_cmd_layout`,
//! `struct mlx5_cmd_prot_block`) and `drivers/net/ethernet/mellanox/mlx5/core/cmd.c`; NVIDIA's "Adapters Programmer's
//! Reference Manual", chapters "Initialization segment" and "Command interface".

mod command_queue;
mod config_space;
mod delivery;
mod function;
mod gateway;
mod identity;
mod init_segment;
mod mailbox_chain;
mod product_data;
mod signature;

pub use config_space::CONFIG_BYTES;
pub use function::{Function, Interrupts};

/// Bytes of BAR 0.
pub const BAR_BYTES: u64 = 1 << 25;
/// Interrupts (MSI-X vectors) of the function.
pub const VECTORS: u16 = 32;
/// Offset in bytes of the table of interrupts in BAR 0. The table is the front end's.
pub const MSIX_TABLE_OFFSET: u64 = 0x2000;
/// Offset in bytes of the bits of pending interrupts in BAR 0. They are the front end's, too.
pub const MSIX_PBA_OFFSET: u64 = 0x3000;
/// The first UAR page that drivers get: below are the initialization segment and the interrupts.
const FIRST_UAR: u32 = 0x10;
