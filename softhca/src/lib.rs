//! `softhca`: a software mlx5 device.
//!
//! It reads WQEs, moves data and writes CQEs as a ConnectX does, from the layouts of the PRM, and shares no code,
//! struct or offset with any driver, so that a driver's mistake cannot cancel out against its own.
//!
//! The core does no I/O and starts no thread: the caller steps it ([`device::Device::step`]), or hands it to a thread
//! of its own. Objects are created from contexts ([`context`]), host memory is reached through [`memory::HostMemory`],
//! other devices through [`wire::Wire`].

pub mod complaint;
pub mod config;
pub mod context;
mod cq;
pub mod device;
pub mod embedded;
pub mod error;
pub mod ethernet;
pub mod event;
pub mod faults;
pub mod gsi;
pub mod memory;
pub mod notify;
pub mod packet;
pub mod qp;
mod recv;
mod resources;
pub mod runner;
mod table;
pub mod uar;
pub mod wire;
pub mod wqe;
