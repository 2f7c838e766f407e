//! `softhca`: a software mlx5 device.
//!
//! It reads WQEs, moves data and writes CQEs as a ConnectX does, from the layouts of the PRM, and shares no code, struct
//! or offset with any driver, so that a driver's mistake cannot cancel out against its own.
//!
//! The core does no I/O and starts no thread: the caller steps it ([`device::Device::step`]), or hands it to a thread
//! of its own. Objects are created from contexts ([`context`]), host memory is reached through [`memory::HostMemory`],
//! other devices through [`wire::Wire`].

pub mod complaint;
pub mod config;
pub mod context;
pub mod cq;
pub mod cqe;
pub mod device;
pub mod doorbell;
pub mod doorbell_queue;
pub mod embedded;
pub mod error;
pub mod ethernet;
pub mod event;
pub mod faults;
pub mod gsi;
pub mod memory;
pub mod mkey;
pub mod notify;
pub mod packet;
pub mod process_memory;
pub mod qp;
mod resources;
pub mod rq;
pub mod runner;
mod shared_copy;
pub mod srq;
pub mod table;
#[cfg(test)]
mod test_memory;
pub mod uar;
pub mod wire;
pub mod wqe;
